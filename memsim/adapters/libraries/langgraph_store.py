"""LangGraph's store: each message is an item of its user, found by the meaning of its text."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pysqlite3

sys.modules["sqlite3"] = pysqlite3  # its own may load no vectors

from langgraph.store.sqlite import SqliteStore  # noqa: E402 - uses the module above


class LangGraphStore:
    """A `SqliteStore` with an index of vectors."""

    PACKAGE = "langgraph-checkpoint-sqlite"
    SOURCES = True

    def __init__(
        self, options: dict[str, Any], embed: Callable[[list[str]], list[list[float]]]
    ) -> None:
        dimension = len(embed(["text"])[0])
        self._file = pysqlite3.connect(
            f"{options['folder']}/store.sqlite", isolation_level=None, check_same_thread=False
        )
        self._store = SqliteStore(
            self._file, index={"embed": embed, "dims": dimension, "fields": ["text"]}
        )
        self._store.setup()

    def add(self, message: dict[str, Any]) -> None:
        """Put an item into the namespace of the user."""
        if message["text"].strip():
            value = {"text": message["text"], "time": message["time"]}
            self._store.put(namespace(message["principal"]), message["id"], value)

    def search(self, question: dict[str, Any]) -> list[dict[str, Any]]:
        """The items that are nearest to the question."""
        place = namespace(question["principal"])
        found = self._store.search(place, query=question["question"], limit=question["k"])
        return [{**item.value, "sources": [item.key], "score": item.score} for item in found]

    def delete(self, principal: str, ids: list[str]) -> list[str]:
        """Delete items by their keys."""
        place = namespace(principal)
        there = [key for key in ids if self._store.get(place, key) is not None]
        for key in there:
            self._store.delete(place, key)
        return there

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def namespace(principal: str) -> tuple[str, str]:
    """Where the items of a user are; the library allows no full stop in a label."""
    return ("memories", principal.replace("%", "%25").replace(".", "%2E"))


MEMORY = LangGraphStore
