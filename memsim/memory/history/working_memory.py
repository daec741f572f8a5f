"""Working memory: what a conversation has at hand, and loses when nobody looks at it for a day.

A store keeps one text per conversation, under the empty item, and changes it by compare-and-swap.
Everything else, expiry and size among it, is decided here, so that every store behaves alike::

    {"fields":{"entities":[...],"scratchpad":"..."},"until":"2026-01-06T09:00:00+00:00"}
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memsim.errors import StateError, StoreError
from memsim.memory.codec import JSON, canonical, parse, reading
from memsim.memory.entry import Conversation
from memsim.memory.stores import TextStore
from memsim.memory.stores.wrappers import READ_ONLY
from memsim.message import utc

TTL = timedelta(hours=24)
"""How long a conversation's working memory lasts unused (AEGIS)."""

LIMIT = 65_536
"""Bytes that the canonical JSON of a conversation's fields may have (AEGIS)."""

SCRATCHPAD, ENTITIES = "scratchpad", "entities"

_ITEM = ""
"""The item of a conversation under which its fields are kept."""

ATTEMPTS = 1_000
"""Swaps that are tried before a store counts as failing: whoever wins one makes progress."""


class InProcessTexts:
    """A store of texts that lives as long as its process; see `memsim.memory.stores.TextStore`."""

    def __init__(self) -> None:
        self._texts: dict[Conversation, dict[str, str]] = {}
        self._lock = threading.Lock()

    def read(self, of: Conversation) -> dict[str, str]:
        """Every text by its item."""
        with self._lock:
            return dict(self._texts.get(of, {}))

    def swap(
        self,
        of: Conversation,
        item: str,
        old: str | None,
        new: str | None,
        lasting: timedelta | None = None,
    ) -> bool:
        """Put `new` in the place of `old` if that is what is there."""
        with self._lock:
            texts = self._texts.get(of, {})
            if texts.get(item) != old:
                return False
            if new is None:
                texts.pop(item, None)
            else:
                texts[item] = new
            self._texts[of] = texts
            if not texts:
                del self._texts[of]
            return True

    def conversations(self) -> list[Conversation]:
        """Every conversation that has a text, sorted."""
        with self._lock:
            return sorted(self._texts)


class ConversationTexts:
    """A part of a memory that keeps one text per item of a conversation.

    Args:
        store: where they are kept; in this process unless told otherwise.
        ttl: how long they last; None for ever.
        name: what the part is called in errors.
        uncounted: an item that is not counted.

    Raises:
        ValueError: the time to live is not longer than nothing.
    """

    def __init__(
        self,
        store: TextStore | None,
        ttl: timedelta | None,
        name: str,
        uncounted: str | None = None,
    ) -> None:
        if ttl is not None and ttl <= timedelta(0):
            raise ValueError("a time to live has to be longer than nothing")
        self.store: TextStore = InProcessTexts() if store is None else store
        self._ttl = ttl
        self._name, self._uncounted = name, uncounted

    def end(self, of: Conversation) -> int:
        """Drop a conversation that is over; how many items."""
        for _ in range(ATTEMPTS):
            texts = self.store.read(of)
            if not texts:
                return 0
            swapped = [self.store.swap(of, i, t, None) for i, t in sorted(texts.items())]
            if all(swapped):
                return len(texts.keys() - {self._uncounted})
        raise self._contended()

    def forget(self, principal: str) -> int:
        """Drop everything of a principal; how many items."""
        return sum(self.end(of) for of in self._of(principal))

    def free(self, principal: str, items: Collection[str]) -> None:
        """Drop items from all conversations of a principal."""
        for of in self._of(principal):
            for item in self.store.read(of).keys() & set(items):
                self.take(of, item)

    def take(self, of: Conversation, item: str) -> str | None:
        """Drop an item; its text, or None where there was none."""
        for _ in range(ATTEMPTS):
            text = self.store.read(of).get(item)
            if text is None or self.store.swap(of, item, text, None, self._ttl):
                return text
        raise self._contended()

    def save(self) -> JSON:
        """Every conversation with what is kept of it, in the order of their names."""
        texts = [(of, self.store.read(of)) for of in self.store.conversations()]
        return [[of.principal, of.session, self._document(t)] for of, t in texts if t]

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved state in place of the present one.

        Raises `StateError` if it is no such state; nothing has changed.
        """
        read: dict[Conversation, dict[str, str]] = {}
        with reading(f"it is no {self._name}"):
            if not isinstance(saved, list):
                raise TypeError("not a list")
            for principal, session, document in saved:
                read[Conversation(principal, session)] = self._texts(document)
        for of in self.store.conversations():
            self.end(of)
        for of, texts in read.items():
            for item, text in texts.items():
                self.store.swap(of, item, None, text, self._ttl)

    def _of(self, principal: str) -> list[Conversation]:
        return [of for of in self.store.conversations() if of.principal == principal]

    def _document(self, texts: Mapping[str, str]) -> JSON:
        """What is saved of a conversation."""
        raise NotImplementedError

    def _texts(self, document: Any) -> dict[str, str]:  # noqa: ANN401 - as `load`
        """The texts that were saved, by item; any error says that it is none of ours."""
        raise NotImplementedError

    def _contended(self) -> StoreError:
        return StoreError(f"the {self._name} is being written by too many at once: try again")


class WorkingFull(StoreError):  # noqa: N818 - a state of the memory, named like its kin
    """What should be kept in working memory is larger than it may be."""

    def __init__(self, size: int, limit: int) -> None:
        self.size = size
        self.limit = limit
        super().__init__(size, limit)

    def __str__(self) -> str:
        return f"working memory would hold {self.size:,} bytes, and may hold {self.limit:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    text: str | None
    """As the store has it, which is what a swap has to name."""
    fields: dict[str, JSON]
    """Empty where nothing is there, or it has expired."""
    until: datetime | None = None
    """When it expires; None for never."""


class WorkingMemory(ConversationTexts):
    """Fields by name, for each conversation: a scratchpad, entities, and whatever else is typed.

    Values come back as the type that they were written as: the text `"123"` is not the number 123.
    What was last read or written at `t` is there until just before `t + ttl`, and gone from then
    on. The clock may go back: what counts is when it was last used, as it was told.

    Args:
        store: where it is kept; in this process unless told otherwise.
        ttl: how long it lasts unused; None for ever.
        limit: bytes that the canonical JSON of a conversation's fields may have.
        refuse_first: whether a write that would pass the limit changes nothing. Otherwise it is
            made and then reported, as AEGIS does.
        types: what a field of this name has to be; others may be any JSON value.

    Raises:
        ValueError: the time to live is not longer than nothing.
    """

    def __init__(
        self,
        store: TextStore | None = None,
        *,
        ttl: timedelta | None = TTL,
        limit: int = LIMIT,
        refuse_first: bool = True,
        types: Mapping[str, type] | None = None,
    ) -> None:
        super().__init__(store, ttl, "working memory")
        self._limit = limit
        self._refuse_first = refuse_first
        self._types: Mapping[str, type] = {SCRATCHPAD: str, ENTITIES: list, **(types or {})}

    def get(self, of: Conversation, now: datetime) -> dict[str, JSON]:
        """Every field that is there, by name in sorted order; reading makes them last longer."""
        for _ in range(ATTEMPTS):
            held = self._held(of, now)
            if held.text is None:
                return {}
            if self._swap(of, held, held.fields, now):
                return held.fields
        raise self._contended()

    def peek(self, of: Conversation, now: datetime) -> dict[str, JSON]:
        """Every field that is there, as `get`; looking leaves no trace."""
        return self._held(of, now).fields

    def put(self, of: Conversation, fields: Mapping[str, JSON], now: datetime) -> int:
        """Write fields and leave the others as they are; all of them or none.

        Returns the bytes that the conversation's fields have now.

        Raises:
            ValueError: a value is no JSON, or not of its field's type; nothing has changed.
            WorkingFull: the fields would be larger than the limit. Nothing has changed, unless this
                memory writes first and then refuses.
        """
        new = dict(fields)
        self._check(new)
        return self._write(of, lambda _: new, now)

    def remove(self, of: Conversation, names: Collection[str] | None, now: datetime) -> int:
        """Take fields out, or all of them where no names are given; how many were there."""
        for _ in range(ATTEMPTS):
            held = self._held(of, now)
            left = {n: v for n, v in held.fields.items() if names is not None and n not in names}
            if self._swap(of, held, left, now):
                return len(held.fields) - len(left)
        raise self._contended()

    def scratchpad(self, of: Conversation, now: datetime) -> str | None:
        """The notes; None where there are none."""
        found = self.get(of, now).get(SCRATCHPAD)
        return found if isinstance(found, str) else None

    def write_scratchpad(self, of: Conversation, text: str, now: datetime) -> int:
        """Write the notes in place of those there are; bytes and errors as `put`."""
        return self.put(of, {SCRATCHPAD: text}, now)

    def entities(self, of: Conversation, now: datetime) -> list[JSON]:
        """What the conversation is about, as mappings; empty where nothing is noted."""
        found = self.get(of, now).get(ENTITIES)
        return found if isinstance(found, list) else []

    def merge_entities(
        self,
        of: Conversation,
        merge: Callable[[list[dict[str, JSON]]], list[JSON]],
        now: datetime,
        *,
        used: bool = True,
    ) -> int:
        """Note more of what the conversation is about, in one step with looking what is noted.

        What stands there and is no list of mappings is left as it is. `merge` makes what is noted
        of what was noted; it may be asked several times. `used` says whether it is a use, which
        makes all that is there last longer. Returns the bytes that the conversation's fields have
        now. Raises `WorkingFull` as `put`.
        """

        def change(fields: Mapping[str, JSON]) -> dict[str, JSON]:
            noted = fields.get(ENTITIES, [])
            if not issubclass(list, self._types[ENTITIES]) or not isinstance(noted, list):
                return {}
            mappings = [entity for entity in noted if isinstance(entity, dict)]
            return {ENTITIES: merge(mappings)} if len(mappings) == len(noted) else {}

        return self._write(of, change, now, used=used)

    def sweep(self, now: datetime) -> int:
        """Drop what has expired, which nobody could read any more; how many conversations."""
        dropped = 0
        for of in self.store.conversations():
            held = self._held(of, now)
            if held.text is not None and not held.fields:
                dropped += self.store.swap(of, _ITEM, held.text, None)
        return dropped

    def _write(
        self,
        of: Conversation,
        change: Callable[[Mapping[str, JSON]], Mapping[str, JSON]],
        now: datetime,
        *,
        used: bool = True,
    ) -> int:
        for _ in range(ATTEMPTS):
            held = self._held(of, now)
            merged = held.fields | dict(change(held.fields))
            size = size_of(merged)
            if size > self._limit and self._refuse_first:
                raise WorkingFull(size, self._limit)
            if self._swap(of, held, merged, now, used=used):
                if size > self._limit:
                    raise WorkingFull(size, self._limit)
                return size
        raise self._contended()

    def _check(self, fields: Mapping[str, JSON]) -> None:
        for name, kind in self._types.items():
            if name in fields and not isinstance(fields[name], kind):
                raise ValueError(f"{name} has to be a {kind.__name__}")
        entities = fields.get(ENTITIES)
        if isinstance(entities, list) and not all(isinstance(e, dict) for e in entities):
            raise ValueError(f"{ENTITIES} have to be mappings")

    def _text(self, of: Conversation) -> str | None:
        return self.store.read(of).get(_ITEM)

    def _held(self, of: Conversation, now: datetime) -> _Held:
        text = self._text(of)
        if text is None:
            return _Held(text=None, fields={})
        fields, until = _parsed(text)
        if until is not None and until <= utc(now):
            return _Held(text=text, fields={})
        return _Held(text=text, fields=fields, until=until)

    def _swap(
        self,
        of: Conversation,
        held: _Held,
        fields: Mapping[str, JSON],
        now: datetime,
        *,
        used: bool = True,
    ) -> bool:
        if not fields:
            return self.store.swap(of, _ITEM, held.text, None)
        until = None if self._ttl is None else utc(now) + self._ttl
        if held.fields and not used:
            until = held.until
        expires = None if until is None else until.isoformat()
        text = canonical({"fields": dict(fields), "until": expires})
        return text == held.text or self.store.swap(of, _ITEM, held.text, text, self._ttl)

    def _document(self, texts: Mapping[str, str]) -> JSON:
        document: JSON = parse(texts[_ITEM])
        return document

    def _texts(self, document: JSON) -> dict[str, str]:
        text = canonical(document)
        _parsed(text)
        return {_ITEM: text}


def size_of(fields: Mapping[str, JSON]) -> int:
    """Bytes of the canonical JSON of fields, which is what the limit is about."""
    return len(canonical(dict(fields)).encode("utf-8"))


def _parsed(text: str) -> tuple[dict[str, JSON], datetime | None]:
    document = parse(text)
    with reading("it is no working memory"):
        fields, until = document["fields"], document["until"]
        if set(document) != {"fields", "until"} or not isinstance(fields, dict) or not fields:
            raise StateError("the saved state cannot be read back: it is no working memory")
        return fields, None if until is None else utc(datetime.fromisoformat(until))


class ReadOnlyWorkingMemory(WorkingMemory):
    """Working memory that is only looked at, and lasts no longer; a change is a `StoreError`."""

    def get(self, of: Conversation, now: datetime) -> dict[str, JSON]:
        """As `peek`."""
        return self.peek(of, now)

    def remove(self, of: Conversation, names: Collection[str] | None, now: datetime) -> int:
        """Refused."""
        raise StoreError(READ_ONLY)

    def sweep(self, now: datetime) -> int:
        """Refused."""
        raise StoreError(READ_ONLY)

    def forget(self, principal: str) -> int:
        """Refused."""
        raise StoreError(READ_ONLY)

    def _write(self, *_: object, **__: object) -> int:
        raise StoreError(READ_ONLY)
