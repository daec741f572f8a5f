"""The latest messages, and earlier ones that are found for each question."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Literal

from memsim import (
    Context,
    Environment,
    Forget,
    ForgetOutcome,
    Location,
    Message,
    Query,
    State,
    Strategy,
    Surface,
)
from memsim.language.text import ANALYSERS
from memsim.memory.codec import part
from memsim.memory.forget_request import requested_message
from memsim.memory.history.window import Archive
from memsim.memory.index import Hit, Ranker
from memsim.memory.index.bm25 import Bm25 as WordIndex
from memsim.memory.index.chroma_vectors import ChromaVectors
from memsim.memory.index.vector_index import VectorIndex
from memsim.memory.recall.ranking import reciprocal_ranks, weighted_scores, with_neighbours
from memsim.memory.recall.search import Recollection
from memsim.memory.scope import MemoryScopes

Scope = Literal["shared", "principal"]
Store = Literal["numpy", "chroma"]


class _Retrieval(Strategy):
    """A log of everything, the latest of it, and what a ranking finds in the rest."""

    def __init__(self, env: Environment, *, k: int, window: int, depth: int, scope: Scope) -> None:
        super().__init__(env)
        for name, value in (("k", k), ("window", window), ("depth", depth)):
            if value < 1:
                raise ValueError(f"{name} is {value}: at least 1")
        self._k, self._window, self._depth = k, window, max(depth, k + window)
        self._archives = MemoryScopes(scope, lambda: Archive(env.counter, *self._rankers()))
        self._lines = Recollection(env.counter)

    @abstractmethod
    def _rankers(self) -> Sequence[Ranker]:
        """Empty indexes for one archive."""

    def _ranking(self, archive: Archive, text: str, depth: int) -> list[Hit]:
        return archive.rankers[0].search(text, depth)

    def _needed(self, _shown: int) -> int:
        """How far to rank for a context whose window shows so many messages."""
        return self._depth

    def _ids(self, archive: Archive, text: str, depth: int) -> tuple[str, ...]:
        return tuple(h.id for h in self._ranking(archive, text, depth))

    def observe(self, message: Message) -> None:
        self._archives.of(message.principal).add(message)

    def context(self, query: Query) -> Context:
        archive = self._archives.seen_by(query.principal)
        window = archive.log.section(query.budget, last=self._window)
        shown = {m.id for m in window.messages}
        depth = self._needed(len(shown))
        ranking = self._ids(archive, query.text, depth)
        best = [i for i in ranking if i not in shown][: self._k]
        recalled = self._lines.section(
            map(archive.log.get, best),
            question=query.text,
            budget=query.budget - window.tokens,
            order=archive.log.place,
            id=f"recalled:{query.turn}",
            time=query.time,
        )
        sections = tuple(s for s in (recalled, window) if s.messages)
        if depth < self._depth:
            return Context(
                sections=sections, rank=lambda: self._ids(archive, query.text, self._depth)
            )
        return Context(sections=sections, ranking=ranking[: self._depth])

    def forget(self, request: Forget) -> ForgetOutcome:
        archive = self._archives.of(request.principal)
        ids = requested_message(request.text, request.sources, archive.log.own(request.principal))
        return ForgetOutcome(supported=True, removed=tuple(m.id for m in archive.remove(ids)))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for archive in self._archives.visible(viewer):
            for message in archive.log:
                yield Surface(tier="index", sources=(message.id,), text=message.text)

    def locate(self, source: str, query: Query) -> Location | None:
        archive = self._archives.seen_by(query.principal)
        if source not in archive.log:
            return None
        latest = archive.log.section(archive.log.tokens, last=self._window)
        if source in latest.verbatim:
            shown = source in self.context(query).verbatim
            return Location(tier="window", detail="" if shown else "over budget")
        # Scores are scaled by all that was looked at: a rank within the depth is told as it was.
        depths = (self._depth, len(archive.log))
        hits = (h for depth in depths for h in self._ranking(archive, query.text, depth))
        ids = list(dict.fromkeys(h.id for h in hits))
        if source not in ids:
            return Location(tier="index", detail="nothing in common with the question")
        rank = ids.index(source) + 1
        return Location(tier="index", rank=rank, detail=f"rank {rank}, k {self._k}")

    def save(self) -> State:
        return {"archives": self._archives.save()}

    def load(self, state: State) -> None:
        before = tuple(self._archives)
        self._archives.load(part(state, "archives"))
        for archive in before:
            archive.close()

    def close(self) -> None:
        for archive in self._archives:
            archive.close()


class Bm25(_Retrieval):
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
        scope: Scope = "shared",
    ) -> None:
        super().__init__(env, k=k, window=window, depth=depth, scope=scope)
        if words not in ANALYSERS:
            raise ValueError(f"words is {words!r}: it is {' or '.join(map(repr, ANALYSERS))}")
        self._words = words

    def _rankers(self) -> Sequence[Ranker]:
        return (WordIndex(ANALYSERS[self._words]),)

    def _needed(self, shown: int) -> int:
        return min(self._depth, self._k + shown)


class Vector(_Retrieval):
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
        store: Store = "numpy",
        scope: Scope = "shared",
    ) -> None:
        super().__init__(env, k=k, window=window, depth=depth, scope=scope)
        _check_store(store)
        self._store = store

    def _rankers(self) -> Sequence[Ranker]:
        store = ChromaVectors() if self._store == "chroma" else None
        return (VectorIndex(self.env.embed, store),)

    def _needed(self, shown: int) -> int:
        return min(self._depth, self._k + shown)


class Hybrid(_Retrieval):
    """Finds earlier messages by their words and by their meaning, and makes one ranking of both.

    Args:
        k: earlier messages that are quoted, as far as they fit.
        window: latest messages that are always there.
        depth: messages that are ranked, by each and in the end.
        fusion: `zscore` adds scores in standard deviations; `weights` adds scores scaled to 0..1;
            `rrf` adds reciprocal ranks.
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
        store: Store = "numpy",
        scope: Scope = "shared",
    ) -> None:
        super().__init__(env, k=k, window=window, depth=depth, scope=scope)
        _check_store(store)
        if fusion not in {"zscore", "weights", "rrf"}:
            raise ValueError(f"fusion is {fusion!r}: it is 'zscore', 'weights' or 'rrf'")
        for name, value in (("lexical", lexical), ("neighbours", neighbours)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} is {value}: 0 to 1")
        self._store, self._fusion = store, fusion
        self._weights, self._neighbours = (lexical, 1 - lexical), neighbours

    def _rankers(self) -> Sequence[Ranker]:
        store = ChromaVectors() if self._store == "chroma" else None
        return (WordIndex(), VectorIndex(self.env.embed, store))

    def _ranking(self, archive: Archive, text: str, depth: int) -> list[Hit]:
        order = archive.log.place
        found = [ranker.search(text, depth) for ranker in archive.rankers]
        if self._neighbours:
            found = [
                with_neighbours(hits, archive.log.beside, order, share=self._neighbours)
                for hits in found
            ]
        if self._fusion == "rrf":
            return reciprocal_ranks(found, order, weights=self._weights)
        scaling: Literal["zscore", "minmax"] = "zscore" if self._fusion == "zscore" else "minmax"
        return weighted_scores(found, order, weights=self._weights, scaling=scaling)


def _check_store(store: str) -> None:
    if store not in {"numpy", "chroma"}:
        raise ValueError(f"store is {store!r}: it is 'numpy' or 'chroma'")
