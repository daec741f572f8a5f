"""Tokens of the contexts that one turn sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.context import Context
    from memsim.message import Message


class Account:
    """Tokens of the contexts sent in one turn."""

    __slots__ = ("cached", "contexts", "largest", "last", "overflow", "sent")

    def __init__(self) -> None:
        self.largest: Context | None = None
        self.last: Context | None = None
        self.sent = self.contexts = self.cached = self.overflow = 0

    def add(self, context: Context, overflow: int, cached: int) -> None:
        """A context was sent.

        Args:
            context: what was sent, after trimming.
            overflow: tokens that were trimmed.
            cached: tokens at its start that equal the start of the context sent before.
        """
        self.contexts += 1
        self.sent += context.tokens
        self.cached += cached
        self.overflow += overflow
        self.last = context
        if self.largest is None or context.tokens > self.largest.tokens:
            self.largest = context


def by_section(context: Context) -> dict[str, int]:
    """Tokens of a context by section."""
    tokens: dict[str, int] = {}
    for section in context.sections:
        tokens[section.layer] = tokens.get(section.layer, 0) + section.tokens
    return tokens


def common_start(before: tuple[Message, ...], after: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages with which both prompts begin: what a provider's prompt cache can serve."""
    same = 0
    for old, new in zip(before, after, strict=False):
        if old is not new and old != new:
            break
        same += 1
    return after[:same]
