"""Whole cases: a conversation, a budget around what it comes to, pins, and a model's behaviour."""

from __future__ import annotations

from hypothesis import strategies as st

from memsim.context import ContextBuilder
from memsim.message import Message
from memsim.testing.cases import BAD, Behaviour, Case
from memsim.testing.generators.talking import conversations
from memsim.testing.generators.texts import QUESTIONS
from memsim.tokens import CharsOverFour, TokenCounter

COUNTER = TokenCounter(CharsOverFour())
"""What tokens are counted with: characters divided by four."""

BUDGETS: tuple[tuple[int, int], ...] = (
    (40, 0),
    (40, 0),
    (60, 0),
    (25, 0),
    (80, 0),
    (50, 0),
    (100, -1),
    (100, 0),
    (100, 1),
    (300, 0),
)
"""Per cent of all that is said, and tokens more: below, exactly at, and above."""

LEAST_BUDGET = 48

BEHAVIOURS: tuple[Behaviour, ...] = ("good", "good", "good", "slow", *BAD, "raising")


def behaviours() -> st.SearchStrategy[Behaviour]:
    """What a model may do."""
    return st.sampled_from(BEHAVIOURS)


@st.composite
def cases(draw: st.DrawFn, most: int = 10) -> Case:
    """Cases of so many turns at most."""
    apart = draw(st.sampled_from((True, True, True, False)))
    least = min(most, draw(st.sampled_from((8, 7, 5, 6, 2, 0))))
    events = draw(conversations(least, most, apart=apart))
    messages = Case(events=events).messages
    straddling = draw(st.sampled_from((False, True)))
    return Case(
        events=events,
        budget=_budget(draw, messages, straddling=straddling),
        behaviour=draw(behaviours()),
        pins=_pinned(
            messages, draw(st.sampled_from((1, 2, 0, 3))), draw(st.sampled_from((0, 1, 2)))
        ),
        tail=draw(st.sampled_from((2, 0, 1, 3, 6))),
        apart=apart,
        questions=(draw(st.sampled_from(QUESTIONS)),),
    )


def _budget(draw: st.DrawFn, messages: tuple[Message, ...], *, straddling: bool) -> int:
    count = ContextBuilder(COUNTER).tokens
    results = [place for place, m in enumerate(messages) if m.role == "tool"]
    if straddling and results:
        # Just enough for what begins with a result: its call is beyond the cut.
        room = count(messages[draw(st.sampled_from(results)) :])
    else:
        share, more = draw(st.sampled_from(BUDGETS))
        room = count(messages) * share // 100 + more
    return max(LEAST_BUDGET, room)


def _pinned(messages: tuple[Message, ...], count: int, first: int) -> tuple[str, ...]:
    ids = [m.id for m in messages if m.role == "user"]
    return tuple(ids[first : first + 2 * count : 2])
