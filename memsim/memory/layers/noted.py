"""Where the lines that were noted on pages come from, so that they go with what was forgotten.

Nothing of a line is kept but a digest, and for each place that it was noted in, a page or a day,
the messages that it is of; none where it is known to stand there on its own account::

    {"ana": {"<digest of whose it is and what it says>": {"2026-01-05": ["m1", "m2"]}}}

The digest has no salt: the line itself stands on a page as long as its digest is kept, and a salt
would stand beside it. A line that somebody rewords is theirs, and nothing is known of it any more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from memsim.memory.conversation import digest_of
from memsim.memory.state import JSON, reading

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_OF_THE_PAGE = re.compile(r"#{1,2} \d{4}-\d{2}-\d{2}|[\s>#=|:+*_~`.-]*", re.ASCII)
"""Lines that say nothing: the heading of a day, and marks of Markdown alone."""


class Noted:
    """Which messages the lines of each principal's notes are of, in each place."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, dict[str, frozenset[str]]]] = {}

    def add(
        self, principal: str, text: str, sources: Collection[str], place: str
    ) -> frozenset[str]:
        """The lines of a note are of these messages, and of those that they were of before.

        Returns:
            Digests of the lines of which nothing was known in this place.

        Raises:
            ValueError: the text cannot be encoded.
        """
        lines = digests(principal, text) if sources else frozenset()
        if not lines:
            return lines
        known = self._of.setdefault(principal, {})
        new = frozenset(line for line in lines if place not in known.get(line, {}))
        for line in lines:
            places = known.setdefault(line, {})
            places[place] = places.get(place, frozenset()).union(sources)
        return new

    def spare(self, principal: str, line: str, places: Iterable[str]) -> None:
        """A line that is known stands in these places as well, on its own account."""
        known = self._of[principal][line]
        for place in places:
            known.setdefault(place, frozenset())

    def drop(
        self, principal: str, lines: Iterable[str], places: Collection[str] | None = None
    ) -> None:
        """These lines are gone: from these places, or from all where none are named."""
        known = self._of.get(principal, {})
        for line in lines:
            before = known.pop(line, {})
            left = {p: of for p, of in before.items() if places is not None and p not in places}
            if any(left.values()):
                known[line] = left
        if not known:
            self._of.pop(principal, None)

    def free(self, principal: str, sources: Collection[str]) -> None:
        """These messages are gone, and their ids may be others': no line is of them any more."""
        known, gone = self._of.get(principal, {}), frozenset(sources)
        for line in self.lines_of(principal, sources):
            known[line] = {place: of - gone for place, of in known[line].items()}
            self.drop(principal, [line], ())

    def among(self, principal: str, text: str) -> frozenset[str]:
        """Digests of those lines of a page that were noted."""
        known = self._of.get(principal)
        return digests(principal, text) & known.keys() if known else frozenset()

    def lines(self, principal: str) -> frozenset[str]:
        """Digests of all lines that a principal's notes have."""
        return frozenset(self._of.get(principal, ()))

    def places(self, principal: str, line: str) -> frozenset[str]:
        """Where a line is known to stand, or to have stood, on whatever account."""
        return frozenset(self._of.get(principal, {}).get(line, ()))

    def lines_of(self, principal: str, sources: Collection[str]) -> dict[str, frozenset[str]]:
        """Where any of these messages has a part in a line, by the line's digest."""
        meant = frozenset(sources)
        every = {
            line: frozenset(place for place, of in places.items() if not meant.isdisjoint(of))
            for line, places in self._of.get(principal, {}).items()
        }
        return {line: places for line, places in every.items() if places}

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return {
            who: {
                line: {place: [*sorted(of)] for place, of in sorted(known[line].items())}
                for line in sorted(known)
            }
            for who, known in sorted(self._of.items())
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved state in place of the present one; one of before names no places.

        Raises:
            StateError: it is no such state; nothing has changed.
        """
        with reading("where its notes come from is damaged"):
            self._of = {
                "" + who: {"" + line: _placed(of) for line, of in known.items()}
                for who, known in saved.items()
            }


def _placed(of: Any) -> dict[str, frozenset[str]]:  # noqa: ANN401 - as `load`
    places = {"": of} if isinstance(of, list) else of
    return {"" + place: frozenset("" + i for i in ids) for place, ids in places.items()}


def digests(principal: str, text: str) -> frozenset[str]:
    """What the lines of a text are known by, but for those that say nothing."""
    return frozenset(d for line in text.splitlines() if (d := digest(principal, line)))


def digest(principal: str, line: str) -> str:
    """What a line is known by, whatever space is around it; empty where it says nothing."""
    said = line.removeprefix("\ufeff").strip()
    return "" if _OF_THE_PAGE.fullmatch(said) else digest_of(principal, said)
