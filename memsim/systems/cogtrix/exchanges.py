"""Older messages as texts: shortened to be summarised, or exchanges to be recalled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memsim.errors import ModelError, RefError
from memsim.memory.codec import JSON
from memsim.memory.index import Hit
from memsim.message import Message, Text
from memsim.models import Embedder

if TYPE_CHECKING:
    from memsim.memory.index.vector_index import VectorIndex

GAP = " [...] "
SUMMARISED = (2000, 1000, 500)
"""Characters beyond which a message is shortened for the summary, and how many stay of each end."""
RECALLED = (1500, 750, 500)
"""The same for recall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastExchange:
    """What was said up to and with an answer; ids of its messages in full or in parts."""

    text: str
    whole: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of all its messages."""
        return self.whole + self.parts


def summary_input(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Messages as whoever summarises them reads them, under their own ids."""
    return tuple(
        replace(m, blocks=(Text(text),), composed=False)
        for m, text, _ in _said(messages, SUMMARISED)
    )


def exchanges(messages: Iterable[Message]) -> Iterator[PastExchange]:
    """The exchanges in some messages; what no answer follows is one of its own."""
    lines: list[str] = []
    whole: list[str] = []
    parts: list[str] = []
    for message, text, shortened in _said(messages, RECALLED):
        lines.append(f"{_label(message)}: {text}")
        # A quotation is to the letter: without calls, and with the blanks around it.
        (whole if not shortened and text == message.text else parts).append(message.id)
        if message.role != "user":
            yield PastExchange(text="\n".join(lines), whole=tuple(whole), parts=tuple(parts))
            lines, whole, parts = [], [], []
    if lines:
        yield PastExchange(text="\n".join(lines), whole=tuple(whole), parts=tuple(parts))


def _said(
    messages: Iterable[Message], limits: tuple[int, int, int]
) -> Iterator[tuple[Message, str, bool]]:
    over, first, last = limits
    for message in messages:
        text = message.spoken.strip()
        if message.role == "tool" or not text:
            continue
        if len(text) > over:
            yield message, text[:first] + GAP + text[-last:], True
        else:
            yield message, text, False


def _label(message: Message) -> str:
    return "User" if message.role == "user" else "Assistant"


THRESHOLD = 0.25
"""The source's: what 1 / (1 + distance) must be at least."""
LEAST_WORDS = 3
"""The source's: words between blanks without which nothing is recalled."""


class ExchangeIndex:
    """An index of exchanges by meaning."""

    def __init__(self, embed: Callable[[], Embedder]) -> None:
        self._embed = embed
        self._kept: dict[str, PastExchange] = {}
        self._made = 0
        self._index: VectorIndex | None = None

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[PastExchange]:
        return iter(self._kept.values())

    def add(self, exchanges: Iterable[PastExchange]) -> None:
        """Take exchanges in."""
        for exchange in exchanges:
            self._made += 1
            name = f"x{self._made}"
            self._kept[name] = exchange
            self._vectors.add(name, exchange.text)

    def recall(self, text: str, k: int, threshold: float = 0.0) -> list[PastExchange]:
        """Give the `k` nearest exchanges, best first.

        1 / (1 + distance) must reach the threshold; the distance is that of unit vectors, squared.
        """
        hits = self._search(text, k)
        return [self._kept[h.id] for h in hits if similarity(h.score) >= threshold]

    def rank_of(self, source: str, text: str) -> int | None:
        """The rank, from 1, of the best exchange that a message stands in; None if in none."""
        ids = [name for name, kept in self._kept.items() if source in kept.sources]
        if not ids:
            return None
        ranked = [h.id for h in self._search(text, len(self._kept))]
        return next((rank for rank, name in enumerate(ranked, 1) if name in ids), None)

    def remove(self, ids: Iterable[str]) -> list[PastExchange]:
        """Take out and return the exchanges in which any of these messages stands."""
        gone = set(ids)
        names = [n for n, kept in self._kept.items() if not gone.isdisjoint(kept.sources)]
        for name in names:
            self._vectors.remove(name)
        return [self._kept.pop(name) for name in names]

    def close(self) -> None:
        """Release the index."""
        if self._index is not None:
            self._index.close()

    def save(self) -> JSON:
        """The exchanges, with the name of the embedder that their vectors are of."""
        return {
            "embedding_model": self._embed().name if self._kept else "",
            "exchanges": [
                {"text": x.text, "whole": list(x.whole), "parts": list(x.parts)}
                for x in self._kept.values()
            ],
        }

    def load(self, saved: Any) -> bool:  # noqa: ANN401 - from a file
        """Take over saved exchanges; False where they are of another embedder and left out."""
        found = [
            PastExchange(text="" + x["text"], whole=tuple(x["whole"]), parts=tuple(x["parts"]))
            for x in saved["exchanges"]
        ]
        if found and saved["embedding_model"] != self._embed().name:
            return False
        self.add(found)
        return True

    @property
    def _vectors(self) -> VectorIndex:
        if self._index is None:
            from memsim.memory.index.vector_index import VectorIndex

            self._index = VectorIndex(self._embed)
        return self._index

    def _search(self, text: str, k: int) -> list[Hit]:
        if not k or not self._kept:
            return []
        try:
            return self._vectors.search(text, k)
        except (ModelError, RefError, OSError):
            # Without an embedder nothing is recalled, and everything else goes on.
            return []


def similarity(cosine: float) -> float:
    """1 / (1 + squared distance) of two unit vectors."""
    return 1 / (1 + max(0.0, 2 - 2 * cosine))
