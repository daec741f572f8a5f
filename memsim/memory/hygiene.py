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
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from memsim.clock import utc
from memsim.errors import ModelError, StoreError
from memsim.memory.acl import Where
from memsim.memory.derived import (
    Descent,
    Erased,
    Settle,
    Tier,
    each,
    erase_entries,
    is_held,
    original_of,
    parted,
)
from memsim.memory.entry import CATEGORIES, Layer
from memsim.memory.stores import PAGE

if TYPE_CHECKING:
    from memsim.memory.entry import Entry
    from memsim.memory.stores import Store

_OWN = frozenset(CATEGORIES) - {"core", "custom"}

AGEING: frozenset[Layer] = frozenset({"episodic", "semantic", "long_term"})

_MADE: frozenset[Layer] = frozenset({"episodic", "semantic"})

Term = int | timedelta | None
"""How long: whole days, or to the microsecond. Nothing and None mean for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When what is due; the defaults are PRX's. A term of 0 or None means never.

    Attributes:
        retention: by category, for how long its entries are found. `custom` is for every category
            without a term of its own, and follows `daily` where it is not named. Core has none.
        erased: categories of which an entry is erased when its retention ends. Entries of the
            others are put away.
        archive_after: after which an entry is put away, whatever its category's retention.
        purge_after: after which what was put away is erased.
        purged: by category, as `retention`: what holds in place of `purge_after`.
        derived: whether what the memory made of a message of its own accord goes when the message
            is erased. What somebody stored has a term of its own.
        layers: which layers grow old.

    Raises:
        ValueError: days are negative, or more than can be counted, or core is given a retention.
    """

    retention: Mapping[str, Term] = field(default_factory=lambda: {"conversation": 3, "daily": 7})
    erased: frozenset[str] = frozenset({"conversation"})
    archive_after: Term = 7
    purge_after: Term = 30
    purged: Mapping[str, Term] = field(default_factory=dict)
    derived: bool = True
    layers: frozenset[Layer] = AGEING

    def __post_init__(self) -> None:
        every = (*self.retention.values(), *self.purged.values())
        for term in (*every, self.archive_after, self.purge_after):
            if (_length(term) or timedelta(0)) < timedelta(0):
                raise ValueError("days are negative")
        if self.retention.get("core"):
            raise ValueError("core has no retention: it is kept until it is forgotten")

    def found_for(self, category: str) -> timedelta | None:
        """For how long entries of a category are found; None for ever."""
        return _term_of(category, self.retention, None)

    def kept_for(self, category: str) -> timedelta | None:
        """For how long entries of a category are kept at all, once put away; None for ever."""
        return _term_of(category, self.purged, self.purge_after)

    def to_erase(self, entry: Entry, now: datetime) -> bool:
        """Whether an entry is due to be erased."""
        if self._stays(entry):
            return False
        purged = _is_due(entry, self.kept_for(entry.category), now)
        if entry.archived and purged:
            return True
        if entry.category in self.erased:
            return _is_due(entry, self.found_for(entry.category), now)
        # What would be put away now, and has long been old enough to be erased, need not wait.
        return purged and self._put_away(entry, now)

    def is_due(self, entry: Entry, now: datetime) -> bool:
        """Whether an entry is due to be put away or erased."""
        return self.to_erase(entry, now) or self.to_archive(entry, now)

    def to_archive(self, entry: Entry, now: datetime) -> bool:
        """Whether an entry is due to be put away, and not to be erased."""
        if self._stays(entry) or entry.archived or self.to_erase(entry, now):
            return False
        return self._put_away(entry, now)

    def _stays(self, entry: Entry) -> bool:
        return is_held(entry) or entry.layer not in self.layers

    def _put_away(self, entry: Entry, now: datetime) -> bool:
        term = None if entry.category in self.erased else self.found_for(entry.category)
        return _is_due(entry, term, now) or _is_due(entry, _length(self.archive_after), now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a pass came to.

    Attributes:
        archived: entries put away.
        erased: what was erased for good.
        left: entries that are due and still as they were; None where that cannot be told.
        error: what failed first; None where nothing did. Doing it again finishes it.
    """

    archived: int = 0
    erased: Erased = field(default_factory=Erased)
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
    return is_held(entry) or entry.layer not in _MADE


def owners_due(store: Store, policy: Policy, now: datetime) -> list[str]:
    """Whose entries are due, by name in order; the store is read through once.

    Args:
        store: where entries are kept.
        policy: when what is due.
        now: the present.
    """
    where = Where(reader=None, layers=policy.layers, archived=None)
    return sorted({e.owner for e in each(store, where) if policy.is_due(e, utc(now))})


def clean(
    store: Store,
    owner: str,
    policy: Policy,
    now: datetime,
    *,
    put: Callable[[Sequence[Entry]], None] | None = None,
    tiers: Sequence[Tier] = (),
    settle: Settle | None = None,
) -> Outcome:
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
        policy: Policy,
        now: datetime,
        put: Callable[[Sequence[Entry]], None],
        *,
        tiers: Sequence[Tier],
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
        self._erased: list[Erased] = []

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

    def outcome(self, error: StoreError | ModelError | None) -> Outcome:
        """What has been done, and what is left."""
        erased = Erased(
            entries=tuple(e for part in self._erased for e in part.entries),
            beside=_summed([part.beside for part in self._erased]),
        )
        left: int | None = 0
        if error is not None:
            try:
                left = len(self._due(self._policy.to_archive) + self._due(self._policy.to_erase))
            except StoreError:
                left = None
        return Outcome(archived=self._archived, erased=erased, left=left, error=error)

    def _erase(self, due: Sequence[Entry], descent: Descent) -> Erased:
        sources = sorted({source for e in due if (source := original_of(e)) is not None})
        gone = {e.id: e for e in due}
        came = descent.of(sources)
        if self._policy.derived:
            gone |= {e.id: e for e in came}
        stay = [e for e in (*came, *descent.beside(sources)) if e.id not in gone]
        # Before the messages go: until they are gone, they are found again.
        if outlasting := parted(stay, sources):
            self._put(outlasting)
        return erase_entries(
            self._store,
            list(gone.values()),
            sources=sources,
            tiers=self._tiers,
            settle=self._settle,
        )

    def _descent(self) -> Descent:
        stays = has_own_term if self._policy.derived else _is_derived
        return Descent(self._store, (self._owner,), stays)

    def _due(self, due: Callable[[Entry, datetime], bool]) -> list[str]:
        where = Where(reader=None, owner=self._owner, layers=self._policy.layers, archived=None)
        return [e.id for e in each(self._store, where) if due(e, self._now)]


def _is_derived(entry: Entry) -> bool:
    return original_of(entry) is None


def _followed(category: str) -> tuple[str, ...]:
    if category == "core":
        return ()
    return (category,) if category in _OWN else (category, "custom", "daily")


def _term_of(category: str, terms: Mapping[str, Term], otherwise: Term) -> timedelta | None:
    named = (terms[name] for name in _followed(category) if name in terms)
    return _length(next(named, otherwise))


def _length(term: Term) -> timedelta | None:
    """How long a term is; None for ever.

    Raises:
        ValueError: it is more days than can be counted.
    """
    if not term:
        return None
    if isinstance(term, timedelta):
        return term
    try:
        return timedelta(days=term)
    except OverflowError:
        raise ValueError(f"{term} days are more than can be counted: None means never") from None


def _is_due(entry: Entry, term: timedelta | None, now: datetime) -> bool:
    return term is not None and now - entry.updated >= term


def _summed(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in counts:
        for name, count in part.items():
            total[name] = total.get(name, 0) + count
    return total
