"""Leaving out what was said before in the same words on the same day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.memory.compaction.keeping import plan
from memsim.memory.compaction.shape import Compaction, Means, State, changed, unchanged
from memsim.message import Text

if TYPE_CHECKING:
    from collections.abc import Hashable

    from memsim.memory.compaction.shape import History
    from memsim.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Deduplicate:
    """Drops messages that one speaker said before on the same day; the first of them stays.

    Only messages of plain words are compared; the words of an offloaded or shortened message are
    not all there, so these are not.

    Attributes:
        prefix: messages are the same when so many of their first characters are, whatever the case;
            None for the whole text, byte for byte. A prefix loses what differs after it: it is
            there to measure designs that do so.
        least: characters below which a message is left alone: two times `yes` may be two answers.
        last: so many of the latest messages stay; None for as many as the means say.
    """

    prefix: int | None = None
    least: int = 24
    last: int | None = None
    name: str = "deduplicate"

    def __call__(self, history: History, state: State, means: Means) -> Compaction:
        """Drop repetitions, as `Step` has it."""
        means = means.keeping(self.last)
        taken = frozenset(plan(history, means.keep, means.counter).taken)
        seen: set[Hashable] = set()
        gone: set[int] = set()
        for place, message in enumerate(history):
            key = self.key(message)
            if key is None:
                continue
            if key in seen and place in taken:
                gone.add(place)
            seen.add(key)
        if not gone:
            return unchanged(self.name, history, state, means, "nothing was said twice")
        left = tuple(m for place, m in enumerate(history) if place not in gone)
        sources = tuple(history[place].id for place in sorted(gone))
        return changed(self.name, (history, state), (left, state), means, sources)

    def key(self, message: Message) -> Hashable | None:
        """What two messages that are the same have in common; None for one that is never."""
        plain = all(isinstance(block, Text) for block in message.blocks)
        if message.composed or not plain or len(message.text) < self.least:
            return None
        speaker = (message.role, message.principal, message.session)
        return (*speaker, message.time.date(), _same(message.text, self.prefix))


def deduplicated(text: str, prefix: int | None = None) -> str:
    """The lines of a daily file without the list items that it has already.

    Headings, blank lines and all else stay, byte for byte.

    Args:
        text: the file.
        prefix: items are the same when so many of their first characters are, whatever the case;
            None for the whole item.
    """
    seen: set[str] = set()
    kept: list[str] = []
    for line in text.splitlines(keepends=True):
        item = line.strip()
        if item.startswith("- "):
            key = _same(item, prefix)
            if key in seen:
                continue
            seen.add(key)
        kept.append(line)
    return "".join(kept)


def _same(text: str, prefix: int | None) -> str:
    return text if prefix is None else text[:prefix].lower()
