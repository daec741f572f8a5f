"""What is watched while a case is played: a broken strategy is told, a broken harness stops."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from memsim.context import Context, ContextBuilder, Section
from memsim.errors import StrategyError
from memsim.message import Message, ToolResult, ToolUse, said
from memsim.replay.watching import Broken, watch_fitted, watch_sent, watch_shown
from memsim.tokens import CharsOverFour, TokenCounter

BUILD = ContextBuilder(TokenCounter(CharsOverFour()))
CALL = Message(id="m1", role="assistant", blocks=(ToolUse(id="c1", name="look", arguments="{}"),))
RESULT = Message(id="m2", role="tool", blocks=(ToolResult(id="c1", text="found"),))
LAST = said("user", "And now?", id="m3")


def talk(count: int, first: int = 0) -> list[Message]:
    """So many messages."""
    return [said("user", f"Message {n} of them.", id=f"m{n}") for n in range(first, first + count)]


def context(system: Iterable[Message], window: Iterable[Message]) -> Context:
    """A context of two sections, of which one gives way."""
    return BUILD.context(BUILD.section("system", system), BUILD.section("window", window))


def test_less_than_no_tokens_is_the_strategys_error() -> None:
    """With them, any context would keep to any budget."""
    watch_shown(context(talk(1), talk(2, 1)))

    with pytest.raises(StrategyError, match=r"window has -5 tokens"):
        watch_shown(Context(sections=(Section(layer="window", messages=(LAST,), tokens=-5),)))


@pytest.mark.parametrize("budget", [0, 10, 30, 60, 1000])
def test_what_is_cut_as_it_should_be_passes(budget: int) -> None:
    """Whatever the budget, what the builder makes of it is in order."""
    whole = context(talk(1), talk(9, 1))

    watch_fitted(whole, BUILD.fit(whole, budget)[0], budget)


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

    with pytest.raises(Broken, match=why):
        watch_fitted(whole, fitted, 40)


def test_a_context_over_its_budget_may_not_be_sent_as_it_is() -> None:
    """Nor when nothing was cut at all."""
    whole = context(talk(1), talk(9, 1))

    with pytest.raises(Broken, match="sent as it is"):
        watch_fitted(whole, whole, 40)


@pytest.mark.parametrize("sent", [(LAST,), (CALL, RESULT, LAST), (LAST, CALL)])
def test_calls_with_their_results_may_be_sent(sent: tuple[Message, ...]) -> None:
    """The last call is still to be answered."""
    watch_sent(sent)


@pytest.mark.parametrize("sent", [(CALL, LAST), (RESULT, LAST), (LAST, RESULT)])
def test_half_a_pair_may_not_be_sent(sent: tuple[Message, ...]) -> None:
    """Providers refuse it."""
    with pytest.raises(Broken, match="tool call"):
        watch_sent(sent)
