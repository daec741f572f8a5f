"""Open a memory whose entries live in PostgreSQL with pgvector.

`MEMSIM_POSTGRES_URL` holds the server's address as libpq reads it.
"""

from __future__ import annotations

from memsim.errors import StoreError
from memsim.memory.stores import Places, StoreSite


def open_places(site: StoreSite) -> Places:
    """Open the store in a schema of its own."""
    from memsim.memory.stores.postgres.store import PostgresStore

    places = Places(store=PostgresStore(site.url, site.name))
    if site.throwaway:
        places.closing.callback(drop_schema, site.url, site.name)
    return places


def drop_schema(url: str, schema: str) -> None:
    """Remove a memory from PostgreSQL; one that is not there is nothing to remove.

    Raises `StoreError` if the server failed.
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
