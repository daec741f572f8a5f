"""Vectors in Chroma, for those who run it: written in batches, found by its HNSW graph.

Chroma inserts a batch in parallel and in an order of its own, so two processes hold different
graphs, and a graph search may miss a near vector. Both are held down, not removed: the graph is
dense, it is asked for more than is wanted, and what it brings up is scored anew, exactly.

It keeps only so many collections in memory at once, about a tenth of the files that a process may
open, and answers for the others as if they were empty. So a collection goes as soon as nobody holds
its store, and an answer that is short is an error, never a result.
"""

from __future__ import annotations

import itertools
import os
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from memsim.errors import StoreError
from memsim.memory.index.nearest_vectors import closest, products

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memsim.memory.index.forms import Numbers, Scores
    from memsim.models import Vectors

BATCH = 512
"""Vectors that wait in memory, searched exactly, until they are written together."""

GRAPH = {"space": "ip", "ef_construction": 200, "max_neighbors": 32, "ef_search": 1024}
WIDER, LEAST = 4, 128
"""Times as many candidates as are wanted, and at least so many: up to that, every vector is one."""

_numbers = itertools.count()


class ChromaVectors:
    """Vectors in a collection of its own in this process's Chroma, gone when it is closed."""

    def __init__(self) -> None:
        self._collection: Any = None
        self._delete: Any = None
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
        """Candidates for the best `k`, with their scores.

        Raises `StoreError` if Chroma has dropped vectors that were written to it.
        """
        near = closest(query, *self._waiting(len(query)), k)
        if not self._written:
            return near
        wanted = min(len(self._written), max(LEAST, WIDER * k))
        found = self._collection.query(
            query_embeddings=[query], n_results=wanted, include=["embeddings"]
        )
        forms, vectors = _rows(found["ids"][0], found["embeddings"][0])
        if len(forms) < wanted:
            # Part of the graph cannot be reached, or all of it is gone.
            forms, vectors = self._stored()
        scores = products(query, vectors)
        return np.concatenate((near[0], forms)), np.concatenate((near[1], scores))

    def all(self) -> tuple[Numbers, Vectors]:
        """Every form, with its vector.

        Raises `StoreError` if Chroma has dropped vectors that were written to it.
        """
        forms, vectors = _rows(list(self._tail), list(self._tail.values()))
        if not self._written:
            return forms, vectors
        stored = self._stored()
        if not self._tail:
            return stored
        return np.concatenate((forms, stored[0])), np.concatenate((vectors, stored[1]))

    def close(self) -> None:
        """Delete the collection."""
        if self._collection is not None:
            self._delete()
            self._collection = self._delete = None
        self._written.clear()
        self._tail.clear()

    def _waiting(self, dimension: int) -> tuple[Numbers, Vectors]:
        if not self._tail:
            return _rows([], np.empty((0, dimension), np.float32))
        return _rows(list(self._tail), list(self._tail.values()))

    def _stored(self) -> tuple[Numbers, Vectors]:
        from chromadb.errors import InternalError

        try:
            found = self._collection.get(include=["embeddings"])
        except InternalError:
            found = {"ids": [], "embeddings": []}
        if len(found["ids"]) < len(self._written):
            raise StoreError(
                f"Chroma has {len(found['ids'])} of {len(self._written)} vectors left: too many "
                "strategies with store=chroma are open in one process; raise the limit of open "
                "files (ulimit -n), or close some"
            )
        return _rows(found["ids"], found["embeddings"])

    def _flush(self) -> None:
        if self._collection is None:
            # One process has one such Chroma, whoever asks for it: only the name keeps cases apart.
            name = f"memsim-{os.getpid()}-{next(_numbers)}"
            self._collection = _client().create_collection(
                name, configuration={"hnsw": GRAPH}, embedding_function=None
            )
            self._delete = weakref.finalize(self, _client().delete_collection, name)
            self._delete.atexit = False
        ids = [str(form) for form in self._tail]
        self._collection.add(ids=ids, embeddings=np.stack(list(self._tail.values())))
        self._written.update(self._tail)
        self._tail.clear()


def _rows(
    ids: Iterable[int | str],
    vectors: Any,  # noqa: ANN401 - Chroma's type would import it
) -> tuple[Numbers, Vectors]:
    rows = np.asarray(vectors, np.float32)
    rows = rows if rows.ndim > 1 else np.empty((0, 0), np.float32)
    return np.array([int(i) for i in ids], np.int64), rows


def _client() -> Any:  # noqa: ANN401 - its type would import it
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    import chromadb

    return chromadb.EphemeralClient()
