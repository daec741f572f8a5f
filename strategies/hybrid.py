"""The latest messages, and earlier ones that words and meaning together find."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from memsim import Environment, Strategy
from memsim.language.scripts import is_mostly_latin
from memsim.memory.history.window import Archive
from memsim.memory.index import Hit, Ranker
from memsim.memory.index.bm25 import Bm25 as WordIndex
from memsim.memory.recall.ranking import reciprocal_ranks, weighted_scores, with_neighbours
from memsim.systems.retrieval import Retrieval, check_store, vector_index


class Hybrid(Retrieval, Strategy):
    """Finds earlier messages by their words and by their meaning, and makes one ranking of both.

    Args:
        k: earlier messages that are quoted, as far as they fit.
        window: latest messages that are always there.
        depth: messages that are ranked, by each and in the end.
        fusion: `zscore` adds scores in standard deviations; `weights` adds scores scaled to 0..1;
            `rrf` adds reciprocal ranks, as for any question that is not in Latin script.
        lexical: what the words count, 0 to 1; the meaning counts the rest.
        neighbours: share of its score that each message lends to those just before and after it.
        store: where vectors are kept, as for `vector`.
        scope: `shared`: one memory for everybody; `principal`: one for each.

    Raises:
        ValueError: a number is out of its range, or a word means nothing here.
    """

    def __init__(
        self,
        env: Environment,
        *,
        k: int = 10,
        window: int = 8,
        depth: int = 50,
        fusion: Literal["zscore", "weights", "rrf"] = "zscore",
        lexical: float = 0.5,
        neighbours: float = 0.0,
        store: Literal["numpy", "chroma"] = "numpy",
        scope: Literal["shared", "principal"] = "shared",
    ) -> None:
        super().__init__(env, k=k, window=window, depth=depth, scope=scope)
        check_store(store)
        if fusion not in {"zscore", "weights", "rrf"}:
            raise ValueError(f"fusion is {fusion!r}: it is 'zscore', 'weights' or 'rrf'")
        for name, value in (("lexical", lexical), ("neighbours", neighbours)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} is {value}: 0 to 1")
        self._store, self._fusion = store, fusion
        self._weights, self._neighbours = (lexical, 1 - lexical), neighbours

    def _rankers(self) -> Sequence[Ranker]:
        return (WordIndex(), vector_index(self.env.embed, self._store))

    def _ranking(self, archive: Archive, text: str, depth: int) -> list[Hit]:
        order = archive.log.place
        found = [ranker.search(text, depth) for ranker in archive.rankers]
        if self._neighbours:
            found = [
                with_neighbours(hits, archive.log.beside, order, share=self._neighbours)
                for hits in found
            ]
        # Small embedders read other scripts letter by letter, so their scores are no measure.
        if self._fusion == "rrf" or not is_mostly_latin(text):
            return reciprocal_ranks(found, order, weights=self._weights)
        scaling: Literal["zscore", "minmax"] = "zscore" if self._fusion == "zscore" else "minmax"
        return weighted_scores(found, order, weights=self._weights, scaling=scaling)
