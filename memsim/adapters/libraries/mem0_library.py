"""mem0: facts that a model extracts from each turn, or the messages themselves (infer off)."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

os.environ["MEM0_TELEMETRY"] = "False"  # before mem0 is imported

from mem0 import Memory


class Mem0Library:
    """The open-source `mem0.Memory`, with Qdrant and SQLite in files."""

    PACKAGE = "mem0ai"
    SOURCES = True

    def __init__(
        self, options: dict[str, Any], embed: Callable[[list[str]], list[list[float]]]
    ) -> None:
        dimension = len(embed(["text"])[0])
        models = {"model": "memsim", "api_key": "memsim", "openai_base_url": options["models"]}
        folder = options["folder"]
        vectors = {
            "embedding_model_dims": dimension,
            "path": f"{folder}/qdrant",
            "on_disk": True,  # otherwise it begins with an empty folder
        }
        self._infer: bool = options["infer"]
        self._turn: dict[str, list[dict[str, Any]]] = {}
        self._memory = Memory.from_config(
            {
                "llm": {"provider": "openai", "config": models},
                "embedder": {"provider": "openai", "config": models},
                "vector_store": {"provider": "qdrant", "config": vectors},
                "history_db_path": f"{folder}/history.sqlite",
            }
        )

    def add(self, message: dict[str, Any]) -> None:
        """Add a message at once, or note it for the end of its turn."""
        if not message["text"].strip():
            return
        self._turn.setdefault(message["principal"], []).append(message)
        if not self._infer:
            self.end_turn()

    def end_turn(self) -> None:
        """Add what was said in the turn."""
        for user, messages in self._turn.items():
            ids = [m["id"] for m in messages]
            said = [{"role": m["role"], "content": m["text"]} for m in messages]
            self._memory.add(said, user_id=user, infer=self._infer, metadata={"messages": ids})
        self._turn = {}

    def search(self, question: dict[str, Any]) -> list[dict[str, Any]]:
        """Memories that are near to the question."""
        found = self._memory.search(
            question["question"], top_k=question["k"], filters={"user_id": question["principal"]}
        )
        return [
            {"text": each["memory"], "sources": sources(each), "score": each["score"]}
            for each in found["results"]
        ]

    def delete(self, principal: str, ids: list[str]) -> list[str]:
        """Delete the memories that were made of these messages."""
        every = self._memory.get_all(filters={"user_id": principal}, top_k=100_000)["results"]
        made = [each for each in every if not set(ids).isdisjoint(sources(each))]
        for each in made:
            self._memory.delete(each["id"])
        there = {source for each in made for source in sources(each)}
        return [each for each in ids if each in there]

    def close(self) -> None:
        """Release the files."""
        self._memory.close()


def sources(found: dict[str, Any]) -> list[str]:
    """The messages of which a memory was made."""
    ids: list[str] = (found.get("metadata") or {}).get("messages", [])
    return ids


MEMORY = Mem0Library
