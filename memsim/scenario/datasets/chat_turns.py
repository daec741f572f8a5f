"""Turns of a chat between a user and an assistant: what the user said, with the replies to it.

Instructions of the system are heard in the turn of the message that follows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

from memsim.message import Role, said
from memsim.scenario.script import Turn

ASKER = "user"
"""Who talks with the assistant, and asks the questions."""

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
"""The roles of a chat's file that are said aloud."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLine:
    """One message of a chat, before it has its turn."""

    id: str
    role: Role
    text: str
    session: str
    time: datetime


def chat_turns(lines: Iterable[ChatLine]) -> list[Turn]:
    """One turn for each message of the user, with the replies to it; no turn spans two sessions."""
    return [_turn(found, number) for number, found in enumerate(_exchanges(lines), start=1)]


def _exchanges(lines: Iterable[ChatLine]) -> Iterator[list[ChatLine]]:
    exchange: list[ChatLine] = []
    for line in lines:
        if exchange and (_begins(line, exchange[-1]) or line.session != exchange[0].session):
            yield exchange
            exchange = []
        exchange.append(line)
    if exchange:
        yield exchange


def _begins(line: ChatLine, before: ChatLine) -> bool:
    return line.role != "assistant" and before.role != "system"


def _turn(lines: list[ChatLine], number: int) -> Turn:
    messages = [
        said(
            line.role,
            line.text,
            id=line.id,
            principal=ASKER,
            session=line.session,
            turn=number,
            time=line.time,
        )
        for line in lines
    ]
    heard = 1 + len(list(takewhile(lambda line: line.role == "system", lines)))
    return Turn(
        number=number,
        session=lines[0].session,
        principal=ASKER,
        time=lines[0].time,
        heard=tuple(messages[:heard]),
        reply=tuple(messages[heard:]),
    )
