"""Working memory and injection ledger in Redis, for conversations that several processes carry on.

Below `memsim:{name}:`, and no key or field holds a word of a user's::

    marker          who this namespace is, so that a later one of its name is told from it
    working:index   a conversation's names, and whether it may expire, by its digest
    working:<id>    its item and its text, by the item's digest
    ledger:...      the same for the ledger

A swap is one script. A conversation that the index knows and that is gone is an error, unless the
server was asked to let it expire.
"""

from __future__ import annotations

import json
import uuid
from datetime import timedelta
from typing import Any, Literal

from memsim.errors import StoreError
from memsim.memory.entry import Conversation, digest_of
from memsim.memory.stores.redis.connection import Argument, RedisConnection

_MILLISECOND = timedelta(milliseconds=1)

_OPEN = """
if redis.call('EXISTS', KEYS[1]) == 0 then
    if redis.call('EXISTS', KEYS[2]) == 1 or ARGV[2] ~= 'new'
    then return redis.error_reply('MEMSIM-LOST') end
    redis.call('SET', KEYS[1], ARGV[1])
end
return redis.call('GET', KEYS[1])
"""

_CHECKED = """
local marker, index, items = unpack(KEYS)
if redis.call('GET', marker) ~= ARGV[1] then return redis.error_reply('MEMSIM-LOST') end
local function check(id, key)
    local known = redis.call('HGET', index, id)
    if not known or redis.call('EXISTS', key) == 1 then return known end
    if string.sub(known, 1, 1) ~= '~' then return redis.error_reply('MEMSIM-LOST') end
    redis.call('HDEL', index, id)
    return false
end
"""

_READ = (
    _CHECKED
    + """
local known = check(ARGV[2], items)
if type(known) == 'table' then return known end
return redis.call('HVALS', items)
"""
)

# The conversation, its names, milliseconds to live or 0, the field; old and new, or nothing at all.
_SWAP = (
    _CHECKED
    + """
local known = check(ARGV[2], items)
if type(known) == 'table' then return known end
if (redis.call('HGET', items, ARGV[5]) or '') ~= ARGV[6] then return 0 end
if ARGV[7] == '' then
    redis.call('HDEL', items, ARGV[5])
    if redis.call('EXISTS', items) == 0 then redis.call('HDEL', index, ARGV[2]) end
    return 1
end
redis.call('HSET', items, ARGV[5], ARGV[7])
if ARGV[4] == '0' then
    redis.call('PERSIST', items)
    redis.call('HSET', index, ARGV[2], '=' .. ARGV[3])
else
    redis.call('PEXPIRE', items, ARGV[4])
    redis.call('HSET', index, ARGV[2], '~' .. ARGV[3])
end
return 1
"""
)

_LIST = (
    _CHECKED
    + """
local found = {}
for _, id in ipairs(redis.call('HKEYS', index)) do
    local known = check(id, ARGV[2] .. id)
    if type(known) == 'table' then return known end
    if known then found[#found + 1] = known end
end
return found
"""
)


class RedisTexts:
    """Texts of conversations in a Redis server; see `memsim.memory.stores.TextStore`.

    `url`, `name` and `new` are as for `RedisStore`; `part` is `working` or `ledger`. With `expire`,
    the server may drop by its own clock what nobody dropped in time. Raises `StoreError` if the
    server cannot be reached, or what was there is not any more.
    """

    def __init__(
        self,
        url: str,
        name: str = "memory",
        *,
        part: Literal["working", "ledger"],
        new: bool = True,
        expire: bool = False,
    ) -> None:
        self._session = RedisConnection(url, name)
        self._prefix = self._session.key(part, "")
        self._marker_key = self._session.key(part, "marker")
        self._index = self._session.key(part, "index")
        self._expire = expire
        keys = [self._marker_key, self._index]
        try:
            found = self._session.run(_OPEN, keys, uuid.uuid4().hex, "new" if new else "old")
        except BaseException:
            self._session.close()
            raise
        self._marker = bytes(found).decode("ascii")

    def read(self, of: Conversation) -> dict[str, str]:
        """Every text by its item, byte for byte."""
        return dict(json.loads(value) for value in self._run(_READ, of.id, of.id))

    def swap(
        self,
        of: Conversation,
        item: str,
        old: str | None,
        new: str | None,
        lasting: timedelta | None = None,
    ) -> bool:
        """Put `new` in the place of `old` if that is what is there: one atomic step."""
        names = json.dumps([of.principal, of.session])
        life = -(-lasting // _MILLISECOND) if lasting is not None and self._expire else 0
        return bool(
            self._run(
                _SWAP,
                of.id,
                of.id,
                names,
                str(life),
                digest_of(item),
                _packed(item, old),
                _packed(item, new),
            )
        )

    def conversations(self) -> list[Conversation]:
        """Every conversation that has a text, sorted."""
        found = self._run(_LIST, "", self._prefix)
        return sorted(Conversation(*json.loads(names[1:])) for names in found)

    def close(self) -> None:
        """Close the connection; calling it again does nothing."""
        self._session.close()

    def _run(self, script: str, of: str, *values: Argument) -> Any:  # noqa: ANN401 - RESP
        keys = [self._marker_key, self._index, self._prefix + of]
        return self._session.run(script, keys, self._marker, *values)


def _packed(item: str, text: str | None) -> bytes:
    """An item with its text, as the server compares them; empty for nothing."""
    if text is None:
        return b""
    try:
        return json.dumps([item, text], ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise StoreError("a text cannot be encoded as UTF-8") from error
