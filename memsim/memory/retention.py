"""When entries are put away and erased, by category.

An entry's age counts from when it was last written, in days of 24 hours. It is due from exactly the
term on that the policy names. Core and pinned entries are never due, nor entries that were written
in the future, as after a clock was put back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memsim.memory.entry import CATEGORIES, Entry, Layer, is_permanent

_OWN = frozenset(CATEGORIES) - {"core", "custom"}


RETAINED_LAYERS: frozenset[Layer] = frozenset({"episodic", "semantic", "long_term"})


Term = int | timedelta | None
"""How long: whole days, or to the microsecond. Nothing and None mean for ever."""


Terms = Mapping[str, tuple[timedelta, timedelta | None]]
"""By category, for how long its entries are found, and for how long they are kept at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
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
    layers: frozenset[Layer] = RETAINED_LAYERS

    def __post_init__(self) -> None:
        every = (*self.retention.values(), *self.purged.values())
        for term in (*every, self.archive_after, self.purge_after):
            if (_length(term) or timedelta(0)) < timedelta(0):
                raise ValueError("days are negative")
        if self.retention.get("core"):
            raise ValueError("core has no retention: it is kept until it is forgotten")

    @classmethod
    def of_terms(cls, terms: Terms) -> RetentionPolicy:
        """The policy of terms by category; entries that are kept longer are archived in between."""
        kept = {name: until for name, (_, until) in terms.items()}
        found = {name: min(term, kept[name] or term) for name, (term, _) in terms.items()}
        return cls(
            retention=found,
            erased=frozenset(name for name in terms if kept[name] == found[name]),
            archive_after=None,
            purge_after=None,
            purged=kept,
        )

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
        return is_permanent(entry) or entry.layer not in self.layers

    def _put_away(self, entry: Entry, now: datetime) -> bool:
        term = None if entry.category in self.erased else self.found_for(entry.category)
        return _is_due(entry, term, now) or _is_due(entry, _length(self.archive_after), now)


def _followed(category: str) -> tuple[str, ...]:
    if category == "core":
        return ()
    return (category,) if category in _OWN else (category, "custom", "daily")


def _term_of(category: str, terms: Mapping[str, Term], otherwise: Term) -> timedelta | None:
    named = (terms[name] for name in _followed(category) if name in terms)
    return _length(next(named, otherwise))


def _length(term: Term) -> timedelta | None:
    """How long a term is; None for ever.

    Raises `ValueError` if it is more days than can be counted.
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
