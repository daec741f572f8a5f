"""Encode one case for the viewer: turns, contexts, questions and facts.

::

    script  {"messages": [[id, role, principal, text, left out], ...],
             "turns": [[turn, session, principal, time, first message, messages], ...]}
    reel    {"frames": [[turn, probe or "", made, sent or null], ...],
             "made": [[id, role, [line, ...], left out, [quoted] or 0, same, [rest]], ...],
             "extras": {"turn": {"events": [...], "calls": [...], "agent": [...], ...}},
             "full": 812 or null, "probes": [{..., "agent": [...]}],
             "ways": [[name, source, value, [[turn, state], ...], failed], ...]}

A script is what is said in a scenario, the same for each of its cases. In a reel a message is a
number: from 0 on the script's, below 0 the strategy's (-1 is the first). `made` of a frame is how
many the strategy had made by then; `sent` and what a message was made from are told as
`memsim.replay.context_recorder` does. A line of what it made is a text, or a text and the message
of the script whose own text follows it, or the number of such a line that stood before. Quoted is 0
where that is just what the lines name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memsim.context import SECTIONS
from memsim.report.playback import Playback, PlaybackFrame, PlaybackMessage
from memsim.report.viewer.fact_location import FactPath, Sightings, fact_paths, failed, lost_at

Line = Mapping[str, Any]
Data = dict[str, Any]

LONGEST = 2_000
"""Most characters of a message that are shown; the others are counted."""
NAMED = 40
"""Most messages of an event that are named; the others are counted."""
FOLLOWED = 60
"""Most messages that are followed because a failed probe asks for them."""


@dataclass(slots=True, kw_only=True)
class Script:
    """What is said in a scenario."""

    messages: list[list[object]] = field(default_factory=list)
    turns: list[list[object]] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def data(self) -> Data:
        """Encode the script as JSON values."""
        return {"messages": self.messages, "turns": self.turns}


@dataclass(slots=True)
class _Reel:
    """Builds the data of one case.

    Attributes:
        numbers: by the numbers of the record, those of the page.
    """

    script: Script
    first: bool
    numbers: list[int] = field(default_factory=list)
    made: list[list[object]] = field(default_factory=list)
    frames: list[list[object]] = field(default_factory=list)
    lines: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    texts: dict[str, int] = field(default_factory=dict)
    known: int = 0
    derived: tuple[int | str, ...] = ()

    def take(self, frame: PlaybackFrame, playback: Playback, turn: Line | None) -> None:
        start = len(self.script.messages)
        for message in playback.messages[len(self.numbers) :]:
            self.numbers.append(self._number(message, said=message.number in frame.said))
        if self.first and not frame.probe:
            line = turn or {}
            who = [line.get(name, "") for name in ("session", "principal", "time")]
            self.script.turns.append([frame.turn, *who, start, len(frame.said)])
        sent = None
        if frame.sent is not None:
            sent = [[layer(p.layer), p.tokens, self._runs(p.runs)] for p in frame.sent]
        self.frames.append([frame.turn, frame.probe, len(self.made), sent])

    def _number(self, message: PlaybackMessage, *, said: bool) -> int:
        if said and self.first:
            self.script.numbers[message.id] = len(self.script.messages)
            text, left = _cut(message.text)
            self.script.messages.append([message.id, message.role, message.principal, text, left])
            return len(self.script.messages) - 1
        known = self.script.numbers.get(message.id) if said else None
        # What a tool of the strategy's own answered is another text in every case.
        if known is None or self.script.messages[known][3] != _cut(message.text)[0]:
            return self._make(message)
        return known

    def _make(self, message: PlaybackMessage) -> int:
        text, left = _cut(message.text)
        derived = tuple(self._place(x) for x in message.derived)
        same = 0
        for before, now in zip(self.derived, derived, strict=False):
            if before != now:
                break
            same += 1
        self.derived = derived
        split = text.split("\n")
        lines = [self._line(line) for line in split]
        quotes = [self._place(x) for x in message.quotes]
        named = [self.lines[line][1] for line in split]
        plain = quotes == [number for number in named if number is not None]
        rest = list(derived[same:])
        self.made.append(
            [message.id, message.role, lines, left, 0 if plain else quotes, same, rest]
        )
        return -len(self.made)

    def _line(self, line: str) -> str | int | list[str | int]:
        if (known := self.lines.get(line)) is not None:
            return known[0]
        said = self._said(line)
        self.lines[line] = (len(self.lines), said and said[1])
        return line if said is None else list(said)

    def _said(self, line: str) -> tuple[str, int] | None:
        """A line as what stands before a message of the script, and that message."""
        for number in range(self.known, len(self.script.messages)):
            self.texts[str(self.script.messages[number][3])] = number
        self.known = len(self.script.messages)
        start = line.find(": ") + 2 if ": " in line else 0
        known = self.texts.get(line[start:])
        return None if known is None or not line[start:] else (line[:start], known)

    def _place(self, place: int | str) -> int | str:
        return self.numbers[place] if isinstance(place, int) else place

    def _runs(self, runs: Iterable[int | Sequence[int]]) -> list[object]:
        return [self.numbers[r] if isinstance(r, int) else list(r) for r in runs]


def reel_of(
    records: Iterable[Line], turns: Sequence[Line], probes: Sequence[Line], script: Script
) -> Data:
    """Encode a case as JSON values for the page."""
    playback = Playback(records)
    made = _Reel(script, first=not script.turns)
    by_turn = {line["turn"]: line for line in turns}
    sightings = Sightings(_followed(probes))
    facts: dict[str, tuple[str, str]] = {}
    for frame in playback.frames():
        made.take(frame, playback, by_turn.get(frame.turn))
        sightings.see(frame, playback)
        for name, source, value in frame.facts:
            told = playback.messages[source].id if isinstance(source, int) else source
            facts[name] = (told, value)
    if not script.turns:
        script.turns += [_bare(line) for line in turns]
    found = fact_paths(turns, probes, sightings.ways())
    for way in found:
        way.source, way.value = facts.get(way.name, (way.source, way.value))
    by_name = {way.name: way for way in found}
    return {
        "frames": made.frames,
        "made": made.made,
        "extras": {
            str(number): kept
            for number, line in by_turn.items()
            if (kept := _extras(line, script, tokens=not made.frames))
        },
        "full": playback.full,
        "probes": [_probe(probe, by_name, script) for probe in probes],
        "ways": _ways(found, probes, script),
    }


def layer(name: str) -> int | str:
    """Number the names of sections."""
    return [*SECTIONS].index(name) if name in SECTIONS else name


def _cut(text: str) -> tuple[str, int]:
    return text[:LONGEST], max(0, len(text) - LONGEST)


def _followed(probes: Sequence[Line]) -> list[str]:
    asked = (
        piece["source"]
        for probe in probes
        if failed(probe)
        for piece in probe["evidence"]
        if not piece["fact"]
    )
    return list(dict.fromkeys(asked))[:FOLLOWED]


def _bare(line: Line) -> list[object]:
    return [line["turn"], line["session"], line["principal"], line["time"], 0, 0]


def _extras(line: Line, script: Script, *, tokens: bool) -> Data:
    kept: Data = {}
    if "events" in line:
        kept["events"] = [_event(event, script) for event in line["events"]]
    if "calls" in line:
        kept["calls"] = [[c["phase"], c["task"], c["input"], c["output"]] for c in line["calls"]]
    if "agent" in line:
        kept["agent"] = [_round(each) for each in line["agent"]]
    if "overflow" in line:
        kept["overflow"] = line["overflow"]
    if line.get("contexts", 1) > 1:
        kept["contexts"] = line["contexts"]
    if tokens and "tokens" in line:
        kept["tokens"] = [[layer(name), tokens] for name, tokens in line["tokens"].items()]
    return kept


def _event(event: Line, script: Script) -> list[object]:
    sources = event.get("sources", ())
    named = [script.numbers.get(s, s) for s in sources[:NAMED]]
    sizes = [event.get("before"), event.get("after")]
    return [event["kind"], named, len(sources), *sizes, event.get("detail", "")]


def _round(each: Line) -> list[object]:
    calls = [
        [
            *(_told(call[name]) for name in ("tool", "arguments", "outcome")),
            _told(call.get("result", "")),
            call.get("cut", 0),
        ]
        for call in each.get("calls", ())
    ]
    return [each["round"], _told(each.get("said", "")), calls, _told(each.get("note", ""))]


def _told(text: str) -> str:
    kept, left = _cut(text)
    return f"{kept} [{left:,} more characters]" if left else kept


def _probe(probe: Line, by_name: Mapping[str, FactPath], script: Script) -> Data:
    kept: Data = {name: probe[name] for name in ("probe", "turn", "ask", "principal", "expect")}
    kept |= {name: probe[name] or "" for name in ("answer", "outcome", "reason", "error")}
    if "answer_again" in probe:
        kept["again"] = probe["answer_again"]
    kept["unanswerable"] = probe["unanswerable"]
    if "agent" in probe:
        kept["agent"] = [_round(each) for each in probe["agent"]]
    kept["failed"] = failed(probe)
    kept["lost"] = lost_at(probe, by_name) if kept["failed"] else None
    kept["evidence"] = [
        [piece["fact"] or piece["source"], script.numbers.get(piece["source"], piece["source"])]
        for piece in probe["evidence"]
    ]
    return kept


def _ways(found: Sequence[FactPath], probes: Sequence[Line], script: Script) -> list[list[object]]:
    missed: dict[str, int] = {}
    for probe in probes:
        for piece in probe["evidence"] if failed(probe) else ():
            name = piece["fact"] or piece["source"]
            missed[name] = missed.get(name, 0) + 1
    told = sorted(found, key=lambda way: (not missed.get(way.name), way.stops[0][0]))
    return [
        [
            way.name,
            script.numbers.get(way.source, way.source),
            way.value,
            [list(stop) for stop in way.stops],
            missed.get(way.name, 0),
        ]
        for way in told
    ]
