"""What is watched while a case is played: a broken strategy is told, a broken harness stops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from click.testing import CliRunner

from memsim.cli.program import program
from memsim.context import Context, ContextBuilder, Section, SectionName
from memsim.errors import ExitCode, StrategyError
from memsim.message import (
    CharsOverFour,
    Message,
    Text,
    TokenCounter,
    ToolResult,
    ToolUse,
    composed,
    said,
)
from memsim.replay.contract import InvariantError, Watch, watch_asked, watch_fitted, watch_sent
from memsim.scaffold import scaffold
from memsim.scenario.script import GrantEvent
from memsim.strategy import Environment, Event, Grant, Query, Strategy
from memsim.trace import Trace
from tests.replay.test_replay import Everything, fact, run, script, turn

BUILD = ContextBuilder(TokenCounter(CharsOverFour()))
CALL = Message(id="m1", role="assistant", blocks=(ToolUse(id="c1", name="look", arguments="{}"),))
RESULT = Message(id="m2", role="tool", blocks=(ToolResult(id="c1", text="found"),))
LAST = said("user", "And now?", id="m3")
RULE = said("system", "Answer in metric units.", id="r1")
QUERY = Query(text="?", principal="user", session="s1", time=LAST.time, turn=1, budget=400)


class Bare(Strategy):
    """Shows what it is made to show."""

    def __init__(self) -> None:
        pass

    def context(self, query: Query) -> Context:
        raise NotImplementedError


class Ruled(Bare):
    """Says that standing rules stay."""

    keeps_system = True


class Tailed(Bare):
    """Says that two messages stay."""

    tail: ClassVar[int] = 2


class Apart(Tailed):
    """And that everybody's are kept apart."""

    isolates = True


class Knowing(Bare):
    """The control that is told what holds the answer."""

    control = "evidence"


def watching(strategy: Strategy, *messages: Message) -> Watch:
    """A watch that has heard these."""
    watch = Watch({m.id for m in messages})
    for message in messages:
        watch.whose = message.principal
        watch.check_message(message, 10, strategy)
    return watch


def talk(count: int, first: int = 0) -> list[Message]:
    """So many messages."""
    return [said("user", f"Message {n} of them.", id=f"m{n}") for n in range(first, first + count)]


def context(system: Iterable[Message], window: Iterable[Message]) -> Context:
    """A context of two sections, of which one gives way."""
    return BUILD.context(BUILD.section("system", system), BUILD.section("window", window))


def test_less_than_no_tokens_is_the_strategys_error() -> None:
    """With them, any context would keep to any budget."""
    watch = watching(Bare())
    watch.check_context(context(talk(1), talk(2, 1)), QUERY)

    broken = Context(sections=(Section(layer="window", messages=(LAST,), tokens=-5),))
    with pytest.raises(StrategyError, match=r"window has -5 tokens"):
        watch.check_context(broken, QUERY)


def test_confidence_is_a_share_or_is_not_told() -> None:
    """The curve over bounds of confidence would be drawn of anything."""
    watch = watching(Bare())
    for sure in (None, 0.0, 0.5, 1.0):
        watch.check_context(Context(confidence=sure), QUERY)

    for sure in (-0.1, 1.1, float("nan")):
        with pytest.raises(StrategyError, match="the confidence of a context is"):
            watch.check_context(Context(confidence=sure), QUERY)


def test_a_standing_rule_is_shown_as_it_was_said() -> None:
    """By every strategy that shows it; one that it never said is its own."""
    watch = watching(Bare(), RULE)
    own = said("system", "You are a clerk.", id="prompt")
    watch.check_context(context([own, RULE], talk(1)), QUERY)

    other = replace(RULE, blocks=(Text("Answer in feet."),))
    with pytest.raises(StrategyError, match="rule r1 is not shown as it was said"):
        watch.check_context(context([other], talk(1)), QUERY)


@pytest.mark.parametrize(
    ("rules", "why"), [([], r"\['r1', 'r2'\] are gone"), ([1, 0], "out of order")]
)
def test_who_says_that_rules_stay_shows_them_all_in_their_order(rules: list[int], why: str) -> None:
    """Those of others, and those that were erased or lost, are not due."""
    said_rules = [RULE, replace(RULE, id="r2"), replace(RULE, id="r3", principal="ben")]
    watch = watching(Ruled(), *said_rules)
    watch.check_context(context(said_rules, talk(1)), QUERY)
    watching(Bare(), *said_rules).check_context(context([], talk(1)), QUERY)

    shown = context([said_rules[n] for n in rules], talk(1))
    with pytest.raises(StrategyError, match=why):
        watch.check_context(shown, QUERY)
    watch.forgot(["r1", "r2"])
    watch.check_context(context([], talk(1)), QUERY)
    watch.lost()
    watch.check_context(context([], talk(1)), replace(QUERY, principal="ben"))


def test_who_says_how_many_latest_messages_stay_shows_them() -> None:
    """As far as they fit, and as no tool is between them."""
    watch = watching(Tailed(), *talk(4))
    watch.check_context(context([], talk(2, 2)), QUERY)
    watch.check_context(context([], []), replace(QUERY, budget=39))
    watching(Tailed(), *talk(3), CALL).check_context(context([], []), QUERY)

    with pytest.raises(StrategyError, match=r"tail.*\['m2'\] are gone"):
        watch.check_context(context([], talk(1, 3)), QUERY)
    watch.forgot(["m2"])
    watch.check_context(context([], talk(1, 3)), QUERY)


def test_where_everybody_is_apart_the_tail_is_the_askers_own() -> None:
    """What another said last is not due."""
    theirs = replace(LAST, principal="ben")
    watch = watching(Apart(), *talk(1), theirs)

    watch.check_context(context([], talk(1)), QUERY)
    with pytest.raises(StrategyError, match="are gone"):
        watch.check_context(context([], talk(1)), replace(QUERY, principal="ben"))


def test_what_a_property_of_an_instance_is_called_promises_nothing() -> None:
    """It may have a tail of its own, for its own purposes."""
    memory = Bare()
    memory.tail = "a list"  # type: ignore[attr-defined]

    watching(memory, *talk(3)).check_context(context([], []), QUERY)


def test_a_compaction_covers_what_was_said() -> None:
    """And no more than that: an index beyond the log counts for nothing."""
    watch = watching(Bare(), *talk(2))
    watch.check_events(
        [Event(kind="compaction", sources=("m0", "m1")), Event(kind="mine", sources=("x",))]
    )

    with pytest.raises(StrategyError, match="covers m2, which nobody said"):
        watch.check_events([Event(kind="compaction", sources=("m1", "m2"))])


def test_who_asks_is_somebody_and_is_told_nothing() -> None:
    """But for the control that shows what perfect recall would be worth."""
    told = replace(QUERY, evidence=("m1",))
    watch_asked(QUERY, Bare())
    watch_asked(told, Knowing())

    with pytest.raises(InvariantError, match="by nobody"):
        watch_asked(replace(QUERY, principal=""), Bare())
    with pytest.raises(InvariantError, match="hold the answer"):
        watch_asked(told, Bare())


def test_a_message_is_of_whoever_has_the_turn() -> None:
    """Saying otherwise in the message changes nothing."""
    claiming = said("user", "I am ben. principal=ben", id="m9")
    watch = watching(Bare(), claiming)

    watch.whose = "ben"
    with pytest.raises(InvariantError, match="m9 is user's, and the turn is ben's"):
        watch.check_message(claiming, 10, Bare())


def test_what_is_granted_is_the_owners() -> None:
    """A handle of another's is not theirs to give."""
    watch = watching(Bare())
    watch.planted(fact("order", "A-17", 1))
    watch.planted(fact("order", "B-4", 2, principal="ben"))
    watch.check_grant("user", ["u1"])

    with pytest.raises(InvariantError, match="user grants u2, which is ben's"):
        watch.check_grant("user", ["u1", "u2"])


@pytest.mark.parametrize("budget", [0, 10, 30, 60, 1000])
def test_what_is_cut_as_it_should_be_passes(budget: int) -> None:
    """Whatever the budget, what the builder makes of it is in order."""
    whole = context(talk(1), talk(9, 1))

    watch_fitted(whole, BUILD.cut(whole, budget)[0], budget)


@pytest.mark.parametrize(
    ("fitted", "why"),
    [
        (context(talk(1), talk(8, 2)), "over its budget"),
        (context([], talk(1, 9)), "never cut"),
        (context(talk(1), talk(1, 9)), "added"),
    ],
    ids=["still over", "the system is gone", "another message"],
)
def test_what_was_cut_otherwise_stops(fitted: Context, why: str) -> None:
    """It is a bug of the harness: no score may come of it."""
    whole = context(talk(1), talk(9, 1))

    with pytest.raises(InvariantError, match=why):
        watch_fitted(whole, fitted, 40)


def test_a_context_over_its_budget_may_not_be_sent_as_it_is() -> None:
    """Nor when nothing was cut at all."""
    whole = context(talk(1), talk(9, 1))

    with pytest.raises(InvariantError, match="sent as it is"):
        watch_fitted(whole, whole, 40)


@pytest.mark.parametrize("sent", [(LAST,), (CALL, RESULT, LAST), (LAST, CALL)])
def test_calls_with_their_results_may_be_sent(sent: tuple[Message, ...]) -> None:
    """The last call is still to be answered."""
    watch_sent(sent)


@pytest.mark.parametrize("sent", [(CALL, LAST), (RESULT, LAST), (LAST, RESULT)])
def test_half_a_pair_may_not_be_sent(sent: tuple[Message, ...]) -> None:
    """Providers refuse it."""
    with pytest.raises(InvariantError, match="tool call"):
        watch_sent(sent)


class Compacting(Everything):
    """Covers what is still to come."""

    def end_turn(self) -> None:
        self.env.log(Event(kind="compaction", sources=("u99",)))


class Forgetful(Everything):
    """Says that two messages stay, and shows one."""

    tail = 2

    def context(self, query: Query) -> Context:
        return self.env.build.context(self.env.build.section("window", self.heard[-1:]))


TALK = script(turn(1, "My order is A-17."), turn(2, "Thanks."), turn(3, "What else?"))


@pytest.mark.parametrize(
    ("memory", "why"), [(Compacting, "which nobody said"), (Forgetful, "are gone")]
)
def test_what_a_strategy_breaks_ends_its_case(
    memory: Callable[[Environment], Strategy], why: str
) -> None:
    """It is told as its error, and nothing of the case is scored."""
    trace: Trace = run(TALK, memory)

    assert why in trace.error


def test_one_grants_only_ones_own_of_what_several_have_said() -> None:
    """A fact that two state has two sources; what the other said is not handed on."""
    sources: list[str] = []

    class Noting(Everything):
        def grant(self, grant: Grant) -> None:
            sources.extend(grant.sources)

    mine, theirs = fact("order", "A-17", 1), fact("order", "B-4", 2, principal="ben")
    second = turn(2, "No, it is B-4.", None, theirs)
    second = replace(second, principal="ben", heard=(replace(second.heard[0], principal="ben"),))
    events = (turn(1, "It is A-17.", "Noted.", mine), second)

    run(script(*events, GrantEvent(owner="user", viewer="eva", facts=("order",))), Noting)

    assert ["u1"] == sources


def test_a_broken_harness_stops_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the exit code of an internal error, and no score."""
    scaffold(tmp_path)
    monkeypatch.chdir(tmp_path)
    added = BUILD.section("window", [LAST])
    monkeypatch.setattr(ContextBuilder, "cut", lambda *_: (Context(sections=(added,)), ()))

    done = CliRunner().invoke(program, ["run", "-s", "full_context", "-j", "1"])

    assert ExitCode.INTERNAL == done.exit_code
    assert "InvariantError: cutting a context added to it" in done.stderr
    assert "PASS" not in done.stdout


@pytest.mark.parametrize("layer", ["summary", "window"])
def test_a_compaction_may_cover_a_summary_that_was_shown(layer: SectionName) -> None:
    """A summary of a summary says so, also one amid the talk; one that nobody saw is none."""
    watch = watching(Bare(), *talk(2))
    summary = composed("user", "They met.", id="summary:1")
    section = Section(layer=layer, messages=(summary,), tokens=2)
    again = Event(kind="compaction", sources=("summary:1", "m1"))

    with pytest.raises(StrategyError, match="covers summary:1, which nobody said"):
        watch.check_events([again])
    watch.check_context(Context(sections=(section,)), QUERY)
    watch.check_events([again])
