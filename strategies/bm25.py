"""The latest messages, and earlier ones that share words with the question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from memsim import Environment, Strategy
from memsim.language.text import ANALYSERS
from memsim.memory.index import Ranker
from memsim.memory.index.bm25 import Bm25 as WordIndex
from memsim.systems.retrieval import Retrieval


class Bm25(Retrieval, Strategy):
    """Finds earlier messages by their words: Okapi BM25 over every message as it is said.

    Args:
        k: earlier messages that are quoted, as far as they fit.
        window: latest messages that are always there.
        depth: messages that are ranked.
        words: `stem` finds other forms of a word and leaves out stop words; `lower` does neither.
        scope: `shared`: one memory for everybody; `principal`: one for each.

    Raises:
        ValueError: a number is below 1, or a word means nothing here.
    """

    def __init__(
        self,
        env: Environment,
        *,
        k: int = 10,
        window: int = 8,
        depth: int = 50,
        words: Literal["stem", "lower"] = "stem",
        scope: Literal["shared", "principal"] = "shared",
    ) -> None:
        super().__init__(env, k=k, window=window, depth=depth, scope=scope)
        if words not in ANALYSERS:
            raise ValueError(f"words is {words!r}: it is {' or '.join(map(repr, ANALYSERS))}")
        self._words = words

    def _rankers(self) -> Sequence[Ranker]:
        return (WordIndex(ANALYSERS[self._words]),)

    def _needed(self, shown: int) -> int:
        return min(self._depth, self._k + shown)
