"""Hygiene: what has grown old is put away, and then erased, by category and on the memory's clock.

An entry's age counts from when it was last written, in days of 24 hours, and it is due from exactly
the term on that the policy names. What is core or pinned is never due; neither is what was written
in the future, which is what a clock that was put back makes of it.

The pages of a workspace do not grow old, whatever day they are of: they are files that people keep,
and what the store holds of them is an index, which is made of them anew. Somebody deletes them, and
the lines that were noted on them.

What outlasts a message that it is of is of no message from then on: the id may be given to another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed
from datetime import datetime
from typing import TYPE_CHECKING

from memsim.errors import ModelError, StoreError
from memsim.memory.deletion import (
    Derivations,
    ErasureReport,
    ErasureTier,
    Settle,
    each_entry,
    erase_entries,
    original_of,
    without_sources,
)
from memsim.memory.entry import Layer, is_permanent
from memsim.memory.options import RetentionPolicy
from memsim.memory.permissions import Where
from memsim.memory.stores import PAGE
from memsim.message import utc

if TYPE_CHECKING:
    from memsim.memory.entry import Entry
    from memsim.memory.stores import Store


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
    """Whose entries are due, by name in order; the store is read through once.

    Args:
        store: where entries are kept.
        policy: when what is due.
        now: the present.
    """
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
    is found again until its last trace is gone.

    Args:
        store: where entries are kept.
        owner: whose.
        policy: when what is due.
        now: the present.
        put: writes entries together with their vectors; the store's own `write`, which leaves
            entries without, where none is given.
        tiers: where else to erase what erased messages said.
        settle: as `erase_entries`.
    """
    work = _Pass(store, owner, policy, utc(now), put or store.write, tiers=tiers, settle=settle)
    # What is to be erased does not wait for what cannot be put away.
    failed: StoreError | ModelError | None = None
    for step in (work.archive, work.erase):
        try:
            step()
        except (StoreError, ModelError) as error:
            failed = failed or error
    return work.outcome(failed)


class _Pass:
    def __init__(
        self,
        store: Store,
        owner: str,
        policy: RetentionPolicy,
        now: datetime,
        put: Callable[[Sequence[Entry]], None],
        *,
        tiers: Sequence[ErasureTier],
        settle: Settle | None,
    ) -> None:
        self._store = store
        self._owner = owner
        self._policy = policy
        self._now = now
        self._put = put
        self._tiers = tiers
        self._settle = settle
        self._archived = 0
        self._erased: list[ErasureReport] = []

    def archive(self) -> None:
        """Put away what is due, a page at a time."""
        due = self._due(self._policy.to_archive)
        for begin in range(0, len(due), PAGE):
            # Looked at once more: somebody may have written to them since they were listed.
            page = self._store.get(due[begin : begin + PAGE])
            still = [e for e in page if self._policy.to_archive(e, self._now)]
            if still:
                self._put([changed(e, archived=True) for e in still])
                self._archived += len(still)

    def erase(self) -> None:
        """Erase what is due, a page at a time, and before it what was derived from it."""
        due = self._due(self._policy.to_erase)
        if not due:
            return
        descent = self._descent()
        for begin in range(0, len(due), PAGE):
            page = self._store.get(due[begin : begin + PAGE])
            still = [e for e in page if self._policy.to_erase(e, self._now)]
            self._erased.append(self._erase(still, descent))

    def outcome(self, error: StoreError | ModelError | None) -> RetentionOutcome:
        """What has been done, and what is left."""
        erased = ErasureReport(
            entries=tuple(e for part in self._erased for e in part.entries),
            beside=_summed([part.beside for part in self._erased]),
        )
        left: int | None = 0
        if error is not None:
            try:
                left = len(self._due(self._policy.to_archive) + self._due(self._policy.to_erase))
            except StoreError:
                left = None
        return RetentionOutcome(archived=self._archived, erased=erased, left=left, error=error)

    def _erase(self, due: Sequence[Entry], descent: Derivations) -> ErasureReport:
        sources = sorted({source for e in due if (source := original_of(e)) is not None})
        gone = {e.id: e for e in due}
        came = descent.of(sources)
        if self._policy.derived:
            gone |= {e.id: e for e in came}
        stay = [e for e in (*came, *descent.beside(sources)) if e.id not in gone]
        # Before the messages go: until they are gone, they are found again.
        if outlasting := without_sources(stay, sources):
            self._put(outlasting)
        return erase_entries(
            self._store,
            list(gone.values()),
            sources=sources,
            tiers=self._tiers,
            settle=self._settle,
        )

    def _descent(self) -> Derivations:
        stays = has_own_term if self._policy.derived else _is_derived
        return Derivations(self._store, (self._owner,), stays)

    def _due(self, due: Callable[[Entry, datetime], bool]) -> list[str]:
        where = Where(reader=None, owner=self._owner, layers=self._policy.layers, archived=None)
        return [e.id for e in each_entry(self._store, where) if due(e, self._now)]


def _is_derived(entry: Entry) -> bool:
    return original_of(entry) is None


def _summed(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in counts:
        for name, count in part.items():
            total[name] = total.get(name, 0) + count
    return total
