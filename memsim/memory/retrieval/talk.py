"""Who stands beside whom in a conversation: an answer often holds none of its question's words."""

from __future__ import annotations

import math
from typing import NamedTuple

FADE = 150.0
"""Tokens between two messages at which one lends the other little more than a third."""

REACH = 4
"""Messages to either side that are lent anything."""

REMEMBERED = 1 << 12

Lent = tuple[tuple[str, float], ...]
"""Ids of the messages around one, each with the share that it is lent, up to 2."""


class _Line(NamedTuple):
    source: str
    tokens: int
    turn: int
    asks: bool


class Talk:
    """Messages in the order in which they were said, by session.

    What a message is lent depends on what stands between: hold one talk for all that the same
    readers may see.

    Args:
        fade: tokens over which lending fades to 1/e, above 0.
    """

    def __init__(self, fade: float = FADE) -> None:
        if not fade > 0:
            raise ValueError(f"fade is {fade}: above 0")
        self._fade = fade
        self._lines: dict[str, list[_Line]] = {}
        self._at: dict[str, tuple[str, int]] = {}
        self._known: dict[str, Lent] = {}

    def __len__(self) -> int:
        return len(self._at)

    def __contains__(self, source: object) -> bool:
        return source in self._at

    def add(self, source: str, text: str, *, session: str, tokens: int, turn: int) -> None:
        """Take in what was said last in its session.

        Args:
            source: the message's id.
            text: what it says.
            session: the conversation that it belongs to.
            tokens: its length.
            turn: the exchange that it belongs to; what answers a message has the same.

        Raises:
            ValueError: the id is there already.
        """
        if source in self._at:
            raise ValueError(f"{source!r} is there already")
        lines = self._lines.setdefault(session, [])
        for line in lines[-REACH:]:
            self._known.pop(line.source, None)
        self._at[source] = (session, len(lines))
        lines.append(_Line(source, tokens, turn, "?" in text))

    def remove(self, source: str) -> bool:
        """Take a message out, as if it had never been said; false when it was not there."""
        if source not in self._at:
            return False
        session, place = self._at.pop(source)
        lines = self._lines[session]
        del lines[place]
        for at in range(place, len(lines)):
            self._at[lines[at].source] = (session, at)
        if not lines:
            del self._lines[session]
        self._known.clear()
        return True

    def beside(self, source: str) -> Lent:
        """The messages around one that are lent some of its relevance; empty for an unknown id.

        A share is 1 next to it and fades with the tokens in between; what follows a question is
        lent twice as much, and what a reply answers is lent all, however long the reply is.
        """
        found = self._known.get(source)
        if found is None and source in self._at:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            found = self._known[source] = self._lend(*self._at[source])
        return found or ()

    def _lend(self, session: str, place: int) -> Lent:
        lines = self._lines[session]
        lender = lines[place]
        before = reversed(lines[max(0, place - REACH) : place])
        after = lines[place + 1 : place + 1 + REACH]
        lent = {}
        for way in (before, after):
            between = lender.tokens / 2
            for line in way:
                lent[line.source] = math.exp(-(between + line.tokens / 2) / self._fade)
                between += line.tokens
        if after and lender.asks:
            lent[after[0].source] *= 2
        if place and lines[place - 1].turn == lender.turn:
            lent[lines[place - 1].source] = max(1.0, lent[lines[place - 1].source])
        return tuple(lent.items())
