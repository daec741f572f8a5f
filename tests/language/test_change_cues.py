"""Words that announce a change, and what a sentence says about it."""

from __future__ import annotations

import pytest

from memsim.language.change_cues import (
    announces_change,
    asks_to_forget,
    given_up,
    is_unsure,
    named_subject,
    owned,
    points_back,
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
    assert {"diet"} == owned("My new diet is vegan.")
    assert is_unsure("Maybe I take the train.")
    assert asks_to_forget("Please forget my address.")
    assert points_back("We do it on Thursday.")
    assert states_several("I take a flat white with whole milk.")
    assert not states_several("My diet is vegetarian, more or less.")
