"""What a question asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.models.offline.question import bare_question, parse_question


def test_the_kind_is_what_would_answer(subtests: pytest.Subtests) -> None:
    """Politeness and a `when` in a subordinate clause do not mislead."""
    for text, kind in [
        ("When is my flight?", "when"),
        ("On which weekday do we meet?", "when"),
        ("What time does it start?", "when"),
        ("What is the date of the launch?", "when"),
        ("How many cats do I have?", "number"),
        ("How much did it cost?", "number"),
        ("What is the price of the tent?", "number"),
        ("How long have I lived here?", "duration"),
        ("How long ago did we meet?", "elapsed"),
        ("How many weeks have passed since the move?", "elapsed"),
        ("How often do I run?", "often"),
        ("Who is my dentist?", "who"),
        ("Whose bike is it?", "who"),
        ("Where do I live?", "where"),
        ("What colour is my hat?", "colour"),
        ("What is my dog called?", "name"),
        ("What's my dog's name?", "name"),
        ("Did I sell the car?", "yesno"),
        ("Is it in Oslo or in Bergen?", "open"),
        ("Which framework do we use?", "open"),
        ("What do I say when I am angry?", "open"),
        ("Can you tell me where I live?", "where"),
        ("", "open"),
    ]:
        with subtests.test(text=text, kind=kind):
            assert parse_question(text).kind == kind


def test_content_words_weigh_and_the_rest_does_not() -> None:
    """Stop words and words for the kind of answer say nothing; common ones say little."""
    assert parse_question("What kind of food do I usually get?").weights == {
        "food": 1.0,
        "usual": 1.0,
        "get": 0.3,
    }


def test_owners_are_whose_thing_it_is() -> None:
    """Possessives, `my` and what a verb is about; codes as well."""
    assert parse_question("What is my sister's job?").owners == {"sister"}
    assert parse_question("What did the tent cost?").owners == {"tent"}
    assert parse_question("What is the status of order A-17?").owners == {"a-17"}
    assert parse_question("How many cats do I have?").owners == {"cat"}


def test_the_head_is_what_is_wanted() -> None:
    """The noun after `which`, or the last before a preposition."""
    assert parse_question("What breed is my dog?").head == "breed"
    assert parse_question("What is the status of order A-17?").head == "status"
    assert parse_question("What did I paint?").head == ""


def test_names_are_found_and_the_first_word_is_none() -> None:
    """Weekdays, months and `I` are no names either."""
    assert parse_question("Where did Caroline and I go on Monday in May?").names == ("carolin",)


def test_the_plural_wants_several() -> None:
    """One thing or many, by the form of the noun."""
    assert parse_question("Which languages do I speak?").many
    assert not parse_question("Which language do I speak?").many
    assert not parse_question("What does she do?").many


def test_a_question_may_want_what_was() -> None:
    """`First` or `used to` turn to the past, and are no content."""
    question = parse_question("What was my first address?")

    assert question.past
    assert "first" not in question.weights


def test_words_for_one_thing_stand_for_each_other_one_way() -> None:
    """A dog is a pet, and not every pet is a dog."""
    assert parse_question("What pet do I have?").stands_for["dog"] == "pet"
    assert "pet" not in parse_question("What breed is the dog?").stands_for


def test_the_dates_in_a_question_are_not_its_content() -> None:
    """They choose the day instead."""
    question = parse_question("What did I eat on 3 May 2023?")

    assert ["3 May 2023"] == [mention.text for mention in question.dates]
    assert set(question.weights) == {"eat"}


def test_a_long_run_of_marks_is_no_work() -> None:
    """The end of a question is searched for politeness, not every full stop of it."""
    assert len(bare_question("a" + "." * 100_000 + "b, please?")) == 100_003


@given(st.text())
def test_any_text_can_be_a_question(text: str) -> None:
    """What it wants is among what it says."""
    question = parse_question(text)

    assert question.owners <= question.weights.keys()
    assert question.head in {"", *question.weights}
