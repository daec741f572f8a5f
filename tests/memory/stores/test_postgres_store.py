"""What is PostgreSQL's own: rows closed to others, graphs, lost connections, erased bytes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
import pytest
from psycopg import sql

from memsim.errors import AccessError, SchemaError, StoreError
from memsim.memory.entry import Entry
from memsim.memory.permissions import ReadGrant
from memsim.memory.stores import EmbedderInfo
from memsim.memory.stores.in_memory import InMemory
from memsim.memory.stores.postgres.rows import PostgresTables
from memsim.memory.stores.postgres.store import PostgresStore
from tests.memory.stores import servers
from tests.memory.stores.made import ALL, array, entry, seen_by, unit

if TYPE_CHECKING:
    from memsim.memory.stores.postgres.connection import Rows

_numbers = count()
Plain = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture
def schema() -> str:
    """A schema that nobody else uses."""
    return f"own_{next(_numbers)}"


@pytest.fixture
def plain() -> Iterator[Plain]:
    """A connection as somebody with a client of their own."""
    with psycopg.connect(servers.postgres().url, autocommit=True) as connection:
        connection.execute("SET client_min_messages = error")
        yield connection


class Opener:
    """Opens handles on memories, and closes them when the test is over."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def __call__(
        self, schema: str, *, url: str = "", role: str | None = None, exact: int = 8192
    ) -> PostgresStore:
        """One more handle."""
        store = PostgresStore(url or servers.postgres().url, schema, role=role, exact=exact)
        self._stack.callback(store.close)
        return store


@pytest.fixture
def opened() -> Iterator[Opener]:
    """Opens stores."""
    with ExitStack() as stack:
        yield Opener(stack)


def seen(plain: Plain, schema: str, table: str) -> int:
    """Rows of a table that a connection sees."""
    told = sql.SQL("SELECT count(*) FROM {}.{}").format(*map(sql.Identifier, (schema, table)))
    ((number,),) = plain.execute(told).fetchall()
    return int(number)


def many(number: int, owner: str = "ann") -> tuple[list[Entry], Any]:
    """Entries with vectors that all point elsewhere."""
    vectors = np.random.default_rng(number).normal(size=(number, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return [entry(str(i), f"word{i % 7}", owner, i) for i in range(number)], vectors


@pytest.mark.parametrize("table", ["shelves", "entries", "postings", "vectors"])
def test_plain_sql_sees_nothing_unless_it_says_who(
    opened: Opener, schema: str, plain: Plain, table: str
) -> None:
    """The server itself keeps rows from whoever has not said, and from whoever is another."""
    store = opened(schema)
    store.write([entry("x", owner="ann"), entry("y", owner="bob")], array([unit(1, 0)] * 2))
    every = ",".join(str(n) for n in store._session.read(store._tables.shelves))
    plain.execute("SET ROLE memsim_rows")

    assert 0 == seen(plain, schema, table)
    plain.execute("SELECT set_config('memsim.shelves', %s, false)", [every])
    assert 0 == seen(plain, schema, table)
    for principal, rows in (("ann", 1), ("bob", 1), ("cem", 0), ("", 0)):
        plain.execute(
            "SELECT set_config('memsim.principal', %s, false)", [principal.encode().hex()]
        )
        assert rows == seen(plain, schema, table)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        plain.execute(
            sql.SQL("INSERT INTO {}.postings VALUES (1, 1, 1, 1, 1)").format(sql.Identifier(schema))
        )


def test_the_server_agrees_with_grants(opened: Opener, schema: str) -> None:
    """What a grant opens, by category or whole, row-level security opens as well."""
    store = opened(schema)
    store.write(
        [
            entry("d", owner="bob", category="daily"),
            entry("c", owner="bob", category="custom"),
            entry("s", owner="cem", visibility="shared", readers=("ann",)),
            entry("p", owner="cem", visibility="public"),
        ]
    )
    daily = ReadGrant(owner="bob", reader="ann", category="daily")

    assert ["d", "p", "s"] == sorted(e.key for e in store.find(seen_by("ann", daily)))
    whole = ReadGrant(owner="bob", reader="ann")
    assert 4 == len(store.find(seen_by("ann", whole)))
    assert 1 == len(store.find(seen_by("dan", whole)))


def test_a_role_that_sees_everything_is_refused(opened: Opener, schema: str, plain: Plain) -> None:
    """Access fails closed: no store is opened that row-level security would not bind."""
    plain.execute("CREATE ROLE looks_past NOLOGIN BYPASSRLS")

    with pytest.raises(AccessError, match="row-level security"):
        opened(schema, role="looks_past")
    with pytest.raises(AccessError, match="row-level security"):
        opened(schema, role="postgres")


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE {}.entries DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE {}.vectors NO FORCE ROW LEVEL SECURITY",
        "CREATE POLICY hole ON {}.entries USING (true)",
    ],
)
def test_a_hole_in_the_wall_is_noticed(
    opened: Opener, schema: str, plain: Plain, change: str
) -> None:
    """Row-level security is proved whenever a store is opened."""
    opened(schema).write([entry("a")])
    plain.execute(sql.SQL(change).format(sql.Identifier(schema)))

    with pytest.raises(AccessError):
        opened(schema)


def test_an_ordinary_login_needs_no_other_role(opened: Opener, schema: str, plain: Plain) -> None:
    """Somebody who may make schemas and nothing else has a memory, and is bound by its policies."""
    opened(f"{schema}_first")
    plain.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(schema)))
    plain.execute(sql.SQL("GRANT CREATE ON DATABASE postgres TO {}").format(sql.Identifier(schema)))
    url = servers.postgres().url.replace("postgres@", f"{schema}@")
    store = opened(schema, url=url, exact=4)
    entries, vectors = many(6)
    store.write(entries, vectors)

    assert not store.exact
    assert [entries[3].id] == [hit.id for hit in store.nearest(vectors[3], seen_by("ann"), 1)]
    assert 1 == store.erase([entries[3].id])
    assert not store.log_erased
    with psycopg.connect(url) as same:
        assert 0 == seen(same, schema, "entries")


@pytest.mark.parametrize("version", [99, -1])
def test_another_schema_is_refused(opened: Opener, schema: str, plain: Plain, version: int) -> None:
    """What a newer memsim wrote is not touched, nor what none wrote."""
    opened(schema)
    plain.execute(
        sql.SQL("UPDATE {}.meta SET version = {}").format(sql.Identifier(schema), version)
    )

    with pytest.raises(SchemaError, match=str(version)):
        opened(schema)


def test_somebody_elses_tables_are_left_alone(opened: Opener, schema: str, plain: Plain) -> None:
    """A schema with other tables is no memory."""
    plain.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    plain.execute(sql.SQL("CREATE TABLE {}.theirs ()").format(sql.Identifier(schema)))

    with pytest.raises(SchemaError):
        opened(schema)


@pytest.mark.parametrize("name", ["", "A", "a b", "a;b", 'a"b', "a" * 64])
def test_odd_names_are_refused(opened: Opener, name: str) -> None:
    """A name is never syntax."""
    with pytest.raises(StoreError):
        opened(name)


def test_a_lost_connection_is_made_anew(opened: Opener, schema: str, plain: Plain) -> None:
    """Who was cut off goes on, and what was written is there."""
    store = opened(schema)
    store.write([entry("a")])
    plain.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        " AND backend_type = 'client backend'"
    )

    store.write([entry("b")])
    assert 2 == store.count(ALL)


def test_a_server_that_is_gone_is_an_error(opened: Opener, schema: str) -> None:
    """Not an empty answer."""
    server = servers.start_postgres()
    store = opened(schema, url=server.url)
    server.stop()

    with pytest.raises(StoreError, match="PostgreSQL"):
        store.count(ALL)
    with pytest.raises(StoreError, match="PostgreSQL"):
        opened(schema, url=server.url)


def test_a_failed_write_leaves_nothing(opened: Opener, schema: str, plain: Plain) -> None:
    """A transaction that fails at its end has not happened."""
    store = opened(schema)
    store.write([entry("a", "old")], array([unit(1, 0)]))
    plain.execute(
        sql.SQL("ALTER TABLE {}.vectors ADD CHECK (shelf < 2)").format(sql.Identifier(schema))
    )

    with pytest.raises(StoreError) as failed:
        store.write([entry("a", "new secret"), entry("b", owner="bob")], array([unit(1, 0)] * 2))
    assert "secret" not in str(failed.value)
    assert ["old"] == [e.text for e in store.find(ALL)]
    assert 1 == len(store.nearest(array([unit(1, 0)])[0], ALL, 5))


def test_few_among_many_are_all_found(opened: Opener, schema: str) -> None:
    """The filter comes before the best: a graph of others' vectors cannot crowd mine out."""
    store, reference = opened(schema, exact=50), InMemory()
    theirs, near = many(300, "bob")
    mine, _ = many(10, "ann")
    far = array([unit(-1, 0, 0, 0, 0, 0, 0, 0)] * 10)
    for kept in (store, reference):
        kept.embedded_by(EmbedderInfo("test", 8))
        kept.write(theirs, near)
        kept.write(mine, far)

    assert not store.exact
    for query in near[:5]:
        assert reference.nearest(query, seen_by("ann"), 10) == store.nearest(
            query, seen_by("ann"), 10
        )


def test_a_graph_finds_what_comparison_finds(opened: Opener, schema: str) -> None:
    """Recall of a shelf with a graph, which grows with it and is dropped with its vectors."""
    store, reference = opened(schema, exact=200), InMemory()
    entries, vectors = many(600)
    for start in range(0, 600, 150):
        store.write(entries[start : start + 150], vectors[start : start + 150])
    reference.write(entries, vectors)

    found = wanted = 0
    for query in many(40)[1]:
        right = {hit.id for hit in reference.nearest(query, seen_by("ann"), 10)}
        found += len(right & {hit.id for hit in store.nearest(query, seen_by("ann"), 10)})
        wanted += len(right)
    assert not store.exact
    assert 0.95 <= found / wanted
    assert 500 == len(store.nearest(vectors[0], ALL, 500))
    store.embedded_by(EmbedderInfo("other", 3))
    assert store.exact


def test_many_writers_lose_nothing(opened: Opener, schema: str) -> None:
    """Writers of the same entries and shelves wait for each other and do not fail."""
    stores = [opened(schema) for _ in range(4)]

    def write(number: int, store: PostgresStore) -> None:
        for turn in range(5):
            store.write([entry("same", f"{number} {turn}"), entry(f"{number} {turn}")])

    threads = [threading.Thread(target=write, args=pair) for pair in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 21 == stores[0].count(ALL)
    assert 21 == len(stores[1].find(ALL))


def residue(needle: bytes) -> list[Path]:
    """Files of the server in which something stands."""
    files = [p for p in servers.postgres().folder.rglob("*") if p.is_file()]
    return [path for path in files if path.exists() and needle in path.read_bytes()]


def test_no_byte_of_what_was_erased_stays(opened: Opener, schema: str, plain: Plain) -> None:
    """Rows, indexes, long values, statistics and log: the whole server's files are read."""
    store = opened(schema)
    text = "CANARY-7731 " + "and so on at length, " * 2000
    vector = unit(0.123456, 0.654321, 0.42, 0.2)
    kept = [entry(f"kept {i}", f"kept {i}") for i in range(50)]
    store.write([*kept, entry("a", "CANARY-7731")], array([*[unit(1, 0, 0, 0)] * 50, vector]))
    store.write([entry("a", text)], array([vector]))
    store.write([entry("b", "CANARY-7731", owner="CANARY-7731")])
    plain.execute("ANALYZE")
    plain.execute("CHECKPOINT")
    packed = np.array(vector, "<f4").tobytes()
    assert residue(b"CANARY-7731")
    assert residue(packed)

    erased = [entry("a").id, entry("b", owner="CANARY-7731").id]
    with psycopg.connect(servers.postgres().url) as slow:
        slow.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        slow.execute("SELECT 1")
        assert 2 == store.erase(erased)
        assert store.log_erased
        assert [] == residue(b"CANARY-7731")
        assert [] == residue(packed)
    assert 50 == store.count(ALL)
    assert 50 == len(store.nearest(array([unit(1, 0, 0, 0)])[0], ALL, 60))


def test_an_erasure_looks_each_posting_up(
    opened: Opener, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work grows with what goes, though the planner expects few rows behind its walls."""
    plans: list[str] = []
    run = PostgresTables.run

    def explained(
        tables: PostgresTables, rows: Rows, statement: str, *given: object, **named: sql.Composable
    ) -> Rows:
        if statement.startswith("DELETE FROM {s}.postings"):
            run(tables, rows, f"EXPLAIN {statement}", *given, **named)
            plans.append("\n".join(line for (line,) in rows.fetchall()))
        return run(tables, rows, statement, *given, **named)

    store = opened(schema)
    texts = {n: " ".join(f"w{n}x{place}" for place in range(300)) for n in range(40)}
    store.write([entry(str(n), text) for n, text in texts.items()])
    monkeypatch.setattr(PostgresTables, "run", explained)

    assert 30 == store.erase([entry(str(n)).id for n in range(30)])

    assert "Index Cond: ((term = " in plans[0]
    assert 10 == store.count(ALL)
