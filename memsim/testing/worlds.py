"""A strategy in a world of its own: it is told a case, asked, and everything it shows is kept."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.clock import Clock
from memsim.context import Context, ContextBuilder
from memsim.errors import BudgetUnsatisfiable, MemsimError, StrategyError
from memsim.models.registry import load_embedder
from memsim.strategy import Environment, Event, Forget, Grant, Query, Strategy
from memsim.testing.check_cases import Case, CaseElapse, CaseEvent, CaseForget, CaseGrant, CaseTurn
from memsim.testing.claims import Claims
from memsim.testing.folders import throwaway
from memsim.testing.model_behaviours import BehavingModel
from memsim.tokens import CharsOverFour, TokenCounter

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from memsim.message import Message
    from memsim.models import Embedder

SEED = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A strategy to be checked.

    Attributes:
        ref: as it was named.
        make: makes one from its environment.
        claims: what it can be held to.
    """

    ref: str
    make: Callable[[Environment], Strategy]
    claims: Claims = field(default_factory=Claims)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What one question was answered with.

    Attributes:
        context: empty where the budget could not be kept, which `refused` tells.
        said: how many messages had been said.
        delivered: whether it was really sent.
    """

    query: Query
    context: Context = field(default_factory=Context)
    refused: BudgetUnsatisfiable | None = None
    said: int = 0
    delivered: bool = False

    @property
    def messages(self) -> tuple[Message, ...]:
        """Its messages as the sections have them."""
        return tuple(m for s in self.context.sections for m in s.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEnd:
    """What had become of a memory when something was over.

    Attributes:
        event: what was over.
        said: how many messages had been said.
        events: what the strategy told of.
        requests: how often the model was asked to write.
        held: ids on any surface; None where the strategy does not tell.
        summed: those of them that stand in a summary.
    """

    event: CaseEvent
    said: int
    events: tuple[Event, ...]
    requests: int
    held: frozenset[str] | None
    summed: frozenset[str] = frozenset()


@dataclass(slots=True)
class TrialTranscript:
    """All that was seen of one play.

    Attributes:
        said: what was said, in order.
        forgotten: ids that were erased on request.
        failed: what the strategy or its model raised on purpose, which ended the play.
        crashed: what it should not have raised, in one line.
    """

    said: list[Message] = field(default_factory=list)
    sights: list[Sight] = field(default_factory=list)
    ends: list[TrialEnd] = field(default_factory=list)
    forgotten: set[str] = field(default_factory=set)
    failed: MemsimError | None = None
    crashed: str = ""

    @property
    def shown(self) -> list[Sight]:
        """The questions that got a context."""
        return [sight for sight in self.sights if sight.refused is None]


@lru_cache(maxsize=1)
def embedder() -> Embedder:
    """One embedder for all, which remembers what it embedded."""
    return load_embedder("hash")


class World:
    """One strategy and its surroundings.

    Args:
        subject: what is checked.
        case: whose circumstances hold.
        looking: look at the surfaces whenever something is over.
        embed: gives the embedder, where it is not the usual one.

    Attributes:
        memory: the strategy.
        model: what it may ask.
        transcript: what was seen.
    """

    def __init__(
        self,
        subject: Subject,
        case: Case,
        *,
        looking: bool = False,
        embed: Callable[[], Embedder] = embedder,
    ) -> None:
        self.subject = subject
        self._embed = embed
        self.case = case
        self.counter = TokenCounter(CharsOverFour())
        self.build = ContextBuilder(self.counter)
        self.clock = Clock()
        self.model = BehavingModel(case.behaviour, self.counter, self.clock)
        self.transcript = TrialTranscript()
        self._events: list[Event] = []
        self._folder: TemporaryDirectory[str] | None = None
        self._looking = looking and "surfaces" in subject.claims.has
        self.memory = self._made()

    def close(self) -> None:
        """Release the strategy and its folder; what it raises now is told as a crash."""
        with self._watched():
            self.memory.close()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    @property
    def over(self) -> bool:
        """Whether something was raised, so that nothing more can be asked."""
        return bool(self.transcript.failed or self.transcript.crashed)

    def play(self, events: Sequence[CaseEvent]) -> TrialTranscript:
        """Play events as a replay does, as far as the strategy comes."""
        with self._watched():
            for event in events:
                self._one(event)
        return self.transcript

    def ask(
        self, text: str, who: str, *, session: str | None = None, budget: int | None = None
    ) -> Sight:
        """Put a question, as a probe does; it is kept in the transcript."""
        query = self.query(text, who, session=session, budget=budget)
        with self._watched():
            return self._sight(query, ranked=True)
        return Sight(query=query)

    def query(
        self, text: str, who: str, *, session: str | None = None, budget: int | None = None
    ) -> Query:
        """A question as a probe puts it, in the asker's latest conversation."""
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

    def shown(self, query: Query) -> str:
        """What a question gets, ranking and all; that its budget cannot be kept is an answer."""
        try:
            return repr(self.memory.context(query).ranked())
        except BudgetUnsatisfiable as error:
            return f"refused: {error}"

    def restart(self) -> None:
        """Save, and go on with another instance that has loaded what was saved."""
        state = json.loads(json.dumps(self.memory.save(), allow_nan=False))
        self.memory.close()
        self.memory = self._made()
        self.memory.load(state)

    def resume(self, state: str, before: Case) -> None:
        """Go on from a state that was saved after some case, which is not played again."""
        self.clock.set(before.now)
        self.memory.load(json.loads(state))
        self.transcript.said.extend(before.messages)

    def saved(self) -> str:
        """The saved state as the bytes that a file would hold."""
        return json.dumps(self.memory.save(), allow_nan=False, sort_keys=True)

    def held(self, viewer: str | None = None, *, tier: str = "") -> frozenset[str]:
        """Ids of all that stands on any surface, or on those of one tier."""
        seen = (s for s in self.memory.surfaces(viewer) if tier in {"", s.tier})
        return frozenset(i for s in seen for i in s.sources)

    @property
    def _told_evidence(self) -> bool:
        return self.subject.claims.control == "evidence"

    def _one(self, event: CaseEvent) -> None:
        writing = self.model.written
        if isinstance(event, CaseTurn):
            self._turn(event)
        elif isinstance(event, CaseElapse):
            self.clock.set(event.now)
            self.memory.elapse(event.now)
        elif isinstance(event, CaseForget):
            request = Forget(principal=event.who, text=event.text, sources=event.sources)
            self.transcript.forgotten.update(self.memory.forget(request).removed)
        elif isinstance(event, CaseGrant):
            self.memory.grant(
                Grant(
                    owner=event.owner,
                    viewer=event.viewer,
                    sources=event.sources,
                    revoked=event.revoked,
                )
            )
        self.transcript.ends.append(
            TrialEnd(
                event=event,
                said=len(self.transcript.said),
                events=tuple(self._events),
                requests=self.model.written - writing,
                held=self.held() if self._looking else None,
                summed=self.held(tier="summary") if self._looking else frozenset(),
            )
        )
        self._events.clear()

    def _turn(self, turn: CaseTurn) -> None:
        self.clock.set(turn.time)
        for message in turn.heard:
            self._observe(message)
        for message in turn.reply:
            if message.role == "assistant":
                self._deliver(turn)
            self._observe(message)
        self.memory.end_turn()

    def _deliver(self, turn: CaseTurn) -> None:
        query = Query(
            text=turn.heard[-1].text if turn.heard else "",
            principal=turn.who,
            session=turn.session,
            time=turn.time,
            turn=turn.number,
            budget=self.case.budget,
            evidence=tuple(m.id for m in self.transcript.said)[::3] if self._told_evidence else (),
        )
        sight = self._sight(query, delivered=True)
        if sight.refused is None:
            self.memory.delivered(sight.context)

    def _observe(self, message: Message) -> None:
        self.transcript.said.append(message)
        self.memory.observe(message)

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

    def _made(self) -> Strategy:
        env = Environment(
            clock=self.clock,
            model=self.model,
            counter=self.counter,
            embed=self._embed,
            folder=self._private,
            budget=self.case.budget,
            random=random.Random(SEED),
            log=self._events.append,
        )
        return self.subject.make(env)

    def _private(self) -> Path:
        if self._folder is None:
            self._folder = throwaway()
        return Path(self._folder.name)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except StrategyError as error:
            self.transcript.failed = error
        except MemsimError as error:
            self.transcript.failed = error
        except Exception as error:  # noqa: BLE001 - a stranger's code: whatever it raises is a finding
            said = " ".join(str(error).split())
            self.transcript.crashed = f"{type(error).__name__}: {said}"[:300]


class Trial:
    """One case tried on one strategy: plays are made when they are asked for, and shared.

    Args:
        subject: what is checked.
        case: what it is told.
    """

    def __init__(self, subject: Subject, case: Case) -> None:
        self.subject = subject
        self.case = case
        self._main: World | None = None
        self._open: list[World] = []

    @property
    def main(self) -> World:
        """The case as it is, with the questions of its end; not to be changed by who looks."""
        if self._main is None:
            self._main = self.world(self.case, looking=True)
            self._main.play(self.case.events)
            for who in self.case.principals:
                for text in self.case.questions:
                    if not self._main.over:
                        self._main.ask(text, who)
        return self._main

    @property
    def transcript(self) -> TrialTranscript:
        """What was seen of the main play."""
        return self.main.transcript

    def world(self, case: Case | None = None, *, looking: bool = False) -> World:
        """A world of its own, in which nothing has happened yet."""
        made = World(self.subject, self.case if case is None else case, looking=looking)
        self._open.append(made)
        return made

    def played(
        self, case: Case | None = None, *, embed: Callable[[], Embedder] = embedder
    ) -> World:
        """A world of its own, after a case."""
        made = World(self.subject, self.case if case is None else case, embed=embed)
        self._open.append(made)
        made.play(made.case.events)
        return made

    def close(self) -> None:
        """Release everything."""
        for world in self._open:
            world.close()
        self._open.clear()
        self._main = None
