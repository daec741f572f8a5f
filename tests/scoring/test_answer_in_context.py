"""Answer in context: whether any reader could have found the expected answer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from memsim.context import Context
from memsim.message import Message, composed, said
from memsim.scenario.script import Match, Probe
from memsim.scoring.context_scores import answer_in_context

MAY = datetime(2023, 5, 8, tzinfo=UTC)
LINES = (
    said("user", "My order is A-17.", id="m1", time=MAY),
    said("user", "I paint, and go camping.", id="m2", time=MAY),
    said("user", "On Sundays we go hiking by the lake.", id="m3", time=MAY),
)


def probe(*expect: str, match: Match = "tokens") -> Probe:
    """A question with these expected answers."""
    return Probe(id="p", ask="?", expect=expect, match=match)


@pytest.mark.parametrize(
    ("expected", "shown"),
    [
        ("A-17", True),
        ("a17", True),
        ("A-170", False),
        ("A-17 and A-18", False),
        ("painting, camping, hiking", True),
        ("painting and camping", True),
        ("painting by the lake", False),
        ("hiking at the lake", True),
        ("8 May 2023", True),
        ("May 2023", True),
        ("9 May 2023", False),
        ("Oslo", False),
    ],
)
def test_parts_stand_in_one_message_each(
    context_of: Callable[..., Context], expected: str, shown: bool
) -> None:
    """Every part of a list in some message, words of one part together, dates by their line."""
    assert shown == answer_in_context(probe(expected), context_of(window=LINES))


def test_any_expected_answer_will_do_and_all_needs_each(
    context_of: Callable[..., Context],
) -> None:
    """As in judging."""
    context = context_of(window=LINES)

    assert answer_in_context(probe("Oslo", "A-17"), context)
    assert not answer_in_context(probe("Oslo", "A-17", match="all"), context)


def test_composed_text_counts_and_its_date_does_not(context_of: Callable[..., Context]) -> None:
    """A summary is text that was sent; it has no date line."""
    summary: Message = composed("system", "The order is A-17.", id="summary:1", time=MAY)
    context = context_of(summary=(summary,))

    assert answer_in_context(probe("A-17"), context)
    assert not answer_in_context(probe("8 May 2023"), context)


def test_lines_of_a_composed_text_are_messages(context_of: Callable[..., Context]) -> None:
    """Words that only meet across the lines of a list do not make an answer."""
    listed = composed("user", "I paint boats.\nThe lake is far.", id="recalled:1")
    context = context_of(recalled=(listed,))

    assert answer_in_context(probe("painting boats"), context)
    assert not answer_in_context(probe("painting the lake"), context)


def test_an_empty_context_holds_nothing() -> None:
    """And an empty expected answer is nowhere."""
    assert not answer_in_context(probe("A-17"), Context())
    assert not answer_in_context(probe(""), Context())
