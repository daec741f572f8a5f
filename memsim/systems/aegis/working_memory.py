"""AEGIS's working memory and its injection ledger, each a hash for every conversation.

Its defects are part of it: a size that is checked after the write, values that lose their type, a
check and a mark that another may come between. Each is repaired by `fixed`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from memsim.memory.codec import JSON, canonical
from memsim.memory.history.working_memory import ENTITIES, SCRATCHPAD, WorkingFull
from memsim.systems.aegis.hashes import Hashes, usage

TTL_SECONDS = 86_400
"""A day, from the last read or write."""

LIMIT = 65_536
"""Bytes of a conversation's hash, as Redis reports them."""

FIELDS = (SCRATCHPAD, ENTITIES, "well_api", "entity_id", "entity_type_key")
"""The fields that AEGIS's document names; any other may be written as well."""

INJECTED = "injected"
"""What marks an item as injected."""

DEFAULT_MARK = "1"
"""What marks an item where nobody says what should."""


def working_key(conversation: str) -> str:
    """The hash of a conversation's working memory."""
    return f"working_memory:{conversation}"


def ledger_key(conversation: str) -> str:
    """The hash of a conversation's injection ledger."""
    return f"skill:ledger:{conversation}"


def skill_item(skill: str) -> str:
    """What a skill is called in the ledger."""
    return f"skill:{skill}"


class TooLargeError(WorkingFull, ValueError):
    """A conversation's working memory is too large; `kept` where the write was made anyway."""

    def __init__(self, size: int, limit: int, *, kept: bool = True) -> None:
        self.kept = kept
        super().__init__(size, limit)


class AegisWorkingMemory:
    """Fields by conversation, which last a day unless they are read or written.

    Args:
        limit: bytes of a conversation's fields, as Redis reports them.
        fixed: keep the type of a text that looks like JSON, measure every field, and refuse what is
            too large before it is written. Otherwise, as in the original, a text such as `"123"`
            comes back as a number, five fields stand for all, and what is too large is written and
            then reported.
    """

    def __init__(
        self, hashes: Hashes, *, ttl: int = TTL_SECONDS, limit: int = LIMIT, fixed: bool = False
    ) -> None:
        self.hashes = hashes
        self._ttl = ttl
        self._limit = limit
        self._fixed = fixed

    def get(self, conversation: str) -> dict[str, JSON]:
        """Every field; empty where there is none. Makes them last another day."""
        key = working_key(conversation)
        found = self.peek(conversation)
        self.hashes.expire(key, self._ttl)
        return found

    def peek(self, conversation: str) -> dict[str, JSON]:
        """As `get`, and leaves no trace."""
        return {n: decode_value(v) for n, v in self.hashes.all(working_key(conversation)).items()}

    def set(self, conversation: str, data: Mapping[str, Any], ttl: int | None = None) -> None:
        """Write JSON values beside the fields that are there; all last `ttl` seconds or a day.

        Raises:
            ValueError: a value is no JSON, or holds what UTF-8 cannot encode; nothing has changed.
            TooLargeError: the fields are larger than the limit; they are there all the same, unless
                this is fixed.
        """
        key = working_key(conversation)
        fields = {
            _encodable(n): encode_value(value, typed=self._fixed) for n, value in data.items()
        }
        if self._fixed:
            self._refuse(key, fields)
        if fields:
            self.hashes.put(key, fields)
        self.hashes.expire(key, self._ttl if ttl is None else ttl)
        size = self.hashes.usage(key, 0) if self._fixed else self.hashes.usage(key)
        if not self._fixed and size is not None and size > self._limit:
            raise TooLargeError(size, self._limit)

    def delete(self, conversation: str, fields: Collection[str] | None = None) -> int:
        """Take fields out, or all of them where none are named; how many were there."""
        key = working_key(conversation)
        if fields is None:
            held = len(self.hashes.all(key))
            return held if self.hashes.delete(key) else 0
        return self.hashes.remove(key, fields) if fields else 0

    def get_scratchpad(self, conversation: str) -> str | None:
        """The notes; None where there are none."""
        found = self.get(conversation).get(SCRATCHPAD)
        # A note that happens to be JSON has lost its type; a note is text all the same.
        return found if found is None or isinstance(found, str) else json.dumps(found)

    def set_scratchpad(self, conversation: str, content: str) -> None:
        """Write the notes in place of those there are; errors as `set`."""
        self.set(conversation, {SCRATCHPAD: content})

    def get_entities(self, conversation: str) -> list[JSON]:
        """What the conversation is about; empty where nothing is noted."""
        found = self.get(conversation).get(ENTITIES)
        return found if isinstance(found, list) else []

    def set_entities(self, conversation: str, entities: Sequence[Mapping[str, JSON]]) -> None:
        """Note what the conversation is about, in place of what was noted; errors as `set`."""
        self.set(conversation, {ENTITIES: [dict(entity) for entity in entities]})

    def _refuse(self, key: str, fields: Mapping[str, str]) -> None:
        size = usage(key, self.hashes.all(key) | dict(fields), samples=0)
        if size is not None and size > self._limit:
            raise TooLargeError(size, self._limit, kept=False)


class AegisLedger:
    """Items that a conversation has been given, each with its mark, for good."""

    def __init__(self, hashes: Hashes) -> None:
        self.hashes = hashes

    def has(self, conversation: str, item: str) -> bool:
        """Whether an item is marked."""
        return self.hashes.has(ledger_key(conversation), item)

    def mark(self, conversation: str, item: str, value: str = DEFAULT_MARK) -> bool:
        """Mark an item; whether it was not marked before. Another may have checked meanwhile."""
        _encodable(item)
        return bool(self.hashes.put(ledger_key(conversation), {item: _encodable(value)}))

    def claim(self, conversation: str, item: str, value: str = INJECTED) -> bool:
        """Mark an item unless it is marked: check and mark in one step, which AEGIS has not."""
        _encodable(item)
        return self.hashes.put_new(ledger_key(conversation), item, _encodable(value))

    def get_all(self, conversation: str) -> dict[str, str]:
        """Every marked item, with its mark."""
        return self.hashes.all(ledger_key(conversation))

    def evict(self, conversation: str, item: str) -> bool:
        """Let an item be injected again; whether it was marked."""
        return bool(self.hashes.remove(ledger_key(conversation), [item]))

    def end(self, conversation: str) -> bool:
        """Drop the ledger of a conversation that is over, which AEGIS leaves to nobody."""
        return self.hashes.delete(ledger_key(conversation))


def encode_value(value: Any, *, typed: bool = False) -> str:  # noqa: ANN401 - any JSON value
    """Encode a JSON value for the hash: a text as it is unless `typed`, anything else as JSON.

    Raises:
        ValueError: it is no JSON value, too deep, or holds what UTF-8 cannot encode.
    """
    canonical(value)
    return value if isinstance(value, str) and not typed else json.dumps(value)


def decode_value(text: str) -> JSON:
    """A value as it is read: what the text means as JSON, else the text itself."""
    try:
        value: JSON = json.loads(text, parse_constant=_refused)
        canonical(value)
    except (ValueError, RecursionError):
        return text
    return value


def _refused(constant: str) -> float:
    raise ValueError(constant)


def _encodable(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a text cannot be encoded as UTF-8") from None
    return text
