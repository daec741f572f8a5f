"""AEGIS's hashes in a Redis server, under the very keys that its document names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import datetime, timedelta

from memsim.memory.stores.redis.connection import RedisConnection
from memsim.message import utc
from memsim.systems.aegis.hashes import SAMPLES, Hashes
from memsim.systems.aegis.working_memory import DEFAULT_MARK, AegisLedger, ledger_key


class RedisManager:
    """The methods that AEGIS's document lists. Each raises `StoreError` where the server fails."""

    def __init__(self, hashes: Hashes) -> None:
        self._hashes = hashes
        self._ledger = AegisLedger(hashes)

    def get(self, key: str) -> str | None:
        """The text under a key; None where there is none."""
        return self._hashes.text(key)

    def set(self, key: str, value: str, ex: int | None = None) -> None:
        """Write a text for `ex` seconds, or for good, in place of whatever is under the key."""
        self._hashes.put_text(key, value, ex)

    def delete(self, key: str) -> None:
        """Take out what is under a key, whatever it is."""
        self._hashes.delete(key)

    def ledger_key(self, conversation_id: str) -> str:
        """The key of a conversation's injection ledger."""
        return ledger_key(conversation_id)

    def ledger_has(self, conversation_id: str, item_key: str) -> bool:
        """Whether an item is marked."""
        return self._ledger.has(conversation_id, item_key)

    def ledger_mark(self, conversation_id: str, item_key: str, value: str = DEFAULT_MARK) -> None:
        """Mark an item."""
        self._ledger.mark(conversation_id, item_key, value)

    def ledger_get_all(self, conversation_id: str) -> dict[str, str]:
        """Every marked item, with its mark."""
        return self._ledger.get_all(conversation_id)


_PAGE = 1000


class RedisHashes(Hashes):
    """Keep hashes in a Redis server; see `memsim.systems.aegis.hashes.Hashes`.

    Args:
        now: a clock other than the server's, such as a replay's; keys expire by either. Only this
            object knows of expiry by it.

    Raises:
        StoreError: the server cannot be reached.
    """

    def __init__(self, url: str, now: Callable[[], datetime] | None = None) -> None:
        self._session = RedisConnection(url, "aegis")
        self._now = now
        self._until: dict[str, datetime] = {}
        try:
            self._session.call("PING")
        except BaseException:
            self._session.close()
            raise

    def all(self, key: str) -> dict[str, str]:
        self._expired(key)
        flat = [part.decode("utf-8", "replace") for part in self._session.call("HGETALL", key)]
        return dict(zip(flat[::2], flat[1::2], strict=True))

    def has(self, key: str, field: str) -> bool:
        self._expired(key)
        return bool(self._session.call("HEXISTS", key, field))

    def put(self, key: str, fields: Mapping[str, str]) -> int:
        self._expired(key)
        if not fields:
            return 0
        flat = [text for pair in fields.items() for text in pair]
        return int(self._session.call("HSET", key, *flat))

    def put_new(self, key: str, field: str, value: str) -> bool:
        self._expired(key)
        return bool(self._session.call("HSETNX", key, field, value))

    def remove(self, key: str, fields: Collection[str]) -> int:
        self._expired(key)
        return int(self._session.call("HDEL", key, *fields)) if fields else 0

    def delete(self, key: str) -> bool:
        self._expired(key)
        self._until.pop(key, None)
        return bool(self._session.call("DEL", key))

    def expire(self, key: str, seconds: int) -> bool:
        self._expired(key)
        there = bool(self._session.call("EXPIRE", key, seconds))
        if there and self._now is not None:
            self._until[key] = utc(self._now()) + timedelta(seconds=seconds)
        return there

    def ttl(self, key: str) -> int:
        self._expired(key)
        return int(self._session.call("TTL", key))

    def usage(self, key: str, samples: int = SAMPLES) -> int | None:
        self._expired(key)
        said = self._session.call("MEMORY", "USAGE", key, "SAMPLES", samples)
        return None if said is None else int(said)

    def text(self, key: str) -> str | None:
        self._expired(key)
        said = self._session.call("GET", key)
        return None if said is None else said.decode("utf-8", "replace")

    def put_text(self, key: str, value: str, seconds: int | None = None) -> None:
        self._until.pop(key, None)
        self._session.call("SET", key, value)
        if seconds is not None:
            self.expire(key, seconds)

    def keys(self, prefix: str) -> list[str]:
        found: set[str] = set()
        cursor = b"0"
        pattern = "".join(f"[{c}]" if c in "*?[]\\" else c for c in prefix)
        while True:
            cursor, page = self._session.call(
                "SCAN", cursor, "MATCH", f"{pattern}*", "COUNT", _PAGE
            )
            found.update(key.decode("utf-8", "replace") for key in page)
            if cursor == b"0":
                return sorted(found)

    def close(self) -> None:
        with suppress(OSError):
            self._session.close()

    def _expired(self, key: str) -> None:
        if self._now is not None and (until := self._until.get(key)) and until <= self._now():
            del self._until[key]
            self._session.call("DEL", key)
