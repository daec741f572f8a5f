"""Finding messages by what they mean: embeddings, made when they are needed, and their nearest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from memsim.memory.index.forms import DocumentForms
from memsim.memory.index.nearest_vectors import NearestVectors, products

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memsim.memory.index import Hit
    from memsim.memory.index.forms import Numbers, Scores
    from memsim.models import Embedder, Vectors

BATCH = 64
"""Texts that are embedded together at the latest."""


class VectorStore(Protocol):
    """Where vectors are kept and searched; forms are numbers that only grow."""

    def __len__(self) -> int:
        """How many there are."""
        ...

    def add(self, forms: Sequence[int], vectors: Vectors) -> None:
        """Take unit vectors in, one for each form, shape (len(forms), dimension)."""
        ...

    def remove(self, form: int) -> None:
        """Take a vector out."""
        ...

    def search(self, query: Vectors, k: int) -> tuple[Numbers, Scores]:
        """Candidates for the best `k`, with their scores."""
        ...

    def all(self) -> tuple[Numbers, Vectors]:
        """Every form, with its vector."""
        ...

    def close(self) -> None:
        """Release what is held open."""
        ...


class VectorIndex:
    """An index of texts by their embeddings; a score is the cosine.

    Texts without any character but blanks are never found.
    """

    def __init__(self, embed: Callable[[], Embedder], store: VectorStore | None = None) -> None:
        self._embed = embed
        self._embedder: Embedder | None = None
        self._store = NearestVectors() if store is None else store
        self._forms: DocumentForms[str] = DocumentForms()
        self._waiting: dict[int, str] = {}
        self._asked: tuple[str, Vectors] | None = None

    def __len__(self) -> int:
        return len(self._forms)

    def __contains__(self, source: object) -> bool:
        return source in self._forms

    def add(self, source: str, text: str) -> None:
        """Take a document in. Raises `ValueError` if the id is there already."""
        form, _, new = self._forms.add(source, text)
        if new and text.strip():
            self._waiting[form] = text
            if len(self._waiting) >= BATCH:
                self._embed_waiting()

    def remove(self, source: str) -> bool:
        """Take a document out; false when it was not there."""
        if source not in self._forms:
            return False
        form, text, gone = self._forms.remove(source)
        if gone and text.strip() and self._waiting.pop(form, None) is None:
            self._store.remove(form)
        return True

    def search(self, query: str, k: int) -> list[Hit]:
        """The best `k` documents, best first, ties to the earlier."""
        self._embed_waiting()
        if k <= 0 or not query.strip() or not len(self._store):
            return []
        forms, scores = self._store.search(self._query(query), k)
        return self._forms.best(forms, scores, k)

    def ranking(self, query: str) -> list[Hit]:
        """Every document, best first, ties to the earlier; those never found score 0."""
        self._embed_waiting()
        forms, vectors = self._store.all()
        scores = np.zeros(self._forms.numbered)
        if query.strip() and len(forms):
            scores[forms] = products(self._query(query), vectors)
        return self._forms.all(scores)

    def rank_of(self, source: str, query: str) -> int | None:
        """A document's place in the ranking, from 1; None where it is never found."""
        ids = (hit.id for hit in self.ranking(query))
        if not query.strip() or source not in self._forms:
            return None
        return next(rank for rank, found in enumerate(ids, 1) if found == source)

    def close(self) -> None:
        """Release the store."""
        self._store.close()

    def _query(self, text: str) -> Vectors:
        if self._asked is None or self._asked[0] != text:
            self._asked = (text, self._vectors([text])[0])
        return self._asked[1]

    def _vectors(self, texts: list[str]) -> Vectors:
        if self._embedder is None:
            self._embedder = self._embed()
        return self._embedder.embed(texts)

    def _embed_waiting(self) -> None:
        if self._waiting:
            forms, texts = list(self._waiting), list(self._waiting.values())
            self._store.add(forms, self._vectors(texts))
            self._waiting.clear()
