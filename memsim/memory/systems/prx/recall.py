"""PRX's recall: words and vectors made one ranking, and what contains the words where none has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from memsim.errors import StoreError
from memsim.memory.systems.prx.brain import EVERY, Brain, Clause, Row
from memsim.memory.systems.prx.ranking import Ranked, merge

CONTEXT = "[Memory context]"
RECALLED = 5
"""Rows that 0.3.0 recalls where it is not told how many."""

NOISE_LEAST = 30
NOISE = (
    "HEARTBEAT",
    "heartbeat",
    "[cron:",
    "[Heartbeat Task]",
    "心跳",
    "系统健康",
    "NO_REPLY",
    "no_reply",
)


class Recalled(NamedTuple):
    """A row that was brought up, with its score."""

    row: Row
    score: float


Admits = Callable[[Row], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """How a memory is asked.

    Attributes:
        weights: of meaning and of words.
        meaning_only: whether words do not count at all.
    """

    weights: tuple[float, float] = (0.7, 0.3)
    meaning_only: bool = False

    def __call__(
        self,
        brain: Brain,
        query: str,
        limit: int,
        *,
        now: datetime,
        session: str | None = None,
        before: Clause = EVERY,
        after: Admits = lambda _row: True,
    ) -> list[Recalled]:
        """The best rows for a query.

        Args:
            brain: where.
            query: in words; a blank one brings up nothing.
            limit: rows at most.
            now: the present.
            session: only rows of this conversation, of those that are left after the cut.
            before: rows that are ranked at all.
            after: which of the rows are let through, of those that are left after the cut.
        """
        if not query.strip() or limit < 1:
            return []

        def admits(row: Row) -> bool:
            return session in {None, row.session} and after(row)

        ranked = self._ranked(brain, query, limit, now, session, before)
        rows = brain.fetch([number for number, _ in ranked])
        found = [Recalled(rows[number], score) for number, score in ranked if admits(rows[number])]
        if not found and not self.meaning_only:
            rows_like = brain.containing(query, limit, before)
            found = [Recalled(row, 1.0) for row in rows_like if admits(row)]
        return found

    def _ranked(
        self,
        brain: Brain,
        query: str,
        limit: int,
        now: datetime,
        session: str | None,
        before: Clause,
    ) -> list[Ranked]:
        try:
            words = [] if self.meaning_only else brain.keyword(query, 2 * limit, before)
        except StoreError:
            words = []
        of_session = EVERY if session is None else Clause("m.session_id = ?", (session,))
        near = brain.nearest(query, 2 * limit, now, before & of_session)
        if self.meaning_only:
            return near[:limit]
        if not near:
            return words[:limit]
        merged = merge(near, words, weights=self.weights, limit=limit)
        return [(m.number, m.score) for m in merged]


def loaded(found: list[Recalled], least: float) -> list[Recalled]:
    """What of it is put before a message: no answers of its own, nothing that scores low."""
    return [r for r in found if r.score >= least and not r.row.key.startswith("assistant_resp")]


def context_text(found: list[Recalled]) -> str:
    """The text that is put before the user's message; empty for nothing."""
    if not found:
        return ""
    lines = "".join(f"- {r.row.key}: {r.row.content}\n" for r in found)
    return f"{CONTEXT}\n{lines}\n"


def is_worth_saving(text: str) -> bool:
    """Whether 0.3.0 saves what a user said: long enough, and none of its own machinery's."""
    return len(text) >= NOISE_LEAST and not any(word in text for word in NOISE)
