"""PRX's recall: words and vectors made one ranking, and what contains the words where none has."""
# ruff: noqa: S608 - conditions are this package's own, and what users say is a parameter

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from memsim.errors import StoreError
from memsim.systems.prx.brain import Brain
from memsim.systems.prx.markdown_files import lines_of
from memsim.systems.prx.row_index import Ranked, merge
from memsim.systems.prx.schema import EVERY_ROW, Clause, MemoryRow, timestamp

RESULTS, MOST = 5, 100
TOPICS = 3
OF_TOPIC = 0.55

CONTENT, SNIPPET = 240, 160
"""Characters of a result that are shown."""


class RecallHit(NamedTuple):
    """A row that was found, with its score."""

    row: MemoryRow
    score: float


def search(
    brain: Brain,
    query: str,
    *,
    limit: int = RESULTS,
    least: float = 0.0,
    clause: Clause = EVERY_ROW,
) -> list[RecallHit]:
    """Find rows for a query, best first, then by key, each of at least score `least`.

    Raises StoreError where a word of the query has a quotation mark in it.
    """
    own: dict[int, float] = {}
    words = brain.keyword(query, limit, clause)
    for number, score in (*words, *_containing(brain, query, limit, clause)):
        own[number] = max(score, own.get(number, 0.0))
    for number in _of_topics(brain, query, limit, clause):
        own[number] = max(OF_TOPIC, own.get(number, 0.0))
    rows = brain.fetch([*own])
    words_of_query = query.lower().split()
    found = [
        RecallHit(row, max(own[n], word_share(words_of_query, row.content)))
        for n, row in rows.items()
    ]
    found = [m for m in found if m.score > 0 and m.score >= least]
    return sorted(found, key=lambda m: (-m.score, m.row.key))[:limit]


def word_share(words: Sequence[str], content: str) -> float:
    """The share of words in lower case that stand in a text, in whatever words they are part of."""
    said = content.lower()
    return len([word for word in words if word in said]) / len(words) if words else 0.0


def match_text(query: str, match: RecallHit) -> str:
    """A match as the agent sees it."""
    content = " ".join(match.row.content.split())
    words = query.lower().split()
    lines = [line.strip() for line in lines_of(match.row.content) if line.strip()]
    line = next((li for li in lines if any(w in li.lower() for w in words)), (lines or [""])[0])
    return (
        f"- key: {match.row.key}\n  content: {_cut(content, CONTENT)}\n"
        f"  snippet: {_cut(line, SNIPPET)}\n"
    )


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length] + "..."


def _containing(brain: Brain, query: str, limit: int, clause: Clause) -> list[tuple[int, float]]:
    like = f"%{query}%"
    cases = "CASE WHEN m.content = ? THEN 1.0 WHEN m.content LIKE ? THEN 0.8 ELSE 0.6 END"
    found = brain.connection.execute(
        f"SELECT m.rowid, {cases} AS score FROM memories m"
        f" WHERE (m.content LIKE ? OR m.key LIKE ?) AND ({clause.sql})"
        " ORDER BY score DESC, m.updated_at DESC, m.rowid DESC LIMIT ?",
        (query, like, like, like, *clause.given, limit),
    )
    return [(number, score) for number, score in found]


def _of_topics(brain: Brain, query: str, limit: int, clause: Clause) -> list[int]:
    phrases = " OR ".join(f'"{word}"' for word in query.split())
    meant, order = EVERY_ROW, "bm25(topics_fts), f.rowid"
    if brain.apart:  # what others talk about decides neither which topics come up nor in what order
        meant = Clause(
            f"t.id IN (SELECT m.topic_id FROM memories m WHERE {clause.sql})", clause.given
        )
        order = "f.rowid DESC"
    found = brain.connection.execute(
        "SELECT t.id FROM topics_fts f JOIN topics t ON t.rowid = f.rowid"
        f" WHERE topics_fts MATCH ? AND ({meant.sql}) ORDER BY {order} LIMIT ?",
        (phrases, *meant.given, TOPICS),
    )
    topics = [topic for (topic,) in found]
    marks = ", ".join("?" * len(topics))
    rows = brain.rows(
        f"m.topic_id IN ({marks}) AND ({clause.sql})", (*topics, *clause.given), limit=limit
    )
    return [row.number for row in rows]


CONTEXT = "[Memory context]"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """How a memory is asked, with the weights of meaning and of words.

    Attributes:
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
        before: Clause = EVERY_ROW,
        after: Clause = EVERY_ROW,
    ) -> list[RecallHit]:
        """Find the best rows for a query; a blank one brings up nothing.

        Only rows of `before` are ranked. After the cut, rows outside `after` or of another session
        are left out. Without `now`, the query leaves no trace among the vectors that are kept.
        """
        if not query.strip() or limit < 1:
            return []

        ranked = self._ranked(brain, query, limit, now, session, before)
        rows = brain.fetch([number for number, _ in ranked], after)
        found = [RecallHit(rows[number], score) for number, score in ranked if number in rows]
        found = [r for r in found if session in {None, r.row.session}]
        if found or self.meaning_only or self.shares:
            return found
        like = brain.containing(query, limit, before)
        let = brain.fetch([row.number for row in like], after)
        rest = [row for row in like if row.number in let]
        return [RecallHit(row, 1.0) for row in rest if session in {None, row.session}]

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
        of_session = EVERY_ROW if session is None else Clause("m.session_id = ?", (session,))
        at = None if now is None else timestamp(now)
        near = brain.meanings.nearest(query, 2 * limit, at, before & of_session)
        if self.meaning_only:
            return near[:limit]
        if not near:
            return words[:limit]
        merged = merge(near, words, weights=self.weights, limit=limit)
        return [(m.number, m.score) for m in merged]


def _by_share(brain: Brain, query: str, limit: int, before: Clause) -> list[Ranked]:
    words = query.lower().split()
    scored = ((number, word_share(words, content)) for number, content in brain.texts(before))
    return sorted((r for r in scored if r[1]), key=lambda r: -r[1])[:limit]


def context_hits(found: list[RecallHit], least: float) -> list[RecallHit]:
    """What of it is put before a message: no answers of its own, nothing that scores low."""
    return [r for r in found if r.score >= least and not r.row.key.startswith("assistant_resp")]


def context_text(found: list[RecallHit]) -> str:
    """The text that is put before the user's message; empty for nothing."""
    if not found:
        return ""
    lines = "".join(f"- {r.row.key}: {r.row.content}\n" for r in found)
    return f"{CONTEXT}\n{lines}\n"


def is_worth_saving(text: str) -> bool:
    """Whether 0.3.0 saves what a user said: long enough, and none of its own machinery's."""
    return len(text) >= NOISE_LEAST and not any(word in text for word in NOISE)
