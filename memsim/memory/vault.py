"""The one door to a store: nothing is read without permission, or written without its owner.

What is not permitted and what is not there look the same, to the byte.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memsim.memory.entry import LAYERS, Entry, Layer, attributed_text, entry_id
from memsim.memory.permissions import Reader, Where, require_principal
from memsim.memory.stores import AdmittingStore, EmbedderInfo, each_entry
from memsim.memory.stores.wrappers import ReadOnlyStore
from memsim.models import is_by_word

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.memory.index import Hit
    from memsim.memory.permissions import Permissions
    from memsim.memory.stores import Store
    from memsim.models import Embedder, Vectors


@dataclass(frozen=True, slots=True)
class SearchHit:
    """An entry that a search brought up."""

    entry: Entry
    score: float

    @property
    def text(self) -> str:
        """The text of the entry; that of a message after the label of who said it."""
        return attributed_text(self.entry)


class Vault:
    """A store with its embedder and its permissions.

    Args:
        store: where entries are kept.
        embed: gives the embedder, on first use; None keeps no vectors.
        permissions: who may see what; None lets everybody see everything.
        embedded: layers of which entries get vectors: those that are searched by meaning.

    Entries whose vectors were made by another embedder are embedded anew when the first vector is
    needed. So are all, once some were written without.
    """

    def __init__(
        self,
        store: Store,
        *,
        embed: Callable[[], Embedder] | None,
        permissions: Permissions | None,
        embedded: Iterable[Layer] = LAYERS,
    ) -> None:
        self.store = store
        self._embedded = frozenset(embedded)
        self.permissions = permissions
        self._embed = embed
        self._embedder: Embedder | None = None
        self._asked: tuple[str, Vectors] | None = None

    @property
    def readonly(self) -> bool:
        """Whether nothing of it can be changed."""
        return isinstance(self.store, ReadOnlyStore)

    @property
    def embeds(self) -> bool:
        """Whether entries get vectors."""
        return self._embed is not None

    def put(self, entries: Sequence[Entry]) -> None:
        """Write entries, each with its vector.

        Raises `StoreError` if the store failed; nothing has changed. Raises `ModelError` if the
        embedder failed; nothing has changed.
        """
        if not entries:
            return
        if self._embed is None:
            if self.store.embedded is not None and any(map(self._is_meant, entries)):
                # Some of its entries would lack a vector for good: whoever needs one makes all.
                self.store.embedded_by(None)
            self.store.write(entries)
            return
        self.store.write(entries, self._made(entries))

    def own(self, owner: str, layer: Layer, key: str) -> Entry | None:
        """A principal's own entry by its key."""
        found = self.store.get([entry_id(require_principal(owner), layer, key)])
        return found[0] if found else None

    def get(self, principal: str, key: str, *, layer: Layer = "long_term") -> Entry | None:
        """An entry by its key: the principal's own, else one that they may see.

        Where several others share one under that key, the earliest is given.
        """
        mine = self.own(principal, layer, key)
        if mine is not None:
            return mine
        where = self.where(principal, layers=(layer,), archived=None)
        return next((e for e in self.each(where) if e.key == key), None)

    def fetch(self, ids: Sequence[str], where: Where) -> list[Entry]:
        """Entries by their ids, those not admitted left out."""
        return [e for e in self.store.get(ids) if where.admits(e.shelf)]

    def admitted(self, ids: Collection[str], where: Where) -> set[str]:
        """Which of these entries are there and admitted, without reading them if possible."""
        if not ids:
            return set()
        if isinstance(self.store, AdmittingStore):
            return self.store.admitted(ids, where)
        return {entry.id for entry in self.fetch([*ids], where)}

    def each(self, where: Where) -> Iterator[Entry]:
        """Every admitted entry, in the store's order, read a page at a time.

        Raises `StoreError` if the entries are damaged.
        """
        yield from each_entry(self.store, where)

    def lexical(self, text: str, where: Where, k: int) -> list[Hit]:
        """The best admitted entries by their words."""
        return self.store.lexical(text, where, k)

    def mentions(self, word: str, where: Where) -> bool:
        """Whether an admitted entry holds a word."""
        return self.store.mentions(word, where)

    def nearest(self, text: str, where: Where, k: int) -> list[Hit]:
        """The best admitted entries by their meaning; none where there are no vectors.

        Where vectors would have to be made first, and nothing can be written, there are none.
        """
        if self._embed is None or not text.strip():
            return []
        if self._embedder is None:
            embedder = self._embed()
            if self._is_embedded_by(embedder, where):
                self._embedder = embedder
            elif self.readonly:
                return []
        return self.store.nearest(self._query(text), where, k)

    def embed(self, texts: Sequence[str]) -> Vectors | None:
        """Vectors of texts; None where entries get none. Raises `ModelError` if it failed."""
        return None if self._embed is None else self._ready().embed(texts)

    @property
    def embeds_words(self) -> bool:
        """Whether a vector of a single word costs next to nothing."""
        return self._embed is not None and is_by_word(self._any_embedder())

    def embed_words(self, words: Sequence[str]) -> Vectors:
        """Vectors of words, shape (words, dimension). Raises `ModelError` if it failed."""
        return self._any_embedder().embed(words)

    def where(
        self,
        principal: str,
        *,
        layers: Iterable[Layer] = (),
        categories: Iterable[str] = (),
        owner: str | None = None,
        archived: bool | None = False,
        superseded: bool | None = None,
    ) -> Where:
        """What a principal may see, of these layers and categories.

        Raises `AccessError` if there is no principal.
        """
        require_principal(principal)
        reader: Reader | None = None
        if self.permissions is not None:
            reader = self.permissions.reader(principal)
        return Where(
            reader=reader,
            owner=owner,
            layers=frozenset(layers),
            categories=frozenset(categories),
            archived=archived,
            superseded=superseded,
        )

    def erase(self, ids: Iterable[str]) -> int:
        """Take entries out for good; how many were there."""
        return self.store.erase(list(ids))

    def touch(self, entries: Iterable[Entry], now: datetime) -> None:
        """Note that entries were used: their retention starts anew."""
        self.put([replace(e, updated=now) for e in entries])

    def close(self) -> None:
        """Release the store."""
        self.store.close()

    def _ready(self) -> Embedder:
        """The embedder, once there are vectors of it and of no other."""
        if self._embedder is None:
            assert self._embed is not None  # noqa: S101 - asked for only where there is one
            embedder = self._embed()
            if not self._is_embedded_by(embedder):
                self._embed_all(embedder, EmbedderInfo(embedder.name, embedder.dimension))
            self._embedder = embedder
        return self._embedder

    def _any_embedder(self) -> Embedder:
        """The embedder, whatever vectors there are."""
        assert self._embed is not None  # noqa: S101 - asked for only where there is one
        return self._embedder or self._embed()

    def _is_embedded_by(self, embedder: Embedder, where: Where | None = None) -> bool:
        made = EmbedderInfo(embedder.name, embedder.dimension)
        return self.store.embedded == made and not self._unfinished(embedder, where)

    def _unfinished(self, embedder: Embedder, where: Where | None) -> bool:
        """Whether a process ended between dropping the old vectors and writing the new ones.

        All are written at once: where one entry has a vector, none lacks it. It is looked for in
        `where` first, then among one owner's entries, since to read all of them costs much.
        """
        vector = embedder.embed(["memory"])[0]
        if where is not None and self.store.nearest(vector, where, 1):
            return False
        everything = Where(reader=None, layers=self._embedded, archived=None)
        if not self.store.count(everything):
            return False
        (first,) = self.store.find(everything, limit=1)
        owners = replace(everything, owner=first.owner)
        return not any(self.store.nearest(vector, of, 1) for of in (owners, everything))

    def _embed_all(self, embedder: Embedder, made: EmbedderInfo) -> None:
        # All are embedded before any is dropped, and written at once: a failure leaves no gaps.
        entries = list(self.each(Where(reader=None, archived=None)))
        vectors = self._made(entries, embedder)
        self.store.embedded_by(made)
        if vectors is not None:
            self.store.write(entries, vectors)

    def _query(self, text: str) -> Vectors:
        if self._asked is None or self._asked[0] != text:
            self._asked = (text, self._ready().embed([text])[0])
        return self._asked[1]

    def _is_meant(self, entry: Entry) -> bool:
        return entry.layer in self._embedded and bool(entry.words.strip())

    def _made(self, entries: Sequence[Entry], embedder: Embedder | None = None) -> Vectors | None:
        """Vectors of entries, zeros for those that are not found by meaning; None where all are."""
        meant = [place for place, entry in enumerate(entries) if self._is_meant(entry)]
        if not meant:
            return None
        vectors = (embedder or self._ready()).embed([entries[place].words for place in meant])
        if len(meant) == len(entries):
            return vectors
        import numpy as np

        found = np.zeros((len(entries), vectors.shape[1]), np.float32)
        found[meant] = vectors
        return found
