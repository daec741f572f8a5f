"""Matching: what counts as giving the expected text, and what never does."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memsim.scoring.answer_match import (
    ENOUGH,
    LONGEST,
    everything_in,
    holds_all,
    length_limit,
    match_sequence,
    match_words,
    occurrences,
    too_long,
)
from memsim.scoring.answer_text import content, read_words

NOUNS = ("lake", "boat", "violin", "harbour", "ticket", "garden", "stone", "window", "bottle")
PHRASES = st.lists(st.sampled_from(NOUNS), min_size=1, max_size=8)
UNRELATED = st.lists(st.sampled_from(["zebra", "quartz", "oxygen", "planet"]), max_size=8)


def test_the_expected_is_given(subtests: pytest.Subtests) -> None:
    """Forms, order and company do not matter; a more exact date is within a wider one."""
    for expected, answer in [
        ("A-17", "Your order is A-17."),
        ("A-17", "it's a17"),
        ("adoption agencies", "She looked into an adoption agency."),
        ("8 May 2023", "on 2023-05-08, I think"),
        ("8 May 2023", "May 8"),
        ("May 2023", "8 May 2023"),
        ("May 8", "2023-05-08"),
        ("2023", "in May 2023"),
        ("May", "8 May 2023"),
        ("phase 2", "phase-2"),
        ("phase-2", "phase 2"),
        ("six months", "6 months"),
        ("Yes", "Yes, she would"),
        ("Yes, because she likes boats", "She likes boats, yes"),
        ("No", "No, she would not"),
        ("She is not married", "not married"),
        ("pottery, painting, camping, swimming and hiking", "painting, pottery, hiking"),
        ("one of his old friends", "his old friends"),
        ("'Nothing Lasts', 'Tern'", "Tern and Nothing Lasts"),
        ("'Nothing Lasts', 'Tern and Gull'", "Tern and Gull lasts"),
        ("Plan A", "We took plan A."),
        ("She got hurt and took a break", "She got hurt, did not break anything, took a break"),
        ("a green boat", "not a red boat, a green boat"),
        ("a green boat", "not a boat, a green boat"),
        ("奥斯陆", "我住在奥斯陆"),
    ]:
        with subtests.test(expected=expected, answer=answer):
            assert match_words(expected, answer).right


def test_the_expected_is_not_given(subtests: pytest.Subtests) -> None:
    """Other identifiers, other dates, other numbers, denials and too few words are wrong."""
    for expected, answer in [
        ("A-17", "A-170"),
        ("A-17", "BA-17"),
        ("A-17", "A-17-B"),
        ("A-17", "I am a 17 year old"),
        ("A-17", "not A-17"),
        ("A-17", ""),
        ("Oslo", "It isn't Oslo."),
        ("8 May 2023", "8 June 2023"),
        ("8 May 2023", "7 May 2023"),
        ("8 May 2023", "8 May 2022"),
        ("8 May 2023", "May 2023"),
        ("red lamp with 3 bulbs", "red lamp with 4 bulbs"),
        ("red lamp with 3 bulbs", "red lamp with bulbs"),
        ("A-17", "I got an A, 17 of us"),
        ("AT-7", "at 7"),
        ("one big black dog", "two big black dogs"),
        ("Yes", "No"),
        ("Yes, she likes boats", "No, she likes boats"),
        ("likely no, since it went badly", "likely, since it went badly"),
        ("She is not married", "She is married"),
        ("pottery, painting, camping, swimming and hiking", "painting and pottery"),
        ("Plan A", "Plan B"),
        ("boats, violins and tea", "boats and violins, not tea"),
        ("she sold her boat to a friend in Moss", "It is not that she sold her boat to a friend"),
        ("", "anything"),
        ("奥斯陆", "我住在卑尔根"),
    ]:
        with subtests.test(expected=expected, answer=answer):
            assert not match_words(expected, answer).right


def test_what_is_wrong_is_told() -> None:
    """The contradiction is named."""
    assert match_words("8 May 2023", "7 May 2023").detail == "2023-05-08 is missing"
    assert match_words("Yes, by boat", "No, by boat").detail == "says no"
    assert match_words("not by boat", "by boat").detail == "does not deny it"


def test_sequences_need_their_order() -> None:
    """The words stand together, in order, in any form."""
    assert match_sequence("window seats", "a window seat, please").right
    assert not match_sequence("window seat", "seat at the window").right
    assert not match_sequence("window seat", "not a window seat").right
    assert match_sequence("not a window seat", "not a window seat").right


def test_occurrences_are_never_inside_other_words() -> None:
    """Oslo is not in Osloer."""
    assert [(0, 1), (3, 4)] == occurrences(read_words("Oslo"), read_words("Oslo or Osloer, Oslo"))


def test_a_text_holds_what_its_dates_imply() -> None:
    """The day implies its month and year, and not the other way round."""
    held = everything_in("It was on 8 May 2023.")

    for implied in ("May 2023", "2023", "May 8", "May", "8 May 2023"):
        assert holds_all(held, content(read_words(implied)))
    assert not holds_all(everything_in("May 2023"), content(read_words("8 May 2023")))
    assert not holds_all(everything_in("8 May 2022"), content(read_words("8 May 2023")))


def test_the_limit_grows_with_the_expected_answer() -> None:
    """Eight words for each of the expected ones, forty at least."""
    long = " ".join(f"word{n}" for n in range(10))

    assert length_limit(["Oslo"]) == LONGEST == 40
    assert length_limit(["Oslo", long]) == 80
    assert length_limit(["Oslo", "Bonn"], every=True) == 56
    assert not too_long("lake " * 40, ["Oslo"])
    assert too_long("lake " * 41, ["Oslo"])
    assert not too_long("the of " * 400 + "Oslo", ["Oslo"])


@given(PHRASES, PHRASES)
def test_right_needs_enough_of_the_words(gold: list[str], answer: list[str]) -> None:
    """No answer is right with less than the share that is enough, and every share is one."""
    match = match_words(" ".join(gold), " ".join(answer))

    assert 0 <= match.share <= 1
    assert match.right == (match.share >= ENOUGH)


@given(PHRASES, PHRASES, UNRELATED)
def test_unrelated_words_never_help(gold: list[str], answer: list[str], more: list[str]) -> None:
    """Saying more about something else leaves the share as it is."""
    expected, said = " ".join(gold), " ".join(answer)

    assert match_words(expected, said) == match_words(expected, f"{said}. {' '.join(more)}")


@given(PHRASES, st.randoms(use_true_random=False))
def test_order_does_not_matter(gold: list[str], chance: object) -> None:
    """Words in any order are the same answer."""
    shuffled = list(gold)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]

    assert match_words(" ".join(gold), " ".join(shuffled)) == match_words(
        " ".join(shuffled), " ".join(gold)
    )
    assert match_words(" ".join(gold), " ".join(shuffled)).right


@given(PHRASES, PHRASES)
def test_a_sequence_is_also_found_by_words(gold: list[str], rest: list[str]) -> None:
    """What stands there in order is there."""
    expected, answer = " ".join(gold), " ".join([*rest, *gold])
    assume(match_sequence(expected, answer).right)

    assert match_words(expected, answer).share == 1.0


@given(st.text(), st.text())
def test_any_texts_can_be_compared(expected: str, answer: str) -> None:
    """No pair breaks it, and a text holds itself unless it denies or is empty."""
    match = match_words(expected, answer)

    assert 0 <= match.share <= 1
    assert match_sequence(expected, answer).share in {0.0, 1.0}
