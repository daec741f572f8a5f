"""Erasing what a message left behind: the message, and everything that was made of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memsim.language.native_values import part_scripts
from memsim.language.scripts import plain_digits
from memsim.memory.entry import entry_id
from memsim.memory.forget_request import names_any
from memsim.memory.history.working_memory import ENTITIES
from memsim.memory.layers.entities import is_ours
from memsim.memory.permissions import Where
from memsim.memory.stores import PAGE, each_entry

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.memory.codec import JSON
    from memsim.memory.entry import Conversation, Entry
    from memsim.memory.history.conversations import Conversations
    from memsim.memory.history.working_memory import WorkingMemory
    from memsim.memory.ingest_queue import IngestQueue
    from memsim.memory.layers.semantic import Semantic
    from memsim.memory.layers.workspace import WorkspaceLayer
    from memsim.memory.ledger import InjectionLedger
    from memsim.memory.permissions import Permissions
    from memsim.memory.recall.timeline import Timeline
    from memsim.memory.stores import Store
    from memsim.memory.vault import Vault
    from memsim.message import Message


LATEST = 6
"""Messages before a request that are looked at."""
_EXACT = re.compile(r"(?<![\w])[\w][\w.,:/-]*\d[\w:/-]*|(?<![\w])\d[\w.,:/-]*")
_NAME = re.compile(
    r"(?:(?<=[\w,;] )|(?<=\b[A-Z][a-z]\. )|(?<=\b[A-Z][a-z]{2}\. ))[^\W\d_][\w'’-]{2,}"
)


def identifying_words(text: str) -> frozenset[str]:
    """The names and exact values in a text, by which it can be known again.

    Scripts without upper case show no names, so that there only exact values tell.
    """
    plain = text if text.isascii() else part_scripts(plain_digits(text))
    names = (name for name in _NAME.findall(text) if name[0].isupper())
    return frozenset(w.rstrip(".,:/-").casefold() for w in [*_EXACT.findall(plain), *names])


def requests_naming(
    telling: Collection[str], latest: Iterable[Message], principal: str
) -> tuple[str, ...]:
    """Ids of the request, and of what answers it, where they name what is to be forgotten.

    The request is the last of a principal's latest messages that does; what was said before it is
    not meant, whatever it names.
    """
    own = [m for m in latest if m.principal == principal][-LATEST:]
    found = [m for m in own if names_any(m.text, telling)]
    asked = [n for n, m in enumerate(found) if m.role == "user"]
    return tuple(m.id for m in found[asked[-1] if asked else 0 :])


Settle = Callable[[Collection[str]], None]
"""Is told which messages are erased beside the store, before their entries go."""


@dataclass(frozen=True, slots=True)
class ErasureTier:
    """A part of a memory beside its store that may hold what messages said.

    A second call of `erase` does nothing.
    """

    name: str
    erase: Callable[[Collection[str]], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReport:
    """What was erased."""

    entries: tuple[Entry, ...] = ()
    beside: dict[str, int] = field(default_factory=dict)

    @property
    def messages(self) -> tuple[str, ...]:
        """Ids of the erased messages, each once."""
        held = (original_of(entry) for entry in self.entries)
        return tuple(dict.fromkeys(source for source in held if source is not None))

    @property
    def by_tier(self) -> dict[str, int]:
        """How much of each layer and each other tier, in sorted order of their names."""
        counts = dict(self.beside)
        for entry in self.entries:
            counts[entry.layer] = counts.get(entry.layer, 0) + 1
        return dict(sorted(counts.items()))


def erase_sources(
    store: Store,
    sources: Collection[str],
    *,
    owners: Collection[str] | None,
    tiers: Sequence[ErasureTier] = (),
) -> ErasureReport:
    """Erase messages by their ids, and all that was derived from them.

    The messages themselves go last: whatever fails before leaves them to be found again, so that
    doing it once more finishes it. Only entries of `owners` count, since two may have messages of
    one id; None is for everybody's, where ids are known to be unique. Raises `StoreError` if the
    store or a tier failed; some of it may be erased, and none of it is counted.
    """
    came = Derivations(store, owners).of(sources)
    return erase_entries(store, came, sources=sources, tiers=tiers)


def erase_entries(
    store: Store,
    entries: Sequence[Entry],
    *,
    sources: Collection[str] = (),
    tiers: Sequence[ErasureTier] = (),
    settle: Settle | None = None,
) -> ErasureReport:
    """Erase entries, originals last; before them, what other tiers hold of the messages.

    `settle` makes last what was done beside the store, while it can still be found again. Raises
    `StoreError` as `erase_sources`.
    """
    beside = {tier.name: tier.erase(sources) for tier in tiers} if sources else {}
    if sources and settle is not None:
        settle(sources)
    order = sorted(entries, key=lambda e: original_of(e) is not None)
    for begin in range(0, len(order), PAGE):
        store.erase([e.id for e in order[begin : begin + PAGE]])
    return ErasureReport(entries=tuple(order), beside=beside)


class Derivations:
    """Which entries came of which messages, as a store has it at one moment.

    The store is read through once, a page at a time. `owners` are the principals whose entries
    count; None for everybody's. `stays` tells which entries do not count, with what came of them.
    """

    def __init__(
        self,
        store: Store,
        owners: Collection[str] | None,
        stays: Callable[[Entry], bool] = lambda _: False,
    ) -> None:
        self._store = store
        self._of: dict[str, list[str]] = {}
        self._beside: dict[str, list[str]] = {}
        for entry in _everything(store, owners):
            of = self._beside if stays(entry) else self._of
            # Sources are messages; but what was derived from an entry may name that.
            for source in entry.sources:
                of.setdefault(source, []).append(entry.id)

    def of(self, sources: Collection[str]) -> list[Entry]:
        """The entries that came of messages, as they are now."""
        found: dict[str, None] = {}
        waiting = sorted(set(sources))
        while waiting:
            for child in self._of.get(waiting.pop(), ()):
                if child not in found:
                    found[child] = None
                    waiting.append(child)
        return self._store.get(list(found))

    def beside(self, sources: Collection[str]) -> list[Entry]:
        """The entries that name messages and do not count, as they are now."""
        named = (i for source in sorted(set(sources)) for i in self._beside.get(source, ()))
        return self._store.get(list(dict.fromkeys(named)))


def without_sources(entries: Iterable[Entry], sources: Collection[str]) -> list[Entry]:
    """Entries that stay though messages that they name are gone, without the ids of these.

    Another message may be given such an id, and what it becomes is nothing to them. The id of a
    message that stays in part is still its own. Returns those that have changed.
    """
    named = list(entries)
    gone = frozenset(sources) - {original_of(e) for e in named}
    return [
        replace(e, sources=tuple(s for s in e.sources if s not in gone))
        for e in named
        if not gone.isdisjoint(e.sources)
    ]


def original_of(entry: Entry) -> str | None:
    """The id of the message that an entry holds, or a passage of; None for what was only derived.

    A passage is kept under its message's id, a newline and its place.
    """
    if entry.layer != "episodic" or len(entry.sources) != 1:
        return None
    source = entry.sources[0]
    whole, _, place = entry.key.rpartition("\n")
    return source if entry.key == source or (whole == source and place.isdecimal()) else None


def _everything(store: Store, owners: Collection[str] | None) -> Iterator[Entry]:
    if owners is None:
        yield from each_entry(store, Where(reader=None, archived=None))
        return
    for owner in sorted(set(owners)):
        yield from each_entry(store, Where(reader=None, owner=owner, archived=None))


# A memory's own deletion: the store, every tier beside it, and what is known of the ids.


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """Erases a principal's messages from every part of a memory."""

    vault: Vault
    permissions: Permissions
    backlog: IngestQueue
    timeline: Timeline
    conversations: Conversations
    working: WorkingMemory
    ledger: InjectionLedger
    semantic: Semantic
    workspace: WorkspaceLayer | None
    concludes: bool

    def forget(
        self, principal: str, sources: Collection[str], now: datetime, settle: Callable[[], object]
    ) -> ErasureReport:
        """Erase messages of a principal's own, and all that was made from them, everywhere.

        `settle` is as `WorkspaceLayer.erase` takes it.
        """
        tiers = [
            *self._said(principal),
            ErasureTier("working", lambda _: self.working.forget(principal)),
        ]
        if (pages := self.workspace) is not None:
            words = self._identifying_words(principal, sources)
            tiers.append(
                ErasureTier(
                    "workspace", lambda ids: pages.erase(principal, ids, words, now, settle)
                )
            )
        erased = erase_sources(self.vault.store, set(sources), owners=[principal], tiers=tiers)
        gone = (original_of(e) for e in erased.entries)
        self.free(principal, {*sources, *(s for s in gone if s is not None)})
        self.drop(principal, erased)
        for of in self.reopened(erased.entries):
            self.backlog.left[of] = None
        return erased

    def requests(self, principal: str, sources: Collection[str]) -> tuple[str, ...]:
        """The latest messages in which a principal asks for these to be forgotten, naming them."""
        session = self.conversations.get(self.conversations.latest(principal))
        latest = () if session is None else tuple(session.window)
        return requests_naming(self._identifying_words(principal, sources), latest, principal)

    def expired_tiers(self, principal: str, now: datetime, *, derived: bool) -> list[ErasureTier]:
        """The tiers from which a principal's messages are erased when their time is over.

        What an agent or a host wrote in working memory and on pages has a time of its own.
        `derived` says whether the names that the memory noted of them go as well.
        """
        names = ErasureTier("working", lambda _: self._erase_names(principal, now))
        return [*self._said(principal), *([names] if derived else [])]

    def free(self, owner: str, sources: Collection[str]) -> None:
        """Drop what is known of the ids of erased messages, since they may be given to others."""
        self.permissions.forget(owner, sources)
        self.ledger.free(owner, sources)
        self.semantic.free(owner, sources)
        if self.workspace is not None:
            self.workspace.noted.free(owner, sources)

    def drop(self, owner: str, erased: ErasureReport) -> None:
        """Drop what ledger, facts and timeline know of erased entries."""
        if erased.entries:
            self.ledger.free(owner, {e.version for e in erased.entries})
        self.semantic.forgotten(erased.entries)
        self.timeline.remove(e.id for e in erased.entries)

    def reopened(self, erased: Iterable[Entry]) -> Iterator[tuple[str, str]]:
        """Conversations that lost their episode and have messages left, if not open anyway."""
        for entry in erased if self.concludes else ():
            if entry.layer == "episodic" and original_of(entry) is None:
                of = entry.owner, entry.session
                if of not in self.backlog.open and any(self.timeline.waiting(*of)):
                    yield of

    def _said(self, principal: str) -> list[ErasureTier]:
        return [
            ErasureTier("backlog", lambda ids: self.backlog.remove(ids, principal)),
            ErasureTier("window", lambda ids: self.conversations.remove(ids, principal)),
        ]

    def _identifying_words(self, principal: str, sources: Collection[str]) -> frozenset[str]:
        ids = [entry_id(principal, "episodic", source) for source in sorted(sources)]
        texts = (e.text.removeprefix(f"{principal}: ") for e in self.vault.store.get(ids))
        return frozenset().union(*map(identifying_words, texts))

    def _erase_names(self, principal: str, now: datetime) -> int:
        """Drop the names that no host wrote, since they do not tell which message they are from."""
        theirs = [of for of in self.working.store.conversations() if of.principal == principal]
        with_names = [of for of in theirs if self._has_names(of, now)]
        for of in with_names:
            self.working.merge_entities(of, _of_hosts, now, used=False)
        return len(with_names)

    def _has_names(self, of: Conversation, now: datetime) -> bool:
        noted = self.working.peek(of, now).get(ENTITIES)
        return isinstance(noted, list) and any(isinstance(e, dict) and is_ours(e) for e in noted)


def _of_hosts(noted: list[dict[str, JSON]]) -> list[JSON]:
    return [entity for entity in noted if not is_ours(entity)]
