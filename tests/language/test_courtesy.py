"""The words of politeness are taken off a question, and nothing else is."""

from __future__ import annotations

import pytest

from memsim.language.courtesy import without_courtesy


@pytest.mark.parametrize(
    ("asked", "bare"),
    [
        ("Which city? Thanks a lot, have a nice day!", "Which city?"),
        ("Sorry to bother you again, but could you please tell me: Which city?", "Which city?"),
        ("Quick question. Which city?", "Which city?"),
        ("Hello there! Where is it?", "Where is it?"),
        ("Which city is mine, please?", "Which city is mine"),
        ("I'm so sorry for asking again, but where is it? Many thanks in advance!", "where is it?"),
        (
            "Hi. I moved last week. Where do I live? Take care!",
            "I moved last week. Where do I live?",
        ),
    ],
)
def test_what_says_nothing_is_gone(asked: str, bare: str) -> None:
    """At the beginning and at the end."""
    assert bare == without_courtesy(asked)


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "Thanks!",
        "Whom did I thank?",
        "What did Ana say sorry for?",
        "Which day did I call nice?",
        "Tell me about Thanksgiving.",
        "Could you have a good day without coffee?",
        "What does the card say: Have a nice trip?",
    ],
)
def test_what_may_be_the_matter_stays(asked: str) -> None:
    """Where nothing else is left, the words are what is asked."""
    assert asked == without_courtesy(asked)


def test_a_megabyte_of_full_stops_is_no_work() -> None:
    """Only the ends are searched."""
    text = "." * 1_000_000 + "?"

    assert text == without_courtesy(text)


@pytest.mark.parametrize(
    ("asked", "bare"),
    [
        ("Here is what I would like to know: which city?", "which city?"),
        ("I was just wondering about something. Which city?", "Which city?"),
        ("Okay, so, which city?", "which city?"),
        ("Which city? That is all I need for now.", "Which city?"),
    ],
)
def test_remarks_about_asking_are_gone(asked: str, bare: str) -> None:
    """By their words, not by their phrases."""
    assert bare == without_courtesy(asked)


@pytest.mark.parametrize(
    "asked",
    [
        "My order is late. When was it due?",
        "At first, where did I live?",
        "Ben, where do I live?",
        "Where do I live? Not in Oslo.",
        "Before that, what did I want to know?",
    ],
)
def test_a_remark_with_matter_stays(asked: str) -> None:
    """A name, a noun, or a word of time or denial."""
    assert asked == without_courtesy(asked)
