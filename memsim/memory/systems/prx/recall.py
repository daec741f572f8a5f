"""PRX's recall: words and vectors made one ranking, and what contains the words where none has."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from memsim.errors import StoreError
from memsim.memory.systems.prx.brain import Brain
from memsim.memory.systems.prx.ranking import Ranked, merge
from memsim.memory.systems.prx.rows import EVERY, Clause, Row, moment
from memsim.memory.systems.prx.searching import share

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """How a memory is asked.

    Attributes:
        weights: of meaning and of words.
        meaning_only: whether words do not count at all.
        shares: whether rows are scored by the share of the query's words in them, as the file
            backend does, and by nothing else.
    """

    weights: tuple[float, float] = (0.7, 0.3)
    meaning_only: bool = False
    shares: bool = False

    def __call__(
        self,
        brain: Brain,
        query: str,
        limit: int,
        *,
        now: datetime | None,
        session: str | None = None,
        before: Clause = EVERY,
        after: Clause = EVERY,
    ) -> list[Recalled]:
        """The best rows for a query.

        Args:
            brain: where.
            query: in words; a blank one brings up nothing.
            limit: rows at most.
            now: the present; None to leave no trace of the query among the vectors that are kept.
            session: only rows of this conversation, of those that are left after the cut.
            before: rows that are ranked at all.
            after: rows that are let through, of those that are left after the cut.
        """
        if not query.strip() or limit < 1:
            return []

        ranked = self._ranked(brain, query, limit, now, session, before)
        rows = brain.fetch([number for number, _ in ranked], after)
        found = [Recalled(rows[number], score) for number, score in ranked if number in rows]
        found = [r for r in found if session in {None, r.row.session}]
        if found or self.meaning_only or self.shares:
            return found
        like = brain.containing(query, limit, before)
        let = brain.fetch([row.number for row in like], after)
        rest = [row for row in like if row.number in let]
        return [Recalled(row, 1.0) for row in rest if session in {None, row.session}]

    def _ranked(
        self,
        brain: Brain,
        query: str,
        limit: int,
        now: datetime | None,
        session: str | None,
        before: Clause,
    ) -> list[Ranked]:
        if self.shares:
            return _by_share(brain, query, limit, before)
        try:
            words = [] if self.meaning_only else brain.keyword(query, 2 * limit, before)
        except StoreError:
            words = []
        of_session = EVERY if session is None else Clause("m.session_id = ?", (session,))
        at = None if now is None else moment(now)
        near = brain.meanings.nearest(query, 2 * limit, at, before & of_session)
        if self.meaning_only:
            return near[:limit]
        if not near:
            return words[:limit]
        merged = merge(near, words, weights=self.weights, limit=limit)
        return [(m.number, m.score) for m in merged]


def _by_share(brain: Brain, query: str, limit: int, before: Clause) -> list[Ranked]:
    words = query.lower().split()
    scored = ((number, share(words, content)) for number, content in brain.texts(before))
    return sorted((r for r in scored if r[1]), key=lambda r: -r[1])[:limit]


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
