"""Searches in PostgreSQL: words and vectors of admitted shelves, and of no others."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from psycopg import sql

from memsim.memory.retrieval import Hit
from memsim.memory.retrieval.nearest import products
from memsim.memory.retrieval.terms import stem
from memsim.memory.stores import K1, B
from memsim.memory.stores.postgres_vectors import Packed, unpacked
from memsim.memory.stores.ranking import DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from memsim.memory.stores.postgres_schema import Place
    from memsim.memory.stores.postgres_session import Rows
    from memsim.models import Vectors

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


@lru_cache(maxsize=1 << 16)
def term_key(term: str) -> int:
    """What a term is called in an index: a digest, so that no word of a text stands there."""
    digest = hashlib.blake2b(term.encode("utf-8"), digest_size=8, person=b"memsim.term").digest()
    return int.from_bytes(digest, "big", signed=True)


def lexical(rows: Rows, place: Place, text: str, shelves: Sequence[int], k: int) -> list[Hit]:
    """The best of these shelves by words; as `Store.lexical`."""
    counts = Counter(stem(text))
    if k <= 0 or not counts or not shelves:
        return []
    asked = {
        "terms": [term_key(term) for term in counts],
        "times": list(counts.values()),
        "shelves": list(shelves),
        "last": k - 1,
        "k1": K1,
        "b": B,
    }
    rows.execute(place.format(_LEXICAL), asked)
    return best(((i.hex, round(score, DIGITS), created) for i, score, created in rows), k)


def exact(
    rows: Rows, place: Place, query: Vectors, shelves: Sequence[int], k: int
) -> list[Candidate]:
    """The closest of these shelves, all of their vectors being compared."""
    if k <= 0 or not shelves:
        return []
    asked = {
        "query": Packed([query]),
        "shelves": list(shelves),
        "last": k - 1,
        "rounding": _ROUNDING,
    }
    rows.execute(place.format(_EXACT), asked)
    return _rescored(query, rows.fetchall())


def by_graph(rows: Rows, place: Place, query: Vectors, shelf: int, k: int) -> list[Candidate]:
    """The closest of a shelf that has a graph; fewer where the graph does not lead to enough."""
    wanted = max(WIDER * k, _LEAST)
    rows.execute(f"SET LOCAL hnsw.ef_search = {min(wanted, _MOST)}")
    statement = place.format(_GRAPH, shelf=sql.Literal(shelf), dimension=sql.Literal(len(query)))
    rows.execute(statement, {"query": Packed([query]), "wanted": wanted})
    return _rescored(query, rows.fetchall())


def best(found: Iterable[Candidate], k: int) -> list[Hit]:
    """The best candidates; of two that tie, the one that was created first."""
    ranked = sorted((-score, created, source) for source, score, created in found)
    return [Hit(source, -score) for score, _, source in ranked[:k]]


def _rescored(query: Vectors, found: Sequence[tuple[Any, ...]]) -> list[Candidate]:
    scores = products(query, unpacked([row[2] for row in found])) if found else np.empty(0)
    every = zip(found, scores.tolist(), strict=True)
    return [(source.hex, score, created) for (source, created, _), score in every]
