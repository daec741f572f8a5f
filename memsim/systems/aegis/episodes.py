"""AEGIS's episodic memory: summaries of conversations, found by what they mean.

A search is for an agent. Whose conversation it was is only asked where a user is named, so that
without one everybody's are found: that is the original's design.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from memsim.memory.codec import JSON, reading
from memsim.message import EPOCH, utc

if TYPE_CHECKING:
    from memsim.models import Vectors
    from memsim.systems.aegis.ivfflat import Ivfflat

TOP = 3
"""Episodes that are shown to the model."""

DIMENSION = 1536
"""Numbers of a vector of AEGIS's own embedder, text-embedding-3-small."""

NAME_LENGTH = 100
"""Characters of an agent's, a user's or a conversation's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AegisEpisode:
    """One row: the summary of a conversation. Fields are None where nobody gave a value."""

    id: str
    agent_id: str
    conversation_id: str
    summary: str
    user_id: str | None = None
    key_decisions: JSON = None
    entities_mentioned: JSON = None
    tools_called: JSON = None
    created_at: datetime = EPOCH


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeHit:
    """An episode that a search found.

    Attributes:
        similarity: 1 minus the cosine distance: 1 alike, 0 unrelated, -1 opposed. Not a number
            where one of the vectors is zero, None where the episode has no vector.
    """

    episode: AegisEpisode
    similarity: float | None


@runtime_checkable
class Episodes(Protocol):
    """Where episodes are kept. Every method raises `StoreError` where the server fails."""

    def store(self, episode: AegisEpisode, vector: Vectors | None) -> None:
        """Keep an episode with its vector."""

    def search(
        self, query: Vectors, agent_id: str, *, user_id: str | None = None, limit: int = TOP
    ) -> list[EpisodeHit]:
        """Return the episodes of an agent nearest to a vector of shape (dimension,), best first.

        Without a `user_id`, episodes of every user are found.
        """

    def of(self, conversation_id: str) -> list[AegisEpisode]:
        """The episodes of a conversation, in the order in which they were stored."""

    def remove(self, ids: Collection[str]) -> int:
        """Take episodes out, for which AEGIS has no endpoint; how many were there."""

    def rows(self) -> list[tuple[AegisEpisode, Vectors | None]]:
        """Every episode with its vector, in the order in which they were stored."""

    def close(self) -> None:
        """Close the connection; calling it again does nothing."""


@dataclass(slots=True)
class _Row:
    episode: AegisEpisode
    vector: Any
    unit: Any = field(default=None)


class InProcessEpisodes(Episodes):
    """Keep episodes in this process; the `lists` of an index decide what a search sees."""

    def __init__(self, lists: int | None = None, probes: int = 1, seed: int = 0) -> None:
        self.seed = seed
        self._lists = lists
        self._probes = probes
        self._clear()

    def _clear(self) -> None:
        self._index: Ivfflat | None = None
        self._rows: dict[int, _Row] = {}
        self._number: dict[str, int] = {}
        self._next = 0
        self._of: dict[str, list[int]] = {}

    def restart(self, seed: int) -> None:
        """Start again with an empty table and an index of that seed."""
        self.seed = seed
        self._clear()

    def store(self, episode: AegisEpisode, vector: Vectors | None) -> None:
        """Keep an episode with its vector.

        Raises:
            ValueError: an episode of that id is there already.
        """
        if episode.id in self._number:
            raise ValueError("an episode of that id is there already")
        number, self._next = self._next, self._next + 1
        row = _Row(episode, vector, None if vector is None else _unit(vector))
        self._rows[number] = row
        self._number[episode.id] = number
        self._of.setdefault(episode.conversation_id, []).append(number)
        if self._lists is not None and row.unit is not None:
            self._indexed(len(row.unit), self._lists).add(number, row.unit)

    def search(
        self, query: Vectors, agent_id: str, *, user_id: str | None = None, limit: int = TOP
    ) -> list[EpisodeHit]:
        unit = _unit(query)
        seen: Iterable[int] = self._rows
        if self._lists is not None:
            seen = self._index.near(unit, self._probes) if self._index is not None else ()
        rows = [
            row
            for row in map(self._rows.__getitem__, seen)
            if row.episode.agent_id == agent_id and user_id in {None, row.episode.user_id}
        ]
        known = [row for row in rows if row.unit is not None]
        # What has no vector comes last, in the order in which it came.
        order = {id(row): n for n, row in zip(_cosines(unit, known), known, strict=True)}
        rows.sort(key=lambda row: _worst_last(order.get(id(row))))
        return [
            EpisodeHit(episode=row.episode, similarity=order.get(id(row))) for row in rows[:limit]
        ]

    def _indexed(self, dimension: int, lists: int) -> Ivfflat:
        if self._index is None:
            from memsim.systems.aegis.ivfflat import Ivfflat

            self._index = Ivfflat(dimension, lists=lists, seed=self.seed)
        return self._index

    def of(self, conversation_id: str) -> list[AegisEpisode]:
        return [self._rows[number].episode for number in self._of.get(conversation_id, ())]

    def remove(self, ids: Collection[str]) -> int:
        numbers = [n for i in dict.fromkeys(ids) if (n := self._number.pop(i, None)) is not None]
        for number in numbers:
            row = self._rows.pop(number)
            self._of[row.episode.conversation_id].remove(number)
            if self._index is not None:
                self._index.remove(number)
        return len(numbers)

    def rows(self) -> list[tuple[AegisEpisode, Vectors | None]]:
        return [(row.episode, row.vector) for row in self._rows.values()]

    def close(self) -> None:
        """There is nothing to release."""

    def __len__(self) -> int:
        return len(self._rows)


def save_episodes(episodes: Episodes) -> list[JSON]:
    """Every episode with its vector as JSON values."""
    return [
        asdict(e)
        | {
            "created_at": e.created_at.isoformat(),
            "vector": None if vector is None else [float(n) for n in vector],
        }
        for e, vector in episodes.rows()
    ]


def load_episodes(episodes: Episodes, state: Any) -> None:  # noqa: ANN401 - what was read from a file
    """Replace all episodes by saved ones. Raises StateError, and changes nothing, if damaged."""
    import numpy as np

    loaded: list[tuple[AegisEpisode, Vectors | None]] = []
    with reading("its episodes are damaged"):
        for item in state:
            fields = {name: value for name, value in item.items() if name != "vector"}
            moment = utc(datetime.fromisoformat(fields.pop("created_at")))
            vector = item["vector"]
            row = None if vector is None else np.array(vector, np.float32)
            loaded.append((replace(AegisEpisode(**fields), created_at=moment), row))
    episodes.remove([e.id for e, _ in episodes.rows()])
    for episode, vector in loaded:
        episodes.store(episode, vector)


def episodes_text(found: Sequence[EpisodeHit]) -> str:
    """Episodes as the model reads them; empty where there are none."""
    if not found:
        return ""
    lines = (
        f"- (similarity: {'nan' if f.similarity is None else format(f.similarity, '.2f')})"
        f" {' '.join(f.episode.summary.split())}"
        for f in found
    )
    return "\n".join((EPISODES_HEADER, *lines))


EPISODES_HEADER = "[Episodic Memory -- Relevant Past Conversations]"
"""What opens the episodes in the prompt."""


def _worst_last(similarity: float | None) -> tuple[int, float]:
    if similarity is None:
        return 2, 0.0
    return (1, 0.0) if math.isnan(similarity) else (0, -similarity)


def _unit(vector: Vectors) -> Vectors:
    import numpy as np

    whole = vector.astype(np.float64)
    length = float(np.sqrt((whole * whole).sum()))
    found: Vectors = (whole / length if length else whole).astype(np.float32)
    return found


def _cosines(query: Vectors, rows: Sequence[_Row]) -> list[float]:
    import numpy as np

    from memsim.memory.index.nearest_vectors import products

    if not rows:
        return []
    units = np.stack([row.unit for row in rows])
    found = np.clip(products(query, units), -1.0, 1.0)
    if not query.any():
        found[:] = math.nan
    found[~units.any(axis=1)] = math.nan
    numbers: list[float] = found.tolist()
    return numbers
