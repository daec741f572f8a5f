"""Reads the chat of a BEAM conversation as turns: what the user said, and what was replied."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from memsim.errors import ScenarioError
from memsim.language.lexicon import MONTHS
from memsim.message import EPOCH, Message, said
from memsim.scenario.datasets.json_file import Entry
from memsim.scenario.script import Turn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

USER = "user"
"""Who talks to the assistant, and later asks."""

UTTERANCE = timedelta(minutes=1)
"""Virtual time that a message takes; the file dates batches only."""

_ROLES = ("user", "assistant")
_DATE = re.compile(r"([A-Za-z]+)-(\d{1,2})-(\d{4})")
_START = timedelta(hours=9)
_NEXT = timedelta(days=1) + _START

# The generator's own numbering stands at the end of what users say.
_MARKER = re.compile(r"\s*->->\s*\w+\s*,\s*[\w/]+\s*\Z")


def message_id(number: int) -> str:
    """What a message of the file's `id` is called."""
    return f"m{number}"


def read_chat(path: Path, value: object) -> list[Turn]:
    """The turns of a chat, in order: one for each message of the user, with the replies to it.

    Args:
        path: its file, for errors.
        value: what the file holds.

    Raises:
        ScenarioError: it is not of the schema, or has no turn.
    """
    if not isinstance(value, list):
        raise ScenarioError("not a list of batches", path=path)
    turns: list[Turn] = []
    seen: set[str] = set()
    now = EPOCH
    for n, batch in enumerate(value, start=1):
        entry = Entry(path, f"batch {n}", batch)
        now = _begin(entry, now, first=not turns)
        for lines in _exchanges(entry, n):
            turn = _turn(lines, len(turns) + 1, f"batch-{n}", now, seen)
            turns.append(turn)
            now += UTTERANCE * len(lines)
    if not turns:
        raise ScenarioError("holds no turn", path=path)
    return turns


def _begin(batch: Entry, now: datetime, *, first: bool) -> datetime:
    """When a batch begins: on its day, or on the day after the last message."""
    anchor = _anchor(batch)
    if anchor is not None:
        day = _day(batch, anchor)
        return day if first else max(day, now)
    return now if first else datetime(now.year, now.month, now.day, tzinfo=UTC) + _NEXT


def _anchor(batch: Entry) -> str | None:
    if "time_anchor" in batch:
        return batch.text("time_anchor")
    for group in batch.members("turns"):
        for line in group if isinstance(group, list) else ():
            if isinstance(line, dict) and isinstance(line.get("time_anchor"), str):
                return str(line["time_anchor"])
    return None


def _day(batch: Entry, text: str) -> datetime:
    try:
        return _instant(text)
    except ValueError:
        batch.reject(f"has {text!r} as 'time_anchor', not a date such as 'March-15-2024'")


def _instant(text: str) -> datetime:
    # strptime would read the names of months in the machine's own language.
    found = _DATE.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    month = MONTHS.index(found[1].lower()) + 1
    return datetime(int(found[3]), month, int(found[2]), tzinfo=UTC) + _START


def _exchanges(batch: Entry, n: int) -> Iterator[list[Entry]]:
    for g, group in enumerate(batch.members("turns"), start=1):
        if not isinstance(group, list):
            batch.reject(f"has as turn {g} no list of messages")
        exchange: list[Entry] = []
        for m, line in enumerate(group, start=1):
            entry = Entry(batch.path, f"batch {n}: turn {g}: message {m}", line)
            role = entry.text("role")
            if role not in _ROLES:
                entry.reject(f"has {role!r} as 'role', not {' or '.join(map(repr, _ROLES))}")
            if role == "user" and exchange:
                yield exchange
                exchange = []
            if role == "assistant" and not exchange:
                entry.reject("replies to nothing")
            exchange.append(entry)
        if exchange:
            yield exchange


def _turn(lines: list[Entry], number: int, session: str, now: datetime, seen: set[str]) -> Turn:
    messages = [
        _message(entry, number, session, now + UTTERANCE * place, seen)
        for place, entry in enumerate(lines)
    ]
    return Turn(
        number=number,
        session=session,
        principal=USER,
        time=now,
        heard=(messages[0],),
        reply=tuple(messages[1:]),
    )


def _message(entry: Entry, number: int, session: str, now: datetime, seen: set[str]) -> Message:
    name = message_id(entry.number("id"))
    if name in seen:
        entry.reject(f"has the 'id' {entry.number('id')} of another")
    seen.add(name)
    role, text = entry.text("role"), entry.text("content")
    return said(
        "user" if role == "user" else "assistant",
        _MARKER.sub("", text) if role == "user" else text,
        id=name,
        principal=USER,
        session=session,
        turn=number,
        time=now,
    )
