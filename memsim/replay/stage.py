"""One case in play: the strategy, the clock, and the account of what happened."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.clock import Clock
from memsim.context import TRIMMED_FIRST, Context
from memsim.errors import MemsimError, StrategyError
from memsim.message import ToolUse, composed
from memsim.models import Request
from memsim.replay.context_recorder import ContextRecorder, ContextTotals, by_section, common_start
from memsim.replay.contract import Watch, watch_asked, watch_fitted, watch_sent
from memsim.replay.fact_book import Chronicle, FactBook
from memsim.replay.strategy_calls import MeteredModel, calls_by_phase
from memsim.replay.tool_agent import (
    AgentTask,
    ToolAgent,
    question_message,
    results_text,
    shorten_text,
)
from memsim.scenario.script import Ask, ElapseEvent, ForgetEvent, GrantEvent, RestartEvent, Turn
from memsim.strategy import Environment, Event, Grant, Query, Strategy
from memsim.tokens import MESSAGE_OVERHEAD
from memsim.trace import EvidenceTrace, ProbeTrace, Trace, TurnRecord

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from memsim.context import Section
    from memsim.message import Message
    from memsim.models import Embedder, Model
    from memsim.scenario.script import Probe, Scenario, ScriptEvent
    from memsim.strategy import ForgetOutcome, Location
    from memsim.tokens import TokenCounter
    from memsim.trace import Age, AgentRound, Phase

    MakeStrategy = Callable[[Environment], Strategy]
    Evidence = tuple[tuple[str, str | None], ...]


class Stage:
    """Plays the events of one script, one at a time; the arguments are those of `replay`."""

    def __init__(
        self,
        scenario: Scenario,
        make: MakeStrategy,
        *,
        model: Model,
        embed: Callable[[], Embedder],
        counter: TokenCounter,
        budget: int,
        chance: random.Random,
        folder: Callable[[], Path],
        repeat: int,
        services: Mapping[str, str],
    ) -> None:
        self.trace = Trace()
        self.keep: Callable[[TurnRecord], None] = self.trace.turns.append
        self.recorder: ContextRecorder | None = None
        self._scenario = scenario
        self._make = make
        self._model = MeteredModel(model)
        self._foreign = calls_by_phase(self._model)
        self._budget = budget
        self._repeat = repeat
        self._counter = counter
        self._facts = FactBook()
        self._said = Chronicle(e for p in scenario.probes for e in p.evidence)
        self._watch = Watch(self._said.session_of)
        self._events: list[Event] = []
        self._rounds: list[AgentRound] = []
        self._compactions = 0
        self._before: tuple[Message, ...] = ()
        self._turn = 0
        self._playing: Turn | None = None
        self._first: tuple[Query, Context] | None = None
        self._strategy: Strategy | None = None
        self._env = Environment(
            clock=Clock(),
            model=self._model,
            counter=counter,
            embed=embed,
            random=chance,
            folder=folder,
            budget=budget,
            services=services,
            log=self._events.append,
        )
        self._build = self._env.build

    def open(self) -> None:
        """Make the strategy."""
        with self._foreign["write"]:
            self._strategy = self._make(self._env)

    def close(self) -> None:
        """Release the strategy, whatever happened before."""
        if self._strategy is None:
            return
        try:
            with self._foreign["maintain"]:
                self._strategy.close()
        except MemsimError as error:
            self.trace.error = self.trace.error or str(error)

    @property
    def strategy(self) -> Strategy:
        """The strategy in play; another one after each restart."""
        if self._strategy is None:
            raise StrategyError("the strategy was not made")
        return self._strategy

    def play(self, event: ScriptEvent) -> None:
        """Play one event."""
        if isinstance(event, Ask):
            self.trace.probes.append(self._ask(event))
            return
        self.ask_again()
        if isinstance(event, Turn):
            self._play_turn(event)
        elif isinstance(event, ElapseEvent):
            self._elapse(event)
        elif isinstance(event, GrantEvent):
            self._grant(event)
        elif isinstance(event, ForgetEvent):
            self.forget(event)
        elif isinstance(event, RestartEvent):
            self._restart()

    def ask_again(self) -> None:
        """Hold the strategy to its contract: what was asked since must have changed nothing.

        The first question of a point in the script is put once more after the last one. Where it
        gets something else, nothing that was asked so far counts.

        Raises:
            StrategyError: the same question gets another context.
        """
        first, self._first = self._first, None
        if first is None:
            return
        query, context = first
        logged = len(self._events)
        again = self._shown(query, asked=True)
        self._model.take()
        del self._events[logged:]
        if again != context:
            said = (
                f"context is not pure: asked again after turn {query.turn},"
                f" {query.text!r} got another context"
            )
            self._withdraw(said)
            raise StrategyError(said)

    def _withdraw(self, why: str) -> None:
        # Whatever the earlier questions got may hang on their order as well.
        self.trace.probes = [
            replace(asked, context=None, answer=None, evidence=(), overflow=0, error=why)
            for asked in self.trace.probes
        ]

    def _elapse(self, event: ElapseEvent) -> None:
        self._env.clock.set(event.now)
        with self._foreign["maintain"]:
            self.strategy.elapse(event.now)

    def _grant(self, event: GrantEvent) -> None:
        self._facts.grant(event)
        grant = Grant(
            owner=event.owner,
            viewer=event.viewer,
            sources=self._facts.sources(event.facts, event.owner),
            revoked=event.revoked,
            everything=event.everything,
        )
        self._watch.granted(grant.owner, grant.sources)
        with self._foreign["write"]:
            self.strategy.grant(grant)

    def _grant_again(self, turn: Turn) -> None:
        """What was granted holds for what was stated of it since."""
        for fact in turn.facts:
            for viewer in self._facts.viewers(fact):
                grant = Grant(owner=fact.principal, viewer=viewer, sources=(fact.source,))
                with self._foreign["write"]:
                    self.strategy.grant(grant)

    def forget(self, event: ForgetEvent) -> ForgetOutcome:
        """Ask the strategy to erase; what it says of it."""
        self.ask_again()
        request = event.request
        if not request.sources:
            request = replace(request, sources=self._facts.sources(event.facts))
        with self._foreign["write"]:
            outcome = self.strategy.forget(request)
        self._facts.forget(event.facts)
        self._watch.forgot(outcome.removed)
        if not outcome.supported:
            self._events.append(Event(kind="not-forgotten", sources=request.sources))
        return outcome

    def _restart(self) -> None:
        old = self.strategy
        saves = type(old).save is not Strategy.save
        with self._foreign["maintain"]:
            state = json.loads(json.dumps(old.save(), allow_nan=False)) if saves else None
            old.close()
            self._strategy = self._make(self._env)
            if state is not None:
                self._strategy.load(state)
        if not saves:
            # What is never written down is gone with the process; that is a finding, not an error.
            self._events.append(Event(kind="state-lost", detail="save is not implemented"))
            self._watch.lost()

    # -- turns

    def _play_turn(self, turn: Turn) -> None:
        self._turn, self._playing = turn.number, turn
        self._env.clock.set(turn.time)
        self._watch.whose = turn.principal
        planted = {f.source for f in turn.facts}
        for fact in turn.facts:
            self._facts.plant(fact)
            self._watch.planted(fact)
        for message in turn.heard:
            self._observe(message, planted)
        account = ContextTotals()
        calls: dict[str, ToolUse] = {}
        for message in turn.reply:
            if message.role == "assistant":
                account.add(*self._deliver(turn))
                calls = {b.id: b for b in message.blocks if isinstance(b, ToolUse)}
            elif calls:
                message = self._agent("write").replaced(message, calls, turn.principal)  # noqa: PLW2901
            self._observe(message, planted)
        with self._foreign["maintain"]:
            self.strategy.end_turn()
        self._grant_again(turn)
        self._record(turn, account)
        self._playing = None
        if self.recorder is not None:
            self.recorder.turn(turn.number, account.last, turn.facts)

    def _observe(self, message: Message, planted: set[str]) -> None:
        tokens = self._counter.message(message)
        self._said.hear(message, tokens, planted=message.id in planted)
        self._watch.heard(message, tokens, self.strategy)
        if self.recorder is not None:
            self.recorder.hear(message)
        with self._foreign["write"]:
            self.strategy.observe(message)

    def _deliver(self, turn: Turn) -> tuple[Context, int, int]:
        text = turn.heard[-1].text if turn.heard else ""
        query = Query(
            text=text,
            principal=turn.principal,
            session=turn.session,
            time=turn.time,
            turn=turn.number,
            budget=self._budget,
        )
        context, overflow, _ = self._context(query)
        with self._foreign["maintain"]:
            self.strategy.delivered(context)
        self._let_agent_work(context, turn)
        prompt = tuple(m for s in context.sections for m in s.messages)
        cached = self._counter.messages(common_start(self._before, prompt))
        self._before = prompt
        return context, overflow, cached

    def _context(self, query: Query, *, asked: bool = False) -> tuple[Context, int, frozenset[str]]:
        watch_asked(query, self.strategy)
        context = self._shown(query, asked=asked)
        if asked and self._first is None:
            self._first = (query, context)
        fitted, cut = self._build.fit(context, query.budget)
        watch_fitted(context, fitted, query.budget)
        gone = frozenset(i for m in cut for i in (*m.verbatim, *m.derived_from))
        return fitted, context.tokens - fitted.tokens, gone

    def _shown(self, query: Query, *, asked: bool) -> Context:
        with self._foreign["search"]:
            context = self.strategy.context(query)
            if not isinstance(context, Context):
                raise StrategyError(f"context returned {type(context).__name__}, not a Context")
            self._watch.shown(context, query)
            return context.ranked() if asked else context

    def _record(self, turn: Turn, account: ContextTotals) -> None:
        events = tuple(self._events)
        self._events.clear()
        if events:
            self._watch.told(events)
        self._compactions += sum(1 for e in events if e.kind == "compaction")
        moved = self._facts.track(account.last, turn.number, events) if account.last else {}
        self.keep(
            TurnRecord(
                turn=turn.number,
                session=turn.session,
                principal=turn.principal,
                time=turn.time,
                tokens=by_section(account.largest) if account.largest else None,
                sent=account.sent,
                contexts=account.contexts,
                cached=account.cached,
                overflow=account.overflow,
                moved=moved,
                events=events,
                calls=self._model.take(),
                agent=self._take_rounds(),
            )
        )

    def _agent(self, phase: Phase) -> ToolAgent:
        return ToolAgent(
            self._model,
            self.strategy,
            repeat=self._repeat,
            counter=self._counter,
            hold=self._foreign[phase],
            # What is called for a question is part of no turn.
            log=self._events.append if phase == "write" else lambda _event: None,
            keep=self._rounds.append,
        )

    def _let_agent_work(self, context: Context, turn: Turn) -> None:
        """The agent may use the memory's tools for what it was just told."""
        with self._foreign["write"]:
            tools = tuple(self.strategy.tools(turn.principal))
        if tools and turn.heard:
            there = context.verbatim
            heard = (m for m in turn.heard if m.id not in there)
            messages = (*context.messages(), *heard)
            task = AgentTask(tools, turn.principal, turn.time, self._budget)
            self._agent("write").work(messages, task)

    def _take_rounds(self) -> tuple[AgentRound, ...]:
        rounds = tuple(self._rounds)
        self._rounds.clear()
        return rounds

    # -- probes

    def _ask(self, ask: Ask) -> ProbeTrace:
        self._env.clock.set(ask.time)
        probe = ask.probe
        evidence = self._facts.evidence(probe)
        sources = tuple(source for source, _ in evidence)
        query = Query(
            text=question_text(probe),
            principal=probe.principal,
            session=ask.session,
            time=ask.time,
            turn=ask.turn,
            budget=max(0, self._budget - self._query_tokens(probe)),
            evidence=sources if self.strategy.control == "evidence" else (),
        )
        look = _Look()
        try:
            self._look(query, evidence, look)
        except MemsimError as error:
            look.error = str(error)
        if self.recorder is not None:
            self.recorder.probe(probe.id, ask.turn, look.context)
        return self._seen(ask, look, self._said.age(sources, ask.turn, ask.time))

    def _look(self, query: Query, evidence: Evidence, look: _Look) -> None:
        context, look.overflow, gone = self._context(query, asked=True)
        look.context = self._with_tools(context, query)
        look.evidence = self._evidence(evidence, query, look.context, gone)
        look.answer = self._answer(look.context, query)

    def _with_tools(self, context: Context, query: Query) -> Context:
        """The context with what the agent found by tools that only read."""
        with self._foreign["search"]:
            tools = tuple(t for t in self.strategy.tools(query.principal) if t.reads)
        if not tools:
            return context
        question = question_message(
            query.text,
            principal=query.principal,
            session=query.session,
            turn=query.turn,
            now=query.time,
        )
        task = AgentTask(tools, query.principal, query.time, query.budget)
        traffic = self._agent("search").work((*context.messages(), question), task)
        found = self._found(results_text(traffic), context, query)
        if not found.tokens:
            return context
        fitted, _ = self._build.fit(
            replace(context, sections=(*context.sections, found)), query.budget
        )
        return fitted

    def _found(self, text: str, context: Context, query: Query) -> Section:
        """What tools found, as much of it as there is room for when all else that may gives way."""
        stays = sum(s.tokens for s in context.sections if s.layer not in TRIMMED_FIRST)
        text = shorten_text(text, query.budget - stays - MESSAGE_OVERHEAD, self._counter)
        if not text:
            return self._build.section("tools", ())
        message = composed(
            "user",
            text,
            id=f"found:{query.turn}",
            derived_from=self._facts.stated(),
            time=query.time,
        )
        return self._build.section("tools", (message,))

    def _seen(self, ask: Ask, look: _Look, age: Age | None) -> ProbeTrace:
        probe = ask.probe
        return ProbeTrace(
            probe=probe,
            turn=ask.turn,
            session=ask.session,
            time=ask.time,
            query_tokens=self._query_tokens(probe),
            context=look.context,
            answer=look.answer,
            error=look.error,
            overflow=look.overflow,
            inspectable=self.strategy.inspectable,
            evidence=look.evidence,
            age=age,
            superseded=self._facts.superseded(probe),
            hidden=self._facts.hidden(probe.principal),
            corpus=self._said.messages,
            sessions=self._said.session_of,
            compactions=self._compactions,
            calls=self._model.take(),
            agent=self._take_rounds(),
        )

    def _query_tokens(self, probe: Probe) -> int:
        return self._counter.text(question_text(probe)) + 4

    def _answer(self, context: Context, query: Query) -> str:
        self._model.phase = "answer"
        messages = context.messages()
        watch_sent(messages)
        request = Request(
            task="answer",
            messages=messages,
            question=query.text,
            asker=query.principal,
            now=query.time,
            repeat=self._repeat,
        )
        return self._model.complete(request).text

    def _evidence(
        self,
        evidence: Evidence,
        query: Query,
        context: Context,
        gone: frozenset[str],
    ) -> tuple[EvidenceTrace, ...]:
        seen = self._facts.wanted(source for source, _ in evidence).sightings(context)
        found = []
        for source, fact in evidence:
            said = self._said.when(source)
            sighting = seen.get(source)
            found.append(
                EvidenceTrace(
                    source=source,
                    turn=said.turn if said else 0,
                    fact=fact,
                    presence=sighting.presence if sighting else "absent",
                    verbatim=bool(sighting and sighting.verbatim),
                    trimmed=sighting is None and source in gone,
                    location=None if sighting else self._locate(source, query),
                    path=self._facts.path(fact),
                )
            )
        return tuple(found)

    def _locate(self, source: str, query: Query) -> Location | None:
        if not self.strategy.inspectable:
            return None
        with self._foreign["search"]:
            return self.strategy.locate(source, query)

    def abandon(self, probes: Iterable[Probe]) -> None:
        """The case could not be played to its end.

        What was not asked is an error, never left out; nor is what an agent did until then.
        """
        if self._playing is not None and self._rounds:
            self._events.clear()
            self._record(self._playing, ContextTotals())
        for probe in probes:
            self.trace.probes.append(
                ProbeTrace(
                    probe=probe,
                    turn=self._turn,
                    session="",
                    time=self._env.clock.now(),
                    query_tokens=0,
                    context=None,
                    answer=None,
                    error=self.trace.error,
                )
            )


class _Look:
    """What came of one question, as far as it came."""

    __slots__ = ("answer", "context", "error", "evidence", "overflow")

    def __init__(self) -> None:
        self.context: Context | None = None
        self.answer: str | None = None
        self.evidence: tuple[EvidenceTrace, ...] = ()
        self.error = ""
        self.overflow = 0


def question_text(probe: Probe) -> str:
    """The question as it is put, with its options when it has any."""
    if not probe.choices:
        return probe.ask
    return probe.ask + "\n" + "\n".join(f"- {choice}" for choice in probe.choices)
