"""The optional data plane beside AgenticX's files, as Mem0 has it: facts by a model, by meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memsim.memory.codec import JSON, reading
from memsim.memory.scope import ScopedPart
from memsim.message import Message
from memsim.models import Embedder, Model, Request, provenance
from memsim.systems.agenticx.prompts import EXTRACTION

if TYPE_CHECKING:
    from memsim.memory.index.vector_index import VectorIndex

MOST_STATEMENTS = 5


class Mem0Facts(ScopedPart):
    """Statements that a model extracted from what users said, found by meaning."""

    def __init__(self, model: Model, embed: Callable[[], Embedder]) -> None:
        self._model = model
        self._embed = embed
        self._sources: dict[str, tuple[str, ...]] = {}
        self._index: VectorIndex | None = None

    def add(self, messages: Sequence[Message], now: datetime) -> None:
        """Take in what users said in a turn. Raises ModelError where the model failed."""
        said = tuple(m for m in messages if m.role == "user")
        if not said:
            return
        request = Request(task="extract", messages=said, now=now, prompt=EXTRACTION)
        reply = self._model.complete(request)
        origins = provenance(reply, {}) or {}
        everything = tuple(m.id for m in said)
        for line in filter(None, map(str.strip, reply.text.splitlines())):
            self._keep(line, origins.get(line, reply.sources or everything))

    def search(self, query: str) -> list[tuple[str, tuple[str, ...]]]:
        """The statements nearest to a query, each with the messages that it came from."""
        if not self._sources:
            return []
        hits = self._vectors().search(query, MOST_STATEMENTS)
        return [(hit.id, self._sources[hit.id]) for hit in hits]

    def statements(self) -> list[tuple[str, tuple[str, ...]]]:
        """All of them, oldest first, with the messages that they came from."""
        return list(self._sources.items())

    def forget(self, ids: frozenset[str]) -> None:
        """Erase what came from messages."""
        for line in [n for n, sources in self._sources.items() if not ids.isdisjoint(sources)]:
            del self._sources[line]
            if self._index is not None:
                self._index.remove(line)

    def close(self) -> None:
        """Release the index."""
        if self._index is not None:
            self._index.close()

    def save(self) -> JSON:
        return {
            "lines": list(self._sources),
            "sources": [list(sources) for sources in self._sources.values()],
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        with reading("its long-term memory is damaged"):
            lines = _listed(saved["lines"])
            for line, sources in zip(lines, saved["sources"], strict=True):
                self._keep("" + line, tuple("" + source for source in _listed(sources)))

    def _keep(self, line: str, sources: tuple[str, ...]) -> None:
        known = self._sources.get(line)
        self._sources[line] = tuple(dict.fromkeys((*(known or ()), *sources)))
        if known is None and self._index is not None:
            self._index.add(line, line)

    def _vectors(self) -> VectorIndex:
        if self._index is None:
            # numpy is imported with the first search.
            from memsim.memory.index.vector_index import VectorIndex

            self._index = VectorIndex(self._embed)
            for line in self._sources:
                self._index.add(line, line)
        return self._index


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - from a file
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value
