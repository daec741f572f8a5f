"""Where entries are kept: one protocol, whatever is behind it.

Every store keeps the same promises, and one conformance suite holds each of them to these:

- what `write` took is there when it returns, all of it or none, and survives the process where the
  store has a file or a server;
- `lexical` and `nearest` look at admitted entries alone: another principal's entries change no
  id, order or score, so permission and filters come before ranking, and document counts and lengths
  are taken over admitted entries only;
- texts of users are values, never syntax of a query, a path or a pattern;
- what `erase` took out can be found nowhere in what the store wrote, when it returns: not in rows,
  indexes, logs or freed pages.
"""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from memsim.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from datetime import timedelta
    from pathlib import Path

    from memsim.memory.entry import Conversation, Entry
    from memsim.memory.index import Hit
    from memsim.memory.permissions import Where
    from memsim.models import Vectors


SCHEMA_VERSION = 1
"""The version of what stores write; any other one is refused."""

PAGE = 500
"""Entries that `find` gives at most, unless it is told otherwise."""


@dataclass(frozen=True, slots=True)
class EmbedderInfo:
    """What the vectors of a store were made with."""

    name: str
    dimension: int


@runtime_checkable
class Store(Protocol):
    """Entries, kept and searched. Every method raises `StoreError` where the store itself fails."""

    @property
    def name(self) -> str:
        """What kind it is: memory, markdown, sqlite, chroma, postgres or redis."""
        ...

    @property
    def exact(self) -> bool:
        """Whether `nearest` compares all admitted vectors; otherwise its index is approximate."""
        ...

    @property
    def embedded(self) -> EmbedderInfo | None:
        """What its vectors were made with; None while it holds none."""
        ...

    def write(self, entries: Sequence[Entry], vectors: Vectors | None = None) -> None:
        """Take entries in, each in place of the one with its id; all or none, as one transaction.

        The later of two entries with one id in a call is kept. An entry written without its vector
        has none afterwards, whatever it had.

        Args:
            entries: any number, of any owners.
            vectors: unit vectors, float32, shape (len(entries), dimension); a row of zeros for an
                entry without one. None where no entry has one.

        Raises:
            StoreError: vectors of another dimension than those there are; or the store failed, and
                nothing has changed.
        """
        ...

    def embedded_by(self, made: EmbedderInfo | None) -> None:
        """Note what vectors are made with from now on, and drop all that were made otherwise."""
        ...

    def erase(self, ids: Collection[str]) -> int:
        """Take entries out for good, and leave no byte of them behind; how many were there."""
        ...

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """The entries with these ids, in this order, those not there left out.

        Nothing is filtered: who may see them is decided by whoever asks (`Where.admits`).
        """
        ...

    def find(self, where: Where, *, after: Entry | None = None, limit: int = PAGE) -> list[Entry]:
        """Admitted entries by creation, then by id, a page at a time.

        Args:
            where: which entries.
            after: the entry that the last page ended with, which may be gone; None for the first.
            limit: entries of a page at most, at least 1.
        """
        ...

    def count(self, where: Where) -> int:
        """How many entries are admitted."""
        ...

    def lexical(self, text: str, where: Where, k: int) -> list[Hit]:
        """The best `k` admitted entries that hold a word of a text, best first.

        Okapi BM25 over `memsim.language.text.index_terms` of `Entry.words`, with `K1` and
        `MESSAGE_B` of `memsim.memory.index.postings` and statistics of the admitted entries alone;
        scores agree with `memsim.memory.index.bm25` to nine digits. Of two that tie, the one
        that `find` lists first comes first.
        """
        ...

    def mentions(self, text: str, where: Where) -> bool:
        """Whether an admitted entry holds a word of a text: whether `lexical` finds one."""
        ...

    def nearest(self, vector: Vectors, where: Where, k: int) -> list[Hit]:
        """The admitted entries whose vectors have the largest cosines, best first.

        Args:
            vector: a unit vector, float32, shape (dimension,).
            where: which entries; those without a vector are left out.
            k: how many, at least 1; fewer are given only where fewer are admitted.

        Raises:
            StoreError: the vector is of another dimension than those there are, or not finite.
        """
        ...

    def close(self) -> None:
        """Release files and connections; calling it again does nothing."""
        ...


@runtime_checkable
class AdmittingStore(Protocol):
    """A store that can tell which entries a filter admits without reading them."""

    def admitted(self, ids: Collection[str], where: Where) -> set[str]:
        """Those of these ids that are there and admitted."""
        ...


def each_entry(store: Store, where: Where) -> Iterator[Entry]:
    """Every admitted entry, in the order of `Store.find`, read a page at a time.

    Raises `StoreError` if the order of the entries is damaged, as pages would then have no end.
    """
    after: Entry | None = None
    while page := store.find(where, after=after):
        yield from page
        last = page[-1]
        if after is not None and (last.created, last.id) <= (after.created, after.id):
            raise StoreError("the entries are damaged: they are not in the order of their creation")
        after = last


@runtime_checkable
class TextStore(Protocol):
    """Texts of conversations, each by its item, for working memory and for the injection ledger.

    Every method raises `StoreError` where the store itself fails.
    """

    def read(self, of: Conversation) -> dict[str, str]:
        """Every text by its item, byte for byte, as they were at one moment."""
        ...

    def swap(
        self,
        of: Conversation,
        item: str,
        old: str | None,
        new: str | None,
        lasting: timedelta | None = None,
    ) -> bool:
        """Put `new` in the place of `old` if that is what is there: one atomic step.

        Returns whether it was there, and has been replaced.

        Args:
            of: the conversation.
            item: any text, the empty one too.
            old: what has to be there; None for nothing.
            new: what shall be there; None for nothing.
            lasting: the store may drop the whole conversation by a clock of its own when this long
                has passed since its last swap, not sooner; expiry does not depend on it.
        """
        ...

    def conversations(self) -> list[Conversation]:
        """Every conversation that has a text, sorted."""
        ...


# What a call of `write` brings, checked before a store changes anything.


class WriteItem(NamedTuple):
    """An entry to write, with its id and its vector, float32, shape (dimension,), or None."""

    id: str
    entry: Entry
    vector: Vectors | None


def write_items(
    entries: Sequence[Entry], vectors: Vectors | None, embedded: EmbedderInfo | None
) -> list[WriteItem]:
    """What is to be written: of two entries with one id the later, in the order they came.

    Raises `StoreError` for vectors that are not one row for each entry, of another dimension than
    the store's, or not finite.
    """
    rows: Sequence[Vectors | None] = [None] * len(entries)
    if vectors is not None and len(entries):
        rows = _rows(vectors, len(entries), embedded)
    latest: dict[str, WriteItem] = {}
    for entry, row in zip(entries, rows, strict=True):
        source = entry.id  # worked out anew at each call
        latest[source] = WriteItem(source, entry, row)
    return list(latest.values())


def embedder_of(written: Sequence[WriteItem], embedded: EmbedderInfo | None) -> EmbedderInfo | None:
    """What the vectors of a store are made with, once these are written; unnamed if unsaid."""
    if embedded is not None:
        return embedded
    found = next((item.vector for item in written if item.vector is not None), None)
    return None if found is None else EmbedderInfo("", len(found))


def _rows(vectors: Vectors, count: int, embedded: EmbedderInfo | None) -> list[Vectors | None]:
    import numpy as np

    if vectors.ndim != 2 or len(vectors) != count:
        raise StoreError(f"vectors of shape {vectors.shape} were given for {count} entries")
    if embedded is not None and vectors.shape[1] != embedded.dimension:
        raise StoreError(
            f"vectors have dimension {vectors.shape[1]}, and those of the store have"
            f" {embedded.dimension}: they were made with another embedder"
        )
    if not np.isfinite(vectors).all():
        raise StoreError("a vector is not finite")
    return [row if row.any() else None for row in vectors.astype(np.float32, copy=False)]


# Say where a memory is opened, and what was opened there.


class StoreUnavailableError(StoreError, ValueError):
    """A store cannot be had here: its server has no address, or a package of it is missing.

    It is a `ValueError` as well, since whoever named the store may name another.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSite:
    """Where a store is opened.

    Attributes:
        folder: gives the folder for stores that keep files. A server calls it for a name alone.
        url: address of the server; empty for stores without one.
        given_name: the memory's name in a server: a-z, 0-9 and _; None for one of its folder.
        throwaway: whether the memory is removed from its server when it is closed, and need not
            survive a power failure meanwhile.
    """

    folder: Callable[[], Path]
    url: str = ""
    given_name: str | None = None
    throwaway: bool = False

    @property
    def name(self) -> str:
        """The memory's name in a server."""
        return self.given_name or name_of(self.folder())


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where a memory is kept.

    `working` and `ledger` are None where they are kept in this process; `closing` releases all.
    """

    store: Store
    working: TextStore | None = None
    ledger: TextStore | None = None
    closing: ExitStack = field(default_factory=ExitStack, repr=False)

    def close(self) -> None:
        """Release everything, and remove what was to be thrown away; a second call does nothing.

        Raises `StoreError` if the server failed, and what was to be thrown away is there still.
        """
        self.closing.close()


def name_of(folder: Path) -> str:
    """Name the memory of a folder for a server; no other folder or machine has the same name."""
    import platform

    where = f"{platform.node()}\n{folder.resolve()}".encode("utf-8", "surrogateescape")
    return f"memsim_{hashlib.blake2b(where, digest_size=12).hexdigest()}"
