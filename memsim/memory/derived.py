"""Erasing what a message left behind: the message, and everything that was made of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from memsim.memory.acl import Where
from memsim.memory.stores import PAGE

if TYPE_CHECKING:
    from memsim.memory.entry import Entry
    from memsim.memory.stores import Store


Settle = Callable[[Collection[str]], None]
"""Is told which messages are erased beside the store, before their entries go."""


class Tier(Protocol):
    """A part of a memory beside its store that may hold what messages said."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def erase(self, sources: Collection[str]) -> int:
        """Erase what came of these messages; how much there was. Doing it again does nothing."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What was erased.

    Attributes:
        entries: from the store.
        beside: by the name of each other tier, how much.
    """

    entries: tuple[Entry, ...] = ()
    beside: dict[str, int] = field(default_factory=dict)

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
    tiers: Sequence[Tier] = (),
) -> Erased:
    """Erase messages by their ids, and all that was derived from them.

    The messages themselves go last: whatever fails before leaves them to be found again, so that
    doing it once more finishes it.

    Args:
        store: where entries are kept.
        sources: ids of the messages.
        owners: only entries of these principals, since two may have messages of one id; None for
            everybody's, where ids are known to be unique.
        tiers: where else to erase.

    Raises:
        StoreError: the store or a tier failed; some of it may be erased, and none of it is counted.
    """
    came = Descent(store, owners).of(sources)
    return erase_entries(store, came, sources=sources, tiers=tiers)


def erase_entries(
    store: Store,
    entries: Sequence[Entry],
    *,
    sources: Collection[str] = (),
    tiers: Sequence[Tier] = (),
    settle: Settle | None = None,
) -> Erased:
    """Erase entries, originals last; before them, what other tiers hold of the messages.

    Args:
        store: where the entries are kept.
        entries: what to erase.
        sources: ids of the messages that they are of.
        tiers: where else to erase.
        settle: makes last what was done beside the store, while it can still be found again.

    Raises:
        StoreError: as `erase_sources`.
    """
    beside = {tier.name: tier.erase(sources) for tier in tiers} if sources else {}
    if sources and settle is not None:
        settle(sources)
    order = sorted(entries, key=lambda e: original_of(e) is not None)
    for begin in range(0, len(order), PAGE):
        store.erase([e.id for e in order[begin : begin + PAGE]])
    return Erased(entries=tuple(order), beside=beside)


class Descent:
    """Which entries came of which messages, as a store has it at one moment.

    Args:
        store: where the entries are kept; it is read through once, a page at a time.
        owners: only entries of these principals; None for everybody's.
        stays: which entries do not count, and with them what came of them; none unless told.
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
        """The entries that came of messages, as they are now.

        Args:
            sources: ids of the messages.
        """
        found: dict[str, None] = {}
        waiting = sorted(set(sources))
        while waiting:
            for child in self._of.get(waiting.pop(), ()):
                if child not in found:
                    found[child] = None
                    waiting.append(child)
        return self._store.get(list(found))

    def beside(self, sources: Collection[str]) -> list[Entry]:
        """The entries that name messages and do not count, as they are now.

        Args:
            sources: ids of the messages.
        """
        named = (i for source in sorted(set(sources)) for i in self._beside.get(source, ()))
        return self._store.get(list(dict.fromkeys(named)))


def parted(entries: Iterable[Entry], sources: Collection[str]) -> list[Entry]:
    """Entries that stay though messages that they name are gone, without the ids of these.

    Another message may be given such an id, and what it becomes is nothing to them. The id of a
    message that stays in part is still its own.

    Args:
        entries: all that stay and name any of the messages.
        sources: ids of the messages.

    Returns:
        Those that have changed.
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


def is_held(entry: Entry) -> bool:
    """Whether time takes nothing from it: it is core, or pinned."""
    return entry.pinned or entry.layer == "core" or entry.category == "core"


def each(store: Store, where: Where) -> Iterator[Entry]:
    """Every admitted entry, read a page at a time."""
    after: Entry | None = None
    while page := store.find(where, after=after):
        yield from page
        after = page[-1]


def _everything(store: Store, owners: Collection[str] | None) -> Iterator[Entry]:
    if owners is None:
        yield from each(store, Where(reader=None, archived=None))
        return
    for owner in sorted(set(owners)):
        yield from each(store, Where(reader=None, owner=owner, archived=None))
