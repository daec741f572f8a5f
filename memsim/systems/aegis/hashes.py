"""Hashes and texts by key, with a time to live: the commands of Redis that AEGIS uses, no others.

They are commands and not a swap, because what is to be reproduced is what their order does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Protocol, runtime_checkable

from memsim.errors import StoreError
from memsim.memory.codec import JSON, reading
from memsim.message import utc

# What Redis 7 says that a hash takes in memory, computed without a server.

PACKED_FIELDS = 512
"""Fields up to which a hash is a packed list."""

PACKED_BYTES = 64
"""Bytes of a name or value up to which a hash is a packed list."""

SAMPLES = 5
"""Fields of a table that `MEMORY USAGE` measures unless told otherwise; 0 means all."""

_TABLE = 56
_ENTRY = 24
_SLOT = 8
_FIRST_SLOTS = 4
_STRING_HEADERS = ((32, 1), (256, 3), (65_536, 5))
_INTEGERS = ((-4096, 4095, 2), (-(2**15), 2**15 - 1, 3), (-(2**23), 2**23 - 1, 4))
_WIDE = ((-(2**31), 2**31 - 1, 5), (-(2**63), 2**63 - 1, 9))
_LONGEST_INTEGER = 20


def usage(key: str, fields: Mapping[str, str], samples: int = SAMPLES) -> int | None:
    """Compute the bytes that `MEMORY USAGE` reports of a hash; None where it has no fields.

    The first `samples` fields, in the order in which they came, stand for all of them; 0 measures
    every field. The server samples in the order of its table, which differs from start to start.
    """
    if not fields:
        return None
    texts = (text for pair in fields.items() for text in pair)
    packed = encoding(fields) == "listpack"
    inside = allocated(7 + sum(map(_packed, texts))) if packed else _table(fields, samples)
    return 16 + _string(_length(key)) + 24 + inside


def encoding(fields: Mapping[str, str]) -> str:
    """How Redis keeps a hash that was written at once: `listpack` or `hashtable`."""
    small = len(fields) <= PACKED_FIELDS and all(
        _length(text) <= PACKED_BYTES for pair in fields.items() for text in pair
    )
    return "listpack" if small else "hashtable"


def allocated(size: int) -> int:
    """Bytes that the allocator gives for so many: its next class of sizes."""
    if size <= 8:
        return 8
    if size <= 128:
        return -(-size // 16) * 16
    step = 1 << max(0, (size - 1).bit_length() - 3)
    return -(-size // step) * step


def _packed(text: str) -> int:
    length = _length(text)
    body = _integer(text) or length + (1 if length < 64 else 2 if length < 4096 else 5)
    return body + (1 if body < 128 else 2)


def _integer(text: str) -> int:
    """Bytes of a text that a packed list keeps as a number; 0 where it does not."""
    if len(text) > _LONGEST_INTEGER or not text.removeprefix("-").isascii():
        return 0
    if not text.removeprefix("-").isdigit() or str(int(text)) != text:
        return 0
    number = int(text)
    if 0 <= number <= 127:
        return 1
    return next((size for low, high, size in _INTEGERS + _WIDE if low <= number <= high), 0)


def _table(fields: Mapping[str, str], samples: int) -> int:
    measured = samples or len(fields)
    entries = [
        _ENTRY + sum(_string(_length(text)) for text in pair)
        for pair in islice(fields.items(), measured)
    ]
    return _TABLE + _SLOT * _slots(fields) + int(sum(entries) / len(entries) * len(fields))


def _slots(fields: Mapping[str, str]) -> int:
    count = len(fields)
    slots = max(_FIRST_SLOTS, 1 << (count - 1).bit_length())
    if all(_length(text) <= PACKED_BYTES for pair in fields.items() for text in pair):
        return slots  # a packed list becomes a table of the right size at once
    # A table doubles when it is full, and every field written since has moved two of the buckets
    # that are not empty, which are about five of eight.
    half = slots // 2
    moving = half >= _FIRST_SLOTS and 2 * (count - half - 1) < 5 * half // 8
    return slots + (half if moving else 0)


def _string(length: int) -> int:
    header = next((size for below, size in _STRING_HEADERS if length < below), 9)
    return allocated(length + 1 + header)


def _length(text: str) -> int:
    return len(text.encode("utf-8"))


MISSING, UNLIMITED = -2, -1
"""What `ttl` says of a key that is not there, and of one that does not expire."""

WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"


@runtime_checkable
class Hashes(Protocol):
    """Hashes by key. Every method raises `StoreError` where the server fails."""

    def all(self, key: str) -> dict[str, str]:
        """HGETALL: the fields with their values; empty where there is no such key."""

    def has(self, key: str, field: str) -> bool:
        """HEXISTS."""

    def put(self, key: str, fields: Mapping[str, str]) -> int:
        """HSET: write fields beside those that are there; how many are new. Keeps the expiry."""

    def put_new(self, key: str, field: str, value: str) -> bool:
        """HSETNX: write a field unless it is there; whether it was written. One atomic step."""

    def remove(self, key: str, fields: Collection[str]) -> int:
        """HDEL: how many were there. A key goes with its last field, and so does its expiry."""

    def delete(self, key: str) -> bool:
        """DEL: whether it was there."""

    def expire(self, key: str, seconds: int) -> bool:
        """EXPIRE: whether the key is there; a missing one stays missing."""

    def ttl(self, key: str) -> int:
        """TTL: seconds that are left, `UNLIMITED` or `MISSING`."""

    def usage(self, key: str, samples: int = SAMPLES) -> int | None:
        """MEMORY USAGE: bytes, by the server's own estimate; None for a missing key."""

    def text(self, key: str) -> str | None:
        """GET: the text under a key; None where there is none."""

    def put_text(self, key: str, value: str, seconds: int | None = None) -> None:
        """SET: write a text in place of whatever is there; it lasts so long, or for good."""

    def keys(self, prefix: str) -> list[str]:
        """Every key that begins so, sorted."""

    def close(self) -> None:
        """Close the connection; calling it again does nothing."""


class InProcessHashes(Hashes):
    """Keep hashes as long as the process runs, with sizes as Redis 7 reports them; see `Hashes`."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._hashes: dict[str, dict[str, str]] = {}
        self._texts: dict[str, str] = {}
        self._until: dict[str, datetime] = {}
        self._lock = threading.RLock()

    def all(self, key: str) -> dict[str, str]:
        with self._lock:
            return dict(self._live(key))

    def has(self, key: str, field: str) -> bool:
        with self._lock:
            return field in self._live(key)

    def put(self, key: str, fields: Mapping[str, str]) -> int:
        with self._lock:
            held = self._live(key)
            new = sum(name not in held for name in fields)
            if fields:
                self._hashes[key] = held
                held.update(fields)
            return new

    def put_new(self, key: str, field: str, value: str) -> bool:
        with self._lock:
            return field not in self._live(key) and bool(self.put(key, {field: value}))

    def remove(self, key: str, fields: Collection[str]) -> int:
        with self._lock:
            held = self._live(key)
            gone = sum(held.pop(name, None) is not None for name in dict.fromkeys(fields))
            if not held:
                self.delete(key)
            return gone

    def delete(self, key: str) -> bool:
        with self._lock:
            self._sweep(key)
            self._until.pop(key, None)
            held = self._hashes.pop(key, None) is not None
            return (self._texts.pop(key, None) is not None) or held

    def expire(self, key: str, seconds: int) -> bool:
        with self._lock:
            if not self._has(key):
                return False
            self._until[key] = utc(self._now()) + timedelta(seconds=seconds)
            return True

    def ttl(self, key: str) -> int:
        with self._lock:
            if not self._has(key):
                return MISSING
            until = self._until.get(key)
            return UNLIMITED if until is None else round((until - self._now()).total_seconds())

    def usage(self, key: str, samples: int = SAMPLES) -> int | None:
        with self._lock:
            return usage(key, self._live(key), samples)

    def keys(self, prefix: str) -> list[str]:
        with self._lock:
            every = [*self._hashes, *self._texts]
            return sorted(k for k in every if k.startswith(prefix) and self._has(k))

    def text(self, key: str) -> str | None:
        with self._lock:
            self._sweep(key)
            if key in self._hashes:
                raise StoreError(WRONG_TYPE)
            return self._texts.get(key)

    def put_text(self, key: str, value: str, seconds: int | None = None) -> None:
        with self._lock:
            self.delete(key)
            self._texts[key] = value
            if seconds is not None:
                self.expire(key, seconds)

    def close(self) -> None:
        """There is nothing to release."""

    def save(self) -> JSON:
        """Every hash, with the order of its fields and its expiry."""
        with self._lock:
            return [self._row(key) for key in self.keys("")]

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Replace all hashes by saved ones. Raises StateError, and changes nothing, if damaged."""
        from datetime import datetime

        hashes: dict[str, dict[str, str]] = {}
        texts: dict[str, str] = {}
        until: dict[str, datetime] = {}
        with reading("its hashes are damaged"):
            for item in saved:
                if "text" in item:
                    texts["" + item["key"]] = "" + item["text"]
                else:
                    fields = {"" + name: "" + value for name, value in item["fields"]}
                    hashes["" + item["key"]] = fields
                if item["until"] is not None:
                    until[item["key"]] = utc(datetime.fromisoformat(item["until"]))
        with self._lock:
            self._hashes, self._texts, self._until = hashes, texts, until

    def _row(self, key: str) -> dict[str, JSON]:
        until = self._until[key].isoformat() if key in self._until else None
        if key in self._texts:
            return {"key": key, "text": self._texts[key], "until": until}
        fields: list[JSON] = [[name, value] for name, value in self._hashes[key].items()]
        return {"key": key, "fields": fields, "until": until}

    def _live(self, key: str) -> dict[str, str]:
        """The fields of a key; a new mapping, in no hash yet, where it is missing or expired."""
        self._sweep(key)
        if key in self._texts:
            raise StoreError(WRONG_TYPE)
        return self._hashes.get(key, {})

    def _has(self, key: str) -> bool:
        self._sweep(key)
        return bool(self._hashes.get(key)) or key in self._texts

    def _sweep(self, key: str) -> None:
        until = self._until.get(key)
        if until is not None and until <= self._now():
            del self._until[key]
            self._hashes.pop(key, None)
            self._texts.pop(key, None)
