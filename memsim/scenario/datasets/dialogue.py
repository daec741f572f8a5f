"""Plays the sessions of a user with an assistant as turns, for datasets that are such talks."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memsim.message import Message, Role, said
from memsim.scenario.datasets.dataset_scenario import UTTERANCE
from memsim.scenario.script import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memsim.scenario.datasets.json_file import JsonObject

ASKER = "user"
"""Who talks with the assistant, and asks the questions."""

Line = tuple[Role, str]
"""Who says it, and what."""

Session = tuple[datetime, "Sequence[Line]"]
"""When it begins, and what is said in it."""

_DATE = re.compile(r"([12]\d{3})/(\d\d)/(\d\d) \([A-Z][a-z]{2}\) (\d\d):(\d\d)")


def read_session_date(entry: JsonObject, text: str) -> datetime:
    """A date such as `2023/05/30 (Tue) 23:40`, as LongMemEval and MEME write it.

    Raises:
        ScenarioError: it is no such date.
    """
    found = _DATE.fullmatch(text.strip())
    try:
        year, month, day, hour, minute = map(int, found.groups() if found else ())
        return datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError:
        entry.reject(f"has {text!r} as a date, not one such as '2023/05/30 (Tue) 23:40'")


def dialogue_turns(sessions: Iterable[Session]) -> list[Turn]:
    """The turns of some sessions, in order: what the user says, with the replies that it gets.

    Messages are `m1`, `m2` and so on through all sessions, and sessions `session-1` and so on. A
    session begins when it says, or a minute after the last message where that is later. A line of
    the assistant that nobody said something before is a turn of its own.
    """
    turns: list[Turn] = []
    now = None
    number = 0
    for place, (date, lines) in enumerate(sessions, start=1):
        now = date if now is None else max(date, now)
        for exchange in _exchanges(lines):
            messages = []
            for role, text in exchange:
                number += 1
                messages.append(
                    _message(role, text, number, f"session-{place}", len(turns) + 1, now)
                )
                now += UTTERANCE
            turns.append(
                Turn(
                    number=len(turns) + 1,
                    session=f"session-{place}",
                    principal=ASKER,
                    time=messages[0].time,
                    heard=(messages[0],),
                    reply=tuple(messages[1:]),
                )
            )
    return turns


def messages_of(turns: Iterable[Turn]) -> list[Message]:
    """Every message of some turns, in order."""
    return [message for turn in turns for message in (*turn.heard, *turn.reply)]


def _exchanges(lines: Sequence[Line]) -> Iterator[list[Line]]:
    exchange: list[Line] = []
    for line in lines:
        if line[0] == "user" and exchange:
            yield exchange
            exchange = []
        exchange.append(line)
    if exchange:
        yield exchange


def _message(role: Role, text: str, number: int, session: str, turn: int, now: datetime) -> Message:
    return said(role, text, id=f"m{number}", principal=ASKER, session=session, turn=turn, time=now)
