"""Play the events of a script through one strategy, and record each turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from memsim.context import Context
from memsim.errors import MemsimError, StrategyError
from memsim.message import Message
from memsim.replay.case_state import CaseState
from memsim.replay.context_recorder import ContextTotals, by_section, common_start
from memsim.replay.contract import watch_asked
from memsim.replay.packed_surfaces import pack_surfaces
from memsim.replay.probe_player import ProbePlayer
from memsim.replay.tool_agent import AgentTask
from memsim.scenario.script import (
    Ask,
    ElapseEvent,
    ForgetEvent,
    GrantEvent,
    Probe,
    RestartEvent,
    ScriptEvent,
    Turn,
)
from memsim.strategy import (
    Event,
    ForgetOutcome,
    Grant,
    Query,
    Strategy,
    Surface,
    reports_stores,
)
from memsim.trace import (
    EVICTIONS,
    PURGES,
    WINDOW_TIERS,
    ProbeTrace,
    StoreTrace,
    TurnRecord,
)


class Stage:
    """Plays events one at a time.

    Attributes:
        trace: the records so far.
        keep: takes each turn's record, instead of the trace.
    """

    def __init__(self, case: CaseState) -> None:
        self.trace = case.trace
        self.keep: Callable[[TurnRecord], None] = case.trace.turns.append
        self._case = case
        self._player = case.player
        self._probes = ProbePlayer(case)
        self._before: tuple[Message, ...] = ()
        self._playing: Turn | None = None

    def open(self) -> None:
        """Make the strategy."""
        self._player.open()

    def close(self) -> None:
        """Release the strategy; an error is recorded unless there was one before."""
        if not self._player.opened:
            return
        try:
            self._player.close()
        except MemsimError as error:
            self.trace.error = self.trace.error or str(error)
            self.trace.keep_traceback(error)

    @property
    def strategy(self) -> Strategy:
        """The strategy in play; another object after each restart."""
        return self._player.strategy

    def play(self, event: ScriptEvent) -> None:
        """Play one event."""
        if isinstance(event, Ask):
            self.trace.probes.append(self.ask(event))
            return
        self.check_purity()
        if isinstance(event, Turn):
            self._play_turn(event)
        elif isinstance(event, ElapseEvent):
            self._player.elapse(event.now)
        elif isinstance(event, GrantEvent):
            self._grant(event)
        elif isinstance(event, ForgetEvent):
            self.forget(event)
        elif isinstance(event, RestartEvent) and not self._player.restart():
            # A state that is never saved is lost with the process: a finding, not an error.
            self._player.events.append(Event(kind="state-lost", detail="save is not implemented"))
            self._case.watch.lost()

    def ask(self, event: Ask) -> ProbeTrace:
        """Ask a question, and leave its record out of the trace."""
        return self._probes.ask(event)

    def check_purity(self) -> None:
        """Check that the questions since the last event changed nothing.

        Raises:
            StrategyError: the same question gets another context.
        """
        self._probes.check_purity()

    def forget(self, event: ForgetEvent) -> ForgetOutcome:
        """Request an erasure."""
        self.check_purity()
        facts = self._case.facts
        request = event.request
        if not request.sources:
            request = replace(request, sources=facts.sources(event.facts))
        outcome = self._player.forget(request)
        facts.forget(event.facts)
        self._case.watch.forgot(outcome.removed)
        if not outcome.supported:
            self._player.events.append(Event(kind="not-forgotten", sources=request.sources))
        return outcome

    def inspect_store(self) -> None:
        """Record what the strategy shows of its store; an error of it does not end the case."""
        if not reports_stores(self.strategy) or self.strategy.control == "evidence":
            return
        case = self._case
        shown: Collection[Surface] = ()
        error = ""
        try:
            with case.calls["search"]:
                shown = pack_surfaces(_without_window(self.strategy.surfaces()))
        except StrategyError as raised:
            error = str(raised)
        self.trace.store = StoreTrace(
            surfaces=shown,
            planted=case.facts.inventory(),
            said=case.heard,
            turns=case.turn,
            error=error,
        )

    def abandon(self, probes: Iterable[Probe]) -> None:
        """Record an error for questions that were not asked, and the agent's unfinished turn."""
        if self._playing is not None and self._case.rounds:
            self._player.events.clear()
            self._record(self._playing, ContextTotals())
        for probe in probes:
            self.trace.probes.append(
                ProbeTrace(
                    probe=probe,
                    turn=self._case.turn,
                    session="",
                    time=self._player.env.clock.now(),
                    query_tokens=0,
                    context=None,
                    answer=None,
                    error=self.trace.error,
                )
            )

    def _grant(self, event: GrantEvent) -> None:
        facts = self._case.facts
        facts.grant(event)
        grant = Grant(
            owner=event.owner,
            viewer=event.viewer,
            sources=facts.sources(event.facts, event.owner),
            revoked=event.revoked,
            everything=event.everything,
        )
        self._case.watch.check_grant(grant.owner, grant.sources)
        self._player.grant(grant)

    def _play_turn(self, turn: Turn) -> None:
        case = self._case
        case.turn, self._playing = turn.number, turn
        case.watch.whose = turn.principal
        planted = {f.source for f in turn.facts}
        for fact in turn.facts:
            case.facts.plant(fact)
            case.watch.planted(fact)
        totals = ContextTotals()
        self._player.turn(
            turn,
            hear=lambda message: self._hear(message, planted),
            send=lambda: totals.add(*self._send(turn)),
            result=lambda m, calls: case.agent("write").replaced(m, calls, turn.principal),
        )
        self._grant_again(turn)
        self._record(turn, totals)
        self._playing = None
        if case.recorder is not None:
            case.recorder.turn(turn.number, totals.last, turn.facts)

    def _hear(self, message: Message, planted: set[str]) -> None:
        case = self._case
        tokens = case.counter.message(message)
        case.said.hear(message, tokens, planted=message.id in planted)
        if reports_stores(self.strategy):
            case.heard.add(message)
        case.watch.check_message(message, tokens, self.strategy)
        if case.recorder is not None:
            case.recorder.hear(message)

    def _send(self, turn: Turn) -> tuple[Context, int, int]:
        """Send the model its context: the context, the tokens cut from it and those cached."""
        case = self._case
        query = Query(
            text=turn.heard[-1].text if turn.heard else "",
            principal=turn.principal,
            session=turn.session,
            time=turn.time,
            turn=turn.number,
            budget=case.budget,
            sent=turn.sent if self.strategy.control == "recorded" else None,
        )
        watch_asked(query, self.strategy)
        context, overflow, _ = case.fit(case.request(query), query.budget)
        self._player.deliver(context)
        self._let_agent_work(context, turn)
        prompt = tuple(m for s in context.sections for m in s.messages)
        cached = case.counter.messages(common_start(self._before, prompt))
        self._before = prompt
        return context, overflow, cached

    def _let_agent_work(self, context: Context, turn: Turn) -> None:
        """Let the agent use the memory's tools for what it was told in this turn."""
        case = self._case
        with case.calls["write"]:
            tools = tuple(self.strategy.tools(turn.principal))
        if tools and turn.heard:
            there = context.verbatim
            heard = (m for m in turn.heard if m.id not in there)
            task = AgentTask(tools, turn.principal, turn.time, case.budget)
            case.agent("write").work((*context.messages(), *heard), task)

    def _grant_again(self, turn: Turn) -> None:
        """Extend earlier grants of a fact to the message that states it anew."""
        for fact in turn.facts:
            for viewer in self._case.facts.viewers(fact):
                grant = Grant(owner=fact.principal, viewer=viewer, sources=(fact.source,))
                self._player.grant(grant)

    def _note_discards(self, events: Iterable[Event]) -> None:
        for event in events:
            if event.kind in PURGES or event.kind in EVICTIONS:
                asked = filter(self._case.said.may_be_asked_for, event.sources)
                self.trace.discarded.update(dict.fromkeys(asked, event.kind))

    def _record(self, turn: Turn, totals: ContextTotals) -> None:
        case = self._case
        events = tuple(self._player.events)
        self._player.events.clear()
        if events:
            case.watch.check_events(events)
            self._note_discards(events)
        case.compactions += sum(1 for e in events if e.kind == "compaction")
        moved = case.facts.track(totals.last, turn.number, events) if totals.last else {}
        self.keep(
            TurnRecord(
                turn=turn.number,
                session=turn.session,
                principal=turn.principal,
                time=turn.time,
                tokens=by_section(totals.largest) if totals.largest else None,
                sent=totals.sent,
                contexts=totals.contexts,
                cached=totals.cached,
                overflow=totals.overflow,
                moved=moved,
                events=events,
                calls=case.model.take(),
                agent=case.take_rounds(),
            )
        )


def _without_window(surfaces: Iterable[Surface]) -> Iterator[Surface]:
    """The surfaces of the store, and of the window the first one with a text."""
    window = False
    for surface in surfaces:
        if surface.tier in WINDOW_TIERS:
            if window or not surface.text.strip():
                continue
            window = True
        yield surface
