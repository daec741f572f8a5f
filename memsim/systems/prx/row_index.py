"""The vectors of PRX's rows: kept under the digests of their texts, and searched by cosine."""
# ruff: noqa: S608 - conditions are this package's own, and what users say is a parameter

from __future__ import annotations

import hashlib
import math
import sqlite3
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memsim.models import Embedder
from memsim.systems.prx.schema import EVERY_ROW, Clause, MemoryRow, store_errors

if TYPE_CHECKING:
    from memsim.memory.index.forms import Numbers, Scores
    from memsim.memory.index.nearest_vectors import NearestVectors
    from memsim.models import Vectors

# Scores as PRX reckons them, in 32 bits: cosines, and two rankings made one.

Ranked = tuple[int, float]
"""The number of a row, and its score."""

_TINY = 1.1920929e-07


class HybridScore(NamedTuple):
    """A row in two rankings, None where it is not in one; keyword scores are shares of the best."""

    number: int
    vector: float | None
    keyword: float | None
    score: float


def f32(number: float) -> float:
    """A number as 32 bits hold it."""
    return float(struct.unpack("<f", struct.pack("<f", number))[0])


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two vectors, from 0 to 1; 0 where there is none."""
    if len(one) != len(other) or not one:
        return 0.0
    norms = math.sqrt(sum(a * a for a in one)) * math.sqrt(sum(b * b for b in other))
    if not norms or not math.isfinite(norms):
        return 0.0
    return f32(min(1.0, max(0.0, sum(a * b for a, b in zip(one, other, strict=True)) / norms)))


def merge(
    vector: Sequence[Ranked],
    keyword: Sequence[Ranked],
    *,
    weights: tuple[float, float] = (0.7, 0.3),
    limit: int,
) -> list[HybridScore]:
    """Merge both rankings by weighted sum, best first; those that tie stay as they came.

    Keyword scores count as shares of the best.
    """
    best = max((f32(score) for _, score in keyword), default=0.0)
    best = best if best >= _TINY else 1.0
    near = {number: f32(score) for number, score in vector}
    words = {number: f32(f32(score) / best) for number, score in keyword}
    of_vector, of_keyword = map(f32, weights)
    merged = [
        HybridScore(
            number,
            near.get(number),
            words.get(number),
            f32(f32(of_vector * near.get(number, 0.0)) + f32(of_keyword * words.get(number, 0.0))),
        )
        for number in dict.fromkeys((*near, *words))
    ]
    return sorted(merged, key=lambda m: -m.score)[:limit]


# Rankings by the words of a query, each a phrase of FTS5.

MANY_WORDS = 96
"""Words of a query above which each is looked up by itself."""


def rank_by_words(
    search: Callable[[str, int], Iterable[Ranked]], query: str, limit: int
) -> list[Ranked]:
    """Rank rows by the words of a query: best first, then by number; a smaller score is better.

    FTS5 compares every occurrence of a word with every word of the query, so that a long one takes
    seconds. There, each word is looked up once, and scores are added up as FTS5 does: the same.

    Args:
        search: takes an FTS5 expression and a limit, -1 for none; gives rows and their `bm25`.
        query: its words may repeat, and count as often.
        limit: most rows.
    """
    words = [f'"{word}"' for word in query.split()]
    if len(words) <= MANY_WORDS or '"' in query:
        return list(search(" OR ".join(words), limit))
    scores = {word: list(search(word, -1)) for word in dict.fromkeys(words)}
    total: dict[int, float] = {}
    for word in words:
        for number, score in scores[word]:
            total[number] = total.get(number, 0.0) + score
    return sorted(total.items(), key=lambda ranked: (ranked[1], ranked[0]))[:limit]


# Words weighed by those rows alone that may be seen: what `fixed` ranks by.

_TABLE = "CREATE VIRTUAL TABLE words USING fts5(key, content)"


_REWRITTEN = """
CREATE TEMP TABLE rewritten (at INTEGER PRIMARY KEY AUTOINCREMENT, number INTEGER UNIQUE);
CREATE TEMP TRIGGER rewritten_come AFTER INSERT ON main.memories BEGIN
    DELETE FROM rewritten WHERE number = new.rowid;
    INSERT INTO rewritten (number) VALUES (new.rowid);
END;
CREATE TEMP TRIGGER rewritten_change AFTER UPDATE OF key, content ON main.memories BEGIN
    DELETE FROM rewritten WHERE number = new.rowid;
    INSERT INTO rewritten (number) VALUES (new.rowid);
END;
"""
"""Which rows were written, in the order of their last writing."""


class WordIndexes:
    """An index of words for every condition that rows were asked for by.

    A search reads the numbers of the rows that are meant, and the texts of those written since the
    last one.
    """

    def __init__(self, rows: sqlite3.Connection) -> None:
        self._rows = rows
        self._rows.executescript(_REWRITTEN)
        self._foreign = self._writes_of_others()
        self._indexes: dict[Clause, _WordIndex] = {}

    def keyword(self, words: str, limit: int, clause: Clause) -> list[Ranked]:
        """Rank the meant rows by a query's words. Raises StoreError if one has a quotation mark."""
        if self._foreign != (foreign := self._writes_of_others()):
            # The triggers are of this connection: what another one writes, they do not tell.
            self._foreign = foreign
            self.close()
        index = self._indexes.get(clause)
        if index is None:
            index = self._indexes[clause] = _WordIndex()
        query = f"SELECT m.rowid FROM memories m WHERE m.archived = 0 AND ({clause.sql})"
        meant = {number for (number,) in self._rows.execute(query, clause.given)}
        index.hold(meant, self._rewritten(index), self._texts)
        return index.keyword(words, limit)

    def _writes_of_others(self) -> int:
        """A number that is another once another connection has written."""
        (version,) = self._rows.execute("PRAGMA data_version").fetchone()
        return int(version)

    def _rewritten(self, index: _WordIndex) -> set[int]:
        """Rows that were written since an index was brought up to date; it is, from now on."""
        query = "SELECT at, number FROM rewritten WHERE at > ? ORDER BY at"
        found = self._rows.execute(query, (index.read,)).fetchall()
        index.read = found[-1][0] if found else index.read
        return {number for _, number in found}

    def _texts(self, number: int) -> tuple[int, str, str]:
        query = "SELECT rowid, key, content FROM memories WHERE rowid = ?"
        found: tuple[int, str, str] = self._rows.execute(query, (number,)).fetchone()
        return found

    def close(self) -> None:
        """Release every index."""
        for index in self._indexes.values():
            index.close()
        self._indexes.clear()


class _WordIndex:
    def __init__(self) -> None:
        self._connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False
        )
        self._connection.execute(_TABLE)
        self._held: set[int] = set()
        self.read = 0
        """Up to which writing of rows it is up to date."""

    def hold(
        self,
        rows: set[int],
        rewritten: set[int],
        texts: Callable[[int], tuple[int, str, str]],
    ) -> None:
        """Have exactly these rows; `texts` gives the number, key and content of one."""
        gone = {*(self._held - rows), *(self._held & rewritten)}
        come = {*(rows - self._held), *(rows & rewritten)}
        if gone or come:
            self._connection.execute("BEGIN")
            self._connection.executemany("DELETE FROM words WHERE rowid = ?", [(n,) for n in gone])
            self._connection.executemany(
                "INSERT INTO words(rowid, key, content) VALUES (?, ?, ?)",
                map(texts, sorted(come)),
            )
            self._connection.execute("COMMIT")
        self._held = rows

    def keyword(self, words: str, limit: int) -> list[Ranked]:
        """See `WordIndexes.keyword`."""
        with store_errors():
            found = rank_by_words(self._search, words, limit)
            return [(number, f32(-score)) for number, score in found]

    def _search(self, expression: str, limit: int) -> Iterable[Ranked]:
        return self._connection.execute(
            "SELECT rowid, bm25(words) AS score FROM words WHERE words MATCH ?"
            " ORDER BY score, rowid LIMIT ?",
            (expression, limit),
        )

    def close(self) -> None:
        self._connection.close()


class RowVectors:
    """Vectors of the texts in a database, and the index of the rows that have one.

    Of the texts in `embedding_cache`, those used longest ago go beyond `cache_size`.
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
        self._index: NearestVectors | None = None
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
        """Rank the meant rows by cosine above 0 to the query; rows put away are left out.

        Without `at`, the query's vector is not kept.
        """
        if self._embed is None:
            return []
        vector = _decoded(self._known(query) if at is None else self._vector(query, at))
        index = self._searchable()
        if not len(index):
            return []
        found = (
            index.search(vector, limit)
            if clause == EVERY_ROW
            else self._among(clause, vector, limit)
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

    def renew(self, rows: Iterable[MemoryRow], *, noted: bool) -> None:
        """Give all rows their vectors again; the cache changes only where that is `noted`."""
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

        from memsim.memory.index.nearest_vectors import closest

        query = f"SELECT m.rowid FROM memories m WHERE {clause.sql}"
        meant = np.array([n for (n,) in self._run(query, clause.given)], np.int64)
        numbers, vectors = self._searchable().all()
        (rows,) = np.isin(numbers, meant).nonzero()
        return closest(vector, numbers[rows], vectors[rows], limit)

    def _searchable(self) -> NearestVectors:
        if self._index is None:
            from memsim.memory.index.nearest_vectors import SCANNED_ON_SHELF, NearestVectors

            self._index = NearestVectors(exact=SCANNED_ON_SHELF)
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
