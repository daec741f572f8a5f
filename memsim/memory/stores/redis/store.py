"""Entries in Redis, for memories that many processes share and that fit into each one's memory.

Below `memsim:{name}:`, and no key or field holds a word of a user's::

    marker   who this namespace is, so that a later one of its name is told from it
    meta     schema, embedder, dimension; how many changes, entries and vectors there were and are
    entries  an entry's canonical JSON, by its id
    vectors  a unit vector as float32, by its entry's id
    changed  ids by the number of the change that they were last in; those erased stay for a while

Every call asks what has changed since the last one, in one step with the counts, and ranks in this
process. Writes are one script each, which the server runs as a whole or not at all.

`erase` has the server write its dump and its log of commands anew where it keeps such. Not covered:
the same where it may not be told to (see `RedisStore.log_erased`), dumps that somebody asked for of
a server that makes none, replicas, backups, and what the allocator or the file system freed.
"""

from __future__ import annotations

import re
import time
import uuid
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from memsim.errors import SchemaError, StoreError
from memsim.memory.entry import decode, encode
from memsim.memory.index.nearest_vectors import check_query
from memsim.memory.stores import PAGE, SCHEMA_VERSION, EmbedderInfo, embedder_of, write_items
from memsim.memory.stores.in_memory import StoreView
from memsim.memory.stores.redis.connection import RedisConnection

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memsim.memory.entry import Entry
    from memsim.memory.index import Hit
    from memsim.memory.permissions import Where
    from memsim.memory.stores import WriteItem
    from memsim.memory.stores.redis.connection import Argument
    from memsim.models import Vectors

ATTEMPTS = 100
"""Writes that are tried before a store counts as failing, while others change its embedder."""

GONE = 10_000
"""Erased ids that are remembered for those who have yet to notice."""

_ID = re.compile(r"[0-9a-f]{32}")
_PARTS = ("marker", "meta", "entries", "vectors", "changed")
_PATIENCE = 600.0

_CHECKED = """
local marker, meta, entries, vectors, changed = unpack(KEYS)
local function count(field) return tonumber(redis.call('HGET', meta, field) or 0) end
if redis.call('GET', marker) ~= ARGV[1] or redis.call('EXISTS', meta) == 0
    or redis.call('HLEN', entries) ~= count('entries')
    or redis.call('HLEN', vectors) ~= count('vectors')
    or redis.call('ZCARD', changed) < count('entries')
then return redis.error_reply('MEMSIM-LOST') end
local function tell(version)
    redis.call('HSET', meta, 'changes', version, 'entries', redis.call('HLEN', entries),
        'vectors', redis.call('HLEN', vectors))
    return version
end
"""

# A new marker, and whether there may be no memory yet; gives the marker and the schema.
_OPEN = """
local marker, meta = KEYS[1], KEYS[2]
if redis.call('EXISTS', marker) == 0 then
    if redis.call('EXISTS', unpack(KEYS, 2)) > 0 or ARGV[2] ~= 'new'
    then return redis.error_reply('MEMSIM-LOST') end
    redis.call('SET', marker, ARGV[1])
    redis.call('HSET', meta, 'schema', ARGV[3])
end
if redis.call('EXISTS', meta) == 0 then return redis.error_reply('MEMSIM-LOST') end
return {redis.call('GET', marker), redis.call('HGET', meta, 'schema')}
"""

# Since which change; gives the change, what vectors are made with, and either all or what changed.
_SYNC = (
    _CHECKED
    + """
local since, now = tonumber(ARGV[2]), count('changes')
local made = {redis.call('HGET', meta, 'embedder'), redis.call('HGET', meta, 'dimension')}
if since < count('floor') or since > now then
    return {now, made, 1, redis.call('HGETALL', entries), redis.call('HGETALL', vectors)}
end
local found = {}
if since < now then
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', changed, '(' .. since, '+inf')) do
        found[#found + 1] = {id, redis.call('HGET', entries, id), redis.call('HGET', vectors, id)}
    end
end
return {now, made, 0, found}
"""
)

# The embedder as it was and as it will be; then an id, a record and a vector for each entry.
_WRITE = (
    _CHECKED
    + """
if (redis.call('HGET', meta, 'embedder') or '') ~= ARGV[2]
    or (redis.call('HGET', meta, 'dimension') or '') ~= ARGV[3] then return -1 end
local version = count('changes') + 1
for i = 6, #ARGV, 3 do
    redis.call('HSET', entries, ARGV[i], ARGV[i + 1])
    if ARGV[i + 2] == '' then redis.call('HDEL', vectors, ARGV[i])
    else redis.call('HSET', vectors, ARGV[i], ARGV[i + 2]) end
    redis.call('ZADD', changed, version, ARGV[i])
end
if ARGV[5] ~= '' then redis.call('HSET', meta, 'embedder', ARGV[4], 'dimension', ARGV[5]) end
return tell(version)
"""
)

_EMBED = (
    _CHECKED
    + """
if (redis.call('HGET', meta, 'embedder') or '') == ARGV[2]
    and (redis.call('HGET', meta, 'dimension') or '') == ARGV[3] then return 0 end
local version = count('changes') + 1
redis.call('HSET', meta, 'floor', version)
redis.call('DEL', vectors)
if ARGV[3] == '' then redis.call('HDEL', meta, 'embedder', 'dimension')
else redis.call('HSET', meta, 'embedder', ARGV[2], 'dimension', ARGV[3]) end
return tell(version)
"""
)

_ERASE = (
    _CHECKED
    + """
local version, gone = count('changes') + 1, 0
for i = 3, #ARGV do
    if redis.call('HDEL', entries, ARGV[i]) == 1 then
        gone = gone + 1
        redis.call('HDEL', vectors, ARGV[i])
        redis.call('ZADD', changed, version, ARGV[i])
    end
end
if gone == 0 then return 0 end
if redis.call('ZCARD', changed) - redis.call('HLEN', entries) > tonumber(ARGV[2]) then
    redis.call('HSET', meta, 'floor', version)
    for _, id in ipairs(redis.call('ZRANGE', changed, 0, -1)) do
        if redis.call('HEXISTS', entries, id) == 0 then redis.call('ZREM', changed, id) end
    end
end
tell(version)
return gone
"""
)


class RedisStore:
    """Entries in a namespace of a Redis server; see `Store` for what every method promises.

    What survives the server is for its configuration to say: without a log of commands (`appendonly
    yes`), a server that goes down forgets what it wrote since its last dump. The url is read by
    redis-py, and its password never shown. The name has letters, digits, `_`, `.` and `-`. An empty
    server is refused unless the memory may be `new`. Raises `SchemaError` if a newer memsim wrote
    the memory. Raises `StoreError` if the server cannot be reached, or the memory is not there, or
    not whole.
    """

    name = "redis"

    def __init__(self, url: str, name: str = "memory", *, new: bool = True) -> None:
        self._session = RedisConnection(url, name)
        self._keys = [self._session.key(part) for part in _PARTS]
        self._view = StoreView()
        self._version = -1
        self._embedded: EmbedderInfo | None = None
        self._lock = RLock()
        self._log_erased = True
        try:
            self._marker = self._opened(new=new)
            self._sync()
        except BaseException:
            self._session.close()
            raise

    @property
    def exact(self) -> bool:
        """Whether `nearest` compares all admitted vectors."""
        with self._lock:
            return self._sync().exact

    @property
    def embedded(self) -> EmbedderInfo | None:
        """What its vectors were made with."""
        with self._lock:
            self._sync()
            return self._embedded

    @property
    def log_erased(self) -> bool:
        """Whether the last `erase` could make the server write its files anew as well."""
        return self._log_erased

    def write(self, entries: Sequence[Entry], vectors: Vectors | None = None) -> None:
        """Take entries in; see `Store`."""
        with self._lock:
            for _ in range(ATTEMPTS):
                self._sync()
                items = write_items(entries, vectors, self._embedded)
                if not items or self._written(items):
                    return
        raise StoreError("the embedder of the memory is being changed by too many at once")

    def embedded_by(self, made: EmbedderInfo | None) -> None:
        """Note what vectors are made with; see `Store`."""
        with self._lock:
            self._run(_EMBED, *_said(made))

    def erase(self, ids: Collection[str]) -> int:
        """Take entries out for good; see `Store`, and above for what is not covered."""
        known = [i for i in dict.fromkeys(ids) if _ID.fullmatch(i)]
        with self._lock:
            erased = int(self._run(_ERASE, GONE, *known)) if known else 0
            if erased:
                self._sync()
                self._log_erased = self._files_rewritten()
        return erased

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """The entries with these ids; see `Store`."""
        with self._lock:
            return self._sync().get(ids)

    def find(self, where: Where, *, after: Entry | None = None, limit: int = PAGE) -> list[Entry]:
        """Admitted entries, a page at a time; see `Store`."""
        with self._lock:
            return self._sync().find(where, after=after, limit=limit)

    def count(self, where: Where) -> int:
        """How many entries are admitted; see `Store`."""
        with self._lock:
            return self._sync().count(where)

    def lexical(self, text: str, where: Where, k: int) -> list[Hit]:
        """The best by words; see `Store`."""
        with self._lock:
            return self._sync().lexical(text, where, k)

    def mentions(self, text: str, where: Where) -> bool:
        """Whether an entry holds a word of a text; see `Store`."""
        with self._lock:
            return self._sync().mentions(text, where)

    def nearest(self, vector: Vectors, where: Where, k: int) -> list[Hit]:
        """The best by vectors; see `Store`."""
        with self._lock:
            view = self._sync()
            if self._embedded is None:
                return []
            check_query(vector, self._embedded.dimension)
            return view.nearest(vector, where, k)

    def close(self) -> None:
        """Close the connection; see `Store`."""
        self._session.close()

    def _opened(self, *, new: bool) -> str:
        """The marker of the memory, which is made where there is none."""
        found, schema = self._session.run(
            _OPEN, self._keys, uuid.uuid4().hex, "new" if new else "old", SCHEMA_VERSION
        )
        if schema != str(SCHEMA_VERSION).encode():
            known = None if schema is None else schema.decode(errors="replace")
            raise SchemaError(f"the Redis memory {self._session.name}", known, SCHEMA_VERSION)
        return bytes(found).decode("ascii")

    def _run(self, script: str, *values: Argument) -> Any:  # noqa: ANN401 - whatever RESP holds
        return self._session.run(script, self._keys, self._marker, *values)

    def _sync(self) -> StoreView:
        """The entries as they are now, whoever wrote them."""
        version, made, whole, *found = self._run(_SYNC, self._version)
        self._embedded = _read(*made)
        if whole:
            entries, vectors = (_pairs(listed) for listed in found)
            self._view.clear()
            for source, record in entries.items():
                self._put(source, record, vectors.get(source))
        else:
            for source, *held in found[0]:
                if held[0] is None:
                    self._view.drop(source.decode())
                else:
                    self._put(source, *held)
        self._version = int(version)
        return self._view

    def _put(self, source: bytes, record: bytes, vector: bytes | None) -> None:
        entry = decode(record, f"the entry {source.decode()}")
        if entry.id != source.decode():
            raise StoreError(f"the entry {source.decode()} is damaged: it is another's")
        self._view.put(entry, None if vector is None else np.frombuffer(vector, "<f4"))

    def _written(self, items: Sequence[WriteItem]) -> bool:
        """Write entries; false where the embedder is no longer what they were checked against."""
        made = embedder_of(items, self._embedded)
        values: list[Argument] = [*_said(self._embedded), *_said(made)]
        for source, entry, vector in items:
            values += [source, encode(entry).encode("utf-8"), _packed(vector)]
        version = int(self._run(_WRITE, *values))
        if version == self._version + 1:
            self._version, self._embedded = version, made
            for _, entry, vector in items:
                self._view.put(entry, vector)
        return version > 0

    def _files_rewritten(self) -> bool:
        """Have the server write its files anew, so far as it keeps any and may be told to."""
        try:
            if self._setting("save"):
                self._session.call("SAVE")
            if self._setting("appendonly") != b"yes":
                return True
            self._session.call("BGREWRITEAOF")
            end = time.monotonic() + _PATIENCE
            while b"aof_rewrite_in_progress:0" not in (said := self._persistence()):
                if time.monotonic() > end:
                    return False
                time.sleep(0.01)
        except StoreError:
            return False
        return b"aof_last_bgrewrite_status:ok" in said

    def _setting(self, name: str) -> bytes:
        _, value = self._session.call("CONFIG", "GET", name)
        return bytes(value)

    def _persistence(self) -> bytes:
        said = bytes(self._session.call("INFO", "persistence"))
        return said.replace(b"aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:1", b"")


def _said(made: EmbedderInfo | None) -> tuple[bytes, str]:
    return (b"", "") if made is None else (made.name.encode("utf-8"), str(made.dimension))


def _read(name: bytes | None, dimension: bytes | None) -> EmbedderInfo | None:
    if name is None or dimension is None:
        return None
    return EmbedderInfo(name.decode("utf-8"), int(dimension))


def _packed(vector: Vectors | None) -> bytes:
    return b"" if vector is None else vector.astype("<f4").tobytes()


def _pairs(listed: Sequence[bytes]) -> dict[bytes, bytes]:
    return dict(zip(listed[::2], listed[1::2], strict=True))
