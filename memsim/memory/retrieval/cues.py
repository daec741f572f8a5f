"""What a question names beside its matter: who said it, and on which day."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from memsim.language.dates import mentions, resolve
from memsim.language.text import ROLES
from memsim.memory.retrieval.terms import lower

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.language.dates import Period


class Cues:
    """The names and days in a question.

    Args:
        question: as it was asked.
        now: when; None where nobody knows, and then `yesterday` means nothing.
    """

    def __init__(self, question: str, now: datetime | None = None) -> None:
        self._words = frozenset(_bare(word) for word in lower(question))
        today = now.date() if now else None
        found = (resolve(mention, today) for mention in mentions(question))
        self._periods: tuple[Period, ...] = tuple(period for period in found if period)

    @property
    def dated(self) -> bool:
        """Whether the question names any day at all."""
        return bool(self._periods)

    def names(self, principal: str) -> bool:
        """Whether the question names somebody, by all of the words of their name."""
        name = _name(principal)
        return bool(name) and name <= self._words

    def dates(self, time: datetime | None) -> bool:
        """Whether the question names a day, or a longer time, that something was said in."""
        if time is None or not self._periods:
            return False
        day = time.date()
        return any(period.first <= day <= period.last for period in self._periods)


@lru_cache(maxsize=1 << 12)
def _name(principal: str) -> frozenset[str]:
    words = frozenset(_bare(word) for word in lower(principal))
    return frozenset() if words <= ROLES else words


def _bare(word: str) -> str:
    return word.removesuffix("'s")
