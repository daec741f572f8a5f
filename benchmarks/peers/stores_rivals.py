"""What memsim's stores are measured beside: mem0, llama-index, langgraph, and numpy alone.

Each is used as its own documentation does for raw texts, without a language model, in the fastest
way that it has for turns which come one by one, and with the embedder that memsim's stores have.
"""

from __future__ import annotations

import logging
import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.models import Embedder

USER = "user"


class Numpy:
    """A matrix that doubles, and a list: what any vector search has to be compared with."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._embedder = embedder
        self._texts: list[str] = []
        self._rows = np.zeros((1024, embedder.dimension), np.float32)

    def add(self, text: str) -> None:
        """Take one turn in."""
        if len(self._texts) == len(self._rows):
            self._rows = np.concatenate((self._rows, np.zeros_like(self._rows)))
        self._rows[len(self._texts)] = self._embedder.embed([text])[0]
        self._texts.append(text)

    def fill(self, texts: Sequence[str]) -> None:
        """Take turns in."""
        for text in texts:
            self.add(text)

    def search(self, text: str, k: int) -> list[str]:
        """The texts nearest to a question."""
        scores = self._rows[: len(self._texts)] @ self._embedder.embed([text])[0]
        best = np.argpartition(-scores, min(k, len(scores) - 1))[:k]
        return [self._texts[n] for n in best[np.argsort(-scores[best])]]

    def close(self) -> None:
        """There is nothing to release."""


class Langgraph:
    """langgraph's store in memory, with an index."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        from langgraph.store.memory import InMemoryStore

        self._place = ("memories", USER)
        self._turns = 0
        self._store: Any = InMemoryStore(
            index={
                "dims": embedder.dimension,
                "embed": lambda texts: embedder.embed(list(texts)).tolist(),
                "fields": ["text"],
            }
        )

    def add(self, text: str) -> None:
        """Take one turn in."""
        self._turns += 1
        self._store.put(self._place, f"turn-{self._turns}", {"text": text})

    def fill(self, texts: Sequence[str]) -> None:
        """Take turns in."""
        for text in texts:
            self.add(text)

    def search(self, text: str, k: int) -> list[str]:
        """The texts nearest to a question."""
        found = self._store.search(self._place, query=text, limit=k)
        return [item.value["text"] for item in found]

    def close(self) -> None:
        """There is nothing to release."""


class LlamaIndex:
    """llama-index's index of nodes over its own store of vectors, without the memory around it."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        from llama_index.core import VectorStoreIndex
        from llama_index.core.embeddings import BaseEmbedding
        from llama_index.core.schema import TextNode

        class Embedding(BaseEmbedding):
            def _get_text_embedding(self, text: str) -> list[float]:
                found: list[float] = embedder.embed([text])[0].tolist()
                return found

            _get_query_embedding = _get_text_embedding

            async def _aget_query_embedding(self, query: str) -> list[float]:
                return self._get_text_embedding(query)

        self._node = TextNode
        self._index: Any = VectorStoreIndex([], embed_model=Embedding(model_name="same"))

    def add(self, text: str) -> None:
        """Take one turn in."""
        self.fill([text])

    def fill(self, texts: Sequence[str]) -> None:
        """Take turns in, together."""
        self._index.insert_nodes([self._node(text=text) for text in texts])

    def search(self, text: str, k: int) -> list[str]:
        """The texts nearest to a question."""
        # A retriever sees what was there when it was made, so each question needs a new one.
        retriever = self._index.as_retriever(similarity_top_k=k)
        return [found.node.text for found in retriever.retrieve(text)]

    def close(self) -> None:
        """There is nothing to release."""


class Mem0:
    """mem0 with `infer=False`: no model is asked, and each turn is kept as it is.

    Args:
        folder: where it keeps its files.
        embedder: what takes the place of its own.
        provider: the store of vectors: qdrant or faiss.
    """

    def __init__(self, folder: Path, embedder: Embedder, provider: str) -> None:
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ["MEM0_DIR"] = str(folder / "mem0")
        os.environ.setdefault("OPENAI_API_KEY", "never asked")
        logging.disable(logging.WARNING)
        from mem0 import Memory

        place = {"path": str(folder / "vectors"), "collection_name": "turns"}
        special = {"on_disk": True} if provider == "qdrant" else {"distance_strategy": "cosine"}
        config = {**place, "embedding_model_dims": embedder.dimension, **special}
        self._folder, self._embedder = folder, embedder
        self._memory: Any = Memory.from_config(
            {
                "vector_store": {"provider": provider, "config": config},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = self

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """What mem0 asks its embedder for."""
        found: list[float] = self._embedder.embed([text])[0].tolist()
        return found

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        """What mem0 asks its embedder for, of several texts."""
        found: list[list[float]] = self._embedder.embed(texts).tolist()
        return found

    def add(self, text: str) -> None:
        """Take one turn in."""
        self._memory.add(text, user_id=USER, infer=False)

    def fill(self, texts: Sequence[str]) -> None:
        """Take turns in past mem0's own `add`, which takes them one by one only."""
        self._memory.vector_store.insert(
            vectors=self._embedder.embed(texts).tolist(),
            payloads=[{"data": text, "user_id": USER} for text in texts],
            ids=[str(uuid.uuid4()) for _ in texts],
        )

    def search(self, text: str, k: int) -> list[str]:
        """The texts that it finds for a question."""
        found = self._memory.search(text, filters={"user_id": USER}, top_k=k)
        return [item["memory"] for item in found["results"]]

    def kept(self) -> int:
        """Bytes of its files."""
        return sum(p.stat().st_size for p in self._folder.rglob("*") if p.is_file())

    def close(self) -> None:
        """Release its files."""
        self._memory.close()
