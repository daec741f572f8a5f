"""Which version of a fact held when: read off the times at which it was stated."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memsim.memory.entry import Entry
    from memsim.memory.layers.entry_outline import EntryOutline

Version = TypeVar("Version", bound="Entry | EntryOutline")

_FOREVER = datetime.max.replace(tzinfo=UTC)


class _Held(NamedTuple):
    begun: datetime
    until: datetime
    id: str


class FactVersions:
    """The versions of one fact in the order in which they held, by their ids."""

    def __init__(self) -> None:
        self._held: list[_Held] = []
        self._of: dict[str, _Held] = {}

    def __iter__(self) -> Iterator[str]:
        return (held.id for held in self._held)

    def copy(self) -> FactVersions:
        """Another that changes by itself."""
        other = FactVersions()
        other._held, other._of = self._held.copy(), self._of.copy()
        return other

    def put(self, entry: Entry | EntryOutline) -> None:
        """Take in a version as it stands now."""
        self.drop(entry.id)
        held = self._of[entry.id] = _Held(entry.created, entry.superseded or _FOREVER, entry.id)
        insort(self._held, held)

    def drop(self, entry: str) -> None:
        """A version is gone."""
        held = self._of.pop(entry, None)
        if held is not None:
            del self._held[bisect_left(self._held, held)]

    def around(self, moment: datetime) -> tuple[str | None, str | None]:
        """The version that began last by a moment, and the one that began next."""
        place = bisect_right(self._held, moment, key=lambda held: held.begun)
        return (
            self._held[place - 1].id if place else None,
            self._held[place].id if place < len(self._held) else None,
        )


def version_key(text: str, begun: datetime) -> str:
    """What a version of a fact is kept under: what was so twice held at two times."""
    return f"{text}\n{begun.isoformat()}"


def placed(fact: Entry, before: Entry | None, after: Entry | None) -> list[Entry]:
    """What changes where a fact is stated, in the order in which it held; the fact is among it.

    A fact that is stated late takes the place that it had: it ends when the next one began. Where
    the version that held before it and after it is one, that one is parted in two.
    """
    moment = fact.created
    if before is None or not _holds(before, moment):
        return [replace(fact, superseded=after.created if after else None)]
    if before.text == fact.text:
        return [restated(before, fact)]
    ended = replace(before, superseded=moment)
    if not moment < before.updated < (before.superseded or _FOREVER):
        return [ended, replace(fact, superseded=before.superseded)]
    again = before.updated
    return [
        replace(ended, updated=before.created),
        replace(fact, superseded=again),
        replace(before, key=version_key(before.text, again), created=again),
    ]


def restated(before: Entry, fact: Entry) -> Entry:
    """A version of a fact that has been stated once more, perhaps earlier than it was known."""
    late = fact.updated < before.updated
    both = (*fact.sources, *before.sources) if late else (*before.sources, *fact.sources)
    return replace(
        before,
        sources=tuple(dict.fromkeys(both)),
        created=min(before.created, fact.created),
        updated=max(before.updated, fact.updated),
    )


def heirs(versions: Iterable[Version]) -> Iterator[tuple[Version, Version | None]]:
    """Each version of a fact that is superseded, with the one that came in its place, if any does.

    That is the one that held when it no longer did, or where that is gone, the next that was
    stated. A version that only others after it made obsolete has that one for its heir, and not the
    last of all: should the last one be forgotten, it is still known which came before which.
    """
    ordered = sorted(versions, key=lambda entry: (entry.created, entry.id))
    begun = [entry.created for entry in ordered]
    for entry in ordered:
        if entry.superseded is not None:
            yield entry, _heir(entry, entry.superseded, ordered, begun)


def _heir(
    entry: Version, until: datetime, ordered: Sequence[Version], begun: Sequence[datetime]
) -> Version | None:
    after = bisect_right(begun, until)
    for other in reversed(ordered[:after]):
        if _holds(other, until) and other.id != entry.id:
            return other
    return ordered[after] if after < len(ordered) else None


def _holds(version: Entry | EntryOutline, moment: datetime) -> bool:
    """Whether a version that has begun holds still."""
    return version.superseded is None or version.superseded > moment
