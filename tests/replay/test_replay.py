"""Replay: what a strategy is told, in which order, and what the trace keeps of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import NoReturn

import pytest

from memsim.context import Context
from memsim.message import EPOCH, Message, TokenCounter, composed, load_tokenizer, said
from memsim.models import IDK, Embedder, Reply, Request, Usage
from memsim.replay import replay
from memsim.scenario.script import (
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
from memsim.strategy import (
    Environment,
    Event,
    Forget,
    ForgetOutcome,
    Grant,
    Location,
    Query,
    State,
    Strategy,
)
from memsim.trace import ProbeTrace, Trace


class Parrot:
    """A model that reads the last message of its context aloud, and sums up with one word."""

    name = "parrot"

    def complete(self, request: Request) -> Reply:
        text = request.messages[-1].text if request.messages else IDK
        if request.task == "summarise":
            text = "summary"
        return Reply(text=text, usage=Usage(input=len(request.messages), output=1))


class Everything(Strategy):
    """Keeps all it hears, in order, and writes down how it was called."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.heard: list[Message] = []
        self.called: list[str] = []

    def observe(self, message: Message) -> None:
        self.called.append(f"observe {message.id}")
        self.heard.append(message)

    def context(self, query: Query) -> Context:
        self.called.append(f"context {query.text}")
        return self.env.build.context(self.env.build.section("window", self.heard))

    def delivered(self, context: Context) -> None:
        self.called.append(f"delivered {len(context.sections[0].messages)}")

    def end_turn(self) -> None:
        self.called.append("end_turn")


def turn(number: int, heard: str, reply: str | None = "Noted.", *facts: Fact) -> Turn:
    time = EPOCH + timedelta(minutes=number)
    user = said("user", heard, id=f"u{number}", turn=number, time=time)
    answer = () if reply is None else (said("assistant", reply, id=f"a{number}", turn=number),)
    return Turn(
        number=number,
        session="s1",
        principal="user",
        time=time,
        heard=(user,),
        reply=answer,
        facts=facts,
    )


def fact(
    name: str,
    value: str,
    number: int,
    *,
    principal: str = "user",
    replaces: str | None = None,
    private: bool = False,
) -> Fact:
    return Fact(
        id=name,
        value=value,
        source=f"u{number}",
        principal=principal,
        turn=number,
        time=EPOCH,
        session="s1",
        replaces=replaces,
        private=private,
    )


def ask(probe: Probe, after: int) -> Ask:
    return Ask(probe=probe, turn=after, session="s1", time=EPOCH + timedelta(days=after))


def script(*events: ScriptEvent) -> Scenario:
    def play(_seed: int) -> Iterator[ScriptEvent]:
        return iter(events)

    probes = tuple(e.probe for e in events if isinstance(e, Ask))
    turns = sum(isinstance(e, Turn) for e in events)
    return Scenario(name="test", path="<python>", play=play, turns=turns, probes=probes)


def no_embedder() -> Embedder:
    raise AssertionError("nobody asked for an embedder")


def run(
    scenario: Scenario,
    make: Callable[[Environment], Strategy],
    folder: Path = Path("unused"),
    budget: int = 4096,
) -> Trace:
    return replay(
        scenario,
        make,
        model=Parrot(),
        embed=no_embedder,
        counter=TokenCounter(load_tokenizer("chars/4")),
        budget=budget,
        seed=7,
        folder=lambda: folder,
    )


ORDER = Probe(id="order", ask="What is my order?", expect=("A-17",), facts=("order",))


def the_probe(trace: Trace) -> ProbeTrace:
    [probe] = trace.probes
    return probe


def test_a_turn_is_observed_asked_delivered_replied_and_ended_in_that_order() -> None:
    """The call order of the contract is kept."""
    made: list[Everything] = []

    def make(env: Environment) -> Strategy:
        made.append(Everything(env))
        return made[-1]

    run(script(turn(1, "hello")), make)

    expected = ["observe u1", "context hello", "delivered 1", "observe a1", "end_turn"]
    assert expected == made[0].called


def test_recorded_talk_asks_for_no_context() -> None:
    """A turn without a reply is only observed, and its tokens are not measured."""
    trace = run(script(turn(1, "hello", None)), Everything)

    assert trace.turns[0].tokens is None
    assert trace.turns[0].contexts == 0


def test_tokens_by_section_are_those_of_the_context_sent() -> None:
    """chars/4 of `hello`, the message's overhead and the date line are counted."""
    trace = run(script(turn(1, "hello")), Everything)

    assert trace.turns[0].tokens == {"window": 2 + 4 + 4}


def test_a_planted_fact_is_followed_into_the_context() -> None:
    """Evidence of a probe is the message that stated the fact, and its age is known."""
    scenario = script(
        turn(1, "my order is A-17", "Noted.", fact("order", "A-17", 1)),
        turn(2, "lovely weather"),
        ask(ORDER, 2),
    )

    probe = the_probe(run(scenario, Everything))

    [piece] = probe.evidence
    assert ("u1", "order", "window", True) == (
        piece.source,
        piece.fact,
        piece.presence,
        piece.verbatim,
    )
    assert probe.age is not None
    assert (1, 2) == (probe.age.turns, probe.age.days + 1)


def test_the_latest_version_of_a_fact_is_the_evidence_and_earlier_values_are_superseded() -> None:
    """A fact stated again, or replaced under another name, is asked for in its latest version."""
    scenario = script(
        turn(1, "I live in Bergen", "Noted.", fact("city", "Bergen", 1)),
        turn(2, "I moved to Oslo", "Noted.", fact("city", "Oslo", 2)),
        turn(3, "Now in Rome", "Noted.", fact("town", "Rome", 3, replaces="city")),
        ask(Probe(id="p", ask="Where?", expect=("Rome",), facts=("town",)), 3),
    )

    probe = the_probe(run(scenario, Everything))

    assert ["u3"] == [piece.source for piece in probe.evidence]
    assert ("Bergen", "Oslo") == probe.superseded


class LastOnly(Everything):
    """Shows the newest message and says what it dropped."""

    def context(self, query: Query) -> Context:
        return self.env.build.context(self.env.build.section("window", self.heard[-1:]))

    def observe(self, message: Message) -> None:
        super().observe(message)
        if len(self.heard) > 1:
            self.env.log(Event(kind="dropped", sources=(self.heard[-2].id,)))

    def delivered(self, context: Context) -> None:
        assert len(context.sections[0].messages) == 1

    def locate(self, source: str, query: Query) -> Location | None:
        return Location(tier="attic", detail=f"asked for {query.text}") if source == "u1" else None


def test_a_fact_that_leaves_is_told_with_turn_and_cause() -> None:
    """The path of a fact names the turn and the event that took it out of the context."""
    scenario = script(
        turn(1, "my order is A-17", "Noted.", fact("order", "A-17", 1)),
        turn(2, "lovely weather"),
        ask(ORDER, 2),
    )

    [piece] = the_probe(run(scenario, LastOnly)).evidence

    path = [(stop.turn, stop.presence, stop.cause) for stop in piece.path]
    assert [(1, "window", "dropped"), (2, "absent", "")] == path
    assert Location(tier="attic", detail="asked for What is my order?") == piece.location


def test_moves_are_in_the_turn_records() -> None:
    """A turn's record names the facts that changed their place in it, and no others."""
    scenario = script(
        turn(1, "my order is A-17", "Noted.", fact("order", "A-17", 1)),
        turn(2, "lovely weather"),
        turn(3, "still lovely"),
    )

    trace = run(scenario, LastOnly)

    assert [{"order": "window"}, {"order": "absent"}, {}] == [t.moved for t in trace.turns]


def test_a_context_over_its_budget_is_trimmed_oldest_first_and_told() -> None:
    """What the budget cuts is marked as trimmed, not as forgotten."""
    scenario = script(
        turn(1, "my order is A-17 " + "x" * 400, None, fact("order", "A-17", 1)),
        turn(2, "y" * 400, None),
        ask(ORDER, 2),
    )

    probe = the_probe(run(scenario, Everything, budget=140))

    assert probe.context is not None
    assert ("u2",) == probe.context.sections[0].verbatim
    assert probe.evidence[0].trimmed
    assert probe.overflow > 0
    assert probe.context.tokens + probe.query_tokens <= 140


class Summariser(Everything):
    """Holds what it heard in a summary that quotes the numbers it was told to keep."""

    def context(self, query: Query) -> Context:
        del query
        text = "They have order A-17."
        summary = composed("system", text, id="summary", derived_from=("u1", "u2"))
        return self.env.build.context(self.env.build.section("summary", [summary]))

    def delivered(self, context: Context) -> None:
        self.env.model.complete(Request(task="summarise"))


def test_a_summary_holds_a_fact_only_if_its_value_stands_in_it() -> None:
    """Provenance alone does not make a summary hold what its words left out."""
    scenario = script(
        turn(1, "my order is A-17", "Noted.", fact("order", "A-17", 1)),
        turn(2, "my card is 4411", "Noted.", fact("card", "4411", 2)),
        ask(ORDER, 2),
        ask(Probe(id="card", ask="Which card?", expect=("4411",), facts=("card",)), 2),
    )

    kept, lost = run(scenario, Summariser).probes

    assert ("summary", False) == (kept.evidence[0].presence, kept.evidence[0].verbatim)
    assert lost.evidence[0].presence == "absent"


def test_model_calls_are_recorded_with_their_phase() -> None:
    """A summary is maintenance; the reader's call belongs to the probe."""
    trace = run(script(turn(1, "hello"), ask(ORDER, 1)), Summariser)

    assert [("maintain", "summarise")] == [(c.phase, c.task) for c in trace.turns[0].calls]
    assert [("answer", "answer")] == [(c.phase, c.task) for c in the_probe(trace).calls]


class Broken(Everything):
    """Raises where it is told to."""

    where = ""

    def observe(self, message: Message) -> None:
        if self.where == "observe" and message.id == "u2":
            fail()
        super().observe(message)

    def context(self, query: Query) -> Context:
        if self.where == "context" and query.text == ORDER.ask:
            fail()
        return super().context(query)


def fail() -> NoReturn:
    raise RuntimeError("the attic\nis full")


@pytest.mark.parametrize("where", ["observe", "context"])
def test_what_a_strategy_raises_is_an_error_of_the_probe_with_its_place(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A strange exception becomes one line with file and line, and no probe is left out."""
    monkeypatch.setattr(Broken, "where", where)
    scenario = script(turn(1, "one"), turn(2, "two"), ask(ORDER, 2))

    trace = run(scenario, Broken)

    probe = the_probe(trace)
    assert probe.error.startswith("test_replay.py:")
    assert probe.error.endswith(f"RuntimeError: the attic is full (in {where}, turn 2)")
    assert probe.answer is None
    assert bool(trace.error) == (where == "observe")


def test_a_strategy_that_exits_is_an_error_too() -> None:
    """`sys.exit` in a strategy ends neither memsim nor the account of what was asked."""

    class Quitter(Everything):
        def context(self, query: Query) -> Context:
            sys.exit(f"no answer to {query.text}")

    probe = the_probe(run(script(ask(ORDER, 0)), Quitter))

    assert probe.error.endswith("SystemExit: no answer to What is my order? (in context)")


class Fickle(Everything):
    """Drops what it is asked about."""

    def context(self, query: Query) -> Context:
        context = super().context(query)
        if query.text == "Which card?":
            self.heard.clear()
        return context


def test_a_context_that_changes_what_follows_is_an_error() -> None:
    """Two hundred questions are two hundred independent ones, or nothing was measured."""
    card = Probe(id="card", ask="Which card?", unanswerable=True)

    honest = run(script(turn(1, "A-17"), ask(ORDER, 1), ask(card, 1)), Everything)
    fickle = run(script(turn(1, "A-17"), ask(ORDER, 1), ask(card, 1)), Fickle)

    assert honest.error == ""
    assert fickle.error.startswith("context is not pure: asked again after turn 1, 'What is my")
    assert [(None, fickle.error)] * 2 == [(p.answer, p.error) for p in fickle.probes]


class Ranking(Everything):
    """Ranks all that was heard, latest first, where it is asked to."""

    def context(self, query: Query) -> Context:
        def rank() -> tuple[str, ...]:
            self.called.append(f"rank {query.text}")
            return tuple(m.id for m in reversed(self.heard))

        return replace(super().context(query), rank=rank)


class Unsettled(Ranking):
    """Ranks otherwise each time."""

    def context(self, query: Query) -> Context:
        found = super().context(query)
        return replace(found, rank=lambda: (f"m{len(self.called)}",))


def test_a_ranking_is_made_where_a_probe_is_scored() -> None:
    """A turn's context is measured as it is; a probe's is ranked before anything else happens."""
    made: list[Ranking] = []

    def make(env: Environment) -> Ranking:
        made.append(Ranking(env))
        return made[0]

    trace = run(script(turn(1, "A-17"), ask(ORDER, 1), turn(2, "Yes.")), make)

    context = the_probe(trace).context
    assert context is not None
    assert context.rank is None
    assert ("a1", "u1") == context.ranking
    asked = "What is my order?"
    calls = [c for c in made[0].called if c.startswith(("context", "rank"))]
    again = [f"context {asked}", f"rank {asked}"]
    assert ["context A-17", *again, *again, "context Yes."] == calls


def test_a_ranking_that_changes_is_an_error() -> None:
    """What a probe's scores are taken from is held to the same contract as what is shown."""
    trace = run(script(turn(1, "A-17"), ask(ORDER, 1)), Unsettled)

    assert trace.error.startswith("context is not pure: asked again after turn 1")


def test_a_ranking_that_fails_fails_its_probe() -> None:
    """It is the strategy's own code, and told as its fault."""

    class Failing(Everything):
        def context(self, query: Query) -> Context:
            def rank() -> tuple[str, ...]:
                raise LookupError(query.text)

            return replace(super().context(query), rank=rank)

    probe = the_probe(run(script(turn(1, "A-17"), ask(ORDER, 1)), Failing))

    assert probe.error.endswith("LookupError: What is my order? (in context, turn 1)")


def test_a_failing_probe_does_not_end_the_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """`context` is pure, so the questions after a failed one are still asked."""
    monkeypatch.setattr(Broken, "where", "context")
    other = Probe(id="other", ask="Else?", unanswerable=True)

    trace = run(script(turn(1, "one"), ask(ORDER, 1), ask(other, 1)), Broken)

    assert [True, False] == [bool(p.error) for p in trace.probes]


def test_a_context_of_another_type_is_an_error() -> None:
    """What is not a Context cannot be measured."""

    class Wrong(Everything):
        def context(self, query: Query) -> Context:
            return [query]  # type: ignore[return-value]

    trace = run(script(ask(ORDER, 0)), Wrong)

    assert the_probe(trace).error == "context returned list, not a Context"


class Saved(Everything):
    """Survives a restart."""

    def save(self) -> State:
        return {"heard": [m.text for m in self.heard]}

    def load(self, state: State) -> None:
        texts = state["heard"]
        assert isinstance(texts, list)
        self.heard = [said("user", str(t), id=f"u{n}") for n, t in enumerate(texts, 1)]


def test_a_restart_goes_through_save_and_load() -> None:
    """The strategy after a restart is a new one that was given the saved state."""
    made: list[Strategy] = []

    def make(env: Environment) -> Strategy:
        made.append(Saved(env))
        return made[-1]

    trace = run(script(turn(1, "A-17", None), RestartEvent(), ask(ORDER, 1)), make)

    assert len(made) == 2
    assert "A-17" in str(the_probe(trace).answer)


def test_a_strategy_that_cannot_be_saved_loses_everything_at_a_restart() -> None:
    """Memory that is never written down is gone with the process, and the trace says so."""
    scenario = script(turn(1, "A-17", None), RestartEvent(), ask(ORDER, 1), turn(2, "hello"))

    trace = run(scenario, Everything)

    assert the_probe(trace).answer == IDK
    assert ["state-lost"] == [e.kind for e in trace.turns[1].events]


class Forgetful(Everything):
    """Forgets by source."""

    def forget(self, request: Forget) -> ForgetOutcome:
        self.heard = [m for m in self.heard if m.id not in request.sources]
        return ForgetOutcome(supported=True, removed=request.sources)


@pytest.mark.parametrize(("make", "held"), [(Forgetful, False), (Everything, True)])
def test_forgetting_names_the_messages_and_hides_the_fact(
    make: Callable[[Environment], Strategy], held: bool
) -> None:
    """A forget request carries every source of the fact, and later probes may not see it."""
    scenario = script(
        turn(1, "my order is A-17", "Noted.", fact("order", "A-17", 1)),
        ForgetEvent(request=Forget(principal="user", text="forget my order"), facts=("order",)),
        ask(ORDER, 1),
    )

    probe = the_probe(run(scenario, make))

    assert ("order",) == tuple(f.id for f in probe.hidden)
    assert probe.context is not None
    assert held == ("A-17" in probe.context.text())


def test_private_facts_are_hidden_from_others_until_granted() -> None:
    """A grant shows a private fact to its viewer, and a revocation hides it again."""
    probes = [Probe(id=f"p{n}", ask="?", principal="ben", unanswerable=True) for n in range(3)]
    secret = fact("pin", "1234", 1, principal="ana", private=True)
    granted = GrantEvent(owner="ana", viewer="ben", facts=("pin",))
    scenario = script(
        turn(1, "pin 1234", "ok", secret),
        ask(probes[0], 1),
        granted,
        ask(probes[1], 1),
        GrantEvent(owner="ana", viewer="ben", facts=("pin",), revoked=True),
        ask(probes[2], 1),
    )

    trace = run(scenario, Everything)

    assert [1, 0, 1] == [len(p.hidden) for p in trace.probes]


def test_evidence_is_told_only_to_strategies_that_are_evidence_controls() -> None:
    """No ordinary strategy learns which messages hold the answer."""
    told: list[tuple[str, ...]] = []

    class Spy(Everything):
        def context(self, query: Query) -> Context:
            told.append(query.evidence)
            return super().context(query)

    class Oracle(Spy):
        control = "evidence"

    scenario = script(turn(1, "A-17", None, fact("order", "A-17", 1)), ask(ORDER, 1))
    run(scenario, Spy)
    run(scenario, Oracle)

    assert {(), ("u1",)} == set(told)


def test_a_question_apart_is_asked_in_a_turn_of_its_own() -> None:
    """What was said last is then the past; another question belongs to the turn before it."""
    asked: list[int] = []

    class Spy(Everything):
        def context(self, query: Query) -> Context:
            asked.append(query.turn)
            return super().context(query)

    within = ask(ORDER, 1)
    run(script(turn(1, "A-17", None), within), Spy)
    run(script(turn(1, "A-17", None), replace(within, apart=True)), Spy)

    # The context of a question is composed twice, to see that it is pure.
    assert [1, 1, 2, 2] == asked


def test_time_that_passes_is_told() -> None:
    """The clock stands at the new instant when `elapse` is called."""
    now = EPOCH + timedelta(days=3)
    told: list[bool] = []

    class Ageing(Everything):
        def elapse(self, now: object) -> None:
            told.append(self.env.clock.now() == now)

    run(script(ElapseEvent(now=now)), Ageing)

    assert [True] == told


def test_the_unchanged_start_of_the_next_context_counts_as_cached() -> None:
    """A growing window keeps the provider's prompt cache; a sliding one breaks it."""
    growing = run(script(turn(1, "one"), turn(2, "two")), Everything)
    sliding = run(script(turn(1, "one"), turn(2, "two")), LastOnly)

    assert growing.turns[1].cached > 0
    assert sliding.turns[1].cached == 0


def test_turn_records_can_be_taken_as_they_are_made() -> None:
    """A long case need not hold its records."""
    kept: list[int] = []
    replay(
        script(turn(1, "one"), turn(2, "two")),
        Everything,
        model=Parrot(),
        embed=no_embedder,
        counter=TokenCounter(load_tokenizer("chars/4")),
        budget=4096,
        seed=7,
        folder=lambda: Path("unused"),
        keep=lambda record: kept.append(record.turn),
    )

    assert [1, 2] == kept


def test_the_trace_has_the_last_event_that_discarded_what_is_asked_for() -> None:
    """Other messages and other kinds of events are left out, whether or not turns are held."""

    class Forgetful(Everything):
        """Logs the same of everything: it dropped it, stored it and purged it."""

        def end_turn(self) -> None:
            for kind in ("dropped", "stored", "purged", "stored"):
                self.env.log(Event(kind=kind, sources=tuple(m.id for m in self.heard)))

    planted = fact("pin", "1234", 1)
    found = run(script(turn(1, "My pin is 1234.", "Noted.", planted), turn(2, "two")), Forgetful)

    assert {planted.source: "purged"} == found.discarded


class Told(Everything):
    """Notes what it is told of who may see what."""

    def grant(self, grant: Grant) -> None:
        self.called.append(f"grant {grant}")


def test_the_strategy_is_told_of_grants_of_what_was_said_before_and_since() -> None:
    """What is granted names its messages; later versions of it are granted as they are stated."""
    made: list[Told] = []

    def make(env: Environment) -> Strategy:
        made.append(Told(env))
        return made[-1]

    pin, newer = fact("pin", "1234", 1, principal="ana"), fact("pin", "5678", 2, principal="ana")
    run(
        script(
            turn(1, "My pin is 1234.", "Noted.", pin),
            GrantEvent(owner="ana", viewer="ben", facts=("pin",)),
            turn(2, "My pin is 5678 now.", "Noted.", newer),
            GrantEvent(owner="ana", viewer="ben", facts=("pin",), revoked=True),
            turn(3, "My pin is 5678.", "Noted.", fact("pin", "5678", 3, principal="ana")),
        ),
        make,
    )
    told = [call for call in made[0].called if call.startswith("grant")]
    assert [
        f"grant {Grant(owner='ana', viewer='ben', sources=('u1',))}",
        f"grant {Grant(owner='ana', viewer='ben', sources=('u2',))}",
        f"grant {Grant(owner='ana', viewer='ben', sources=('u1', 'u2'), revoked=True)}",
    ] == told
