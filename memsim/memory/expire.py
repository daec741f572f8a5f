"""Archive and erase entries whose time is over; find the message that a forget request means.

The pages of a workspace do not grow old, because they are files that people keep. When a message is
erased, entries that outlast it drop its id, because the id may be given to another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed
from datetime import datetime
from typing import TYPE_CHECKING

from memsim.errors import Attempts, ModelError, StoreError
from memsim.memory.deletion import (
    Derivations,
    ErasureReport,
    ErasureTier,
    Settle,
    erase_entries,
    original_of,
    without_sources,
)
from memsim.memory.entry import Layer, is_permanent
from memsim.memory.events import MemoryEvent
from memsim.memory.forget_request import closest_message
from memsim.memory.permissions import Where
from memsim.memory.retention import RetentionPolicy
from memsim.memory.stores import PAGE, each_entry
from memsim.message import utc

if TYPE_CHECKING:
    from collections.abc import Collection

    from memsim.memory.deletion import Deletion
    from memsim.memory.entry import Entry
    from memsim.memory.events import EventListener
    from memsim.memory.stores import Store
    from memsim.memory.vault import Vault

_MADE: frozenset[Layer] = frozenset({"episodic", "semantic"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionOutcome:
    """What a pass came to.

    Attributes:
        archived: entries put away.
        erased: what was erased for good.
        left: entries that are due and still as they were; None where that cannot be told.
        error: what failed first; None where nothing did. Doing it again finishes it.
    """

    archived: int = 0
    erased: ErasureReport = field(default_factory=ErasureReport)
    left: int | None = 0
    error: StoreError | ModelError | None = None

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.error is None and self.left == 0


def has_own_term(entry: Entry) -> bool:
    """Whether an entry lasts as long as itself, whatever becomes of the messages that it is of.

    What is core or pinned does, and what somebody chose to keep.
    """
    return is_permanent(entry) or entry.layer not in _MADE


def owners_due(store: Store, policy: RetentionPolicy, now: datetime) -> list[str]:
    """Whose entries are due, by name in order; the store is read through once."""
    where = Where(reader=None, layers=policy.layers, archived=None)
    return sorted({e.owner for e in each_entry(store, where) if policy.is_due(e, utc(now))})


def clean(
    store: Store,
    owner: str,
    policy: RetentionPolicy,
    now: datetime,
    *,
    put: Callable[[Sequence[Entry]], None] | None = None,
    tiers: Sequence[ErasureTier] = (),
    settle: Settle | None = None,
) -> RetentionOutcome:
    """Put away and erase what of one principal's is due; nobody else's is looked at.

    It can be stopped anywhere and done again: what was put away stays so, and what is to be erased
    is found again until its last trace is gone. `put` writes entries with their vectors; the
    store's own `write`, which leaves entries without, where none is given. `settle` is as for
    `erase_entries`.
    """
    work = _Pass(
        store=store,
        owner=owner,
        policy=policy,
        now=utc(now),
        put=put or store.write,
        tiers=tiers,
        settle=settle,
    )
    # What is to be erased does not wait for what cannot be put away.
    failed: StoreError | ModelError | None = None
    for step in (work.archive, work.erase):
        try:
            step()
        except (StoreError, ModelError) as error:
            failed = failed or error
    return work.outcome(failed)


@dataclass(kw_only=True)
class _Pass:
    """One pass over what is due; fields as the arguments of `clean`."""

    store: Store
    owner: str
    policy: RetentionPolicy
    now: datetime
    put: Callable[[Sequence[Entry]], None]
    tiers: Sequence[ErasureTier]
    settle: Settle | None
    archived: int = 0
    erased: list[ErasureReport] = field(default_factory=list)

    def archive(self) -> None:
        """Put away what is due, a page at a time."""
        due = self._due(self.policy.to_archive)
        for begin in range(0, len(due), PAGE):
            # Looked at once more: somebody may have written to them since they were listed.
            page = self.store.get(due[begin : begin + PAGE])
            still = [e for e in page if self.policy.to_archive(e, self.now)]
            if still:
                self.put([changed(e, archived=True) for e in still])
                self.archived += len(still)

    def erase(self) -> None:
        """Erase what is due, a page at a time, and before it what was derived from it."""
        due = self._due(self.policy.to_erase)
        if not due:
            return
        descent = self._descent()
        for begin in range(0, len(due), PAGE):
            page = self.store.get(due[begin : begin + PAGE])
            still = [e for e in page if self.policy.to_erase(e, self.now)]
            self.erased.append(self._erase(still, descent))

    def outcome(self, error: StoreError | ModelError | None) -> RetentionOutcome:
        """What has been done, and what is left."""
        erased = ErasureReport(
            entries=tuple(e for part in self.erased for e in part.entries),
            beside=_summed([part.beside for part in self.erased]),
        )
        left: int | None = 0
        if error is not None:
            try:
                left = len(self._due(self.policy.to_archive) + self._due(self.policy.to_erase))
            except StoreError:
                left = None
        return RetentionOutcome(archived=self.archived, erased=erased, left=left, error=error)

    def _erase(self, due: Sequence[Entry], descent: Derivations) -> ErasureReport:
        sources = sorted({source for e in due if (source := original_of(e)) is not None})
        gone = {e.id: e for e in due}
        came = descent.of(sources)
        if self.policy.derived:
            gone |= {e.id: e for e in came}
        stay = [e for e in (*came, *descent.beside(sources)) if e.id not in gone]
        # Before the messages go: until they are gone, they are found again.
        if outlasting := without_sources(stay, sources):
            self.put(outlasting)
        return erase_entries(
            self.store,
            list(gone.values()),
            sources=sources,
            tiers=self.tiers,
            settle=self.settle,
        )

    def _descent(self) -> Derivations:
        stays = has_own_term if self.policy.derived else _is_derived
        return Derivations(self.store, (self.owner,), stays)

    def _due(self, due: Callable[[Entry, datetime], bool]) -> list[str]:
        where = Where(reader=None, owner=self.owner, layers=self.policy.layers, archived=None)
        return [e.id for e in each_entry(self.store, where) if due(e, self.now)]


def _is_derived(entry: Entry) -> bool:
    return original_of(entry) is None


def _summed(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in counts:
        for name, count in part.items():
            total[name] = total.get(name, 0) + count
    return total


_EXCHANGES: tuple[Layer, ...] = ("episodic",)
_MESSAGES = ("conversation",)
_CANDIDATES = 8


def closest_to_request(vault: Vault, principal: str, text: str) -> tuple[str, ...]:
    """The message of a principal's own that a request in words means.

    Raises `StoreError` if the store failed.
    """
    where = vault.where(
        principal, owner=principal, layers=_EXCHANGES, categories=_MESSAGES, archived=None
    )
    hits = vault.lexical(text, where, _CANDIDATES)
    said = {
        entry.id: (entry.text.removeprefix(f"{entry.owner}: ").strip(), entry.sources)
        for entry in vault.fetch([h.id for h in hits], where)
    }
    others = [(h.score, *said[h.id]) for h in hits if said[h.id][0] != text.strip()]
    best = closest_message(text, [(score, words) for score, words, _ in others])
    return () if best is None else others[best][2]


class MemoryExpiry:
    """Does hygiene on a memory.

    `settle` makes last that messages are gone beside the store, before their entries go.
    """

    def __init__(self, deletion: Deletion, tell: EventListener, settle: Callable[[], None]) -> None:
        self._deletion = deletion
        self._vault = deletion.vault
        self._tell = tell
        self._settle = settle

    def elapse(self, policy: RetentionPolicy, now: datetime) -> None:
        """Do hygiene for every owner; one owner's failure holds up no other.

        Raises `StoreError` and `ModelError` as `clean`.
        """
        attempts = Attempts()
        for owner in owners_due(self._vault.store, policy, now):
            attempts.attempt(lambda o=owner: self.clean(o, policy, now))  # type: ignore[misc]
        attempts.end()

    def clean(self, owner: str, policy: RetentionPolicy, now: datetime) -> None:
        """Do hygiene on an owner's entries.

        Raises `StoreError` if the store failed on the way; the next call goes on. Raises
        `ModelError` if the embedder failed at an entry to archive; the next call goes on.
        """
        deletion = self._deletion

        def settle(sources: Collection[str]) -> None:
            deletion.free(owner, sources)
            self._settle()

        done = clean(
            self._vault.store,
            owner,
            policy,
            now,
            put=self._vault.put,
            tiers=deletion.expired_tiers(owner, now, derived=policy.derived),
            settle=settle,
        )
        deletion.drop(owner, done.erased)
        # What is left of a conversation is old as well, and may be gone before it is concluded.
        for of in deletion.reopened(e for e in done.erased.entries if not policy.to_erase(e, now)):
            deletion.backlog.open[of] = now
        if done.archived:
            self._tell(MemoryEvent(kind="archived", detail=f"{done.archived} entries"))
        if done.erased.entries:
            sources = tuple(dict.fromkeys(i for e in done.erased.entries for i in e.sources))
            self._tell(MemoryEvent(kind="purged", sources=sources))
        if done.error is not None:
            raise done.error
