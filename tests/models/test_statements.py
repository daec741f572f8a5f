"""Messages read as statements: speakers, days, questions."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.language.text import split_head
from memsim.message import Message, ToolResult, composed, said
from memsim.models.offline.statements import sentence, statements, utterances

DAY = datetime(2023, 5, 8, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[2023-05-08] Caroline: Hi.", ("Hi.", "Caroline", date(2023, 5, 8))),
        ("- [2023-05-08 13:56] Caroline: Hi.", ("Hi.", "Caroline", date(2023, 5, 8))),
        ("(2023-05-08) user: Hi.", ("Hi.", "user", date(2023, 5, 8))),
        ("2023-05-08T13:56:00Z user: Hi.", ("Hi.", "user", date(2023, 5, 8))),
        ("* Mary Ann: Hi.", ("Hi.", "Mary Ann", None)),
        ("1. assistant: Hi.", ("Hi.", "assistant", None)),
        ("kofi: Hi.", ("Hi.", "kofi", None)),
        ("Deadline: Friday.", ("Deadline: Friday.", "", None)),
        ("[2023-13-31] Caroline: Hi.", ("Hi.", "Caroline", None)),
        ("https://example.org", ("https://example.org", "", None)),
        ("no head", ("no head", "", None)),
        ("", ("", "", None)),
    ],
)
def test_a_remembered_line_names_its_speaker_and_day(
    line: str, expected: tuple[str, str, date | None]
) -> None:
    """The forms in which strategies write lines are understood; a label is no speaker."""
    assert split_head(line) == expected


def test_a_field_of_a_record_is_no_speaker() -> None:
    """In an original text nobody speaks but its principal, so a tool's record stays together."""
    text = "Order A-17\nStatus: shipped\ntotal: 48.20 EUR"

    (entry,) = utterances(text)

    assert [s.text for s in entry.sentences] == text.splitlines()


def test_a_remembered_record_stays_together() -> None:
    """Below a dated head, what looks like a name is a field, unless somebody is called that."""
    text = "[2023-05-08] tool: Order A-17\nPort: 8443\nuser: Thanks.\nane: Me too."

    found = utterances(text, composed=True, people=frozenset({"ane"}))

    assert [(e.who, [s.text for s in e.sentences]) for e in found] == [
        ("tool", ["Order A-17", "Port: 8443"]),
        ("user", ["Thanks."]),
        ("ane", ["Me too."]),
    ]


def test_lines_of_a_composed_message_are_entries_of_their_own() -> None:
    """Each remembered line keeps its own speaker and day."""
    text = "[2023-05-08] alice: One.\n[2023-05-09] bob: Two."
    found = statements([composed("system", text, id="r")])

    assert [("alic", date(2023, 5, 8)), ("bob", date(2023, 5, 9))] == [
        (s.who, s.day) for s in found
    ]


def test_a_message_without_heads_is_said_by_its_principal() -> None:
    """On the day of the message, unless a strategy composed it: its day is not when it was said."""
    original = said("user", "Hi there.", id="1", principal="Ane", time=DAY)
    memory = composed("system", "Something.", id="2", time=DAY)

    found = statements([original, memory])

    assert [("ane", DAY.date()), ("system", None)] == [(s.who, s.day) for s in found]


def test_a_date_line_dates_what_follows_it() -> None:
    """A context's date line belongs to the text below it."""
    found = statements([said("user", "[2023-05-09]\nI am back.", id="1", time=DAY)])

    assert [date(2023, 5, 9)] == [s.day for s in found]


def test_blocks_of_a_message_are_read_together() -> None:
    """A tool's result is text like any other."""
    message = Message(id="1", role="tool", blocks=(ToolResult(id="c", text="Port: 8443"),))

    assert [["Port: 8443"]] == [[s.text for s in x.entry.sentences] for x in statements([message])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is my dog called?", True),
        ("where do I live", True),
        ("Can you tell me the time", True),
        ("Remind me what I said about it.", True),
        ("你好吗\uff1f", True),
        ("I don't know.", True),
        ("I have no information on that.", True),
        ("You haven't told me.", True),
        ("Remind me to call Ane on Friday.", False),
        ("My dog is called Pepper.", False),
        ("What a day!", False),
        ("Please change my address to 9 Oak Lane.", False),
        ("When it rained, we stayed in.", False),
    ],
)
def test_questions_and_ignorance_state_nothing(text: str, *, expected: bool) -> None:
    """What asks, requests or does not know is not evidence; the rest is."""
    assert sentence(text).question is expected


def test_whoever_is_called_is_not_spoken_of() -> None:
    """A name by which somebody is addressed is not what the sentence is about."""
    assert "carolin" not in sentence("Thanks, Caroline!").stems
    assert "carolin" not in sentence("Hey Caroline, I ran a race.").stems
    assert "carolin" in sentence("I met Caroline in Rome.").stems
    assert "rome" in sentence("We saw Rome, and Paris.").stems


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    """Every sentence of an entry is part of the text."""
    for entry in utterances(text, composed=True):
        assert all(s.text in text for s in entry.sentences)
