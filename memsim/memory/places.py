"""Opens a store by name; what a store needs beside memsim is imported only when it is asked for.

A store with a server finds its address among the services, which come from the environment:
`MEMSIM_POSTGRES_URL` as libpq reads it, `MEMSIM_REDIS_URL` as redis-py does. They may hold
passwords, so they stand in no settings file and in no record of a run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from memsim.errors import StoreError, nearest

if TYPE_CHECKING:
    from pathlib import Path

    from memsim.memory.history.working import WorkingStore
    from memsim.memory.ledger import LedgerStore
    from memsim.memory.stores import Store


# Removes memories from servers where they were kept for a while only.


def drop_schema(url: str, schema: str) -> None:
    """Remove a memory from PostgreSQL; one that is not there is nothing to remove.

    Raises:
        StoreError: the server failed.
    """
    import psycopg
    from psycopg import sql

    try:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SET client_min_messages = error")
            drop = sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(schema))
            connection.execute(drop)
    except psycopg.Error as error:
        said = error.diag.message_primary or str(error).partition("\n")[0]
        raise StoreError(f"PostgreSQL keeps {schema} still: {said}") from error


def drop_keys(url: str, name: str) -> None:
    """Remove a memory from Redis, with its working memory and its ledger.

    Raises:
        StoreError: the server failed.
    """
    from memsim.memory.stores.redis.connection import RedisConnection

    session = RedisConnection(url, name)
    try:
        cursor = b"0"
        while True:
            cursor, keys = session.call("SCAN", cursor, "MATCH", session.key("*"), "COUNT", 1000)
            if keys:
                session.call("UNLINK", *keys)
            if cursor == b"0":
                return
    finally:
        session.close()


StoreKind = Literal["memory", "markdown", "sqlite", "chroma", "postgres", "redis"]

SERVICES: Mapping[str, str] = {"postgres": "MEMSIM_POSTGRES_URL", "redis": "MEMSIM_REDIS_URL"}
"""The variables that hold the addresses of servers, by the store's name."""


class StoreUnavailableError(StoreError, ValueError):
    """A store cannot be had here: its server has no address, or a package of it is missing.

    It is a `ValueError` as well, since whoever named the store may name another.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where a memory is kept.

    Attributes:
        store: its entries.
        working: its working memory; None for this process.
        ledger: its injection ledger; None for this process.
    """

    store: Store
    working: WorkingStore | None = None
    ledger: LedgerStore | None = None
    _closing: ExitStack = field(default_factory=ExitStack, repr=False)

    def close(self) -> None:
        """Release everything, and remove what was to be thrown away; a second call does nothing.

        Raises:
            StoreError: the server failed, and what was to be thrown away is there still.
        """
        self._closing.close()


def addresses(environ: Mapping[str, str]) -> dict[str, str]:
    """The addresses of servers that an environment holds, by the store's name."""
    return {kind: environ[name] for kind, name in SERVICES.items() if environ.get(name)}


def open_store(
    kind: StoreKind,
    folder: Callable[[], Path],
    services: Mapping[str, str],
    *,
    name: str | None = None,
) -> Store:
    """A store of that kind, to be closed by whoever asked for it.

    Args:
        kind: which.
        folder: gives the folder for stores that keep files; asked of no other, unless `name` is
            missing.
        services: addresses of servers by the store's name: `postgres`, `redis`.
        name: the memory's name in a server: a-z, 0-9 and _. Made from the folder where there is
            none, so that the same folder always means the same memory.

    Raises:
        StoreUnavailableError: its server has no address, or a package of its own is missing.
        ValueError: no store is called that.
        StoreError: it cannot be opened.
    """
    return open_places(kind, folder, services, name=name).store


def open_places(
    kind: StoreKind,
    folder: Callable[[], Path],
    services: Mapping[str, str],
    *,
    name: str | None = None,
    throwaway: bool = False,
) -> Places:
    """All that a memory is kept in: with Redis, its working memory and its ledger too.

    Args:
        kind: which store.
        folder: as `open_store`.
        services: as `open_store`.
        name: as `open_store`.
        throwaway: whether it is removed from its server when it is closed, and need not survive a
            power failure meanwhile. Files are for whoever gave the folder to remove.

    Raises:
        StoreUnavailableError: as `open_store`.
        ValueError: as `open_store`.
        StoreError: as `open_store`.
    """
    known = get_args(StoreKind)
    if kind not in known:
        meant = nearest(kind, known)
        hint = f" (did you mean {meant!r}?)" if meant else ""
        raise ValueError(f"store is {kind!r}: it is {', '.join(known)}{hint}")
    if kind in SERVICES:
        url = _address(kind, services)
        opener = _postgres if kind == "postgres" else _redis
        with _needing(kind):
            return opener(url, lambda: name or name_of(folder()), throwaway)
    store = _in_files(kind, folder, synced=not throwaway)
    closing = ExitStack()
    closing.callback(store.close)
    return Places(store=store, _closing=closing)


def name_of(folder: Path) -> str:
    """What a server calls the memory of a folder: of no other folder, and of no other machine's."""
    import platform

    where = f"{platform.node()}\n{folder.resolve()}".encode("utf-8", "surrogateescape")
    return f"memsim_{hashlib.blake2b(where, digest_size=12).hexdigest()}"


def _in_files(kind: StoreKind, folder: Callable[[], Path], *, synced: bool) -> Store:
    if kind == "memory":
        from memsim.memory.stores.in_memory import InMemory

        return InMemory()
    if kind == "markdown":
        from memsim.memory.stores.markdown.store import Markdown

        return Markdown(folder() / "entries", synced=synced)
    if kind == "chroma":
        with _needing(kind):
            from memsim.memory.stores.chroma import ChromaEntries

            return ChromaEntries(folder() / "entries")
    from memsim.memory.stores.sqlite.store import SQLite

    return SQLite(folder() / "memory.sqlite3")


def _postgres(url: str, naming: Callable[[], str], throwaway: bool) -> Places:  # noqa: FBT001 - one of a pair
    from memsim.memory.stores.postgres.store import PostgresStore

    name = naming()
    store = PostgresStore(url, name)
    closing = ExitStack()
    if throwaway:
        closing.callback(drop_schema, url, name)
    closing.callback(store.close)
    return Places(store=store, _closing=closing)


def _redis(url: str, naming: Callable[[], str], throwaway: bool) -> Places:  # noqa: FBT001 - one of a pair
    from memsim.memory.stores.redis.store import RedisStore
    from memsim.memory.stores.redis.working import RedisLedger, RedisWorking

    name = naming()
    store = RedisStore(url, name)
    with ExitStack() as closing:
        if throwaway:
            closing.callback(drop_keys, url, name)
        closing.callback(store.close)
        working = RedisWorking(url, name)
        closing.callback(working.close)
        ledger = RedisLedger(url, name)
        closing.callback(ledger.close)
        return Places(store=store, working=working, ledger=ledger, _closing=closing.pop_all())


def _address(kind: str, services: Mapping[str, str]) -> str:
    if not services.get(kind):
        raise StoreUnavailableError(f"store={kind} needs a server: set {SERVICES[kind]}")
    return services[kind]


@contextmanager
def _needing(kind: StoreKind) -> Iterator[None]:
    """Says how to install what a store needs, where it is not there."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "memsim":
            raise
        asked = f"memsim[{kind}]" if kind in SERVICES else "chromadb"
        raise StoreUnavailableError(
            f"store={kind} needs a package that is missing: pip install '{asked}'"
        ) from error
