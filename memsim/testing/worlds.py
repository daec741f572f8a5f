"""Play generated cases through a strategy, and record everything it shows."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.clock import Clock
from memsim.context import Context, ContextBuilder
from memsim.errors import BudgetUnsatisfiable, MemsimError, describe_error
from memsim.models.registry import load_embedder
from memsim.replay.player import Player
from memsim.strategy import Environment, Event, Forget, Grant, Query, Strategy, Surface
from memsim.testing.case_tokens import counter_of
from memsim.testing.check_cases import (
    TINY_BUDGETS,
    Case,
    CaseElapse,
    CaseEvent,
    CaseForget,
    CaseGrant,
    CaseTurn,
)
from memsim.testing.claims import Claims
from memsim.testing.folders import throwaway
from memsim.testing.model_behaviours import BehavingModel

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from memsim.message import Message
    from memsim.models import Embedder

SEED = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A strategy under check."""

    ref: str
    make: Callable[[Environment], Strategy]
    claims: Claims = field(default_factory=Claims)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """The context that one question got.

    Attributes:
        context: empty when the budget was too small; then `refused` holds the error.
        said: number of messages said before.
        delivered: whether the context was sent to the model.
    """

    query: Query
    context: Context = field(default_factory=Context)
    refused: BudgetUnsatisfiable | None = None
    said: int = 0
    delivered: bool = False

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages of all sections, in order."""
        return tuple(m for s in self.context.sections for m in s.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEnd:
    """State of a memory after one event of the case.

    Attributes:
        requests: number of requests to write a summary or facts.
        bad: how many of them got a text that is no summary.
        held: message ids on any surface; None where surfaces are not read.
    """

    event: CaseEvent
    said: int
    events: tuple[Event, ...]
    requests: int
    bad: int
    held: frozenset[str] | None
    summed: frozenset[str] = frozenset()


@dataclass(slots=True)
class TrialTranscript:
    """Everything observed in one world.

    Attributes:
        failed: the memsim error that ended the play.
        crashed: any other exception that ended the play, in one line.
    """

    said: list[Message] = field(default_factory=list)
    sights: list[Sight] = field(default_factory=list)
    ends: list[TrialEnd] = field(default_factory=list)
    forgotten: set[str] = field(default_factory=set)
    failed: MemsimError | None = None
    crashed: str = ""

    @property
    def served(self) -> list[Sight]:
        """Questions that got a context."""
        return [sight for sight in self.sights if sight.refused is None]


@lru_cache(maxsize=1)
def embedder() -> Embedder:
    """The hashing embedder, shared by all worlds so that each text is embedded once."""
    return load_embedder("hash")


class World:
    """One strategy that plays a case.

    Args:
        subject: the strategy under check.
        case: its budget and model behaviour hold in this world.
        looking: read the surfaces after every event.
        asking: put the case's question after every turn, as a probe does.
        embed: makes the embedder; the hashing embedder by default.
    """

    def __init__(
        self,
        subject: Subject,
        case: Case,
        *,
        looking: bool = False,
        asking: bool = False,
        embed: Callable[[], Embedder] = embedder,
    ) -> None:
        self.subject = subject
        self.case = case
        self.counter = counter_of(case.tokenizer)
        self.build = ContextBuilder(self.counter)
        self.clock = Clock()
        self.model = BehavingModel(case.behaviour, self.counter, self.clock, case.good_first)
        self.transcript = TrialTranscript()
        self._folder: TemporaryDirectory[str] | None = None
        self._asking = asking
        self._looking = looking and "surfaces" in subject.claims.has
        self._player = Player(
            subject.make,
            Environment(
                clock=self.clock,
                model=self.model,
                counter=self.counter,
                embed=embed,
                folder=self._private,
                budget=case.budget,
                random=random.Random(SEED),
            ),
        )
        self._player.open()

    @property
    def memory(self) -> Strategy:
        """The strategy in play; another object after a restart."""
        return self._player.strategy

    @property
    def folder_name(self) -> str:
        """The path of the private folder; empty where the strategy has asked for none."""
        return self._folder.name if self._folder is not None else ""

    def close(self) -> None:
        """Release the strategy and its folder; an error now counts as a crash."""
        with self._watched():
            self._player.close()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    @property
    def over(self) -> bool:
        """Whether an error has ended the play."""
        return bool(self.transcript.failed or self.transcript.crashed)

    def play(self, events: Iterable[CaseEvent]) -> TrialTranscript:
        """Play events as a replay does, until the strategy raises an error."""
        with self._watched():
            for event in events:
                self._one(event)
        return self.transcript

    def ask(
        self, text: str, who: str, *, session: str | None = None, budget: int | None = None
    ) -> Sight:
        """Ask a question, as a probe does, and record it in the transcript."""
        query = self.query(text, who, session=session, budget=budget)
        with self._watched():
            return self._sight(query, ranked=True)
        return Sight(query=query)

    def query(
        self, text: str, who: str, *, session: str | None = None, budget: int | None = None
    ) -> Query:
        """A question as a probe asks it, in the asker's latest session."""
        turns = self.case.turns
        latest = next((t.session for t in reversed(turns) if t.who == who), f"{who}-1")
        return Query(
            text=text,
            principal=who,
            session=latest if session is None else session,
            time=self.clock.now(),
            turn=turns[-1].number if turns else 0,
            budget=self.case.budget if budget is None else budget,
            evidence=tuple(m.id for m in self.case.messages)[::3] if self._told_evidence else (),
        )

    def context_text(self, query: Query) -> str:
        """The ranked context of a question as text, or the refusal when its budget is too small."""
        try:
            return repr(self.memory.context(query).ranked())
        except BudgetUnsatisfiable as error:
            return f"refused: {error}"

    def restart(self) -> None:
        """Save the strategy, and replace it by another instance that loads the saved state."""
        self._player.restart()

    def resume(self, state: str, before: Case) -> None:
        """Load a state that was saved after a case, without playing that case."""
        self.clock.set(before.now)
        self.memory.load(json.loads(state))
        self.transcript.said.extend(before.messages)

    def saved(self) -> str:
        """The saved state as JSON text with sorted keys."""
        return json.dumps(self.memory.save(), allow_nan=False, sort_keys=True)

    def held(self, viewer: str | None = None) -> frozenset[str]:
        """Ids of the messages on any surface."""
        return _ids(self.memory.surfaces(viewer))

    @property
    def _told_evidence(self) -> bool:
        return self.subject.claims.control == "evidence"

    def _one(self, event: CaseEvent) -> None:
        writing, bad = self.model.written, len(self.model.bad)
        if isinstance(event, CaseTurn):
            self.model.turn = event.number
            self._player.turn(
                event, hear=self.transcript.said.append, send=lambda: self._deliver(event)
            )
            if self._asking:
                with self.model.unnoticed():
                    self._sight(self._asked(event, self.case.questions[0]))
        elif isinstance(event, CaseElapse):
            self._player.elapse(event.now)
        elif isinstance(event, CaseForget):
            request = Forget(principal=event.who, text=event.text, sources=event.sources)
            self.transcript.forgotten.update(self._player.forget(request).removed)
        elif isinstance(event, CaseGrant):
            self._player.grant(
                Grant(
                    owner=event.owner,
                    viewer=event.viewer,
                    sources=event.sources,
                    revoked=event.revoked,
                )
            )
        surfaces = list(self.memory.surfaces()) if self._looking else []
        self.transcript.ends.append(
            TrialEnd(
                event=event,
                said=len(self.transcript.said),
                events=tuple(self._player.events),
                requests=self.model.written - writing,
                bad=len(self.model.bad) - bad,
                held=_ids(surfaces) if self._looking else None,
                summed=_ids(s for s in surfaces if s.tier == "summary"),
            )
        )
        self._player.events.clear()

    def _deliver(self, turn: CaseTurn) -> None:
        query = self._asked(turn, turn.heard[-1].text if turn.heard else "")
        sight = self._sight(query, delivered=True)
        if sight.refused is None:
            self._player.deliver(sight.context)

    def _asked(self, turn: CaseTurn, text: str) -> Query:
        return Query(
            text=text,
            principal=turn.who,
            session=turn.session,
            time=turn.time,
            turn=turn.number,
            budget=self.case.budget,
            evidence=self._evidence(turn.number) if self._told_evidence else (),
        )

    def _evidence(self, turn: int) -> tuple[str, ...]:
        return tuple(m.id for m in self.transcript.said if m.turn != turn)[::3]

    def _sight(self, query: Query, *, delivered: bool = False, ranked: bool = False) -> Sight:
        context = Context()
        refused: BudgetUnsatisfiable | None = None
        try:
            context = self.memory.context(query)
            context = context.ranked() if ranked else context
        except BudgetUnsatisfiable as error:
            refused = error
        said = len(self.transcript.said)
        sight = Sight(query=query, context=context, refused=refused, said=said, delivered=delivered)
        self.transcript.sights.append(sight)
        return sight

    def _private(self) -> Path:
        if self._folder is None:
            self._folder = throwaway()
        return Path(self._folder.name)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except MemsimError as error:
            self.transcript.failed = error
        except Exception as error:  # noqa: BLE001 - a stranger's code: whatever it raises is a finding
            self.transcript.crashed = describe_error(error)[:300]


_LOADS = frozenset({"save_and_load", "restarts_change_nothing"})


def _ids(surfaces: Iterable[Surface]) -> frozenset[str]:
    return frozenset(i for s in surfaces for i in s.sources)


class Trial:
    """The worlds in which one case is played through one strategy; made on first use.

    Args:
        number: the number of the case among those of a check; None for a case of its own, in which
            everything is measured.
    """

    def __init__(self, subject: Subject, case: Case, number: int | None = None) -> None:
        self.subject = subject
        self.case = case
        self.number = number
        self._main: World | None = None
        self._again: World | None = None
        self._open: list[World] = []

    @property
    def main(self) -> World:
        """The world that has played the case and its questions; callers must not change it."""
        if self._main is None:
            self._main = World(self.subject, self.case, looking=True, asking=True)
            self._open.append(self._main)
            self._main.play(self.case.events)
            self._ask_with_little(self._main)
            for who in self.case.principals:
                for text in self.case.questions:
                    if not self._main.over:
                        self._main.ask(text, who)
        return self._main

    @property
    def again(self) -> World:
        """A second world that has played the case, beside one that played half of it backwards.

        Invariants share it: they may ask it for contexts, and change nothing.
        """
        if self._again is None:
            self._again, beside = self.world(), self.world()
            backwards = reversed(self.case.events)
            for number, (event, other) in enumerate(zip(self.case.events, backwards, strict=True)):
                self._again.play((event,))
                if isinstance(other, CaseTurn) and not beside.over and number % 2 == 0:
                    beside.play((other,))
                if self._again.over:
                    break
        return self._again

    def one_of(self, count: int, place: int = 0) -> bool:
        """Whether this case is the one of so many in which something costly is measured."""
        chosen = self.number is None or self.number % count == place % count
        return chosen and bool(self.case.turns)

    def _ask_with_little(self, world: World) -> None:
        # Budgets of a few tokens: others in each case, so that few are asked for at a time.
        first = len(self.case.messages) % 3
        for who in self.case.principals[:1]:
            for budget in (0, *TINY_BUDGETS)[first::3]:
                if not world.over:
                    world.ask(self.case.questions[0], who, budget=budget)

    @property
    def transcript(self) -> TrialTranscript:
        """Everything observed in the main world."""
        return self.main.transcript

    def world(self, case: Case | None = None) -> World:
        """A new world, in which nothing was played."""
        made = World(self.subject, self.case if case is None else case)
        self._open.append(made)
        return made

    def played(
        self, case: Case | None = None, *, embed: Callable[[], Embedder] = embedder
    ) -> World:
        """A new world that has played a case."""
        made = World(self.subject, self.case if case is None else case, embed=embed)
        self._open.append(made)
        made.play(made.case.events)
        return made

    def loaded(self, state: str) -> World:
        """A new world that has loaded a state that was saved when the case had been played."""
        made = self.world()
        made.clock.set(self.main.clock.now())
        made.model.turn = self.main.model.turn
        made.memory.load(json.loads(state))
        return made

    def copy(self) -> World:
        """A new world with what the main one holds: played anew, or loaded in every second case.

        A state is loaded in less time; where a load is declared to be wrong, nothing is loaded.
        """
        saves = (
            "save" in self.subject.claims.has and not _LOADS & self.subject.claims.departs.keys()
        )
        if saves and self.number is not None and self.number % 2:
            return self.loaded(self.main.saved())
        return self.played()

    def close(self) -> None:
        """Release everything."""
        for world in self._open:
            world.close()
        self._open.clear()
        self._main = self._again = None
