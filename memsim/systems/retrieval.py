"""The base of strategies that show the latest messages, and earlier ones found by a ranking."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Literal
from weakref import ref

from memsim.context import Context
from memsim.memory.codec import part
from memsim.memory.forget_request import requested_message
from memsim.memory.history.window import Archive
from memsim.memory.index import Hit, Ranker
from memsim.memory.index.chroma_vectors import ChromaVectors
from memsim.memory.index.vector_index import VectorIndex
from memsim.memory.recall.search import Recollection
from memsim.memory.scope import MemoryScopes
from memsim.message import Message
from memsim.models import Embedder
from memsim.strategy import (
    Environment,
    Forget,
    ForgetOutcome,
    Location,
    Query,
    State,
    Strategy,
    Surface,
)

Scope = Literal["shared", "principal"]
VectorStoreKind = Literal["numpy", "chroma"]


class Retrieval(Strategy):
    """A log of everything, the latest of it, and what a ranking finds in the rest."""

    def __init__(self, env: Environment, *, k: int, window: int, depth: int, scope: Scope) -> None:
        super().__init__(env)
        for name, value in (("k", k), ("window", window), ("depth", depth)):
            if value < 1:
                raise ValueError(f"{name} is {value}: at least 1")
        self._k, self._window, self._depth = k, window, max(depth, k + window)
        # A strategy in a circle would keep all that it holds after its case.
        weak = ref(self)
        self._archives = MemoryScopes(scope, lambda: _new_archive(weak))
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
        # The model is given the question as a whole beside this, and no part of it here.
        others = (m for i in ranking if i not in shown for m in (archive.log.get(i),))
        best = [m for m in others if (m.turn, m.text) != (query.turn, query.text)][: self._k]
        recalled = self._lines.section(
            best,
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


def _new_archive(strategy: ref[Retrieval]) -> Archive:
    made = strategy()
    assert made is not None  # noqa: S101 - it asks for an archive of its own
    return Archive(made.env.counter, *made._rankers())  # noqa: SLF001 - as above


def vector_index(embed: Callable[[], Embedder], store: VectorStoreKind) -> VectorIndex:
    """An empty index of vectors in a store, as `vector` and `hybrid` rank by it."""
    return VectorIndex(embed, ChromaVectors() if store == "chroma" else None)


def check_store(store: str) -> None:
    """Refuse a store that is not known.

    Raises:
        ValueError: it is not known.
    """
    if store not in {"numpy", "chroma"}:
        raise ValueError(f"store is {store!r}: it is 'numpy' or 'chroma'")
