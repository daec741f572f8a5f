"""Locate each fact turn by turn, and find when a failed probe's fact was lost.

Every turn that sends a context shows where its facts are. While a fact is in none, only a question
tells whether it is kept: what the next question finds is taken to hold since the fact left the
context, or since the strategy logged that it put it away for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memsim.context import SECTIONS
from memsim.report.playback import Playback, PlaybackFrame, PlaybackMessage
from memsim.scoring.outcomes import PASSED, UNMEASURED, place_outside
from memsim.scoring.trace_records import inspection_of
from memsim.trace import PURGES, Inspection

Line = Mapping[str, Any]
State = str
"""`window`, `summary`, `recalled`, `core`, `working`, `tools`, `system`, `section:NAME`; or
`found`, `missed`, `archived`, `denied`, `cut`, `closed`, `unknown`, `unseen`, `lost`.

A section of the context; or, in no context: stored and found when asked, stored and missed,
archived, denied, cut to fit the budget, in a black box, in stores that the strategy does not
report, not asked for, lost.
"""

_GONE = PURGES - {"archived"}
_STATES: Mapping[str, State] = {"trimmed": "cut", "not-inspectable": "closed", "stored": "missed"}
"""States that are called otherwise than the whereabouts that they stand for."""


@dataclass(slots=True, kw_only=True)
class FactPath:
    """One fact, or one message that is evidence."""

    name: str
    source: str
    value: str = ""
    stops: list[tuple[int, State]] = field(default_factory=list)

    def at(self, turn: int) -> int:
        """The index of the stop that holds in a turn; -1 before the first."""
        return sum(1 for stop in self.stops if stop[0] <= turn) - 1


def place_of(piece: Line, inspection: Inspection) -> State:
    """Where a piece of evidence was when its question was put."""
    if piece["presence"] != "absent":
        return _in_section(piece["presence"])
    tier = piece["location"] and piece["location"]["tier"]
    found = place_outside(tier, inspection, trimmed=piece["trimmed"])
    return _STATES.get(found, found)


def _in_section(name: str) -> State:
    # A strategy may call a section by any name, also by that of another state.
    return name if name in SECTIONS else f"section:{name}"


def fact_paths(
    turns: Sequence[Line], probes: Sequence[Line], seen: Sequence[FactPath]
) -> list[FactPath]:
    """Trace all facts and all other evidence of a case.

    Args:
        turns: its lines of `turns.jsonl`.
        probes: its lines of `probes.jsonl`.
        seen: where messages that are evidence, and no planted fact, stand in the turns' contexts.
    """
    found = {way.name: way for way in (*_planted(turns, probes), *seen)}
    asked: dict[str, list[tuple[int, State]]] = {}
    for probe in probes:
        for piece in probe["evidence"]:
            name = piece["fact"] or piece["source"]
            if name not in found:
                way = FactPath(name=name, source=piece["source"], stops=[(piece["turn"], "unseen")])
                found[name] = way
            state = place_of(piece, inspection_of(probe))
            asked.setdefault(name, []).append((probe["turn"], state))
    put_away = _put_away(turns)
    for name, way in found.items():
        way.stops = _told(way.stops, asked.get(name, []), put_away.get(way.source, ()))
    return list(found.values())


def _planted(turns: Sequence[Line], probes: Sequence[Line]) -> list[FactPath]:
    found: dict[str, FactPath] = {}
    for probe in probes:
        for piece in probe["evidence"]:
            if piece["fact"]:
                found.setdefault(
                    piece["fact"], FactPath(name=piece["fact"], source=piece["source"])
                )
    for line in turns:
        for name, presence in line.get("moved", {}).items():
            way = found.setdefault(name, FactPath(name=name, source=""))
            way.stops.append(
                (line["turn"], "unseen" if presence == "absent" else _in_section(presence))
            )
    return [way for way in found.values() if way.stops]


def _put_away(turns: Sequence[Line]) -> dict[str, list[int]]:
    """Map each message id to the turns in which it was discarded."""
    found: dict[str, list[int]] = {}
    for line in turns:
        for event in line.get("events", ()):
            if event["kind"] in _GONE:
                for source in event.get("sources", ()):
                    found.setdefault(source, []).append(line["turn"])
    return found


def _told(
    stops: Sequence[tuple[int, State]],
    asked: Sequence[tuple[int, State]],
    gone: Sequence[int],
) -> list[tuple[int, State]]:
    """Add what questions found to the stops where no context held the fact."""
    told: list[tuple[int, State]] = []
    for place, (turn, state) in enumerate(stops):
        if state != "unseen":
            told.append((turn, state))
            continue
        end = stops[place + 1][0] if place + 1 < len(stops) else float("inf")
        inside = [(at, found) for at, found in _worst(asked) if turn <= at < end]
        told += _absence(turn, inside, [g for g in gone if turn <= g < end])
    return told


def _worst(asked: Iterable[tuple[int, State]]) -> list[tuple[int, State]]:
    """Map each turn to what a question found; a miss wins over a hit."""
    found: dict[int, State] = {}
    for turn, state in asked:
        told: State = state if state in _OUTSIDE else "found"
        if told != "found" or turn not in found:
            found[turn] = told
    return sorted(found.items())


def _absence(
    start: int, asked: Sequence[tuple[int, State]], gone: Sequence[int]
) -> list[tuple[int, State]]:
    told: list[tuple[int, State]] = []
    for turn, state in asked:
        since = start
        if state == "lost" and (late := [g for g in gone if start <= g <= turn]):
            since = max(late)
            if since > start:
                told.append((start, "unseen"))
        if not told or told[-1][1] != state:
            told.append((since, state))
        start = turn + 1
    return told or [(start, "unseen")]


_OUTSIDE = frozenset({"missed", "archived", "denied", "cut", "closed", "unknown", "lost"})


def lost_at(probe: Line, by_name: Mapping[str, FactPath]) -> int | None:
    """Find the turn in which the evidence of a failed probe left the context.

    None when it stood in the context of the question, and when no context had been sent before.
    """
    found: list[int] = []
    for piece in probe["evidence"]:
        way = by_name.get(piece["fact"] or piece["source"])
        if way is None or piece["presence"] != "absent":
            continue
        place = way.at(probe["turn"])
        if place >= 0 and (place > 0 or way.stops[0][1] != "unseen"):
            found.append(_since(way, place))
    return max(found, default=None)


def _since(way: FactPath, place: int) -> int:
    # From where it has been in no context, unless it was put away for good after that.
    turn, state = way.stops[place]
    if state == "lost":
        return turn
    while place and way.stops[place - 1][1] in _ABSENT:
        place -= 1
        turn = way.stops[place][0]
    return turn


_ABSENT = _OUTSIDE | {"found", "unseen"}


def failed(probe: Line) -> bool:
    """Whether a probe was scored and not answered rightly."""
    return probe["outcome"] not in PASSED and probe["outcome"] not in UNMEASURED


class Sightings:
    """Track where messages stand in the contexts of the turns."""

    def __init__(self, sources: Iterable[str]) -> None:
        self._ways = {source: FactPath(name=source, source=source) for source in sources}

    def see(self, frame: PlaybackFrame, playback: Playback) -> None:
        """Read a turn; questions add only the messages that they asked for."""
        if not self._ways or frame.probe:
            return
        there = self._there(frame, playback) if frame.sent is not None else None
        new = {playback.messages[n].id for n in frame.said}
        for source, way in self._ways.items():
            if source in new or (way.stops and there is not None):
                state: State = "unseen" if there is None else there.get(source, "unseen")
                if not way.stops or way.stops[-1][1] != state:
                    way.stops.append((frame.turn, state))

    def ways(self) -> list[FactPath]:
        """Return the stops that were seen."""
        return [way for way in self._ways.values() if way.stops]

    def _there(self, frame: PlaybackFrame, playback: Playback) -> dict[str, State]:
        found: dict[str, State] = {}
        for part in frame.sent or ():
            for number in part.messages:
                for source in _held(playback.messages[number], playback):
                    if source in self._ways:
                        found.setdefault(source, _in_section(part.layer))
        return found


def _held(message: PlaybackMessage, playback: Playback) -> Iterable[str]:
    if not message.composed:
        return (message.id,)
    held = (*message.quotes, *message.derived)
    return [playback.messages[x].id if isinstance(x, int) else x for x in held]
