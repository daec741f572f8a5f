"""Open a memory whose entries, working memory and injection ledger live in Redis.

`MEMSIM_REDIS_URL` holds the server's address as redis-py reads it.
"""

from __future__ import annotations

from contextlib import ExitStack

from memsim.memory.stores import Places, StoreSite


def open_places(site: StoreSite) -> Places:
    """Open the three stores under keys of their own."""
    from memsim.memory.stores.redis.store import RedisStore
    from memsim.memory.stores.redis.working_memory import RedisTexts

    name = site.name
    with ExitStack() as closing:
        if site.throwaway:
            closing.callback(drop_keys, site.url, name)
        store = RedisStore(site.url, name)
        closing.callback(store.close)
        working = RedisTexts(site.url, name, part="working")
        closing.callback(working.close)
        ledger = RedisTexts(site.url, name, part="ledger")
        closing.callback(ledger.close)
        return Places(store=store, working=working, ledger=ledger, closing=closing.pop_all())


def drop_keys(url: str, name: str) -> None:
    """Remove a memory from Redis, with its working memory and its ledger.

    Raises `StoreError` if the server failed.
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
