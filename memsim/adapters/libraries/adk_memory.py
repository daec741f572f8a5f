"""Google ADK's memory service in RAM: each message is an event, found by the words it shares."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from google.adk.events import Event
from google.adk.memory import InMemoryMemoryService
from google.genai.types import Content, Part

APP = "memsim"


class AdkMemory:
    """An `InMemoryMemoryService`, the one that needs no cloud."""

    PACKAGE = "google-adk"
    SOURCES = True

    def __init__(
        self, _options: dict[str, Any], _embed: Callable[[list[str]], list[list[float]]]
    ) -> None:
        self._memory = InMemoryMemoryService()
        self._ids: dict[str, dict[str, None]] = {}

    async def add(self, message: dict[str, Any]) -> None:
        """Add an event to the user's memory."""
        if not message["text"].strip():
            return
        role = "model" if message["role"] == "assistant" else "user"
        event = Event(
            id=message["id"],
            author=message["role"],
            content=Content(role=role, parts=[Part(text=message["text"])]),
            timestamp=datetime.fromisoformat(message["time"]).timestamp(),
        )
        user, session = message["principal"], message["session"]
        await self._memory.add_events_to_memory(
            app_name=APP, user_id=user, events=[event], session_id=session
        )
        self._ids.setdefault(user, {})[message["id"]] = None

    async def search(self, question: dict[str, Any]) -> list[dict[str, Any]]:
        """Events that share words with the question; the service returns ten at most."""
        found = await self._memory.search_memory(
            app_name=APP, user_id=question["principal"], query=question["question"]
        )
        return [
            {"text": "".join(part.text or "" for part in each.content.parts), "sources": [each.id]}
            for each in found.memories
        ]

    async def delete(self, principal: str, ids: list[str]) -> list[str]:
        """Delete events by their ids."""
        there = [key for key in ids if key in self._ids.get(principal, {})]
        for key in there:
            await self._memory.delete_memory(app_name=APP, user_id=principal, memory_id=key)
            del self._ids[principal][key]
        return there


MEMORY = AdkMemory
