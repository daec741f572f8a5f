"""Exchanges that are found again by their meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from memsim.errors import ModelError, RefError
from memsim.memory.systems.cogtrix.exchanges import Exchange

if TYPE_CHECKING:
    from memsim.memory.retrieval import Hit
    from memsim.memory.retrieval.vectors import VectorIndex
    from memsim.memory.state import JSON
    from memsim.models import Embedder

THRESHOLD = 0.25
"""The source's: what 1 / (1 + distance) must be at least."""
LEAST_WORDS = 3
"""The source's: words between blanks without which nothing is recalled."""


class Exchanges:
    """An index of exchanges.

    Args:
        embed: makes the embedder on first use.
    """

    def __init__(self, embed: Callable[[], Embedder]) -> None:
        self._embed = embed
        self._kept: dict[str, Exchange] = {}
        self._made = 0
        self._index: VectorIndex | None = None

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[Exchange]:
        return iter(self._kept.values())

    def add(self, exchanges: Iterable[Exchange]) -> None:
        """Take exchanges in."""
        for exchange in exchanges:
            self._made += 1
            name = f"x{self._made}"
            self._kept[name] = exchange
            self._vectors.add(name, exchange.text)

    def recall(self, text: str, k: int, threshold: float = 0.0) -> list[Exchange]:
        """The nearest exchanges, best first.

        Args:
            text: what the user says.
            k: so many at most.
            threshold: what 1 / (1 + distance) must be at least; 0 for no such bound. The distance
                is the squared one of unit vectors, as an index of vectors gives it.
        """
        hits = self._search(text, k)
        return [self._kept[h.id] for h in hits if similarity(h.score) >= threshold]

    def rank_of(self, source: str, text: str) -> int | None:
        """The rank, from 1, of the best exchange that a message stands in; None if in none."""
        ids = [name for name, kept in self._kept.items() if source in kept.sources]
        if not ids:
            return None
        ranked = [h.id for h in self._search(text, len(self._kept))]
        return next((rank for rank, name in enumerate(ranked, 1) if name in ids), None)

    def remove(self, ids: Iterable[str]) -> None:
        """Take out the exchanges in which any of these messages stands."""
        gone = set(ids)
        for name in [n for n, kept in self._kept.items() if not gone.isdisjoint(kept.sources)]:
            del self._kept[name]
            self._vectors.remove(name)

    def close(self) -> None:
        """Release the index."""
        if self._index is not None:
            self._index.close()

    def save(self) -> JSON:
        """The exchanges, with the name of the embedder that their vectors are of."""
        return {
            "embedding_model": self._embed().name if self._kept else "",
            "exchanges": [
                {"text": x.text, "whole": list(x.whole), "parts": list(x.parts)}
                for x in self._kept.values()
            ],
        }

    def load(self, saved: Any) -> bool:  # noqa: ANN401 - from a file
        """Take over saved exchanges.

        Returns:
            False where they are of another embedder, and so are left out.
        """
        found = [
            Exchange(text="" + x["text"], whole=tuple(x["whole"]), parts=tuple(x["parts"]))
            for x in saved["exchanges"]
        ]
        if found and saved["embedding_model"] != self._embed().name:
            return False
        self.add(found)
        return True

    @property
    def _vectors(self) -> VectorIndex:
        if self._index is None:
            from memsim.memory.retrieval.vectors import VectorIndex

            self._index = VectorIndex(self._embed)
        return self._index

    def _search(self, text: str, k: int) -> list[Hit]:
        if not k or not self._kept:
            return []
        try:
            return self._vectors.search(text, k)
        except (ModelError, RefError, OSError):
            # Without an embedder nothing is recalled, and everything else goes on.
            return []


def similarity(cosine: float) -> float:
    """1 / (1 + squared distance) of two unit vectors."""
    return 1 / (1 + max(0.0, 2 - 2 * cosine))
