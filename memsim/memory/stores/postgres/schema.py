"""The tables of a memory in PostgreSQL, and the policies that keep readers from others' rows.

A memory is a schema::

    meta      one row: the schema's version, a count of changes to shelves, the embedder
    shelves   what decides who may see an entry, and how much stands there
    entries   an entry as canonical JSON, with its order
    postings  which entry holds which term how often; terms are digests of 64 bits
    vectors   one unit vector per entry; large shelves have an HNSW graph of their own

Row-level security is on and forced for all but `meta`. A transaction says who reads by
`memsim.principal` and `memsim.grants`, and what it wants by `memsim.shelves`; a row is seen where
both agree. Nothing said is nothing seen. `memsim.keeper` is on in writes and the keeper's reads.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

import psycopg
from psycopg import errors, sql

from memsim.errors import AccessError, SchemaError, StoreError
from memsim.memory.stores import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from psycopg import Connection

    Open = Connection[tuple[Any, ...]]

ROLE = "memsim_rows"
"""The role that is made where whoever connects could look past row-level security."""

TABLES = ("shelves", "entries", "postings", "vectors")
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_OPENING = 0x6D656D73

_CREATE = """
CREATE TABLE {s}.meta (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    version integer NOT NULL,
    shelves bigint NOT NULL DEFAULT 0,
    embedder bytea,
    dimension integer
);
CREATE TABLE {s}.shelves (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bytea NOT NULL UNIQUE,
    record bytea NOT NULL,
    owner bytea NOT NULL,
    category bytea NOT NULL,
    public boolean NOT NULL,
    readers bytea[] NOT NULL,
    entries bigint NOT NULL DEFAULT 0,
    words bigint NOT NULL DEFAULT 0,
    vectors bigint NOT NULL DEFAULT 0,
    graph boolean NOT NULL DEFAULT false
);
CREATE TABLE {s}.entries (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL UNIQUE,
    shelf integer NOT NULL,
    created bigint NOT NULL,
    words integer NOT NULL,
    terms bigint[] NOT NULL,
    body bytea NOT NULL
);
CREATE INDEX ON {s}.entries (created, id);
CREATE INDEX ON {s}.entries (shelf, created);
CREATE TABLE {s}.postings (
    term bigint NOT NULL,
    shelf integer NOT NULL,
    entry bigint NOT NULL,
    times integer NOT NULL,
    words integer NOT NULL,
    PRIMARY KEY (term, shelf, entry) INCLUDE (times, words)
);
CREATE TABLE {s}.vectors (
    entry bigint PRIMARY KEY,
    shelf integer NOT NULL,
    vector {x}.vector NOT NULL
);
CREATE INDEX ON {s}.vectors (shelf);
-- The planner's statistics would keep samples of what was written.
ALTER TABLE {s}.entries ALTER body SET STATISTICS 0, ALTER terms SET STATISTICS 0;
ALTER TABLE {s}.vectors ALTER vector SET STATISTICS 0;
ALTER TABLE {s}.shelves ALTER record SET STATISTICS 0, ALTER owner SET STATISTICS 0,
    ALTER readers SET STATISTICS 0, ALTER category SET STATISTICS 0;
"""

_KEEPER = "coalesce((SELECT current_setting('memsim.keeper', true)), '') = 'on'"
_PRINCIPAL = "(SELECT decode(nullif(current_setting('memsim.principal', true), ''), 'hex'))"
_WANTED = (
    "(SELECT string_to_array(nullif(current_setting('memsim.shelves', true), ''), ','))::integer[]"
)
_GRANTED = """EXISTS (
    SELECT FROM jsonb_array_elements(nullif(current_setting('memsim.grants', true), '')::jsonb) g
    WHERE g ->> 0 = encode(owner, 'hex') AND coalesce(g ->> 1 = encode(category, 'hex'), true)
)"""
_SHELF_SEEN = f"""number = ANY ({_WANTED}) AND {_PRINCIPAL} IS NOT NULL
    AND (owner = {_PRINCIPAL} OR public OR {_PRINCIPAL} = ANY (readers) OR {_GRANTED})"""
_SHELVES_SEEN = f"SELECT number FROM {{s}}.shelves WHERE number = ANY ({_WANTED})"  # noqa: S608
_ROW_SEEN = f"shelf = ANY (ARRAY({_SHELVES_SEEN}))"


class PostgresPlace(NamedTuple):
    """Where a memory is, and as whom it is used."""

    schema: str
    extension: str
    role: str | None
    lock: int

    @property
    def as_role(self) -> sql.Composed:
        """What makes a transaction the role's."""
        name = sql.SQL("NONE") if self.role is None else sql.Identifier(self.role)
        return sql.SQL("SET LOCAL ROLE {}").format(name)

    @property
    def begin_read(self) -> sql.Composed:
        """Begins to read one state; locked first, as a table written anew is empty before that."""
        return self.format(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {r};"
            "LOCK TABLE {s}.shelves, {s}.entries, {s}.postings, {s}.vectors IN ACCESS SHARE MODE",
            r=self.as_role,
        )

    @property
    def begin_write(self) -> sql.Composed:
        """Begins to write, when all others have done so; rows are then looked up by their keys."""
        return self.format(
            "BEGIN; {r}; SET LOCAL memsim.keeper = 'on'; SELECT pg_advisory_xact_lock({n});"
            "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off;"
            "SET LOCAL enable_mergejoin = off",
            r=self.as_role,
            n=sql.Literal(self.lock),
        )

    def format(self, text: str, **more: sql.Composable) -> sql.Composed:
        """A statement with `{s}` and `{x}` for the memory's schema and pgvector's."""
        names = {"s": sql.Identifier(self.schema), "x": sql.Identifier(self.extension)}
        return sql.SQL(text).format(**names, **more)


def prepared(url: str, schema: str, role: str | None) -> PostgresPlace:
    """The place of a memory, made or migrated where needed, and proved to be closed to readers.

    `role` is who is to read and write. None is for whoever connects; where that is somebody who
    sees all rows, it is for a role that does not.

    Raises:
        AccessError: row-level security would not hold.
        SchemaError: a newer memsim wrote the memory, or something else did.
        StoreError: a name is odd, the server failed, or pgvector is not there.
    """
    for name in (schema, role or ROLE):
        if not _NAME.fullmatch(name):
            raise StoreError(f"{name!r} is no name for a schema or role: a-z, 0-9 and _ only")
    try:
        with psycopg.connect(url) as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [_OPENING])
            connection.execute("SET LOCAL client_min_messages = error")
            place = PostgresPlace(
                schema, _extension(connection), _role(connection, role), _lock(schema)
            )
            _made(connection, place)
            _verify(connection, place)
            return place
    except psycopg.Error as error:
        said = error.diag.message_primary or str(error).partition("\n")[0]
        raise StoreError(f"PostgreSQL cannot be used: {said}") from error


def _lock(schema: str) -> int:
    digest = hashlib.blake2b(schema.encode(), digest_size=8, person=b"memsim.lock").digest()
    return int.from_bytes(digest, "big", signed=True)


def _extension(connection: Open) -> str:
    place = (
        "SELECT nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = extnamespace"
        " WHERE extname = 'vector'"
    )
    found = connection.execute(place).fetchone()
    if found is None:
        connection.execute("CREATE EXTENSION vector")
        found = connection.execute(place).fetchone()
    assert found is not None  # noqa: S101 - it was just made
    return str(found[0])


def _role(connection: Open, role: str | None) -> str | None:
    if role is None:
        if not _sees_all(connection):
            return None
        role = ROLE
    name = sql.Identifier(role)
    if not _rows(connection, "SELECT FROM pg_roles WHERE rolname = %s", role):
        connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN NOSUPERUSER NOBYPASSRLS").format(name))
    if not _rows(connection, "SELECT WHERE pg_has_role(%s, 'SET')", role):
        connection.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(name))
    return role


def _sees_all(connection: Open) -> bool:
    return bool(
        _rows(
            connection,
            "SELECT FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)",
        )
    )


def _made(connection: Open, place: PostgresPlace) -> None:
    if not _rows(connection, "SELECT FROM pg_namespace WHERE nspname = %s", place.schema):
        connection.execute(place.format("CREATE SCHEMA {s}"))
    if _tables(connection, place):
        _migrate(connection, place)
        return
    connection.execute(place.format(_CREATE))
    _close_rows(connection, place)
    connection.execute(
        place.format("INSERT INTO {s}.meta (version) VALUES ({v})", v=sql.Literal(SCHEMA_VERSION))
    )


def _close_rows(connection: Open, place: PostgresPlace) -> None:
    for table in TABLES:
        seen = _SHELF_SEEN if table == "shelves" else _ROW_SEEN
        connection.execute(
            place.format(
                "ALTER TABLE {s}.{t} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
                f"CREATE POLICY reading ON {{s}}.{{t}} FOR SELECT USING ({seen});"
                f"CREATE POLICY keeping ON {{s}}.{{t}} USING ({_KEEPER}) WITH CHECK ({_KEEPER})",
                t=sql.Identifier(table),
            )
        )
    if place.role is not None:
        connection.execute(
            place.format(
                "GRANT USAGE ON SCHEMA {s} TO {r};"
                "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {s} TO {r};"
                "GRANT USAGE ON ALL SEQUENCES IN SCHEMA {s} TO {r}",
                r=sql.Identifier(place.role),
            )
        )


def _tables(connection: Open, place: PostgresPlace) -> set[str]:
    return {
        str(row[0])
        for row in connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s", [place.schema]
        )
    }


_MIGRATIONS: Mapping[int, Callable[[Open, PostgresPlace], None]] = {}
"""What turns a schema of one version into the next, by the version that it starts from."""


def _migrate(connection: Open, place: PostgresPlace) -> None:
    name = f"the PostgreSQL schema {place.schema}"
    if not {"meta", *TABLES} <= _tables(connection, place):
        raise SchemaError(name, "none that memsim wrote", SCHEMA_VERSION)
    row = connection.execute(place.format("SELECT version FROM {s}.meta FOR UPDATE")).fetchone()
    found = None if row is None else int(row[0])
    if found is None or found > SCHEMA_VERSION:
        raise SchemaError(name, found, SCHEMA_VERSION)
    for version in range(found, SCHEMA_VERSION):
        if version not in _MIGRATIONS:
            raise SchemaError(name, found, SCHEMA_VERSION)
        _MIGRATIONS[version](connection, place)
    if found < SCHEMA_VERSION:
        connection.execute(
            place.format("UPDATE {s}.meta SET version = {v}", v=sql.Literal(SCHEMA_VERSION))
        )


def _verify(connection: Open, place: PostgresPlace) -> None:
    """Proves, as the role itself, that who says nothing sees nothing."""
    if place.role is not None:
        connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(place.role)))
    connection.execute("SET LOCAL row_security = on")
    if _sees_all(connection):
        raise AccessError(f"the role {place.role or 'that connects'} sees past row-level security")
    closed = _rows(
        connection,
        "SELECT FROM pg_class WHERE relnamespace = %s::regnamespace AND relname = ANY (%s)"
        " AND relrowsecurity AND relforcerowsecurity",
        sql.Identifier(place.schema).as_string(connection),
        list(TABLES),
    )
    if len(closed) != len(TABLES):
        raise AccessError(f"row-level security is off in the PostgreSQL schema {place.schema}")
    try:
        for table in TABLES:
            seen = place.format("SELECT FROM {s}.{t} LIMIT 1", t=sql.Identifier(table))
            if connection.execute(seen).fetchall():
                raise AccessError(f"the table {table} shows rows to a reader without a name")
    except errors.InsufficientPrivilege as error:
        raise AccessError(f"{place.role} may not read the schema {place.schema}") from error


def _rows(connection: Open, statement: str, *values: object) -> list[tuple[Any, ...]]:
    return connection.execute(statement, values).fetchall()
