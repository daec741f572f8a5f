"""Older messages as texts: one transcript to be summarised, or exchanges to be recalled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memsim.message import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memsim.message import Message

GAP = " [...] "
SUMMARISED = (2000, 1000, 500)
"""Characters beyond which a message is shortened for the summary, and how many stay of each end."""
RECALLED = (1500, 750, 500)
"""The same for recall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What was said up to and with an answer.

    Attributes:
        text: as it is embedded and recalled.
        whole: ids of the messages that stand in it with all their words.
        parts: ids of those that stand in it shortened.
    """

    text: str
    whole: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of all its messages."""
        return self.whole + self.parts


def transcript(messages: Iterable[Message]) -> str:
    """Messages as one text for whoever summarises them."""
    lines = (f"{_label(m)}: {text}" for m, text, _ in _said(messages, SUMMARISED))
    return "\n\n".join(lines)


def summarised(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The same as messages, under their own ids."""
    return tuple(
        replace(m, blocks=(Text(text),), composed=False)
        for m, text, _ in _said(messages, SUMMARISED)
    )


def exchanges(messages: Iterable[Message]) -> Iterator[Exchange]:
    """The exchanges in some messages; what no answer follows is one of its own."""
    lines: list[str] = []
    whole: list[str] = []
    parts: list[str] = []
    for message, text, shortened in _said(messages, RECALLED):
        lines.append(f"{_label(message)}: {text}")
        # A quotation is to the letter: without calls, and with the blanks around it.
        (whole if not shortened and text == message.text else parts).append(message.id)
        if message.role != "user":
            yield Exchange(text="\n".join(lines), whole=tuple(whole), parts=tuple(parts))
            lines, whole, parts = [], [], []
    if lines:
        yield Exchange(text="\n".join(lines), whole=tuple(whole), parts=tuple(parts))


def _said(
    messages: Iterable[Message], limits: tuple[int, int, int]
) -> Iterator[tuple[Message, str, bool]]:
    over, first, last = limits
    for message in messages:
        text = message.spoken.strip()
        if message.role == "tool" or not text:
            continue
        if len(text) > over:
            yield message, text[:first] + GAP + text[-last:], True
        else:
            yield message, text, False


def _label(message: Message) -> str:
    return "User" if message.role == "user" else "Assistant"
