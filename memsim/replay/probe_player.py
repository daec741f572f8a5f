"""Ask the probes of a script: the context, what tools find, the answer, and the evidence in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.context import NEVER_TRIMMED
from memsim.errors import MemsimError, StrategyError
from memsim.message import MESSAGE_OVERHEAD, composed
from memsim.models import Request
from memsim.replay.contract import watch_asked, watch_sent
from memsim.replay.second_answer import read_again
from memsim.replay.tool_agent import AgentTask, question_message, results_text, shorten_text
from memsim.scenario.script import IN_CONTEXT
from memsim.scenario.words import says
from memsim.strategy import Query, reports_stores
from memsim.trace import WINDOW_TIERS, EvidenceTrace, ProbeTrace

if TYPE_CHECKING:
    from memsim.context import Context, Section
    from memsim.replay.case_state import CaseState
    from memsim.scenario.script import Ask, Probe
    from memsim.strategy import Location, Strategy
    from memsim.trace import Age, Inspection

    Evidence = tuple[tuple[str, str | None], ...]


class ProbePlayer:
    """Asks questions; none of them may change the memory."""

    def __init__(self, case: CaseState) -> None:
        self._case = case
        self._first: tuple[Query, Context] | None = None

    def ask(self, ask: Ask) -> ProbeTrace:
        """Ask one question; an error ends this question only."""
        case, probe = self._case, ask.probe
        case.turn = ask.turn
        case.player.env.clock.set(ask.time)
        evidence = case.facts.evidence(probe)
        sources = tuple(source for source, _ in evidence)
        query = Query(
            text=question_text(probe),
            principal=probe.principal,
            session=ask.session,
            time=ask.time,
            turn=ask.turn + 1 if ask.apart else ask.turn,
            budget=max(0, case.budget - self._query_tokens(probe)),
            evidence=sources if case.strategy.control == "evidence" else (),
            sent=ask.sent if case.strategy.control == "recorded" else None,
        )
        result = _ProbeResult()
        try:
            self._answer_probe(probe, query, evidence, result)
        except MemsimError as error:
            result.error = str(error)
            case.trace.keep_traceback(error)
        if case.recorder is not None:
            case.recorder.probe(probe.id, ask.turn, result.context)
        return self._trace(ask, result, case.said.age(sources, ask.turn, ask.time))

    def check_purity(self) -> None:
        """Check that the questions since the last event changed nothing.

        The first of them is asked once more. If its context is another one now, none of the
        questions asked so far counts.

        Raises:
            StrategyError: the same question gets another context.
        """
        first, self._first = self._first, None
        if first is None:
            return
        query, context = first
        events = self._case.player.events
        logged = len(events)
        again = self._case.request(query, ranked=True)
        self._case.model.take()
        del events[logged:]
        if again != context:
            error = (
                f"context is not pure: asked again after turn {query.turn},"
                f" {query.text!r} got another context"
            )
            # The results of earlier questions may depend on their order as well.
            self._case.trace.probes = [
                replace(asked, context=None, answer=None, evidence=(), overflow=0, error=error)
                for asked in self._case.trace.probes
            ]
            raise StrategyError(error)

    def _answer_probe(
        self, probe: Probe, query: Query, evidence: Evidence, result: _ProbeResult
    ) -> None:
        watch_asked(query, self._case.strategy)
        context = self._case.request(query, ranked=True)
        if self._first is None:
            self._first = (query, context)
        context, result.overflow, gone = self._case.fit(context, query.budget)
        result.context = self._with_tools(context, query)
        result.barred_in = self._barred_in_store(probe, query.session)
        result.evidence = self._evidence(evidence, query, result.context, gone)
        if probe.match == IN_CONTEXT:
            return
        request = self._reading(result.context, query)
        result.answer = self._answer(request)
        facts = self._case.facts
        texts = self._case.said.texts(facts.stated_for(probe))
        wrong = (*probe.forbid, *facts.superseded(probe))
        result.answer_again = read_again(self._case.reader, request, result.evidence, texts, wrong)

    def _with_tools(self, context: Context, query: Query) -> Context:
        """The context, with what the agent finds by tools that only read."""
        case = self._case
        with case.calls["search"]:
            tools = tuple(t for t in case.strategy.tools(query.principal) if t.reads)
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
        traffic = case.agent("search").work((*context.messages(), question), task)
        found = self._tool_section(results_text(traffic), context, query)
        if not found.tokens:
            return context
        fitted, _ = case.build.cut(
            replace(context, sections=(*context.sections, found)), query.budget
        )
        return fitted

    def _tool_section(self, text: str, context: Context, query: Query) -> Section:
        """Tool results, cut to the room that is left beside the sections that are never trimmed."""
        case = self._case
        fixed = sum(s.tokens for s in context.sections if s.layer in NEVER_TRIMMED)
        text = shorten_text(text, query.budget - fixed - MESSAGE_OVERHEAD, case.counter)
        if not text:
            return case.build.section("tools", ())
        message = composed(
            "user",
            text,
            id=f"found:{query.turn}",
            derived_from=case.facts.stated(),
            time=query.time,
        )
        return case.build.section("tools", (message,))

    def _reading(self, context: Context, query: Query) -> Request:
        messages = context.messages()
        watch_sent(messages)
        return Request(
            task="answer",
            messages=messages,
            question=query.text,
            asker=query.principal,
            now=query.time,
            repeat=self._case.repeat,
        )

    def _answer(self, request: Request) -> str:
        self._case.model.phase = "answer"
        return self._case.model.complete(request).text

    def _evidence(
        self,
        evidence: Evidence,
        query: Query,
        context: Context,
        gone: frozenset[str],
    ) -> tuple[EvidenceTrace, ...]:
        case = self._case
        seen = case.facts.wanted(source for source, _ in evidence).sightings(context)
        traces = []
        for source, fact in evidence:
            said = case.said.when(source)
            stated = case.facts.current(fact) if fact else None
            value = stated.value if stated and not stated.statement else None
            sighting = seen.get((source, value))
            traces.append(
                EvidenceTrace(
                    source=source,
                    turn=said.turn if said else 0,
                    fact=fact,
                    presence=sighting.presence if sighting else "absent",
                    verbatim=bool(sighting and sighting.verbatim),
                    trimmed=sighting is None and source in gone,
                    location=None if sighting else self._locate(source, query),
                    path=case.facts.path(fact),
                )
            )
        return tuple(traces)

    def _locate(self, source: str, query: Query) -> Location | None:
        strategy = self._case.strategy
        if not reports_stores(strategy):
            return None
        with self._case.calls["search"]:
            return strategy.locate(source, query)

    def _barred_in_store(self, probe: Probe, session: str) -> tuple[tuple[str, str], ...]:
        """Where the store holds facts asked for that were not to be remembered."""
        case = self._case
        asked = [f for f in case.facts.barred(probe, session) if f.id in probe.facts]
        if not asked or case.strategy.control or not reports_stores(case.strategy):
            return ()
        with case.calls["search"]:
            shown = [s for s in case.strategy.surfaces() if s.tier not in WINDOW_TIERS]
        held = ((f.id, s.tier) for s in shown for f in asked if says(s.text, f.value))
        return tuple(dict.fromkeys(held))

    def _query_tokens(self, probe: Probe) -> int:
        return self._case.counter.text(question_text(probe)) + 4

    def _trace(self, ask: Ask, result: _ProbeResult, age: Age | None) -> ProbeTrace:
        case, probe = self._case, ask.probe
        return ProbeTrace(
            probe=probe,
            turn=ask.turn,
            session=ask.session,
            time=ask.time,
            query_tokens=self._query_tokens(probe),
            context=result.context,
            answer=result.answer,
            answer_again=result.answer_again,
            error=result.error,
            overflow=result.overflow,
            inspection=_inspection(case.strategy),
            evidence=result.evidence,
            age=age,
            superseded=case.facts.superseded(probe),
            hidden=case.facts.hidden(probe.principal),
            barred=case.facts.barred(probe, ask.session),
            barred_in=result.barred_in,
            corpus=case.said.messages,
            sessions=case.said.session_of,
            compactions=case.compactions,
            calls=case.model.take(),
            agent=case.take_rounds(),
        )


class _ProbeResult:
    """What one question led to, up to the error if there was one."""

    __slots__ = ("answer", "answer_again", "barred_in", "context", "error", "evidence", "overflow")

    def __init__(self) -> None:
        self.context: Context | None = None
        self.answer: str | None = None
        self.answer_again: str | None = None
        self.evidence: tuple[EvidenceTrace, ...] = ()
        self.error = ""
        self.overflow = 0
        self.barred_in: tuple[tuple[str, str], ...] = ()


def _inspection(strategy: Strategy) -> Inspection:
    if reports_stores(strategy):
        return "stores"
    return "context" if strategy.inspectable else "black-box"


def question_text(probe: Probe) -> str:
    """The text of a question, followed by its choices."""
    if not probe.choices:
        return probe.ask
    return probe.ask + "\n" + "\n".join(f"- {choice}" for choice in probe.choices)
