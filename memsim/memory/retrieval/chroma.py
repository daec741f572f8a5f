"""Vectors in Chroma, for those who run it: written in batches, found by its HNSW graph.

Chroma inserts a batch in parallel and in an order of its own, so two processes hold different
graphs, and a graph search may miss a near vector. Both are held down, not removed: the graph is
dense, it is asked for more than is wanted, and what it brings up is scored anew, exactly.
"""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from memsim.memory.retrieval.nearest import closest, products

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.memory.retrieval.forms import Numbers, Scores
    from memsim.models import Vectors

BATCH = 512
"""Vectors that wait in memory, searched exactly, until they are written together."""

GRAPH = {"space": "ip", "ef_construction": 200, "max_neighbors": 32, "ef_search": 1024}
WIDER = 4
"""Times as many candidates as are wanted."""

_numbers = itertools.count()


class ChromaStore:
    """Vectors in a collection of its own in this process's Chroma, gone when it is closed."""

    def __init__(self) -> None:
        self._collection: Any = None
        self._written: set[int] = set()
        self._tail: dict[int, Vectors] = {}

    def __len__(self) -> int:
        return len(self._written) + len(self._tail)

    def add(self, forms: Sequence[int], vectors: Vectors) -> None:
        """Take unit vectors in, one for each form, shape (len(forms), dimension)."""
        for form, vector in zip(forms, vectors, strict=True):
            self._tail[form] = vector
            if len(self._tail) >= BATCH:
                self._flush()

    def remove(self, form: int) -> None:
        """Take a vector out."""
        if self._tail.pop(form, None) is None:
            self._written.discard(form)
            self._collection.delete(ids=[str(form)])

    def search(self, query: Vectors, k: int) -> tuple[Numbers, Scores]:
        """Candidates for the best `k`, with their scores."""
        near = closest(query, *self._waiting(len(query)), k)
        if not self._written:
            return near
        wanted = min(len(self._written), WIDER * k)
        found = self._collection.query(
            query_embeddings=[query], n_results=wanted, include=["embeddings"]
        )
        forms = np.array([int(i) for i in found["ids"][0]], np.int64)
        scores = products(query, np.asarray(found["embeddings"][0], np.float32))
        return np.concatenate((near[0], forms)), np.concatenate((near[1], scores))

    def all(self) -> tuple[Numbers, Vectors]:
        """Every form, with its vector."""
        forms, vectors = list(self._tail), list(self._tail.values())
        if self._written:
            found = self._collection.get(include=["embeddings"])
            forms += [int(i) for i in found["ids"]]
            vectors += list(np.asarray(found["embeddings"], np.float32))
        rows = np.stack(vectors) if vectors else np.empty((0, 0), np.float32)
        return np.array(forms, np.int64), rows

    def close(self) -> None:
        """Delete the collection."""
        if self._collection is not None:
            _client().delete_collection(self._collection.name)
            self._collection = None
        self._written.clear()
        self._tail.clear()

    def _waiting(self, dimension: int) -> tuple[Numbers, Vectors]:
        rows = list(self._tail.values())
        vectors = np.stack(rows) if rows else np.empty((0, dimension), np.float32)
        return np.array(list(self._tail), np.int64), vectors

    def _flush(self) -> None:
        if self._collection is None:
            # One process has one such Chroma, whoever asks for it: only the name keeps cases apart.
            name = f"memsim-{os.getpid()}-{next(_numbers)}"
            self._collection = _client().create_collection(
                name, configuration={"hnsw": GRAPH}, embedding_function=None
            )
        ids = [str(form) for form in self._tail]
        self._collection.add(ids=ids, embeddings=np.stack(list(self._tail.values())))
        self._written.update(self._tail)
        self._tail.clear()


def _client() -> Any:  # noqa: ANN401 - its type would import it
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    import chromadb

    return chromadb.EphemeralClient()
