"""The kinds of store that keep their entries in a server or an engine."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import psycopg
import redis
from psycopg import sql

from memsim.memory.stores import Store
from memsim.memory.stores.chroma import ChromaEntries
from memsim.memory.stores.postgres.store import PostgresStore
from memsim.memory.stores.redis.store import RedisStore
from tests.memory.stores import servers
from tests.memory.stores.kinds import Kind, register
from tests.memory.stores.local import FolderHome

_numbers = itertools.count()


class PostgresHome:
    """A memory in a schema of this process's PostgreSQL."""

    def __init__(self, folder: Path) -> None:
        self._schema = f"home_{os.getpid()}_{next(_numbers)}"
        self._handles: list[Store] = []

    def open(self) -> Store:
        """One more handle, with a connection of its own."""
        store = PostgresStore(servers.postgres().url, self._schema)
        self._handles.append(store)
        return store

    def files(self) -> list[Path]:
        """Every file of the server: tables, indexes and logs."""
        return sorted(p for p in servers.postgres().folder.rglob("*") if p.is_file())

    def dispose(self) -> None:
        """Close what is open, and drop the schema."""
        for store in self._handles:
            store.close()
        with psycopg.connect(servers.postgres().url, autocommit=True) as connection:
            connection.execute("SET client_min_messages = error")
            drop = sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE")
            connection.execute(drop.format(sql.Identifier(self._schema)))


register(Kind(name="postgres", make=PostgresHome))


class RedisHome:
    """A memory in a namespace of this process's Redis."""

    def __init__(self, folder: Path) -> None:
        self._name = f"home-{os.getpid()}-{next(_numbers)}"
        self._handles: list[Store] = []

    def open(self) -> Store:
        """One more handle, with a connection of its own."""
        store = RedisStore(servers.redis().url, self._name)
        self._handles.append(store)
        return store

    def files(self) -> list[Path]:
        """Every file of the server, its memory as it would be dumped among them."""
        with redis.Redis.from_url(servers.redis().url) as connection:
            connection.save()
        return sorted(p for p in servers.redis().folder.rglob("*") if p.is_file())

    def dispose(self) -> None:
        """Close what is open, and drop the namespace."""
        for store in self._handles:
            store.close()
        with redis.Redis.from_url(servers.redis().url) as connection:
            for key in connection.scan_iter(f"memsim:{{{self._name}}}:*"):
                connection.delete(key)


register(Kind(name="redis", make=RedisHome))
register(
    Kind(
        name="chroma",
        make=lambda folder: FolderHome(folder, ChromaEntries),
        shared=False,
        examples=20,
    )
)
