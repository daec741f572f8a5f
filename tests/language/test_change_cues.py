"""Words that announce a change, and what a sentence says about it."""

from __future__ import annotations

import pytest

from memsim.language.change_cues import (
    announces_change,
    asks_history,
    asks_to_forget,
    given_up,
    is_unsure,
    named_subject,
    owned,
    points_back,
    says_it_ended,
    states_several,
)


@pytest.mark.parametrize(
    ("sentence", "changes"),
    [
        ("The deadline is 28 May now.", True),
        ("Now I sing in a choir.", True),
        ("From tomorrow wake me at 7:15.", True),
        ("I walk instead of swimming.", True),
        ("We no longer use Redis.", True),
        ("I don\u2019t want the refund any more.", True),
        ("The budget was cut to 300 euros.", True),
        ("I had to rename the branch.", True),
        ("Please change the passphrase.", True),
        ("And make that nine.", True),
        ("Ninety seconds is too long.", True),
        ("Dr. Nakagawa has retired.", True),
        ("Not on Thursday, it goes out on Saturday.", True),
        ("Is the deadline 28 May now?", False),
        ("Kyoto now.", False),
        ("He bought a globe and now calls chess good fun.", False),
        ("Do not stir too much.", False),
        ("She moved the party indoors.", False),
        ("Would batching make the cache any better?", False),
        ("The hotel can be cancelled until May.", False),
        ("", False),
    ],
)
def test_words_of_change(sentence: str, changes: bool) -> None:
    """A question announces nothing, and neither does what happened to others."""
    assert changes == announces_change(sentence)


@pytest.mark.parametrize(
    ("sentence", "gone"),
    [
        ("Oat instead of whole milk.", {"whole", "milk"}),
        ("I gave up the pottery.", {"potteri"}),
        ("Three headlines are too many.", {"three", "headlin"}),
        ("My diet is vegan now.", set()),
    ],
)
def test_what_is_given_up(sentence: str, gone: set[str]) -> None:
    """It names what was so before."""
    assert gone == given_up(sentence)


def test_what_a_sentence_speaks_of() -> None:
    """Who begins it, whose things it names, and how sure it is."""
    assert ["clemence", "", ""] == [
        named_subject(s) for s in ("Clémence moves to Bordeaux.", "It moves.", "Two units failed.")
    ]
    assert ["mira", "anouk", "", "", ""] == [
        named_subject(s)
        for s in (
            "From today on Mira's key lies here.",
            "Anouk's choir has changed rooms.",
            "Today's meeting is moved to noon.",
            "Monday's class is moved.",
            "Here's the new code now.",
        )
    ]
    assert {"diet"} == owned("My new diet is vegan.")
    assert is_unsure("Maybe I take the train.")
    assert asks_to_forget("Please forget my address.")
    assert points_back("We do it on Thursday.")
    assert states_several("I take a flat white with whole milk.")
    assert not states_several("My diet is vegetarian, more or less.")


@pytest.mark.parametrize(
    ("question", "history"),
    [
        ("How many times did we move the meeting?", True),
        ("List all the drawers in which the key has lain.", True),
        ("Where was the bicycle parked just before Oslo?", True),
        ("Who was originally my landlord?", True),
        ("Where is the bicycle parked?", False),
        ("List all the instruments that I play.", False),
        ("How many cats do I have?", False),
    ],
)
def test_what_asks_for_the_past(question: str, history: bool) -> None:
    """Not what holds now, but all that held."""
    assert history == asks_history(question)


@pytest.mark.parametrize(
    ("sentence", "ended"),
    [
        ("I have sold the horn and play it no more.", True),
        ("We no longer use Redis.", True),
        ("I play the organ now.", False),
        ("I bake no more, my bread is the rye loaf.", False),
    ],
)
def test_what_says_that_it_ended(sentence: str, ended: bool) -> None:
    """It gives nothing in the place of what has ended."""
    assert ended == says_it_ended(sentence)
