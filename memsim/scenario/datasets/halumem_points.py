"""Memory points of HaluMem: what a session told, and the message that told it.

The file names no message. A point was told by the message of its session with the largest share of
its words; rare words weigh more. Where that is less than `TOLD`, no message is named, and all that
the user said in the session stands for it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memsim.language.text import index_terms
from memsim.scenario.datasets.chat_turns import ChatLine
from memsim.scenario.datasets.json_file import JsonObject

INTERFERENCE = "interference"
"""The source of a point that is false: the assistant said it as something that is not so."""

TOLD = 0.4
"""Share of a point's words that the message which told it has at least."""

_FLAGS = {"True": True, "False": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPoint:
    """Something that a session told.

    Attributes:
        id: its place, such as `s3-p2` for the second point of the third session.
        text: what was told, as a sentence on the user.
        kind: `persona`, `event` or `relationship`.
        true: whether it is so; False for interference.
        originals: what it replaces, in the file's own words; empty unless it is an update.
        reference: the point of which it is a false version, likewise; empty if it is so.
        source: id of the message that told it best; empty if its session has no message.
        evidence: ids of the messages that hold it.
        clear: whether one message told it.
    """

    id: str
    text: str
    kind: str
    true: bool
    originals: tuple[str, ...]
    reference: tuple[str, ...]
    source: str
    evidence: tuple[str, ...]
    clear: bool


def read_points(session: JsonObject, place: int, lines: Sequence[ChatLine]) -> list[MemoryPoint]:
    """The memory points of the session at a place; one that was inserted later has none.

    Raises:
        ScenarioError: it is not of the schema.
    """
    if "memory_points" not in session:
        return []
    places = _Places(lines)
    where = f"{session.where}: memory point"
    return [
        _point(JsonObject(session.path, f"{where} {n}", value), f"s{place}-p{n}", places)
        for n, value in enumerate(session.members("memory_points"), start=1)
    ]


def _point(entry: JsonObject, name: str, places: _Places) -> MemoryPoint:
    text = entry.text("memory_content")
    updates = _FLAGS.get(entry.text("is_update"))
    if updates is None:
        entry.reject("has as 'is_update' neither 'True' nor 'False'")
    true = entry.text("memory_source") != INTERFERENCE
    refers = not true and "reference_memory_content" in entry
    source, share = places.best(text)
    clear = share >= TOLD
    return MemoryPoint(
        id=name,
        text=text,
        kind=entry.text("memory_type").removesuffix(" Memory").lower(),
        true=true,
        originals=tuple(entry.texts("original_memories")) if updates else (),
        reference=(entry.text("reference_memory_content"),) if refers else (),
        source=source,
        evidence=(source,) if clear else places.of_user,
        clear=clear,
    )


class _Places:
    """The words of each message of a session."""

    def __init__(self, lines: Sequence[ChatLine]) -> None:
        self._lines = lines
        self._words = [frozenset(index_terms(line.text)) for line in lines]
        self._holders = Counter(word for words in self._words for word in words)
        self.of_user = tuple(line.id for line in lines if line.role == "user")

    def best(self, text: str) -> tuple[str, float]:
        """The message with the largest share of a text's words, the earliest of several."""
        sought = sorted(set(index_terms(text)))
        weights = {word: self._weight(word) for word in sought}
        whole = math.fsum(weights.values())
        found, most = "", -1.0
        for line, words in zip(self._lines, self._words, strict=True):
            share = _part(weights, words) / whole if whole else 0.0
            if share > most:
                found, most = line.id, share
        return found, most

    def _weight(self, word: str) -> float:
        return math.log((len(self._lines) + 1) / (self._holders[word] + 0.5))


def _part(weights: dict[str, float], words: Iterable[str]) -> float:
    return math.fsum(weight for word, weight in weights.items() if word in words)
