"""The rows of a memory in PostgreSQL: how they are bound to a reader, written and taken out."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from psycopg import sql

from memsim.language.text import index_terms
from memsim.memory.entry import decode_shelf, encode, encode_shelf
from memsim.memory.stores import EmbedderInfo
from memsim.memory.stores.postgres.connection import GRAPH_DIMENSION, PackedVector

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memsim.memory.entry import Shelf
    from memsim.memory.permissions import Reader, Where
    from memsim.memory.stores import WriteItem
    from memsim.memory.stores.postgres.connection import Rows
    from memsim.memory.stores.postgres.schema import PostgresPlace


@lru_cache(maxsize=1 << 16)
def term_key(term: str) -> int:
    """What a term is called in an index: a digest, so that no word of a text stands there."""
    digest = hashlib.blake2b(term.encode("utf-8"), digest_size=8, person=b"memsim.term").digest()
    return int.from_bytes(digest, "big", signed=True)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CHUNK = 2000
_MICROSECOND = timedelta(microseconds=1)

# Writing a column anew writes the whole table anew, with its indexes, in the same transaction.
_REWRITES = (
    "ALTER TABLE {s}.shelves ALTER record TYPE bytea USING record || ''::bytea",
    "ALTER TABLE {s}.entries ALTER body TYPE bytea USING body || ''::bytea",
    "ALTER TABLE {s}.postings ALTER times TYPE integer USING times + 0",
    "ALTER TABLE {s}.vectors ALTER vector TYPE {x}.vector USING vector::real[]::{x}.vector",
)


# A graph that does not fit into memory while it is built takes several times as long. A build by
# several workers would need as much shared memory at once, which containers often lack.
_ALONE = "SET LOCAL max_parallel_maintenance_workers = 0"
_ROOMY = (
    "SELECT set_config('maintenance_work_mem', greatest(1048576,"
    " pg_size_bytes(current_setting('maintenance_work_mem')) / 1024)::text || 'kB', true)"
)

# The planner takes row-level security to leave few postings. It would compare each posting with
# each that goes, unless every single one has to be looked up, which OFFSET 0 demands.
_REMOVE_POSTINGS = (
    "DELETE FROM {s}.postings WHERE ctid = ANY (ARRAY(SELECT p.ctid FROM unnest("
    "%s::bigint[], %s::integer[], %s::bigint[]) AS g (term, shelf, entry), LATERAL ("
    "SELECT ctid FROM {s}.postings"
    " WHERE term = g.term AND shelf = g.shelf AND entry = g.entry OFFSET 0) p))"
)


class HeldRow(NamedTuple):
    """A shelf, and whether its vectors have a graph."""

    shelf: Shelf
    graph: bool


class PostgresTables:
    """What transactions do to a memory's tables, and the shelves as last seen."""

    def __init__(self, place: PostgresPlace, exact: int) -> None:
        self.place = place
        self._exact = exact
        self._version = -1
        self._shelves: dict[int, HeldRow] = {}

    def run(self, rows: Rows, statement: str, *values: object, **names: sql.Composable) -> Rows:
        """Execute a statement that names schemas by `{s}` and `{x}`."""
        return rows.execute(self.place.format(statement, **names), values or None)

    def shelves(self, rows: Rows) -> Mapping[int, HeldRow]:
        """Every shelf by its number."""
        ((version,),) = self.run(rows, "SELECT shelves FROM {s}.meta").fetchall()
        if version != self._version:
            self.read_as(rows, None, ())
            self.run(rows, "SELECT number, record, graph FROM {s}.shelves ORDER BY number")
            self._shelves = {
                number: HeldRow(decode_shelf(record, f"the shelf {number}"), graph)
                for number, record, graph in rows.fetchall()
            }
            self._version = version
        return self._shelves

    def admitted(self, rows: Rows, where: Where) -> list[int]:
        """The numbers of the shelves that are meant, by which the transaction is bound then."""
        shelves = self.shelves(rows)
        numbers = [number for number, held in shelves.items() if where.admits(held.shelf)]
        self.read_as(rows, where.reader, numbers)
        return numbers

    def read_as(self, rows: Rows, reader: Reader | None, shelves: Iterable[int]) -> None:
        """Tell row-level security who reads what, until the transaction ends."""
        principal = "" if reader is None else reader.principal
        grants = [] if reader is None else [g for g in reader.grants if g.reader == principal]
        said = [(_hex(g.owner), g.category and _hex(g.category)) for g in grants]
        rows.execute(
            "SELECT set_config('memsim.keeper', %s, true),"
            " set_config('memsim.principal', %s, true),"
            " set_config('memsim.grants', %s, true),"
            " set_config('memsim.shelves', %s, true)",
            (
                "on" if reader is None else "off",
                _hex(principal),
                json.dumps(said),
                ",".join(map(str, shelves)),
            ),
        )

    def total(self, rows: Rows, shelves: Sequence[int], column: str) -> int:
        """The sum of a count over shelves."""
        counted = "SELECT coalesce(sum({c}), 0)::bigint FROM {s}.shelves WHERE number = ANY (%s)"
        ((total,),) = self.run(rows, counted, list(shelves), c=sql.Identifier(column)).fetchall()
        return int(total)

    def embedded(self, rows: Rows) -> EmbedderInfo | None:
        """What the vectors were made with."""
        ((name, dimension),) = self.run(rows, "SELECT embedder, dimension FROM {s}.meta").fetchall()
        return None if dimension is None else EmbedderInfo(bytes(name).decode("utf-8"), dimension)

    def embed(self, rows: Rows, made: EmbedderInfo | None) -> None:
        """Note what vectors are made with, and drop those there are."""
        for number, held in self.shelves(rows).items():
            if held.graph:
                self._drop_graph(rows, number)
        self.run(rows, "DELETE FROM {s}.vectors")
        self.run(rows, "UPDATE {s}.shelves SET vectors = 0, graph = false")
        self.run(rows, "UPDATE {s}.meta SET shelves = shelves + 1")
        self.note(rows, made)

    def note(self, rows: Rows, made: EmbedderInfo | None) -> None:
        """Note what vectors are made with."""
        said = (None, None) if made is None else (made.name.encode("utf-8"), made.dimension)
        self.run(rows, "UPDATE {s}.meta SET embedder = %s, dimension = %s", *said)

    def insert(self, rows: Rows, items: Sequence[WriteItem]) -> None:
        """Take entries in, each in place of the one with its id."""
        shelves = self._numbers(rows, {item.entry.shelf for item in items})
        for start in range(0, len(items), _CHUNK):
            chunk = items[start : start + _CHUNK]
            self._remove(rows, [item.entry.id for item in chunk])
            self._insert(rows, chunk, shelves)
        self._grow_graphs(rows)

    def erase(self, rows: Rows, ids: Sequence[str]) -> int:
        """Take entries out, and write the tables anew without them; how many were there."""
        self.shelves(rows)
        erased = self._remove(rows, ids)
        if erased:
            self.run(rows, "DELETE FROM {s}.shelves WHERE entries = 0 RETURNING number, graph")
            for number, graph in rows.fetchall():
                if graph:
                    self._drop_graph(rows, number)
            self.run(rows, "UPDATE {s}.meta SET shelves = shelves + 1")
            rows.execute("SET LOCAL ROLE NONE")
            self._make_room(rows)
            for statement in _REWRITES:
                self.run(rows, statement)
        return erased

    def _numbers(self, rows: Rows, wanted: Iterable[Shelf]) -> dict[Shelf, int]:
        numbers = {held.shelf: number for number, held in self.shelves(rows).items()}
        new = {encode_shelf(s).encode("utf-8"): s for s in wanted if s not in numbers}
        for record, shelf in sorted(new.items(), key=lambda pair: pair[0]):
            self.run(
                rows,
                "INSERT INTO {s}.shelves (digest, record, owner, category, public, readers)"
                " VALUES (%s, %s, %s, %s, %s, %s::bytea[]) RETURNING number",
                hashlib.blake2b(record, digest_size=32).digest(),
                record,
                shelf.owner.encode("utf-8"),
                shelf.category.encode("utf-8"),
                shelf.visibility == "public",
                [reader.encode("utf-8") for reader in shelf.readers],
            )
            ((numbers[shelf],),) = rows.fetchall()
        if new:
            self.run(rows, "UPDATE {s}.meta SET shelves = shelves + 1")
        return numbers

    def _insert(self, rows: Rows, items: Sequence[WriteItem], shelves: Mapping[Shelf, int]) -> None:
        terms = [Counter(map(term_key, index_terms(item.entry.words))) for item in items]
        words = [counts.total() for counts in terms]
        on = [shelves[item.entry.shelf] for item in items]
        self.run(
            rows,
            "INSERT INTO {s}.entries (id, shelf, created, words, terms, body)"
            " SELECT id, shelf, created, words, terms::bigint[], body FROM unnest("
            "%s::uuid[], %s::integer[], %s::bigint[], %s::integer[], %s::text[], %s::bytea[])"
            " AS e (id, shelf, created, words, terms, body) RETURNING id, number",
            [item.entry.id for item in items],
            on,
            [micros(item.entry.created) for item in items],
            words,
            ["{" + ",".join(map(str, counts)) + "}" for counts in terms],
            [encode(item.entry).encode("utf-8") for item in items],
        )
        number = {source.hex: n for source, n in rows.fetchall()}
        numbers = [number[item.entry.id] for item in items]
        self._post(rows, list(zip(terms, words, on, numbers, strict=True)))
        some = [i for i, item in enumerate(items) if item.vector is not None]
        if some:
            self.run(
                rows,
                "INSERT INTO {s}.vectors SELECT * FROM unnest(%s::bigint[], %s::integer[], %b)",
                [numbers[i] for i in some],
                [on[i] for i in some],
                PackedVector([v for item in items if (v := item.vector) is not None]),
            )
        self._count(rows, zip(on, words, strict=True), [on[i] for i in some], 1)

    def _post(self, rows: Rows, entries: Sequence[tuple[Counter[int], int, int, int]]) -> None:
        each = [
            (term, shelf, number, times, words)
            for counts, words, shelf, number in entries
            for term, times in counts.items()
        ]
        self.run(
            rows,
            "INSERT INTO {s}.postings SELECT * FROM unnest("
            "%s::bigint[], %s::integer[], %s::bigint[], %s::integer[], %s::integer[])",
            *([posting[i] for posting in each] for i in range(5)),
        )

    def _remove(self, rows: Rows, ids: Sequence[str]) -> int:
        self.run(
            rows,
            "DELETE FROM {s}.entries WHERE id = ANY (%s::uuid[])"
            " RETURNING number, shelf, words, terms",
            list(ids),
        )
        gone = rows.fetchall()
        if gone:
            each = [(term, shelf, n) for n, shelf, _, terms in gone for term in terms]
            self.run(
                rows,
                _REMOVE_POSTINGS,
                *([posting[i] for posting in each] for i in range(3)),
            )
            numbers = [n for n, *_ in gone]
            self.run(
                rows,
                "DELETE FROM {s}.vectors WHERE entry = ANY (%s::bigint[]) RETURNING shelf",
                numbers,
            )
            without = [shelf for (shelf,) in rows.fetchall()]
            self._count(rows, ((shelf, words) for _, shelf, words, _ in gone), without, -1)
        return len(gone)

    def _count(
        self, rows: Rows, entries: Iterable[tuple[int, int]], vectors: Iterable[int], sign: int
    ) -> None:
        changed: dict[int, list[int]] = {}
        for shelf, words in entries:
            counts = changed.setdefault(shelf, [0, 0, 0])
            counts[0] += sign
            counts[1] += sign * words
        for shelf in vectors:
            changed[shelf][2] += sign
        self.run(
            rows,
            "UPDATE {s}.shelves h SET entries = h.entries + c.entries, words = h.words + c.words,"
            " vectors = h.vectors + c.vectors FROM unnest("
            "%s::integer[], %s::bigint[], %s::bigint[], %s::bigint[])"
            " AS c (number, entries, words, vectors) WHERE h.number = c.number",
            list(changed),
            *([counts[i] for counts in changed.values()] for i in range(3)),
        )

    def _grow_graphs(self, rows: Rows) -> None:
        """Give a graph to every shelf that has outgrown comparison."""
        self.run(
            rows,
            "UPDATE {s}.shelves SET graph = true FROM {s}.meta WHERE NOT graph AND vectors > %s"
            " AND dimension <= %s RETURNING number, dimension",
            self._exact,
            GRAPH_DIMENSION,
        )
        grown = rows.fetchall()
        if grown:
            self._make_room(rows)
        for number, dimension in grown:
            rows.execute("SET LOCAL ROLE NONE")
            self.run(
                rows,
                "CREATE INDEX {g} ON {s}.vectors USING hnsw"
                " ((vector::{x}.vector({d})) {x}.vector_ip_ops) WHERE shelf = {n}",
                g=_graph(number),
                d=sql.Literal(dimension),
                n=sql.Literal(number),
            )
            rows.execute(self.place.as_role)
        if grown:
            self.run(rows, "UPDATE {s}.meta SET shelves = shelves + 1")

    def _make_room(self, rows: Rows) -> None:
        rows.execute(_ALONE)
        rows.execute(_ROOMY)

    def _drop_graph(self, rows: Rows, shelf: int) -> None:
        rows.execute("SET LOCAL ROLE NONE")
        self.run(rows, "DROP INDEX {s}.{g}", g=_graph(shelf))
        rows.execute(self.place.as_role)


def micros(moment: datetime) -> int:
    """A moment as a number of microseconds."""
    return (moment - _EPOCH) // _MICROSECOND


def _graph(shelf: int) -> sql.Identifier:
    return sql.Identifier(f"vectors_graph_{shelf}")


def _hex(text: str) -> str:
    return text.encode("utf-8").hex()
