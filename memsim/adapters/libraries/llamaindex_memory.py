"""LlamaIndex's Memory: the latest messages, and a block of vectors for those that leave them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import chromadb
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory, VectorMemoryBlock
from llama_index.vector_stores.chroma import ChromaVectorStore
from pydantic import PrivateAttr

Embed = Callable[[list[str]], list[list[float]]]
_RETRIEVED = re.compile(r"<message role='\w+'>(.*?)</message>", re.DOTALL)


class LlamaindexMemory:
    """A `Memory` with a `VectorMemoryBlock` for each user; it offers no deletion."""

    PACKAGE = "llama-index-core"
    SOURCES = False

    def __init__(self, options: dict[str, Any], embed: Embed) -> None:
        self._options, self._embedder = options, LlamaindexEmbedder(embed)
        self._vectors = ChromaVectorStore(
            chroma_collection=chromadb.PersistentClient(
                f"{options['folder']}/chroma"
            ).get_or_create_collection("memory")
        )
        self._memories: dict[str, Memory] = {}

    async def add(self, message: dict[str, Any]) -> None:
        """Put a message; the oldest go to the block when there are too many."""
        if message["text"].strip():
            role = "assistant" if message["role"] == "assistant" else "user"
            await self._of(message["principal"]).aput(
                ChatMessage(role=role, content=message["text"])
            )

    async def search(self, question: dict[str, Any]) -> list[dict[str, Any]]:
        """What the memory would send: retrieved messages, and then the latest ones."""
        sent = await self._of(question["principal"]).aget(input=question["question"])
        blocks = (m.content or "" for m in sent if m.role == "system")
        retrieved = [text for block in blocks for text in _RETRIEVED.findall(block)]
        latest = [m.content or "" for m in reversed(sent) if m.role != "system"]
        return [{"text": text} for text in (*retrieved, *latest) if text.strip()]

    def _of(self, principal: str) -> Memory:
        if principal not in self._memories:
            block = VectorMemoryBlock(
                vector_store=self._vectors,
                embed_model=self._embedder,
                similarity_top_k=self._options["k"],
            )
            self._memories[principal] = Memory.from_defaults(
                session_id=principal,
                token_limit=self._options["tokens"],
                token_flush_size=self._options["tokens"] // 10,
                memory_blocks=[block],
                async_database_uri=f"sqlite+aiosqlite:///{self._options['folder']}/chat.sqlite",
            )
        return self._memories[principal]


class LlamaindexEmbedder(BaseEmbedding):  # type: ignore[misc]  # LlamaIndex is not read by mypy
    """The embedder of the run, as LlamaIndex asks for it."""

    _embed: Embed = PrivateAttr()

    def __init__(self, embed: Embed) -> None:
        super().__init__(model_name="memsim")
        self._embed = embed

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._embed([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embed([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._embed([query])[0]


MEMORY = LlamaindexMemory
