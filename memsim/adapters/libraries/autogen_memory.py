"""AutoGen's memory of vectors in Chroma: each message is a document of its user."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_ext.memory.chromadb import (
    ChromaDBVectorMemory,
    CustomEmbeddingFunctionConfig,
    PersistentChromaDBVectorMemoryConfig,
)
from chromadb import EmbeddingFunction

Embed = Callable[[list[str]], list[list[float]]]


class AutogenMemory:
    """A `ChromaDBVectorMemory` for each user; it offers no deletion of single entries."""

    PACKAGE = "autogen-ext"
    SOURCES = True

    def __init__(self, options: dict[str, Any], embed: Embed) -> None:
        self._options, self._embed = options, embed
        self._memories: dict[str, ChromaDBVectorMemory] = {}

    async def add(self, message: dict[str, Any]) -> None:
        """Add a document."""
        if message["text"].strip():
            await self._of(message["principal"]).add(
                MemoryContent(
                    content=message["text"],
                    mime_type=MemoryMimeType.TEXT,
                    metadata={"message": message["id"], "role": message["role"]},
                )
            )

    async def search(self, question: dict[str, Any]) -> list[dict[str, Any]]:
        """Documents that are near to the question."""
        found = await self._of(question["principal"]).query(question["question"])
        return [
            {
                "text": each.content,
                "sources": [each.metadata["message"]],
                "score": each.metadata["score"],
            }
            for each in found.results
        ]

    def _of(self, principal: str) -> ChromaDBVectorMemory:
        if principal not in self._memories:
            embedding = CustomEmbeddingFunctionConfig(function=lambda: ChromaEmbedder(self._embed))
            self._memories[principal] = ChromaDBVectorMemory(
                PersistentChromaDBVectorMemoryConfig(
                    collection_name=f"user-{sha256(principal.encode()).hexdigest()[:32]}",
                    persistence_path=f"{self._options['folder']}/chroma",
                    k=self._options["k"],
                    embedding_function_config=embedding,
                )
            )
        return self._memories[principal]


class ChromaEmbedder(EmbeddingFunction):  # type: ignore[misc]  # Chroma is not read by mypy
    """The embedder of the run, as Chroma asks for it."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed

    def __call__(self, input: list[str]) -> list[list[float]]:  # noqa: A002 - Chroma's name
        """Make a vector of each text."""
        return self._embed([*input])

    @staticmethod
    def name() -> str:
        """By this Chroma knows the embedder again after a restart."""
        return "memsim"


MEMORY = AutogenMemory
