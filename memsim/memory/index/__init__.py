"""Finding earlier messages again: rankers, and what is done with their rankings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable


class Hit(NamedTuple):
    """A document that a ranker brought up.

    A larger score is better, and comparable within one ranking.
    """

    id: str
    score: float


def as_hits(scored: Iterable[tuple[str, float]]) -> list[Hit]:
    """Ids with their scores as hits, in half the time that `Hit(...)` takes for each."""
    return list(map(partial(tuple.__new__, Hit), scored))


class Ranker(Protocol):
    """An index of texts that answers queries with rankings; ties go to the earlier document."""

    def add(self, source: str, text: str) -> None:
        """Take a document in. Raises `ValueError` if the id is there already."""
        ...

    def remove(self, source: str) -> bool:
        """Take a document out; false when it was not there."""
        ...

    def search(self, query: str, k: int) -> list[Hit]:
        """The best `k` documents that speak to the query at all, best first."""
        ...

    def ranking(self, query: str) -> list[Hit]:
        """Every document, best first, whether it speaks to the query or not."""
        ...

    def rank_of(self, source: str, query: str) -> int | None:
        """A document's place in the ranking, from 1; None where `search` never shows it."""
        ...

    def close(self) -> None:
        """Release what the index holds open."""
        ...
