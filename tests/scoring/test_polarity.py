"""Polarity: what an answer denies, and what it calls a thing of the past."""

from __future__ import annotations

import pytest

from memsim.scoring.answer_match import occurrences
from memsim.scoring.answer_text import read_words
from memsim.scoring.polarity import denied, is_negative, says_old


@pytest.mark.parametrize(
    "text",
    [
        "not Oslo",
        "it isn't Oslo",
        "He does not live in Oslo",
        "never Oslo",
        "anything without Oslo",
        "Bergen instead of Oslo",
        "Bergen rather than Oslo",
        "neither Oslo nor Bergen",
        "no longer Oslo",
        "Oslo is not correct",
        "Oslo is wrong",
        "Oslo is no longer the place",
        "there is no Oslo",
    ],
)
def test_what_is_denied(text: str) -> None:
    """A negative word reaches the next five words of its clause, and a denial reaches back."""
    words = read_words(text)

    assert words.tokens.index("oslo") in denied(words)


@pytest.mark.parametrize(
    "text",
    [
        "Oslo",
        "no, it is Oslo",
        "No it's Oslo",
        "not Bergen, Oslo",
        "not Bergen but Oslo",
        "not only Oslo",
        "I was not tired and went to Oslo",
        "she could never have thought that one day Oslo",
        "rather Oslo",
        "Oslo is not far",
        "It is not Bergen. Oslo it is.",
        "the other Oslo",
    ],
)
def test_what_is_not_denied(text: str) -> None:
    """A clause, a contrast, an answer `no`, and distance all end what a negative word reaches."""
    words = read_words(text)

    assert words.tokens.index("oslo") not in denied(words)


@pytest.mark.parametrize(
    "text",
    [
        "Oslo, not Bergen",
        "Oslo instead of Bergen",
        "It used to be Bergen",
        "previously Bergen",
        "Bergen previously",
        "originally it was Bergen",
        "changed from Bergen to Oslo",
        "moved from Bergen into Oslo",
        "Bergen was changed to Oslo",
        "Bergen before, Oslo",
        "the former address in Bergen",
        "Bergen is outdated",
        "Bergen until June",
        "two years ago Bergen is replaced",
    ],
)
def test_what_is_called_old(text: str) -> None:
    """Denials, `used to`, `from .. to`, and words for the past mark a value as old."""
    words = read_words(text)
    ((start, end),) = occurrences(read_words("Bergen"), words)

    assert says_old(words, start, end, loosely=False)


@pytest.mark.parametrize(
    "text",
    [
        "Bergen",
        "Bergen and Oslo",
        "It used to be Oslo, now Bergen",
        "used to be Oslo now Bergen",
        "changed from Oslo to Bergen",
        "Ship it to Bergen before Friday",
        "it was Bergen",
    ],
)
def test_what_is_given_as_current(text: str) -> None:
    """A value after `now`, at the end of a change, or merely in the past tense is not old."""
    words = read_words(text)
    ((start, end),) = occurrences(read_words("Bergen"), words)

    assert not says_old(words, start, end, loosely=False)


def test_a_past_tense_marks_old_only_beside_the_current_value() -> None:
    """`Oslo (it was Bergen)` is loose enough."""
    words = read_words("Oslo (it was Bergen)")

    assert says_old(words, 3, 4, loosely=True)
    assert not says_old(words, 3, 4, loosely=False)


def test_negative_texts_are_known() -> None:
    """As words, not as letters."""
    assert is_negative(read_words("She is not married"))
    assert not is_negative(read_words("knot nothingness"))
