"""What was found, as the model reads it: one message whose lines are earlier messages, quoted.

::

    Earlier messages that may matter:
    [2026-01-05] user: My order is A-17.
    [2026-01-07] user: Ship it to Oslo, not Bergen.

A message that does not fit is clipped to the part that speaks to the question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from memsim.context import Section
from memsim.memory.compaction.fences import escaped
from memsim.memory.retrieval.snippet import snippet
from memsim.message import composed
from memsim.tokens import MESSAGE_OVERHEAD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from memsim.message import Message
    from memsim.tokens import TokenCounter

HEADER = "Earlier messages that may matter:"
LEAST = 24
"""Tokens below which a clipped message says too little to be shown."""

REMEMBERED = 1 << 15

_ADDITIVE = frozenset({"o200k_base", "cl100k_base"})
"""Encodings that never join what stands after a line's end with what stands before it."""


class Line(NamedTuple):
    """A line that quotes a message, or, clipped, a part of it."""

    message: Message
    text: str
    tokens: int
    """With its newline."""
    clipped: bool = False


def _said_in(lines: Iterable[Line]) -> tuple[str, ...]:
    return tuple(line.message.id for line in lines if not line.message.composed)


def _made_from(lines: Iterable[Line]) -> tuple[str, ...]:
    """What was not said itself, a summary or a stored fact, was made from what was."""
    return tuple(dict.fromkeys(i for line in lines for i in line.message.derived_from))


class Recollection:
    """Composes sections of recalled messages, counting each line once while it is remembered.

    Args:
        counter: token counts.
        voice: who the section speaks as. As `user` it has no more authority than those it quotes,
            and what they said can close or forge no block.
    """

    def __init__(self, counter: TokenCounter, *, voice: Literal["system", "user"] = "user") -> None:
        self._counter = counter
        self._voice: Literal["system", "user"] = voice
        self._additive = counter.name in _ADDITIVE
        self._lines: dict[str, Line] = {}

    def section(
        self,
        best: Iterable[Message],
        *,
        question: str,
        budget: int,
        order: Callable[[str], int],
        id: str,  # noqa: A002 - the record's own field name
        time: datetime,
    ) -> Section:
        """As many of the messages as fit, best first, shown in the order in which they were said.

        Args:
            best: what was found, best first.
            question: what it was found for.
            budget: tokens that the section may have.
            order: when a message was said, by its id.
            id: the composed message's.
            time: when it is composed.
        """
        chosen = self._choose(best, question, budget)
        while chosen:
            lines = sorted(chosen, key=lambda line: order(line.message.id))
            text = "\n".join((HEADER, *(line.text for line in lines)))
            tokens = self._tokens(text, lines)
            if tokens <= budget:
                message = composed(
                    self._voice,
                    text,
                    id=id,
                    quotes=_said_in(line for line in lines if not line.clipped),
                    excerpts=_said_in(line for line in lines if line.clipped),
                    derived_from=_made_from(lines),
                    time=time,
                )
                quoted = tuple(line.message.id for line in lines)
                return Section(layer="recalled", messages=(message,), tokens=tokens, items=quoted)
            chosen.pop()
        return Section(layer="recalled", messages=(), tokens=0)

    def _choose(self, best: Iterable[Message], question: str, budget: int) -> list[Line]:
        room = budget - MESSAGE_OVERHEAD - self._counter.text(HEADER + "\n")
        chosen: list[Line] = []
        for message in best:
            if room < LEAST:
                break
            line = self._line(message)
            if line.tokens > room:
                line = self._clipped(line, question, max(LEAST, room // 2))
            if line.text:
                chosen.append(line)
                room -= line.tokens
        return chosen

    def _line(self, message: Message) -> Line:
        line = self._lines.get(message.id)
        if line is None or line.message is not message:
            if len(self._lines) >= REMEMBERED:
                self._lines.clear()
            text = self._safe(f"{_head(message)}{message.text}")
            line = Line(message, text, self._counter.text(text + "\n"))
            self._lines[message.id] = line
        return line

    def _clipped(self, line: Line, question: str, room: int) -> Line:
        """The part of a line that speaks to the question; a long one leaves room for others."""
        message, count = line.message, self._counter.text
        head = _head(message)
        size = len(message.text) * room // line.tokens
        part = snippet(
            message.text, question, size, lambda part: count(self._safe(f"{head}{part}\n")) <= room
        )
        text = self._safe(head + part) if part else ""
        return Line(message, text, count(text + "\n"), clipped=True)

    def _safe(self, text: str) -> str:
        return escaped(text) if self._voice == "user" else text

    def _tokens(self, text: str, lines: list[Line]) -> int:
        if not self._additive:
            return self._counter.text(text) + MESSAGE_OVERHEAD
        count = self._counter.text
        whole = count(HEADER + "\n") + sum(line.tokens for line in lines[:-1])
        return whole + count(lines[-1].text) + MESSAGE_OVERHEAD


def _head(message: Message) -> str:
    return f"[{message.time.date().isoformat()}] {message.principal}: "
