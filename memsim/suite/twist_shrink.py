"""Find the smallest conversation in which a relation still flips an answer, as a scenario file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from memsim.clock import stamp
from memsim.errors import MemsimError
from memsim.message import Message
from memsim.scenario.document import parse
from memsim.scenario.relations import OTHERS, RELATIONS, twisted
from memsim.scenario.scenario_loader import make_scenario
from memsim.scenario.script import Ask, Probe, Scenario, Turn
from memsim.suite.cases import CaseSpec
from memsim.suite.play import make_strategy, play_scenario
from memsim.suite.twist_play import TwistedQuestion, probe_lines

MOST_PLAYS: Final = 160
"""Conversations that are tried at most."""

_AROUND: Final = (0, 1, 4, 16)
"""Turns around the evidence with which the search begins, if they are enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrunkPair:
    """A conversation that still flips.

    Attributes:
        text: the scenario file.
        turns: how many it has.
        before: how many the conversation had.
    """

    text: str
    turns: int
    before: int


def shrink(case: CaseSpec, pair: TwistedQuestion) -> ShrunkPair | None:
    """The smallest conversation found in which the answer still flips; None if none does.

    A turn is left out where the flip stays without it. Restarts, grants and erasures of the script
    are left out throughout, and another conversation of the dataset cannot be told beside a file.
    """
    if pair.relation == OTHERS:
        return None
    scenario = case.scenario.load()
    turns, probe = _until_asked(scenario, pair.plain["probe"], case.seed)
    if probe is None:
        return None
    trials = _Trials(case, pair, probe)
    kept = next((some for some in _beginnings(turns, probe) if trials.flips(some)), None)
    if kept is None:
        return None
    kept = _without_needless(kept, trials.flips)
    return ShrunkPair(text=trials.text(kept), turns=len(kept), before=len(turns))


def _until_asked(scenario: Scenario, wanted: str, seed: int) -> tuple[list[Turn], Probe | None]:
    turns: list[Turn] = []
    for event in scenario.events(seed):
        if isinstance(event, Turn):
            turns.append(event)
        elif isinstance(event, Ask) and event.probe.id == wanted:
            return turns, event.probe
    return turns, None


def _beginnings(turns: list[Turn], probe: Probe) -> Iterator[list[Turn]]:
    """Parts of the conversation around the evidence, the smallest first; at last all of it."""
    facts = {fact.source for t in turns for fact in t.facts if fact.id in probe.facts}
    sources = facts.union(probe.evidence)
    places = [n for n, t in enumerate(turns) if any(m.id in sources for m in (*t.heard, *t.reply))]
    for near in _AROUND if places else ():
        yield [t for n, t in enumerate(turns) if any(abs(n - place) <= near for place in places)]
    yield turns


def _without_needless(kept: list[Turn], flips: Callable[[list[Turn]], bool]) -> list[Turn]:
    """Leave out runs of turns, half as long each time, as long as the flip stays."""
    size = len(kept) // 2
    while size:
        place = 0
        while place < len(kept) and len(kept) > 1:
            fewer = kept[:place] + kept[place + size :]
            if fewer and flips(fewer):
                kept = fewer
            else:
                place += size
        size //= 2
    return kept


class _Trials:
    """Plays parts of a conversation plain and twisted, as the file would tell them."""

    def __init__(self, case: CaseSpec, pair: TwistedQuestion, probe: Probe) -> None:
        self._case, self._pair, self._probe = case, pair, probe
        self._left = MOST_PLAYS

    def flips(self, turns: list[Turn]) -> bool:
        """Whether the answer flips as it did; False once enough was tried."""
        if self._left <= 0:
            return False
        self._left -= 1
        try:
            scenario = make_scenario(parse(self.text(turns)), "shrunk.yaml")
        except MemsimError:
            return False
        relation = self._pair.relation
        times = RELATIONS[relation].budget
        before = self._line(scenario, self._case.budget)
        after = self._line(twisted(scenario, relation), self._case.budget * times)
        if not before or not after or before["error"] or after["error"]:
            return False
        return replace(self._pair, plain=before, twisted=after).answer == self._pair.answer

    def _line(self, scenario: Scenario, budget: int) -> dict[str, object]:
        spec = replace(self._case, budget=budget, bounds=())
        outcome = play_scenario(scenario, spec, partial(make_strategy, spec.strategy))
        return dict(next(iter(probe_lines(outcome).values()), {}))

    def text(self, turns: Sequence[Turn]) -> str:
        """The file: the head, the turns and the question."""
        pair = self._pair
        name = plain_name(pair.plain["probe"])
        about = f"memsim twist THIS_FILE -s {pair.strategy} --relation {pair.relation}"
        people = dict.fromkeys((*(t.principal for t in turns), self._probe.principal))
        head = [
            "memsim: 1",
            f"name: {_quoted(f'{pair.relation}_{name}')}",
            f"about: {_quoted(about)}",
            f"budget: {self._case.budget}",
            f"principals: [{', '.join(map(_quoted, people))}]",
            f"start: {_quoted(stamp(turns[0].time))}",
            "turns:",
        ]
        told, ids = _steps(turns)
        return "\n".join((*head, *told, "probes:", *_question(self._probe, ids), ""))


def _steps(turns: Sequence[Turn]) -> tuple[list[str], dict[str, str]]:
    """The steps of a file, and by id what each message is called there."""
    lines: list[str] = []
    ids: dict[str, str] = {}
    session = ""
    for turn in turns:
        if turn.session != session:
            session = turn.session
            lines.append(
                f"  - session: {{id: {_quoted(session)}, principal: {_quoted(turn.principal)}}}"
            )
        said = [*turn.heard, *turn.reply]
        for place, message in enumerate(said):
            role = "user" if message.role == "user" else "assistant"
            ids[message.id] = f"m{len(ids) + 1}"
            speaker = f", as: {_quoted(message.principal)}" if role == "user" else ""
            lines.append(
                f"  - {{{role}: {_quoted(_spoken(message))}{speaker}{_facts(turn, message)}}}"
            )
            if role == "user" and (place + 1 == len(said) or said[place + 1].role == "user"):
                # A user's message without a reply would get one.
                ids[f"{message.id} reply"] = f"m{len(ids) + 1}"
                lines.append('  - {assistant: "Yes."}')
    return lines, ids


def _spoken(message: Message) -> str:
    return message.text.strip() or "…"


def _facts(turn: Turn, message: Message) -> str:
    found = {
        f.id: f.value for f in turn.facts if f.source == message.id and f.value in message.text
    }
    if not found:
        return ""
    return f", facts: {{{', '.join(f'{_quoted(k)}: {_quoted(v)}' for k, v in found.items())}}}"


def _question(probe: Probe, ids: dict[str, str]) -> Iterator[str]:
    keys: dict[str, object] = {"ask": probe.ask}
    keys["expect"] = "unknown" if probe.unanswerable else list(probe.expect)
    if probe.forbid:
        keys["not"] = list(probe.forbid)
    if probe.choices:
        keys["choices"] = list(probe.choices)
    keys |= {"ability": probe.ability, "match": probe.match, "as": probe.principal}
    there = [ids[source] for source in probe.evidence if source in ids]
    if there:
        keys["evidence"] = there
    keys["derived"] = not probe.unanswerable
    yield f"  {plain_name(probe.id)}:"
    yield from (f"    {key}: {_quoted(value)}" for key, value in keys.items())


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def plain_name(probe: str) -> str:
    """The id of a question as a name that a scenario and a file may have."""
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in probe)


def write_shrunk(folder: Path, name: str, found: ShrunkPair) -> Path:
    """Write the file into a folder, which is made where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(found.text, encoding="utf-8")
    return path
