"""Slips of the fingers: which words may be meant, and that nothing else is read otherwise."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memsim.language.slips import meant_words, respelled


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("patetrns", "patterns"),
        ("acident", "accident"),
        ("accideent", "accident"),
        ("accidwnt", "accident"),
        ("hosue", "house"),
    ],
)
def test_a_slip_has_the_word_that_was_meant(slip: str, meant: str) -> None:
    """Letters changed over come first, so that the likeliest word is found first."""
    assert meant in meant_words(slip)
    assert slip not in meant_words(slip)


@pytest.mark.parametrize("word", ["a-17", "red", "dogs", "größe", "h0use", "x" * 25])
def test_what_is_short_or_no_plain_word_is_no_slip(word: str) -> None:
    """Codes and names of other scripts stay as they are."""
    assert () == meant_words(word)


def test_only_what_was_said_is_read_otherwise() -> None:
    """A capital stays, and so does all around the word."""

    def choose(word: str, meant: Sequence[str]) -> str | None:
        return next((w for w in meant if w in {"pottery", "bergen"}), None)

    asked = "Did Bregen's potetry club, A-Bregen2, meet?"

    assert "Did Bergen's pottery club, A-Bregen2, meet?" == respelled(asked, choose)
    assert asked == respelled(asked, lambda _word, _meant: None)
