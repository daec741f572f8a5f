"""Entries in PostgreSQL with pgvector, for memories that many processes share.

Who may see what is decided twice: here, by the shelves that a reader is admitted to, and in the
server, by row-level security, which shows a reader's transaction no row that its principal and
grants do not reach. Both come before ranking, and statistics are summed over what is left.

`erase` deletes rows and writes the tables anew in one transaction, so that no row, index or freed
page keeps them, at a cost that grows with the memory: erase many at once. Then it begins a new log
segment and makes a checkpoint, after which a server with `wal_recycle = off` keeps no log of them.
Not covered: the log where the server recycles it, or whoever connects may not do this (see
`PostgresStore.log_erased`); its archives and replicas; backups; what the file system freed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from psycopg import sql

from memsim.language.text import index_terms
from memsim.memory.entry import decode
from memsim.memory.index import Hit
from memsim.memory.index.nearest_vectors import check_query, products
from memsim.memory.index.postings import DIGITS, K1, MESSAGE_B
from memsim.memory.stores import PAGE, embedder_of, write_items
from memsim.memory.stores.postgres.connection import PackedVector, PostgresConnection, unpacked
from memsim.memory.stores.postgres.rows import PostgresTables, micros, term_key
from memsim.memory.stores.postgres.schema import prepared

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

    from memsim.memory.entry import Entry
    from memsim.memory.permissions import Where
    from memsim.memory.stores import EmbedderInfo
    from memsim.memory.stores.postgres.connection import Rows
    from memsim.memory.stores.postgres.schema import PostgresPlace
    from memsim.models import Vectors


# Searches in PostgreSQL: words and vectors of admitted shelves, and of no others.


Candidate = tuple[str, float, int]
"""An entry's id, its score, and its creation in microseconds."""

WIDER = 4
"""Times as many candidates as are wanted that a graph is asked for."""

_LEAST, _MOST = 200, 1000
_ROUNDING = 1e-5

# The parts of a sum are added from the smallest up, so that equal parts give equal sums.
_LEXICAL = """
WITH asked AS (SELECT * FROM unnest(%(terms)s::bigint[], %(times)s::integer[]) a (term, times)),
every AS (
    SELECT sum(entries)::float8 AS entries, greatest(sum(words), 1)::float8 AS words
    FROM {s}.shelves WHERE number = ANY (%(shelves)s)
),
held AS MATERIALIZED (
    SELECT p.term, p.entry, p.times::float8, p.words, asked.times AS asked
    FROM asked JOIN {s}.postings p USING (term) WHERE p.shelf = ANY (%(shelves)s)
),
weighed AS (
    SELECT term, ln(1 + (every.entries - count(*) + 0.5) / (count(*) + 0.5)) AS idf
    FROM held, every GROUP BY term, every.entries
),
scored AS (
    SELECT entry, sum(part ORDER BY part) AS score FROM (
        SELECT entry, asked * idf * (%(k1)s + 1) * times
            / (times + %(k1)s * (1 - %(b)s + %(b)s * held.words * every.entries / every.words))
            AS part
        FROM held JOIN weighed USING (term), every
    ) parts GROUP BY entry
),
least AS (SELECT score FROM scored ORDER BY score DESC OFFSET %(last)s LIMIT 1)
SELECT e.id, scored.score, e.created
FROM scored JOIN {s}.entries e ON e.number = scored.entry
WHERE scored.score >= coalesce((SELECT score FROM least), 0) - 1e-9
"""

_EXACT = """
WITH near AS MATERIALIZED (
    SELECT entry, vector, vector OPERATOR({x}.<#>) (%(query)s)[1] AS far
    FROM {s}.vectors WHERE shelf = ANY (%(shelves)s)
),
least AS (SELECT far FROM near ORDER BY far OFFSET %(last)s LIMIT 1)
SELECT e.id, e.created, near.vector FROM near JOIN {s}.entries e ON e.number = near.entry
WHERE far <= coalesce((SELECT far FROM least), 'infinity') + %(rounding)s
"""

# The shelf and the dimension stand in the text, as they do in the index that has to be found.
_GRAPH = """
WITH near AS MATERIALIZED (
    SELECT entry, vector FROM {s}.vectors WHERE shelf = {shelf}
    ORDER BY vector::{x}.vector({dimension}) OPERATOR({x}.<#>) (%(query)s)[1] LIMIT %(wanted)s
)
SELECT e.id, e.created, near.vector FROM near JOIN {s}.entries e ON e.number = near.entry
"""


def lexical(
    rows: Rows, place: PostgresPlace, text: str, shelves: Sequence[int], k: int
) -> list[Hit]:
    """The best of these shelves by words; as `Store.lexical`."""
    counts = Counter(index_terms(text))
    if k <= 0 or not counts or not shelves:
        return []
    asked = {
        "terms": [term_key(term) for term in counts],
        "times": list(counts.values()),
        "shelves": list(shelves),
        "last": k - 1,
        "k1": K1,
        "b": MESSAGE_B,
    }
    rows.execute(place.format(_LEXICAL), asked)
    return best(((i.hex, round(score, DIGITS), created) for i, score, created in rows), k)


def exact(
    rows: Rows, place: PostgresPlace, query: Vectors, shelves: Sequence[int], k: int
) -> list[Candidate]:
    """The closest of these shelves, all of their vectors being compared."""
    if k <= 0 or not shelves:
        return []
    asked = {
        "query": PackedVector([query]),
        "shelves": list(shelves),
        "last": k - 1,
        "rounding": _ROUNDING,
    }
    rows.execute(place.format(_EXACT), asked)
    return _rescored(query, rows.fetchall())


def by_graph(
    rows: Rows, place: PostgresPlace, query: Vectors, shelf: int, k: int
) -> list[Candidate]:
    """The closest of a shelf that has a graph; fewer where the graph does not lead to enough."""
    wanted = max(WIDER * k, _LEAST)
    rows.execute(f"SET LOCAL hnsw.ef_search = {min(wanted, _MOST)}")
    statement = place.format(_GRAPH, shelf=sql.Literal(shelf), dimension=sql.Literal(len(query)))
    rows.execute(statement, {"query": PackedVector([query]), "wanted": wanted})
    return _rescored(query, rows.fetchall())


def best(found: Iterable[Candidate], k: int) -> list[Hit]:
    """The best candidates; of two that tie, the one that was created first."""
    ranked = sorted((-score, created, source) for source, score, created in found)
    return [Hit(source, -score) for score, _, source in ranked[:k]]


def _rescored(query: Vectors, found: Sequence[tuple[Any, ...]]) -> list[Candidate]:
    scores = products(query, unpacked([row[2] for row in found])) if found else np.empty(0)
    every = zip(found, scores.tolist(), strict=True)
    return [(source.hex, score, created) for (source, created, _), score in every]


EXACT = 8192
"""Vectors of a shelf up to which all are compared; a larger shelf gets a graph."""

_FIRST = (-(2**63), "0" * 32)
_HEX = frozenset("0123456789abcdef")


class PostgresStore:
    """Entries in a schema of a PostgreSQL database; see `Store` for what every method promises.

    Args:
        url: where the server is, as libpq reads it; its password is never shown.
        schema: the memory's name; a-z, 0-9 and _.
        role: who reads and writes; by default whoever connects, or, where that is somebody who
            sees past row-level security, `memsim_rows`, which is made.
        exact: vectors of a shelf up to which all are compared.

    Raises:
        AccessError: row-level security would not hold for this role.
        SchemaError: a newer memsim wrote the memory, or something else did.
        StoreError: the server cannot be reached, or has no pgvector.
    """

    name = "postgres"

    def __init__(
        self, url: str, schema: str = "memsim", *, role: str | None = None, exact: int = EXACT
    ) -> None:
        place = prepared(url, schema, role)
        self._tables = PostgresTables(place, exact)
        self._session = PostgresConnection(url, place)
        self._log_erased = True

    @property
    def exact(self) -> bool:
        """Whether no shelf has outgrown the comparison of all its vectors."""
        shelves = self._session.read(self._tables.shelves)
        return not any(held.graph for held in shelves.values())

    @property
    def embedded(self) -> EmbedderInfo | None:
        """What its vectors were made with."""
        return self._session.read(self._tables.embedded)

    @property
    def log_erased(self) -> bool:
        """Whether the server's log was left behind by the last `erase` as well."""
        return self._log_erased

    def write(self, entries: Sequence[Entry], vectors: Vectors | None = None) -> None:
        """Take entries in; see `Store`."""

        def put(rows: Rows) -> None:
            embedded = self._tables.embedded(rows)
            items = write_items(entries, vectors, embedded)
            made = embedder_of(items, embedded)
            if made != embedded:
                self._tables.note(rows, made)
            if items:
                self._tables.insert(rows, items)

        self._session.write(put)

    def embedded_by(self, made: EmbedderInfo | None) -> None:
        """Note what vectors are made with; see `Store`."""

        def note(rows: Rows) -> None:
            if made != self._tables.embedded(rows):
                self._tables.embed(rows, made)

        self._session.write(note)

    def erase(self, ids: Collection[str]) -> int:
        """Take entries out for good; see `Store`, and above for what is not covered."""
        erased = self._session.write(lambda rows: self._tables.erase(rows, _well_formed(ids)))
        if erased:
            self._log_erased = self._session.leave_log()
        return erased

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """The entries with these ids; see `Store`."""
        wanted = _well_formed(ids)

        def read(rows: Rows) -> dict[str, Entry]:
            self._tables.read_as(rows, None, ())
            self._tables.run(
                rows, "SELECT id, body FROM {s}.entries WHERE id = ANY (%s::uuid[])", wanted
            )
            return {entry.id: entry for entry in _decoded(rows)}

        found = self._session.read(read)
        return [found[source] for source in ids if source in found]

    def find(self, where: Where, *, after: Entry | None = None, limit: int = PAGE) -> list[Entry]:
        """Admitted entries, a page at a time; see `Store`."""
        last = _FIRST if after is None else (micros(after.created), after.id)

        def read(rows: Rows) -> list[Entry]:
            self._tables.run(
                rows,
                "SELECT id, body FROM {s}.entries WHERE shelf = ANY (%s)"
                " AND (created, id) > (%s, %s::uuid) ORDER BY created, id LIMIT %s",
                self._tables.admitted(rows, where),
                *last,
                limit,
            )
            return _decoded(rows)

        return self._session.read(read)

    def count(self, where: Where) -> int:
        """How many entries are admitted; see `Store`."""

        def read(rows: Rows) -> int:
            return self._tables.total(rows, self._tables.admitted(rows, where), "entries")

        return self._session.read(read)

    def lexical(self, text: str, where: Where, k: int) -> list[Hit]:
        """The best by words; see `Store`."""

        def read(rows: Rows) -> list[Hit]:
            shelves = self._tables.admitted(rows, where)
            return lexical(rows, self._tables.place, text, shelves, k)

        return self._session.read(read)

    def mentions(self, text: str, where: Where) -> bool:
        """Whether an entry holds a word of a text; see `Store`."""
        return bool(self.lexical(text, where, 1))

    def nearest(self, vector: Vectors, where: Where, k: int) -> list[Hit]:
        """The best by vectors; see `Store`."""

        def read(rows: Rows) -> list[Hit]:
            embedded = self._tables.embedded(rows)
            if embedded is None or k <= 0:
                return []
            check_query(vector, embedded.dimension)
            return self._nearest(rows, vector, self._tables.admitted(rows, where), k)

        return self._session.read(read)

    def close(self) -> None:
        """Close the connection; see `Store`."""
        self._session.close()

    def _nearest(self, rows: Rows, vector: Vectors, admitted: Sequence[int], k: int) -> list[Hit]:
        """Each large shelf by its own graph, so that no other shelf's vectors lead the way."""
        place, shelves = self._tables.place, self._tables.shelves(rows)
        small = [number for number in admitted if not shelves[number].graph]
        found = exact(rows, place, vector, small, k)
        for number in (number for number in admitted if shelves[number].graph):
            near = by_graph(rows, place, vector, number, k)
            if len(near) < min(k, self._tables.total(rows, [number], "vectors")):
                near = exact(rows, place, vector, [number], k)
            found += near
        return best(found, k)


def _decoded(rows: Rows) -> list[Entry]:
    return [decode(body, f"the entry {source.hex}") for source, body in rows.fetchall()]


def _well_formed(ids: Iterable[str]) -> list[str]:
    """The ids that an entry can have, each once."""
    return [i for i in dict.fromkeys(ids) if len(i) == 32 and _HEX.issuperset(i)]
