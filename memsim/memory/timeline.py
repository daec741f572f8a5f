"""In which order the messages of each conversation were said, so that neighbours can be found.

A conversation's order says nothing of any other conversation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class _Spot(NamedTuple):
    source: str
    session: str
    place: int
    number: int


class Timeline:
    """The entries of messages by conversation, in the order in which they were said."""

    def __init__(self) -> None:
        self._said: dict[str, list[str]] = {}
        self._spots: dict[str, _Spot] = {}
        self._count = 0

    def __contains__(self, entry: object) -> bool:
        return entry in self._spots

    def __len__(self) -> int:
        return len(self._spots)

    def clear(self) -> None:
        """Forget all of it."""
        self._said.clear()
        self._spots.clear()
        self._count = 0

    def has(self, session: str) -> bool:
        """Whether anything that was said in a conversation is known."""
        return bool(self._said.get(session))

    def add(self, entry: str, source: str, session: str) -> None:
        """A message was said; one that is known already stays where it was.

        Args:
            entry: the id of its entry.
            source: its own id.
            session: its conversation.
        """
        if entry in self._spots:
            return
        said = self._said.setdefault(session, [])
        self._spots[entry] = _Spot(source, session, len(said), self._count)
        self._count += 1
        said.append(entry)

    def remove(self, entries: Iterable[str]) -> None:
        """Forget messages; their neighbours then stand beside each other."""
        gone = {e for e in entries if e in self._spots}
        for session in sorted({self._spots[e].session for e in gone}):
            kept = [e for e in self._said[session] if e not in gone]
            for place, entry in enumerate(kept):
                self._spots[entry] = self._spots[entry]._replace(place=place)
            self._said[session] = kept
        for entry in gone:
            del self._spots[entry]

    def source(self, entry: str) -> str | None:
        """The id of the message that an entry holds; None where it holds none."""
        spot = self._spots.get(entry)
        return None if spot is None else spot.source

    def order(self, entry: str) -> int:
        """When a message was said: larger is later; what is no message comes before all."""
        spot = self._spots.get(entry)
        return -1 if spot is None else spot.number

    def beside(self, entry: str) -> tuple[str, ...]:
        """The entries of the messages said just before and after one in its conversation."""
        spot = self._spots.get(entry)
        if spot is None:
            return ()
        said = self._said[spot.session]
        around = (spot.place - 1, spot.place + 1)
        return tuple(said[p] for p in around if 0 <= p < len(said))
