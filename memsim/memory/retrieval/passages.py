"""Long texts in passages, so that the one line of a log that matters can be found and quoted."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.message import Text, composed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memsim.context import Section
    from memsim.memory.retrieval.recollection import Recollection
    from memsim.message import Message

SIZE = 60
"""Tokens of a passage, as far as its lines allow."""

LONG = 300
"""Tokens up to which a text is one passage."""

GAP = "…"

_PIECE = re.compile(r"\S.{0,239}?(?=\s|$)|\S{1,240}")


def passages(
    text: str, count: Callable[[str], int], *, size: int = SIZE, long: int = LONG
) -> tuple[str, ...]:
    """A text in passages of whole lines; a line that is longer is split between words.

    What tools answer stands nowhere else and is mostly beside the point: there, passages find more
    than whole texts do. What people say is better quoted whole.

    Args:
        text: all of it.
        count: tokens of a text.
        size: tokens of a passage, at least 1.
        long: tokens up to which the text stays whole.

    Returns:
        The text itself where it is short; else passages in their order, blank lines left out.
    """
    if count(text) <= long:
        return (text,)
    found: list[str] = []
    held: list[str] = []
    tokens = 0
    for line in _lines(text, count, size):
        length = count(line + "\n")
        if held and tokens + length > size:
            found.append("\n".join(held))
            held, tokens = [], 0
        held.append(line)
        tokens += length
    if held:
        found.append("\n".join(held))
    return tuple(found) or (text,)


def _lines(text: str, count: Callable[[str], int], size: int) -> Iterator[str]:
    for line in text.splitlines():
        if not line.strip():
            continue
        if len(line) <= size or count(line) <= size:
            yield line
        else:
            yield from _pieces(line, count, size)


def _pieces(line: str, count: Callable[[str], int], size: int) -> Iterator[str]:
    held = ""
    for piece in _PIECE.findall(line):
        joined = f"{held} {piece}" if held else piece
        if held and count(joined) > size:
            yield held
            joined = piece
        held = joined
    if held:
        yield held


def excerpt(parts: Sequence[str], chosen: Sequence[int]) -> str:
    """The chosen passages of a text in its order, with a mark where some are left out between.

    Args:
        parts: all passages of the text.
        chosen: places in it, from 0.
    """
    lines: list[str] = []
    last = None
    for place in sorted(set(chosen)):
        if last is not None and place != last + 1:
            lines.append(GAP)
        lines.append(parts[place])
        last = place
    return "\n".join(lines)


def quoted(
    lines: Recollection,
    found: Mapping[str, tuple[Message, str | None]],
    *,
    question: str,
    budget: int,
    order: Callable[[str], int],
    id: str,  # noqa: A002 - the record's own field name
    time: datetime,
) -> Section:
    """A section of recalled messages, some of them in part.

    Args:
        lines: composes it.
        found: by id, best first: each message, and the part of it that is quoted; None for all.
        question: what was looked for.
        budget: tokens that the section may have.
        order: when a message was said, by its id.
        id: the composed message's.
        time: when it is composed.
    """
    shown = [
        message if part is None else replace(message, blocks=(Text(part),))
        for message, part in found.values()
    ]
    section = lines.section(shown, question=question, budget=budget, order=order, id=id, time=time)
    partly = {source for source, (_, part) in found.items() if part is not None}
    if not section.messages or partly.isdisjoint(section.verbatim):
        return section
    (message,) = section.messages
    told = composed(
        message.role,
        message.text,
        id=message.id,
        quotes=tuple(i for i in message.quotes if i not in partly),
        derived_from=tuple(i for i in message.derived_from if i not in message.excerpts),
        excerpts=(*message.excerpts, *(i for i in message.quotes if i in partly)),
        time=message.time,
    )
    return replace(section, messages=(told,))
