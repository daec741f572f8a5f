"""One conversation as it goes: its latest messages, and a summary of what was before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memsim.memory.clipping import clipped
from memsim.memory.compaction.buffer import SummaryBuffer
from memsim.memory.happening import Happening
from memsim.memory.state import JSON, reading
from memsim.memory.window import Window

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from memsim.context import Section
    from memsim.memory.compaction.summary import Line
    from memsim.message import Message
    from memsim.models import Model
    from memsim.tokens import TokenCounter


class Session:
    """The working history of a conversation.

    Args:
        counter: token counts.
        messages: latest messages that are shown.
        keep: tokens that stay verbatim before the oldest are summarised; None for no summary.
        limit: tokens that the summary may have.
    """

    def __init__(
        self, counter: TokenCounter, *, messages: int, keep: int | None, limit: int
    ) -> None:
        self._counter = counter
        self._messages = messages
        self._buffer = (
            SummaryBuffer(counter, keep=keep, limit=limit, voice="user") if keep else None
        )
        self.window = (
            self._buffer.window if self._buffer else Window(counter, messages=4 * messages)
        )

    def add(self, message: Message) -> None:
        """A message was said; a late result is left out whose call is not there, or no more."""
        if self.window.answers_here(message):
            self.window.add(message)

    def compact(self, model: Model, now: datetime) -> Happening | None:
        """Summarise what is beyond the limit; None where nothing is.

        Raises:
            ModelError: the model failed; nothing has changed.
        """
        done = self._buffer.compact(model, now) if self._buffer else None
        if done is None:
            return None
        kind = "compaction" if done.kind == "compaction" else "compaction-refused"
        return Happening(
            kind=kind,
            sources=done.sources,
            before=done.before,
            after=done.after,
            detail=done.detail,
        )

    def sections(self, budget: int) -> tuple[Section, ...]:
        """The summary and the latest messages, as far as they fit into a budget.

        Where the very last is too long for that, its beginning and end are shown.
        """
        sections = self._fitting(budget)
        if not len(self.window) or any(s.layer == "window" for s in sections):
            return sections
        last = self.window.section(self.window.tokens, last=1).messages
        shown = clipped(last, self._counter, budget - sum(s.tokens for s in sections))
        return (*sections, shown) if shown.messages else sections

    def _fitting(self, budget: int) -> tuple[Section, ...]:
        if self._buffer is not None:
            return self._buffer.sections(budget)
        section = self.window.section(budget, last=self._messages)
        return (section,) if section.messages else ()

    def summary_lines(self) -> tuple[Line, ...]:
        """What the summary says, line by line."""
        return self._buffer.summary.lines if self._buffer else ()

    def remove(self, ids: Iterable[str], principal: str) -> tuple[str, ...]:
        """Take out a principal's messages, and what was made from them; ids of what is gone."""
        meant = frozenset(ids)
        own = [m.id for m in self.window if m.id in meant and m.principal == principal]
        if self._buffer is not None:
            elsewhere = sorted(i for i in meant if i not in self.window)
            return self._buffer.remove([*own, *elsewhere], principal)
        return tuple(m.id for m in self.window.remove(own))

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return self._buffer.save() if self._buffer else {"window": self.window.save()}

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved state; called on an empty session.

        Raises:
            StateError: it is no such state.
        """
        if self._buffer is not None:
            self._buffer.load(saved)
            return
        with reading("a conversation is damaged"):
            self.window.load(saved["window"])
