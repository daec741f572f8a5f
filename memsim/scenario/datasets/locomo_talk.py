"""Reads the talk of a LoCoMo conversation as turns: who said what, in which session, and when."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from memsim.language.lexicon import MONTHS
from memsim.message import said
from memsim.scenario.datasets.json_file import Entry
from memsim.scenario.script import Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

UTTERANCE = timedelta(minutes=1)
"""Virtual time that an utterance takes; the file dates sessions only."""

_SESSION = re.compile(r"session_(\d+)")
_DATE = re.compile(r"(\d{1,2}):(\d\d) ?([ap])m on (\d{1,2}) ([a-z]+), ?(\d{4})")


def read_talk(talk: Entry, name: str) -> list[Turn]:
    """The turns of a conversation, in order, one for each utterance.

    Args:
        talk: the file's `conversation`.
        name: the conversation's name, for errors.

    Raises:
        ScenarioError: it is not of the schema, or has no turn.
    """
    turns: list[Turn] = []
    seen: set[str] = set()
    for session, lines in _sessions(talk):
        now = _date(talk, f"{session}_date_time")
        for n, line in enumerate(lines, start=1):
            entry = Entry(talk.path, f"{name}: {session}: turn {n}", line)
            turn = _turn(entry, len(turns) + 1, session, now)
            if turn.heard[0].id in seen:
                entry.reject(f"has the 'dia_id' {turn.heard[0].id!r} of another")
            seen.add(turn.heard[0].id)
            turns.append(turn)
            now += UTTERANCE
    if not turns:
        talk.reject("has no turn")
    return turns


def _sessions(talk: Entry) -> Iterator[tuple[str, list[object]]]:
    """The sessions that have turns; dates without a session are common in the file."""
    numbers = sorted(int(m[1]) for key in talk.fields if (m := _SESSION.fullmatch(key)))
    for number in numbers:
        lines = talk.members(f"session_{number}")
        if lines:
            yield f"session_{number}", lines


def _date(talk: Entry, name: str) -> datetime:
    text = talk.text(name)
    try:
        return _instant(text)
    except ValueError:
        talk.reject(f"has {text!r} as {name!r}, not a date such as '1:56 pm on 8 May, 2023'")


def _instant(text: str) -> datetime:
    # strptime would read the names of months in the machine's own language.
    found = _DATE.fullmatch(" ".join(text.lower().split()))
    if found is None or not 1 <= int(found[1]) <= 12:
        raise ValueError(text)
    hour = int(found[1]) % 12 + (12 if found[3] == "p" else 0)
    month = MONTHS.index(found[5]) + 1
    return datetime(int(found[6]), month, int(found[4]), hour, int(found[2]), tzinfo=UTC)


def _turn(entry: Entry, number: int, session: str, now: datetime) -> Turn:
    speaker = entry.text("speaker")
    words = entry.text("text")
    if "blip_caption" in entry:
        words = f"{words} [shares {entry.text('blip_caption')}]".strip()
    message = said(
        "user",
        words,
        id=entry.text("dia_id"),
        principal=speaker,
        session=session,
        turn=number,
        time=now,
    )
    return Turn(number=number, session=session, principal=speaker, time=now, heard=(message,))
