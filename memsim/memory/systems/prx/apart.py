"""Words weighed by those rows alone that may be seen: what `fixed` ranks by.

FTS5's bm25() weighs a word by how many rows of its whole table have it, so that what others wrote
decides which of one's own rows come first. Here those that may be seen have a table of their own,
brought up to date whenever it is asked.
"""

# ruff: noqa: S608 - conditions are this package's own, and what users say is a parameter

from __future__ import annotations

import sqlite3

from memsim.memory.systems.prx.ranking import Ranked, f32
from memsim.memory.systems.prx.rows import Clause, failing

_TABLE = "CREATE VIRTUAL TABLE words USING fts5(key, content)"


class WordsApart:
    """An index of words for every condition that rows were asked for by.

    Args:
        rows: the database.
    """

    def __init__(self, rows: sqlite3.Connection) -> None:
        self._rows = rows
        self._indexes: dict[Clause, _Index] = {}

    def keyword(self, phrases: str, limit: int, clause: Clause) -> list[Ranked]:
        """Rows that match, by BM25 over those that are meant.

        Args:
            phrases: an expression of FTS5's.
            limit: rows at most.
            clause: rows that are meant.

        Raises:
            StoreError: the expression is none.
        """
        index = self._indexes.setdefault(clause, _Index())
        query = (
            "SELECT m.rowid, m.key, m.content FROM memories m"
            f" WHERE m.archived = 0 AND ({clause.sql})"
        )
        found = self._rows.execute(query, clause.given)
        index.hold({number: (key, content) for number, key, content in found})
        return index.keyword(phrases, limit)

    def close(self) -> None:
        """Release every index."""
        for index in self._indexes.values():
            index.close()
        self._indexes.clear()


class _Index:
    def __init__(self) -> None:
        self._connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False
        )
        self._connection.execute(_TABLE)
        self._held: dict[int, tuple[str, str]] = {}

    def hold(self, rows: dict[int, tuple[str, str]]) -> None:
        """Have exactly these rows."""
        if rows == self._held:
            return
        gone = [n for n, row in self._held.items() if rows.get(n) != row]
        come = [(n, *row) for n, row in rows.items() if self._held.get(n) != row]
        self._connection.execute("BEGIN")
        self._connection.executemany("DELETE FROM words WHERE rowid = ?", [(n,) for n in gone])
        self._connection.executemany(
            "INSERT INTO words(rowid, key, content) VALUES (?, ?, ?)", come
        )
        self._connection.execute("COMMIT")
        self._held = rows

    def keyword(self, phrases: str, limit: int) -> list[Ranked]:
        """See `WordsApart.keyword`."""
        with failing():
            found = self._connection.execute(
                "SELECT rowid, bm25(words) AS score FROM words WHERE words MATCH ?"
                " ORDER BY score, rowid LIMIT ?",
                (phrases, limit),
            )
            return [(number, f32(-score)) for number, score in found]

    def close(self) -> None:
        self._connection.close()
