"""memsim's own stores as one of the systems that `stores_filled.py` fills and asks."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.memory.entry import Entry
from memsim.memory.permissions import Reader, Where
from memsim.memory.places import SERVICES, addresses, open_places
from memsim.memory.recall.ranking import USUAL, relevance
from memsim.memory.stores import EmbedderInfo
from memsim.message import EPOCH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.models import Embedder

WHERE = Where(reader=Reader(principal="user"))


class Ours:
    """A store, written turn by turn, and searched by words and by vectors, which are then fused.

    Args:
        kind: which store.
        folder: where it may keep files.
        embedder: what its vectors are made with.
    """

    def __init__(self, kind: str, folder: Path, embedder: Embedder) -> None:
        self._kind, self._folder, self._embedder = kind, folder, embedder
        services = addresses(os.environ)
        known: Any = kind
        self._places = open_places(
            known, lambda: folder, services, name="memsim_benchmark", throwaway=True
        )
        self._url = services.get(kind, "")
        self.store = self._places.store
        self.store.embedded_by(EmbedderInfo(embedder.name, embedder.dimension))
        self._turns = 0
        self._kept = self._size()

    @property
    def exact(self) -> bool:
        """Whether all vectors are compared."""
        return self.store.exact

    def add(self, text: str) -> None:
        """Take one turn in."""
        self.fill([text])

    def fill(self, texts: Sequence[str]) -> None:
        """Take turns in, in one transaction."""
        self.store.write(self.entries(texts), self._embedder.embed(texts))

    def entries(self, texts: Sequence[str]) -> list[Entry]:
        """Turns as entries, the next in time."""
        made = [self._entry(self._turns + n, text) for n, text in enumerate(texts)]
        self._turns += len(texts)
        return made

    def search(self, text: str, k: int) -> list[str]:
        """The texts that speak to a question most."""
        vector = self._embedder.embed([text])[0]
        lexical = self.store.lexical(text, WHERE, USUAL.depth)
        nearest = self.store.nearest(vector, WHERE, USUAL.depth)
        hits = relevance(lexical, nearest, lambda _: 0)
        best = sorted(hits, key=lambda hit: (-hit.score, hit.id))[:k]
        return [entry.text for entry in self.store.get([hit.id for hit in best])]

    def erase(self, start: int, count: int) -> int:
        """Take so many turns out for good, from one on; how many were there."""
        wanted = range(start, start + count)
        return self.store.erase([self._entry(number, "gone").id for number in wanted])

    def kept(self) -> int:
        """Bytes by which what it keeps outside of this process has grown."""
        return self._size() - self._kept

    def close(self) -> None:
        """Release it, and remove what it kept in a server."""
        self._places.close()

    def _size(self) -> int:
        if self._kind == "postgres":
            import psycopg

            with psycopg.connect(self._url) as connection:
                found = connection.execute("SELECT pg_database_size(current_database())").fetchone()
            return int(found[0]) if found else 0
        if self._kind in SERVICES:
            import redis

            with redis.Redis.from_url(self._url) as client:
                told: Any = client.info("memory")
            return int(told["used_memory"])
        return sum(p.stat().st_size for p in self._folder.rglob("*") if p.is_file())

    def _entry(self, number: int, text: str) -> Entry:
        moment = EPOCH + timedelta(minutes=number)
        return Entry(
            key=f"turn-{number}",
            text=text,
            owner="user",
            layer="episodic",
            session="talk",
            created=moment,
            updated=moment,
        )
