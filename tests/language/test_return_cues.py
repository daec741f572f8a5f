"""Words by which a sentence says that something is again as it once was."""

from __future__ import annotations

import pytest

from memsim.language.return_cues import is_only_talk, returning_stems, returns_to
from memsim.language.text import stem


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Never mind, back to Tuesday as it was.", "before"),
        ("Please revert the standup to how it was.", "before"),
        ("We put the ladder back where it was.", "before"),
        ("Leave the deadline as it was.", "before"),
        ("The choir meets in its old room again.", "before"),
        ("As before, the stall is back at the square.", "before"),
        ("Undo that.", "before"),
        ("The rota is back to what we had originally.", "first"),
        ("Let us go back to the original plan for the stall.", "first"),
        ("The ladder hangs again where it hung in the beginning.", "first"),
        ("She\u2019s once more the treasurer, as at the start.", "first"),
    ],
)
def test_what_goes_back_to_the_first_or_to_the_one_before(sentence: str, expected: str) -> None:
    """Words for the beginning tell one from the other."""
    assert expected == returns_to(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Can you put it back as it was?",
        "I first met him back in 2010.",
        "I went back to the shop before the rain.",
        "Someone left a box of records at the old bridge again.",
        "I am back in town again.",
        "We moved back to Oslo.",
        "My desk was 4A before.",
        "",
    ],
)
def test_what_goes_back_to_nothing(sentence: str) -> None:
    """A question, a place that somebody comes back to, and the past alone."""
    assert returns_to(sentence) is None


def test_the_words_of_what_goes_back() -> None:
    """The words that say that it does are not of it."""
    assert {"ladder"} == returning_stems("We put the ladder back where it was before.")
    assert {stem("choir"), stem("meets")} == returning_stems(
        "The choir meets again as it once was."
    )
    assert frozenset() == returning_stems("Never mind, undo that change.")


def test_what_is_only_talked_about() -> None:
    """Supposed, denied, quoted or joked."""
    said = ("If it rains, it is in the barn.", "Ben claims it is in the barn.", "It is not true.")
    assert [True, True, True] == [is_only_talk(sentence) for sentence in said]
    assert not is_only_talk("The ladder hangs in the barn.")
