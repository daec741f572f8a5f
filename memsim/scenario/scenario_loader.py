"""Loads scenario files: finds them, checks them and makes what plays their events."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

from memsim.clock import stamp
from memsim.errors import ErrorCollector, ScenarioError
from memsim.heap import garbage_pause
from memsim.scenario import filler
from memsim.scenario.conversation_step import RecordedConversation, read_conversations
from memsim.scenario.document import (
    MappingNode,
    Node,
    ScalarNode,
    decode,
    nearest_name,
    parse,
    quote,
    read_text,
)
from memsim.scenario.filler import SeededVoice
from memsim.scenario.generator.story_script import generated_plan
from memsim.scenario.narrator import Narrator, ScriptExchange, repetition, script_beats
from memsim.scenario.placement import PlacedProbe, place_probes
from memsim.scenario.recorded_turns import recorded_turns
from memsim.scenario.script import (
    UNKNOWN,
    Ask,
    ElapseEvent,
    Fact,
    ForgetEvent,
    GrantEvent,
    Probe,
    RestartEvent,
    Scenario,
    ScriptEvent,
    Turn,
)
from memsim.scenario.script_files import has_memsim_key, read_bytes, scenario_files
from memsim.scenario.script_plan import (
    PLAN,
    VERSION,
    AskHere,
    Filler,
    Forgetting,
    Gap,
    OpenSession,
    Plan,
    Repeat,
    Restart,
    Share,
    UseTools,
)
from memsim.scenario.survey import Survey, survey
from memsim.scenario.value_kinds import fold_name
from memsim.strategy import Forget, SentContext


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedScript:
    """A script that has been checked and can be played; it can be pickled.

    Attributes:
        due: probes by the turn after which they are asked.
        marked: probes by id, which `ask` steps put.
        final: probes asked at the end.
    """

    plan: Plan
    values: frozenset[str]
    due: Mapping[int, tuple[Probe, ...]]
    marked: Mapping[str, Probe]
    final: tuple[Probe, ...]

    def play(self, seed: int) -> Iterator[ScriptEvent]:
        """The script's events for a seed; a short script's are made once for all its cases."""
        global _LAST  # noqa: PLW0603 - one script at a time, so that a suite keeps no more in mind
        script, of, events = _LAST
        if script is self and of == seed:
            return iter(events)
        made = _Player(self, seed).events()
        if not self._short:
            return made
        events = tuple(made)
        _LAST = self, seed, events
        return iter(events)

    @property
    def _short(self) -> bool:
        steps = self.plan.turns
        return len(steps) <= _SHORT and not any(isinstance(step, _LONG) for step in steps)


_SHORT = 100
"""Steps of a script whose events are all held at once."""

_LONG = (Filler, Repeat, UseTools, RecordedConversation)
"""Steps that may generate any number of turns, or of words."""

_LAST: tuple[CheckedScript | None, int, tuple[ScriptEvent, ...]] = (None, 0, ())


class _Player:
    def __init__(self, performance: CheckedScript, seed: int) -> None:
        plan = performance.plan
        self._script = performance
        self._at = Narrator(plan, SeededVoice(plan, performance.values, seed))
        self._sources: dict[str, list[str]] = {}
        self._sent: SentContext | None = None

    def events(self) -> Iterator[ScriptEvent]:
        for beat in script_beats(self._script.plan.turns):
            if isinstance(beat, Filler):
                yield from self._filler(beat)
            elif isinstance(beat, RecordedConversation):
                yield from self._recorded(beat)
            elif isinstance(beat, ScriptExchange):
                yield from self._exchange(beat)
            else:
                yield from self._other(beat)
        yield from self._asks(self._script.final)

    def _filler(self, step: Filler) -> Iterator[ScriptEvent]:
        due = self._script.due
        for turn in self._at.filler(step):
            yield turn
            if turn.number in due:
                yield from self._asks(due[turn.number])

    def _recorded(self, step: RecordedConversation) -> Iterator[ScriptEvent]:
        due = self._script.due
        session = ""
        for turn, following in recorded_turns(step, self._at):
            # What is asked after a turn is what the agent needed in the next one.
            self._sent = following
            if turn.session != session:
                session = turn.session
                yield ElapseEvent(now=turn.time)
            yield turn
            yield from self._asks(due.get(turn.number, ()))

    def _exchange(self, exchange: ScriptExchange) -> Iterator[ScriptEvent]:
        turn = self._at.exchange(exchange)
        self._remember(turn)
        yield turn
        yield from self._asks(self._script.due.get(turn.number, ()))

    def _remember(self, turn: Turn) -> None:
        fact: Fact
        for fact in turn.facts:
            self._sources.setdefault(fact.id, []).append(fact.source)

    def _other(self, step: object) -> Iterator[ScriptEvent]:
        if isinstance(step, Gap):
            yield self._at.gap(step)
        elif isinstance(step, OpenSession):
            yield from _present(self._at.open(step))
        elif isinstance(step, AskHere):
            yield from self._asks(self._script.marked[name] for name in step.value)
        elif isinstance(step, Share):
            yield GrantEvent(
                owner=step.owner, viewer=step.viewer, facts=step.facts, revoked=step.revoked
            )
        elif isinstance(step, Forgetting):
            yield self._forget(step)
        elif isinstance(step, Restart):
            yield RestartEvent()

    def _forget(self, step: Forgetting) -> ForgetEvent:
        sources = dict.fromkeys(s for fact in step.facts for s in self._sources.get(fact, ()))
        named = ", ".join(fact.replace("_", " ") for fact in step.facts)
        request = Forget(
            principal=step.who or self._at.principal,
            text=step.say or f"Please forget what I told you about this: {named}.",
            sources=tuple(sources),
        )
        return ForgetEvent(request=request, facts=step.facts)

    def _asks(self, probes: Iterable[Probe]) -> Iterator[Ask]:
        at = self._at
        for probe in probes:
            yield Ask(probe=probe, turn=at.turn, session=at.session, time=at.now, sent=self._sent)


def _present(elapsed: ElapseEvent | None) -> tuple[ElapseEvent, ...]:
    return (elapsed,) if elapsed else ()


_encode = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode


@garbage_pause()
def make_scenario(root: Node | None, path: Path | str) -> Scenario:
    """Make a scenario from a document, whether read from a file or built in Python.

    Raises:
        ScenarioError: it is wrong; without a path.
    """
    plan = PLAN.read(_document(root), "the scenario")
    plan = generated_plan(plan)
    plan = replace(plan, turns=read_conversations(plan.turns, Path(path)))
    found = survey(plan)
    placed = place_probes(plan, found)
    values = _check_generated(plan, found)
    return _scenario(plan, path, found, placed, values)


def _document(root: Node | None) -> MappingNode:
    if root is None or (isinstance(root, ScalarNode) and root.null):
        raise ScenarioError(f"is empty; a scenario begins with memsim: {VERSION}", line=1)
    if not isinstance(root, MappingNode):
        raise ScenarioError(
            f"a scenario is a mapping that begins with memsim: {VERSION}", line=root.line
        )
    first = next(iter(root.entries), "")
    if "memsim" not in root.entries:
        hint = nearest_name(first, ("memsim",))
        raise ScenarioError(
            f"does not begin with memsim: {VERSION}", line=root.line_of(first), hint=hint
        )
    version = root.entries["memsim"]
    if not (isinstance(version, ScalarNode) and version.plain and version.text == str(VERSION)):
        said = quote(version.text) if isinstance(version, ScalarNode) else "a collection"
        raise ScenarioError(
            f"memsim must be {VERSION}, the version of this format, not {said}", line=version.line
        )
    if first != "memsim":
        raise ScenarioError("memsim must be the first key", line=root.line_of("memsim"))
    return root


def _check_generated(plan: Plan, found: Survey) -> frozenset[str]:
    lines = {
        answer: probe.line
        for probe in reversed(plan.probes)
        for answer in (*probe.value.expect, *probe.value.forbid)
        if answer != UNKNOWN
    }
    lines.update(found.values())
    values = frozenset(lines)
    domains = [*found.domains, *(["notes"] if found.acknowledged else [])]
    for domain in domains:
        try:
            filler.patterns(domain, values)
        except filler.UnavoidableWordError as error:
            raise ScenarioError(
                f"{quote(error.value)} is so common a word that generated talk cannot avoid it; "
                "plant more words",
                line=lines[error.value],
            ) from None
    return values


def _scenario(
    plan: Plan,
    path: Path | str,
    found: Survey,
    placed: tuple[PlacedProbe, ...],
    values: frozenset[str],
) -> Scenario:
    due: dict[int, tuple[Probe, ...]] = {}
    for each in placed:
        if not (each.marked or each.final):
            due[each.moment.turn] = (*due.get(each.moment.turn, ()), each.probe)
    performance = CheckedScript(
        plan=plan,
        values=values,
        due=due,
        marked={p.probe.id: p.probe for p in placed if p.marked},
        final=tuple(p.probe for p in placed if p.final),
    )
    return Scenario(
        name=plan.name,
        path=path,
        play=performance.play,
        turns=found.end.turn,
        probes=tuple(p.probe for p in placed),
        about=plan.about,
        principals=plan.principals,
        budget=plan.budget,
        expect={bound.name: bound.value for bound in plan.expect},
        expect_lines={b.name: b.line for b in plan.expect if b.line is not None},
        fingerprint=fingerprint(plan, generated=bool(found.domains)),
        tags=plan.tags,
        recorded=_only_recorded(plan),
    )


def _only_recorded(plan: Plan) -> tuple[bytes, ...]:
    steps = [s for s in plan.turns if isinstance(s, RecordedConversation)]
    return tuple(s.data for s in steps) if len(steps) == len(plan.turns) else ()


def fingerprint(plan: Plan, *, generated: bool) -> str:
    """Sha256 of a script's meaning, independent of its path and layout.

    A key that only repeats a default does not count, and neither does what the replay never sees:
    bounds, tags and the description.
    """
    plan = replace(plan, about="", tags=(), expect=())
    said = {"plan": _canonical(plan), "filler": filler.VERSION if generated else 0}
    return hashlib.sha256(_encode(said).encode()).hexdigest()


def _canonical(value: object) -> object:
    kind: Any = type(value)
    if kind is str or kind is int or value is None:
        return value
    if kind is tuple:
        return [_canonical(item) for item in value]  # type: ignore[attr-defined]
    if isinstance(value, Repeat):
        # Two repetitions tell where the count stands, and are read as any other steps are.
        read = (step for n in range(1, min(value.times, 2) + 1) for step in repetition(value, n))
        return [value.times, _canonical(tuple(read))]
    if isinstance(value, datetime):
        return stamp(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    parts = _fields(kind)
    return value if parts is None else _record(value, parts)


def _record(value: object, parts: tuple[tuple[str, object], ...]) -> dict[str, object]:
    said: dict[str, object] = {"": type(value).__name__}
    for name, default in parts:
        part = getattr(value, name)
        if part is not default and part != default:
            said[name] = part if type(part) is str else _canonical(part)
    return said


@cache
def _fields(kind: type) -> tuple[tuple[str, object], ...] | None:
    if not is_dataclass(kind):
        return None
    return tuple((f.name, f.default) for f in fields(kind) if f.repr and f.name != "line")


def load_scenarios(path: Path | str) -> list[Scenario]:
    """The scenarios of a file, or of all files below a folder, sorted by path.

    Files in a folder that are not scenarios (YAML without the key `memsim`) are left out.

    Raises:
        ScenarioError: a scenario is wrong, or two have one name; with path and line.
    """
    path = Path(path)
    if not path.is_dir():
        return [load_scenario(path)]
    errors = ErrorCollector()
    made = [errors.read(partial(_load, file, marked=True)) for file in scenario_files(path)]
    found = [scenario for scenario in made if scenario is not None]
    errors.end()
    _check_unique(found)
    return found


def load_scenario(path: Path) -> Scenario:
    """The scenario of one file.

    Raises:
        ScenarioError: it is wrong; with path and line.
    """
    scenario = _load(path, marked=False)
    assert scenario is not None  # noqa: S101 - only a file without the mark may be left out
    return scenario


def _load(path: Path, *, marked: bool) -> Scenario | None:
    try:
        data = read_bytes(path)
        if marked and not has_memsim_key(data):
            return None
        return make_scenario(parse(decode(data)), path)
    except ScenarioError as error:
        raise error.shown_as(lambda _none: path) from None


def _check_unique(scenarios: list[Scenario]) -> None:
    seen: dict[str, Scenario] = {}
    for scenario in scenarios:
        twin = seen.setdefault(fold_name(scenario.name), scenario)
        if twin is not scenario:
            raise ScenarioError(
                f"the name {scenario.name!r} is also that of {twin.path}",
                path=scenario.path,
                line=_name_line(Path(scenario.path)),
            )


def _name_line(path: Path) -> int | None:
    root = parse(read_text(path))
    return root.line_of("name") if isinstance(root, MappingNode) else None
