"""Plant the memory points of HaluMem as facts, so that what a memory wrote is held against them.

An update of the file names what it replaces in words, which are seldom those of an earlier point.
The earlier point is the one that shares at least `SAME` of their words with them, and they with it;
rare words weigh more. Where there is none, what is replaced was not told in the conversation, and
the update is a new fact. Of several, the nearest counts, and the latest of those.

An interference point is a false version of a point of its session, which is found likewise. One
that is none of any point is not planted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from memsim.language.text import index_terms
from memsim.scenario.datasets.chat_turns import ASKER
from memsim.scenario.datasets.halumem_points import MemoryPoint
from memsim.scenario.script import Fact, Turn

SAME = 0.6
"""Share of the words of two sentences that they have in common at least, if they say the same."""

UPDATED = "updated"
"""Kind of a point that updates something, whether that was told or not."""


def plant_points(turns: Sequence[Turn], points: Sequence[Sequence[MemoryPoint]]) -> list[Turn]:
    """The turns, each with the facts that its messages told.

    Args:
        turns: the whole conversation.
        points: the memory points of each session.
    """
    told: dict[str, list[Fact]] = {}
    messages = {m.id: m for turn in turns for m in (*turn.heard, *turn.reply)}
    search = _PointSearch(points)
    earlier: list[MemoryPoint] = []
    for session in points:
        true = [point for point in session if point.true]
        for point in session:
            message = messages.get(point.source)
            replaced = search.nearest(point.originals, earlier)
            reference = search.nearest(point.reference, true)
            if message is None or not (point.true or reference):
                continue
            fact = Fact(
                id=point.id,
                value=point.text,
                source=message.id,
                principal=ASKER,
                turn=message.turn,
                time=message.time,
                session=message.session,
                replaces=replaced.id if replaced else None,
                statement=True,
                contradicts=reference.id if reference else None,
                kind=UPDATED if point.originals else point.kind,
            )
            told.setdefault(message.id, []).append(fact)
        earlier += true
    return [replace(turn, facts=tuple(_facts(turn, told))) for turn in turns]


def _facts(turn: Turn, told: dict[str, list[Fact]]) -> Iterator[Fact]:
    for message in (*turn.heard, *turn.reply):
        yield from told.get(message.id, ())


class _PointSearch:
    """Finds the point that a sentence means."""

    def __init__(self, points: Iterable[Iterable[MemoryPoint]]) -> None:
        every = [point for session in points for point in session]
        self._words = {point.id: frozenset(index_terms(point.text)) for point in every}
        self._holders = Counter(word for words in self._words.values() for word in words)

    def nearest(
        self, sentences: Iterable[str], points: Sequence[MemoryPoint]
    ) -> MemoryPoint | None:
        """The point that says the same as one of the sentences: the nearest, then the latest."""
        found, most = None, SAME
        for sentence in sentences:
            words = frozenset(index_terms(sentence))
            for point in points:
                share = self._shared(words, self._words[point.id])
                if share >= most:
                    found, most = point, share
        return found

    def _shared(self, one: frozenset[str], other: frozenset[str]) -> float:
        whole = max(self._weight(one), self._weight(other))
        return self._weight(one & other) / whole if whole else 0.0

    def _weight(self, words: frozenset[str]) -> float:
        return math.fsum(
            math.log((len(self._words) + 1) / (self._holders[word] + 0.5)) for word in sorted(words)
        )
