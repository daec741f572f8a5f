"""The latest messages, and earlier ones that are close to the question in meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from memsim import Environment, Strategy
from memsim.memory.index import Ranker
from memsim.systems.retrieval import Retrieval, check_store, vector_index


class Vector(Retrieval, Strategy):
    """Finds earlier messages by their meaning: the nearest embeddings.

    Args:
        k: earlier messages that are quoted, as far as they fit.
        window: latest messages that are always there.
        depth: messages that are ranked.
        store: `numpy` is exact up to 4,096 different messages, and the same in every process;
            `chroma` searches a Chroma collection, whose graph is a little different each time.
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
        store: Literal["numpy", "chroma"] = "numpy",
        scope: Literal["shared", "principal"] = "shared",
    ) -> None:
        super().__init__(env, k=k, window=window, depth=depth, scope=scope)
        check_store(store)
        self._store = store

    def _rankers(self) -> Sequence[Ranker]:
        return (vector_index(self.env.embed, self._store),)

    def _needed(self, shown: int) -> int:
        return min(self._depth, self._k + shown)
