"""Plays a checked script: the events of a seed, one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memsim.scenario.exchange import Exchange, beats
from memsim.scenario.narrator import Narrator
from memsim.scenario.plan import (
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
from memsim.scenario.script import (
    Ask,
    Elapsed,
    Fact,
    ForgetAsked,
    Granted,
    Probe,
    Restarted,
    ScriptEvent,
    Turn,
)
from memsim.scenario.voice import SeededVoice
from memsim.strategy import Forget


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance:
    """A script that has been checked and can be played; it can be pickled.

    Attributes:
        plan: what happens.
        values: what no generated line may say.
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

_LONG = (Filler, Repeat, UseTools)
"""Steps that may generate any number of turns, or of words."""

_LAST: tuple[Performance | None, int, tuple[ScriptEvent, ...]] = (None, 0, ())


class _Player:
    def __init__(self, performance: Performance, seed: int) -> None:
        plan = performance.plan
        self._script = performance
        self._at = Narrator(plan, SeededVoice(plan, performance.values, seed))
        self._sources: dict[str, list[str]] = {}

    def events(self) -> Iterator[ScriptEvent]:
        for beat in beats(self._script.plan.turns):
            if isinstance(beat, Filler):
                yield from self._filler(beat)
            elif isinstance(beat, Exchange):
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

    def _exchange(self, exchange: Exchange) -> Iterator[ScriptEvent]:
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
            yield Granted(
                owner=step.owner, viewer=step.viewer, facts=step.facts, revoked=step.revoked
            )
        elif isinstance(step, Forgetting):
            yield self._forget(step)
        elif isinstance(step, Restart):
            yield Restarted()

    def _forget(self, step: Forgetting) -> ForgetAsked:
        sources = dict.fromkeys(s for fact in step.facts for s in self._sources.get(fact, ()))
        named = ", ".join(fact.replace("_", " ") for fact in step.facts)
        request = Forget(
            principal=step.who or self._at.principal,
            text=step.say or f"Please forget what I told you about this: {named}.",
            sources=tuple(sources),
        )
        return ForgetAsked(request=request, facts=step.facts)

    def _asks(self, probes: Iterable[Probe]) -> Iterator[Ask]:
        at = self._at
        for probe in probes:
            yield Ask(probe=probe, turn=at.turn, session=at.session, time=at.now)


def _present(elapsed: Elapsed | None) -> tuple[Elapsed, ...]:
    return (elapsed,) if elapsed else ()
