"""The vectors of PRX's rows: kept under the digests of their texts, and searched by cosine."""

# ruff: noqa: S608 - conditions are this package's own, and what users say is a parameter

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from memsim.memory.systems.prx.ranking import Ranked, f32
from memsim.memory.systems.prx.rows import EVERY, Clause, Row

if TYPE_CHECKING:
    from memsim.memory.retrieval.forms import Numbers, Scores
    from memsim.memory.retrieval.nearest import MemoryStore
    from memsim.models import Embedder, Vectors


class Meanings:
    """Vectors of the texts in a database, and the index of the rows that have one.

    Args:
        connection: the database, whose `embedding_cache` they are kept in.
        embed: gives the embedder on first use; None for no vectors.
        unembedded: categories of rows without vectors.
        cache_size: texts that are kept; beyond it those go that were used longest ago.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        embed: Callable[[], Embedder] | None,
        unembedded: frozenset[str],
        cache_size: int,
    ) -> None:
        self._run = connection.execute
        self._embed = embed
        self._unembedded = unembedded
        self._cache_size = cache_size
        self._index: MemoryStore | None = None
        self._placed: set[int] = set()
        self._looked_up = ("", b"")

    @property
    def embedder(self) -> str:
        """The name of what makes the vectors; empty where there are none."""
        return "" if self._embed is None else self._embed().name

    def of_row(self, category: str, text: str, at: str) -> bytes | None:
        """The vector of a row that is written now; None where its category has none."""
        return self._vector(text, at) if self._has(category) else None

    def place(self, number: int, vector: bytes | None) -> None:
        """A row has another vector now, or none."""
        if self._index is None:
            return  # read from the rows when it is first asked for
        if number in self._placed:
            self._index.remove(number)
            self._placed.remove(number)
        if vector is not None:
            self._index.add([number], _decoded(vector)[None, :])
            self._placed.add(number)

    def nearest(self, query: str, limit: int, at: str | None, clause: Clause) -> list[Ranked]:
        """Rows whose vectors are closest to the query's, by cosine above 0; none put away.

        Args:
            query: is kept as texts of rows are, where it is noted at all.
            limit: rows at most.
            at: the present; None to change nothing.
            clause: rows that are meant.
        """
        if self._embed is None:
            return []
        vector = _decoded(self._known(query) if at is None else self._vector(query, at))
        index = self._searchable()
        if not len(index):
            return []
        found = (
            index.search(vector, limit) if clause == EVERY else self._among(clause, vector, limit)
        )
        numbers, scores = (column.tolist() for column in found)
        ranked = sorted(
            (-f32(min(1.0, score)), number)
            for number, score in zip(numbers, scores, strict=True)
            if score > 0
        )
        return [(number, -score) for score, number in ranked[:limit]]

    def note(self, query: str, at: str) -> None:
        """A query that was looked up without a trace was really asked."""
        if self._embed is not None:
            self._vector(query, at)

    def renew(self, rows: Iterable[Row], *, noted: bool) -> None:
        """Give rows their vectors again.

        Args:
            rows: all there are.
            noted: whether what is kept changes by it.
        """
        self._index = None
        for row in rows:
            if self._has(row.category):
                text, at = row.content, row.updated
                vector = self._vector(text, at) if noted else self._known(text)
                self._run("UPDATE memories SET embedding = ? WHERE rowid = ?", (vector, row.number))

    def _has(self, category: str) -> bool:
        return self._embed is not None and category not in self._unembedded

    def _vector(self, text: str, at: str) -> bytes:
        """The vector of a text, which is kept under its digest alone, whoever made it."""
        digest, run = digest_of(text), self._run
        vector = self._kept(digest)
        if vector is not None:
            run("UPDATE embedding_cache SET accessed_at = ? WHERE content_hash = ?", (at, digest))
            return vector
        vector = self._known(text)
        self._looked_up = ("", b"")
        run("INSERT INTO embedding_cache VALUES (?, ?, ?, ?)", (digest, vector, at, at))
        run(
            "DELETE FROM embedding_cache WHERE rowid IN (SELECT rowid FROM embedding_cache"
            " ORDER BY accessed_at, rowid"
            " LIMIT max(0, (SELECT count(*) FROM embedding_cache) - ?))",
            (self._cache_size,),
        )
        return vector

    def _known(self, text: str) -> bytes:
        """The vector of a text, which leaves no trace beyond this object."""
        if self._looked_up[0] != text or not self._looked_up[1]:
            self._looked_up = (text, self._kept(digest_of(text)) or self._made(text))
        return self._looked_up[1]

    def _kept(self, digest: str) -> bytes | None:
        query = "SELECT embedding FROM embedding_cache WHERE content_hash = ?"
        found = self._run(query, (digest,)).fetchone()
        return None if found is None else bytes(found[0])

    def _made(self, text: str) -> bytes:
        assert self._embed is not None  # noqa: S101 - asked by those alone who embed
        vector: bytes = self._embed().embed([text])[0].astype("<f4").tobytes()
        return vector

    def _among(self, clause: Clause, vector: Vectors, limit: int) -> tuple[Numbers, Scores]:
        """The closest of those rows alone that are meant."""
        import numpy as np

        from memsim.memory.retrieval.nearest import closest

        query = f"SELECT m.rowid FROM memories m WHERE {clause.sql}"
        meant = np.array([n for (n,) in self._run(query, clause.given)], np.int64)
        numbers, vectors = self._searchable().all()
        (rows,) = np.isin(numbers, meant).nonzero()
        return closest(vector, numbers[rows], vectors[rows], limit)

    def _searchable(self) -> MemoryStore:
        if self._index is None:
            from memsim.memory.retrieval.nearest import MemoryStore
            from memsim.memory.stores.ranking import EXACT

            self._index = MemoryStore(exact=EXACT)
            query = (
                "SELECT rowid, embedding FROM memories"
                " WHERE embedding IS NOT NULL AND archived = 0 ORDER BY 1"
            )
            self._placed = set()
            for number, vector in self._run(query).fetchall():
                self._index.add([number], _decoded(vector)[None, :])
                self._placed.add(number)
        return self._index


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16].hex()


def _decoded(vector: bytes) -> Vectors:
    import numpy as np

    return np.frombuffer(vector, "<f4")
