"""Removes memories from servers where they were kept for a while only."""

from __future__ import annotations

from memsim.errors import StoreError


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
    from memsim.memory.stores.redis_session import Session

    session = Session(url, name)
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
