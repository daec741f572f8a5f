"""Which fact took the place of which: read off the times at which they held."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from memsim.memory.entry import Entry


def heirs(versions: Iterable[Entry]) -> Iterator[tuple[Entry, Entry | None]]:
    """Each version of a fact that is superseded, with the one that came in its place, if any does.

    That is the one that held when it no longer did, or where that is gone, the next that was
    stated. A version that only others after it made obsolete has that one for its heir, and not the
    last of all: who may not see the last one is still told which came before which.

    Args:
        versions: all that are kept of one owner and subject.
    """
    ordered = sorted(versions, key=lambda entry: (entry.created, entry.id))
    begun = [entry.created for entry in ordered]
    for entry in ordered:
        if entry.superseded is not None:
            yield entry, _heir(entry, entry.superseded, ordered, begun)


def _heir(
    entry: Entry, until: datetime, ordered: Sequence[Entry], begun: Sequence[datetime]
) -> Entry | None:
    after = bisect_right(begun, until)
    for other in reversed(ordered[:after]):
        held = other.superseded is None or other.superseded > until
        if held and other.id != entry.id:
            return other
    return ordered[after] if after < len(ordered) else None
