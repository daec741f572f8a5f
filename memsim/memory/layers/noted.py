"""Where the lines that were noted on pages come from, so that they go with what was forgotten.

Nothing of a line is kept but a digest, by which it is found on whatever page it stands by then::

    {"ana": {"<digest of whose it is and what it says>": ["m1", "m2"]}}

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
    """Which messages the lines of each principal's notes are of."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, frozenset[str]]] = {}

    def add(self, principal: str, text: str, sources: Collection[str]) -> frozenset[str]:
        """The lines of a note are of these messages, and of those that they were of before.

        Returns:
            Digests of the lines of which nothing was known.

        Raises:
            ValueError: the text cannot be encoded.
        """
        lines = digests(principal, text) if sources else frozenset()
        if not lines:
            return lines
        known = self._of.setdefault(principal, {})
        new = lines - known.keys()
        for line in lines:
            known[line] = known.get(line, frozenset()).union(sources)
        return new

    def drop(self, principal: str, lines: Iterable[str]) -> None:
        """These lines are gone."""
        known = self._of.get(principal, {})
        for line in lines:
            known.pop(line, None)
        if not known:
            self._of.pop(principal, None)

    def free(self, principal: str, sources: Collection[str]) -> None:
        """These messages are gone, and their ids may be others': no line is of them any more."""
        known, gone = self._of.get(principal, {}), frozenset(sources)
        left = {line: of - gone for line, of in known.items()}
        self._of[principal] = {line: of for line, of in left.items() if of}
        self.drop(principal, ())

    def among(self, principal: str, text: str) -> frozenset[str]:
        """Digests of those lines of a page that were noted."""
        known = self._of.get(principal)
        return digests(principal, text) & known.keys() if known else frozenset()

    def lines(self, principal: str) -> frozenset[str]:
        """Digests of all lines that a principal's notes have."""
        return frozenset(self._of.get(principal, ()))

    def lines_of(self, principal: str, sources: Collection[str]) -> frozenset[str]:
        """Digests of the lines that any of these messages has a part in."""
        known, meant = self._of.get(principal, {}), frozenset(sources)
        return frozenset(line for line, of in known.items() if not meant.isdisjoint(of))

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return {
            who: {line: [*sorted(known[line])] for line in sorted(known)}
            for who, known in sorted(self._of.items())
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved state in place of the present one.

        Raises:
            StateError: it is no such state; nothing has changed.
        """
        with reading("where its notes come from is damaged"):
            self._of = {
                "" + who: {"" + line: frozenset("" + i for i in of) for line, of in known.items()}
                for who, known in saved.items()
            }


def digests(principal: str, text: str) -> frozenset[str]:
    """What the lines of a text are known by, but for those that say nothing."""
    return frozenset(d for line in text.splitlines() if (d := digest(principal, line)))


def digest(principal: str, line: str) -> str:
    """What a line is known by, whatever space is around it; empty where it says nothing."""
    said = line.removeprefix("\ufeff").strip()
    return "" if _OF_THE_PAGE.fullmatch(said) else digest_of(principal, said)
