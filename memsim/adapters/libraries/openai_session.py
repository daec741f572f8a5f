"""The session of OpenAI's Agents SDK: the latest items of a user, which it cannot search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents import SQLiteSession


class OpenaiSession:
    """A `SQLiteSession` for each user; it erases its latest item or all, and nothing else."""

    PACKAGE = "openai-agents"
    SOURCES = True

    def __init__(
        self, options: dict[str, Any], _embed: Callable[[list[str]], list[list[float]]]
    ) -> None:
        self._folder: str = options["folder"]
        self._sessions: dict[str, SQLiteSession] = {}

    async def add(self, message: dict[str, Any]) -> None:
        """Add an item."""
        if message["text"].strip():
            role = "assistant" if message["role"] == "assistant" else "user"
            item = {"id": message["id"], "role": role, "content": message["text"]}
            await self._of(message["principal"]).add_items([item])

    async def search(self, question: dict[str, Any]) -> list[dict[str, Any]]:
        """The latest items, whatever the question is; the newest comes first."""
        items = await self._of(question["principal"]).get_items(limit=question["k"])
        return [{"text": item["content"], "sources": [item["id"]]} for item in reversed(items)]

    def close(self) -> None:
        """Close the files."""
        for session in self._sessions.values():
            session.close()

    def _of(self, principal: str) -> SQLiteSession:
        if principal not in self._sessions:
            file = f"{self._folder}/sessions.sqlite"
            self._sessions[principal] = SQLiteSession(principal, file)
        return self._sessions[principal]


MEMORY = OpenaiSession
