"""The injection ledger: what a conversation has been given already, so that it is given once.

An item is free, claimed or injected. Who wants to inject claims it, which one of many can do, puts
it into the context, and marks it. What is visible decides in the end: `agree` brings the ledger in
line with it, after a compaction as well as after a crash between any two of these steps.

A store keeps one text per item of a conversation and changes it by compare-and-swap::

    {"at":"2026-01-05T09:00:00+00:00","number":3,"state":"claimed"}

The item with the empty name holds the conversation's last number, which no two claims share, so
that a claim of long ago can never be taken for a later one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from memsim.errors import StateError
from memsim.memory.codec import JSON, canonical, parse, reading
from memsim.memory.entry import Conversation
from memsim.memory.history.working_memory import ATTEMPTS, ConversationTexts
from memsim.memory.stores import TextStore
from memsim.message import utc

ClaimState = Literal["free", "claimed", "injected"]

_COUNTER = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The right to inject an item, which one alone has."""

    of: Conversation
    item: str
    record: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerAgreement:
    """What it took to bring a ledger in line with what is visible.

    Both are sorted. Those `found` were visible and not known to be; they are injected now. Those
    `freed` were known and not visible; they may be injected again.
    """

    found: tuple[str, ...]
    freed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    state: Literal["claimed", "injected"]
    at: datetime
    number: int


class InjectionLedger(ConversationTexts):
    """Each item once per conversation, whoever wants to inject it and whatever happens meanwhile.

    Args:
        store: where it is kept; in this process unless told otherwise.
        ttl: how long an item counts as claimed or injected; from exactly then on it is free and
            starts clean. None for ever.
        lease: a claim younger than this is somebody's who may still be at it: `agree` leaves it
            alone. Nothing where one alone injects, so that a crash is put right at once.
    """

    def __init__(
        self,
        store: TextStore | None = None,
        *,
        ttl: timedelta | None = None,
        lease: timedelta = timedelta(0),
    ) -> None:
        super().__init__(store, ttl, "injection ledger", _COUNTER)
        self._lease = lease

    def claim(self, of: Conversation, item: str, now: datetime) -> Claim | None:
        """Ask for the right to inject an item; None where it is claimed or injected already.

        Raises `ValueError` if the item is empty, or cannot be encoded.
        """
        _check(item)
        old = self.store.read(of).get(item)
        if self._state(old, now) != "free":
            return None
        record = _written("claimed", now, self._number(of))
        won = self.store.swap(of, item, old, record, self._ttl)
        return Claim(of=of, item=item, record=record) if won else None

    def mark(self, claim: Claim, now: datetime) -> bool:
        """Say that what was claimed is in the context.

        Returns whether the claim still held. If not, the item was freed or given to another
        meanwhile, and what was put into the context has to be taken out again.
        """
        record = _written("injected", now, _read(claim.record).number)
        return self.store.swap(claim.of, claim.item, claim.record, record, self._ttl)

    def release(self, claim: Claim) -> bool:
        """Give a claim back without having injected; whether it still held."""
        return self.store.swap(claim.of, claim.item, claim.record, None, self._ttl)

    def evict(self, of: Conversation, item: str, now: datetime) -> bool:
        """Free an item, so that it is injected once more; whether it was claimed or injected."""
        old = self.take(of, item) if item else None
        return self._state(old, now) != "free"

    def state(self, of: Conversation, item: str, now: datetime) -> ClaimState:
        """What an item is at this moment."""
        return self._state(self.store.read(of).get(item) if item else None, now)

    def injected(self, of: Conversation, now: datetime) -> list[str]:
        """The items that count as injected, sorted."""
        records = self.look(of)
        return sorted(i for i, text in records.items() if self._state(text, now) == "injected")

    def look(self, of: Conversation) -> dict[str, str]:
        """The records as they are, for `agree`."""
        return {item: text for item, text in self.store.read(of).items() if item != _COUNTER}

    def agree(
        self,
        of: Conversation,
        visible: Collection[str],
        now: datetime,
        *,
        seen: Mapping[str, str] | None = None,
    ) -> LedgerAgreement:
        """Bring the ledger in line with what the conversation's context really holds.

        After it, what is visible counts as injected and can be claimed by nobody; what is not
        visible is free, be it that it was compacted away or that a crash came before it was put in.
        `visible` are the items in the context, or in the history it is made from. `seen` is what
        `look` gave before these were gathered, where others inject meanwhile: what they have
        changed since then is left as they made it.
        """
        known = self.look(of) if seen is None else dict(seen)
        there = set(visible)
        for item in there:
            _check(item)
        found = [i for i in sorted(there) if self._found(of, i, known.get(i), now)]
        freed = [i for i in sorted(known.keys() - there) if self._freed(of, i, known[i], now)]
        return LedgerAgreement(found=tuple(found), freed=tuple(freed))

    def sweep(self, now: datetime) -> int:
        """Drop what has expired, and all that is kept where everything has; how many items."""
        dropped = 0
        for of in self.store.conversations():
            for item, text in self.look(of).items():
                if self._state(text, now) == "free":
                    dropped += self.store.swap(of, item, text, None, self._ttl)
            texts = self.store.read(of)
            if texts.keys() == {_COUNTER}:
                self.store.swap(of, _COUNTER, texts[_COUNTER], None)
        return dropped

    def _document(self, texts: Mapping[str, str]) -> JSON:
        return {item: parse(text) for item, text in texts.items()}

    def _texts(self, document: Any) -> dict[str, str]:  # noqa: ANN401 - as `load`
        return {item: _checked(item, record) for item, record in document.items()}

    def _found(self, of: Conversation, item: str, old: str | None, now: datetime) -> bool:
        if self._state(old, now) == "injected":
            return False
        record = _written("injected", now, self._number(of))
        return self.store.swap(of, item, old, record, self._ttl)

    def _freed(self, of: Conversation, item: str, old: str, now: datetime) -> bool:
        record = _read(old)
        if record.state == "claimed" and abs(utc(now) - record.at) < self._lease:
            return False
        return self.store.swap(of, item, old, None, self._ttl)

    def _state(self, text: str | None, now: datetime) -> ClaimState:
        if text is None:
            return "free"
        record = _read(text)
        if self._ttl is not None and utc(now) - record.at >= self._ttl:
            return "free"
        return record.state

    def _number(self, of: Conversation) -> int:
        for _ in range(ATTEMPTS):
            old = self.store.read(of).get(_COUNTER)
            number = _count(old) + 1
            if self.store.swap(of, _COUNTER, old, str(number), self._ttl):
                return number
        raise self._contended()


def _check(item: str) -> None:
    if not item:
        raise ValueError("an item's name is empty")
    try:
        item.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("an item's name cannot be encoded as UTF-8") from None


def _written(state: Literal["claimed", "injected"], at: datetime, number: int) -> str:
    return canonical({"state": state, "at": utc(at).isoformat(), "number": number})


def _read(text: str) -> _Record:
    record = parse(text)
    with reading("it is no injection ledger"):
        state, at, number = record["state"], record["at"], record["number"]
        if state not in {"claimed", "injected"} or not isinstance(number, int) or len(record) != 3:
            raise StateError("the saved state cannot be read back: it is no injection ledger")
        return _Record(state=state, at=utc(datetime.fromisoformat(at)), number=number)


def _count(text: str | None) -> int:
    with reading("it is no injection ledger"):
        return 0 if text is None else int(text)


def _checked(item: str, record: JSON) -> str:
    text = canonical(record)
    if item == _COUNTER:
        _count(text)
    else:
        _read(text)
    return text
