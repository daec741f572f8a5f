"""Questions about who said something are answered with the speaker, never with the listener."""

from __future__ import annotations

import pytest

from memsim.message import Message, composed, said
from memsim.models import IDK, Request
from memsim.models.offline.origin import origin_matter
from memsim.models.offline.reader import read_answer

RECALLED = """\
Earlier messages that may matter:
[2026-01-05] ana: The market in the old town would be nice on Sunday.
[2026-01-05] assistant to ana: I would book the Harbour Inn for three nights.
[2026-01-06] ana: I like the Harbour Inn.
[2026-01-06] Ben Moe: The ferry to the island is cheaper than the train.
[2026-01-06] tool for ana: ferry timetable, 4 departures a day
[2026-01-07] ana: My sister says that the museum is closed on Monday.
"""


def answer(question: str, *messages: Message, asker: str = "ana") -> str:
    """The reader's answer from recalled lines, or from messages."""
    context = messages or (composed("user", RECALLED, id="recalled"),)
    request = Request(task="answer", messages=context, question=question, asker=asker)
    return read_answer(request).text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who proposed the Harbour Inn?", "The assistant"),
        ("Did I suggest the Harbour Inn, or did you?", "The assistant"),
        ("Was it me who suggested the Harbour Inn, or was it you?", "The assistant"),
        ("Who first mentioned the market in the old town?", "You, the user ana"),
        ("Who said that the ferry is cheaper?\n- ana\n- Ben Moe", "Ben Moe"),
        ("Who mentioned the ferry timetable?", "A tool"),
        ("Who proposed the opera?", IDK),
    ],
)
def test_who_said_it_is_the_speaker_of_its_line(question: str, expected: str) -> None:
    """The first who said it, by the heads of recalled lines."""
    assert expected == answer(question)


def test_a_line_of_a_summary_has_a_speaker_of_its_own() -> None:
    """And a day of its own, from which `yesterday` counts."""
    text = "[2026-02-01] summary for ana: [2026-01-06] ben: The export to PDF broke yesterday."
    made = composed("user", text, id="recalled")

    assert "5 January 2026" == answer("When did the export to PDF break?", made)
    assert "ben" == answer("Who said that the export to PDF broke?", made)


def test_what_somebody_reports_is_not_their_own_word() -> None:
    """Such a question is read as any other."""
    assert "sister" in answer("Who said that the museum is closed?")


def test_messages_of_the_window_name_their_speakers_too() -> None:
    """By their role, although an assistant's message has the principal of its user."""
    inn = said("assistant", "I would book the Harbour Inn.", id="m1", principal="ana")
    room = said("user", "The room by the harbour has to be quiet.", id="m2", principal="ana")

    assert "The assistant" == answer("Who proposed the Harbour Inn?", inn, room)
    assert "You, the user ana" == answer("Who wanted a quiet room?", inn, room)
    assert "ana" == answer("Who wanted a quiet room?", inn, room, asker="ben")


@pytest.mark.parametrize(
    "question", ["Who lives in Koenji?", "What did I say?", "Did I say yes?", "Who said?", ""]
)
def test_other_questions_are_read_as_before(question: str) -> None:
    """They want no speaker."""
    assert "" == origin_matter(question)
