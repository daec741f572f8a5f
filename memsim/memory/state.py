"""A whole memory as JSON values, and back: all of it, or what there was before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from memsim.errors import ModelError, StateError, StoreError
from memsim.memory.audit import AuditTrail
from memsim.memory.codec import JSON, check_part, check_whole, reading
from memsim.memory.deletion import original_of
from memsim.memory.entry import decode, encode
from memsim.memory.ingest_queue import IngestQueue
from memsim.memory.layers.entry_outline import EntryOutline, PlainFacts
from memsim.memory.layers.episodic import turn_of
from memsim.memory.permissions import Where
from memsim.memory.recall.timeline import read_outline

if TYPE_CHECKING:
    from memsim.memory.entry import Entry, Layer
    from memsim.memory.layers.semantic import Semantic
    from memsim.memory.recall.outline_columns import MessageOutline, MessageOutlines
    from memsim.memory.recall.timeline import Timeline
    from memsim.memory.vault import Vault
    from memsim.message import TokenCounter

VERSION = 1
"""The version of what `save` writes."""

DATE_TOKENS = 8
"""Tokens that a line of recalled messages has beside its text: its day, its end."""

_CALLED = {"workspace": "pages"}

MADE: frozenset[Layer] = frozenset({"episodic", "semantic"})
"""What the memory keeps of its own accord of what is said."""


_SINCE = frozenset({"noted"})
"""Parts that are missing in states of before, which had nothing of the kind."""


class StatePart(Protocol):
    """A part of a memory that has a state beside the store."""

    def save(self) -> JSON:
        """The whole state as JSON values."""
        ...

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read may be anything
        """Take over a saved state in place of the present one.

        Raises `StateError` if it is no such state.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryState:
    """What a memory consists of, as far as it is saved."""

    vault: Vault
    timeline: Timeline
    semantic: Semantic
    backlog: IngestQueue
    parts: Mapping[str, StatePart]
    counter: TokenCounter

    def save(self, audit: AuditTrail) -> dict[str, JSON]:
        """The whole memory, entries included; nothing is done for it."""
        everything = Where(reader=None, archived=None)
        return {
            "version": VERSION,
            "entries": [encode(e) for e in self.vault.each(everything)],
            "order": [*self.timeline.order()],
            "backlog": self.backlog.save(),
            **{name: part.save() for name, part in self.parts.items()},
            "audit": audit.save(),
        }

    def load(
        self,
        saved: Any,  # noqa: ANN401 - as above
        begin: Callable[[], None],
    ) -> tuple[AuditTrail, Mapping[str, int]]:
        """Take over a saved memory in place of the present one, but for two things.

        `begin` is called before anything changes, when it has been seen to be a memory. Returns its
        audit trail, and the places of its entries, for `restore`.

        Raises:
            StateError: it is no such memory; nothing has changed.
            StoreError: the store failed.
            ModelError: the embedder failed.
        """
        with reading("it is not a memory"), _as_state():
            if saved["version"] != VERSION:
                found = ascii(saved["version"])[:40]
                raise StateError(f"the saved memory has version {found}, not {VERSION}")
            entries = [decode(e, f"entry {n}") for n, e in enumerate(saved["entries"], 1)]
            check_whole(saved["entries"], [encode(e) for e in entries], "its entries are damaged")
            order = {"" + i: n for n, i in enumerate([] + saved["order"])}
            if not order.keys() <= {e.id for e in entries}:
                raise StateError("the saved state cannot be read back: an entry is missing")
            backlog = IngestQueue.load(saved["backlog"])
            check_whole(saved["backlog"], backlog.save(), "what was still to be done is damaged")
            audit = AuditTrail.load(saved["audit"])
            states = [(part, part_of(saved, name)) for name, part in self.parts.items()]
        before = [(part, part.save()) for part, _ in states]
        begin()
        try:
            for part, state in states:
                part.load(state)
                check_part(part, state, "a part of the memory is damaged")
            self._replace(entries)
        except (StateError, StoreError, ModelError):
            for part, state in before:
                part.load(state)
            raise
        self.backlog.take_over(backlog)
        return audit, order

    def restore(self, order: Mapping[str, int], place: Callable[[Entry], None]) -> None:
        """Take from the store in which order messages were said, as far as nobody remembers it."""
        self.timeline.clear()
        self.semantic.clear()
        self.bring([*self.vault.each(Where(reader=None, layers=MADE, archived=None))], order, place)

    def bring(
        self, held: Sequence[Entry], order: Mapping[str, int], place: Callable[[Entry], None]
    ) -> None:
        """Take in all that was made of what some owners said, in the order of the store.

        To read the entries is most of what it costs to open a memory, so it is done once.
        """
        made = [entry for entry in held if original_of(entry) is None]
        said = [entry for entry in held if original_of(entry) is not None]
        for entry in sorted(said, key=lambda e: order.get(e.id, len(order))):
            place(entry)
        for entry in made:
            self.timeline.made(entry)
        self.semantic.bring(entry for entry in held if entry.layer == "semantic")

    def place(self, entry: Entry, order: int | None = None) -> None:
        """A message was recorded: it was said after all that is known, or has a place in order."""
        self.timeline.take(entry.id, outline_said(entry, self.counter), order)

    def take_said(self, names: Sequence[str], said: MessageOutlines, orders: Sequence[int]) -> None:
        """Take in the outlines of messages, whose entries have these ids and places.

        They come in the order in which they were said.
        """
        self.timeline.take_all(names, said, orders)

    def take_made(self, outlines: Iterable[EntryOutline | PlainFacts]) -> None:
        """Take in the outlines of what was made of messages, in the order of the store."""
        self.semantic.bring(self._facts(outlines))

    def _facts(
        self, outlines: Iterable[EntryOutline | PlainFacts]
    ) -> Iterator[EntryOutline | PlainFacts]:
        for outline in outlines:
            if isinstance(outline, PlainFacts):
                self.timeline.made_all(outline.ids, outline.sessions)
                yield outline
                continue
            self.timeline.made(outline)
            if outline.layer == "semantic":
                yield outline

    def _replace(self, entries: list[Entry]) -> None:
        """Have the store hold these entries and no others: first these, so that none is lost."""
        there = {e.id for e in self.vault.each(Where(reader=None, archived=None))}
        self.vault.put(entries)
        self.vault.erase(sorted(there.difference(e.id for e in entries)))


def outline_said(entry: Entry, counter: TokenCounter) -> MessageOutline:
    """The outline of the entry of a message."""
    tokens = counter.text(entry.text) + DATE_TOKENS
    return read_outline(entry, tokens=tokens, turn=turn_of(entry))


def part_of(saved: Any, name: str) -> Any:  # noqa: ANN401 - as above
    """A part of a saved state, or an empty one where the state is older than the part.

    Raises `StateError` if the memory was saved without it. Raises `LookupError` if the state is
    none at all, and another of `reading`'s errors.
    """
    if name not in saved and name not in _SINCE:
        raise StateError(f"the memory was saved without {_CALLED.get(name, name)}")
    return saved.get(name, {})


@contextmanager
def _as_state() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise StateError(f"the saved state cannot be read back: {error}") from error
