"""What every store must agree with: a memory so plain that it can be checked by reading it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence

from memsim.language.text import index_terms
from memsim.memory.entry import Entry, in_order
from memsim.memory.index import Hit
from memsim.memory.index.postings import K1
from memsim.memory.index.postings import MESSAGE_B as B
from memsim.memory.permissions import Where

Vector = tuple[float, ...]


class Oracle:
    """Entries in a dictionary, searched by going through all of them."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.vectors: dict[str, Vector] = {}

    def write(self, entries: Sequence[Entry], vectors: Sequence[Vector] | None = None) -> None:
        """Take entries in."""
        for place, entry in enumerate(entries):
            self.entries[entry.id] = entry
            self.vectors.pop(entry.id, None)
            if vectors is not None and any(vectors[place]):
                self.vectors[entry.id] = vectors[place]

    def erase(self, ids: Collection[str]) -> int:
        """Take entries out."""
        gone = [source for source in set(ids) if self.entries.pop(source, None)]
        for source in gone:
            self.vectors.pop(source, None)
        return len(gone)

    def admitted(self, where: Where) -> list[Entry]:
        """All that is admitted, in order."""
        return in_order(e for e in self.entries.values() if where.admits(e.shelf))

    def lexical(self, text: str, where: Where) -> dict[str, float]:
        """The score of every admitted entry that holds a word of a text, as `find` lists them."""
        bags = {e.id: Counter(index_terms(e.words)) for e in self.admitted(where)}
        mean = sum(b.total() for b in bags.values()) / (len(bags) or 1) or 1.0
        scores = {}
        for source, bag in bags.items():
            parts = []
            for term, times in Counter(index_terms(text)).items():
                if bag[term]:
                    holding = sum(1 for b in bags.values() if b[term])
                    idf = math.log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))
                    norm = K1 * (1 - B + B * bag.total() / mean)
                    parts.append(times * idf * (K1 + 1) * bag[term] / (bag[term] + norm))
            if parts:
                scores[source] = math.fsum(parts)
        return scores

    def nearest(self, vector: Vector, where: Where) -> dict[str, float]:
        """The cosine of every admitted entry that has a vector, as `find` lists them."""
        return {
            e.id: math.fsum(a * b for a, b in zip(self.vectors[e.id], vector, strict=True))
            for e in self.admitted(where)
            if e.id in self.vectors
        }


def assert_best(hits: Sequence[Hit], scores: dict[str, float], k: int, within: float) -> None:
    """Hits are the best `k` of these scores, best first, ties as the scores are listed.

    Args:
        hits: what a store found.
        scores: of all that could be found, in the order in which `find` lists them.
        k: how many were asked for.
        within: how far a score may be off.
    """
    place = {source: n for n, source in enumerate(scores)}
    assert len(hits) == min(k, len(scores))
    assert len({h.id for h in hits}) == len(hits)
    for hit in hits:
        assert abs(hit.score - scores[hit.id]) <= within, hit
    assert list(hits) == sorted(hits, key=lambda h: (-h.score, place[h.id]))
    found = {h.id for h in hits}
    for source, score in scores.items():
        if source not in found and hits:
            assert score <= hits[-1].score + within
            if score == scores[hits[-1].id]:
                assert place[source] > place[hits[-1].id]
