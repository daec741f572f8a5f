"""PRX's memory_search (0.3.0): by words, by what contains the query, and by topic."""

# ruff: noqa: S608 - conditions are this package's own, and what users say is a parameter

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memsim.memory.systems.prx.brain import Brain
from memsim.memory.systems.prx.lines import lines_of
from memsim.memory.systems.prx.rows import EVERY, Clause, Row

RESULTS, MOST = 5, 100
TOPICS = 3
OF_TOPIC = 0.55

CONTENT, SNIPPET = 240, 160
"""Characters of a result that are shown."""


class Match(NamedTuple):
    """A row that speaks to a query."""

    row: Row
    score: float


def search(
    brain: Brain, query: str, *, limit: int = RESULTS, least: float = 0.0, clause: Clause = EVERY
) -> list[Match]:
    """The rows that speak to a query, best first, then by key.

    Args:
        brain: where.
        query: in words, and as a whole.
        limit: rows at most.
        least: score that a row has to have.
        clause: rows that are looked at.

    Raises:
        StoreError: a word of the query has a quotation mark in it.
    """
    own: dict[int, float] = {}
    words = brain.keyword(query, limit, clause)
    for number, score in (*words, *_containing(brain, query, limit, clause)):
        own[number] = max(score, own.get(number, 0.0))
    for number in _of_topics(brain, query, limit, clause):
        own[number] = max(OF_TOPIC, own.get(number, 0.0))
    rows = brain.fetch([*own])
    words_of_query = query.lower().split()
    found = [Match(row, max(own[n], share(words_of_query, row.content))) for n, row in rows.items()]
    found = [m for m in found if m.score > 0 and m.score >= least]
    return sorted(found, key=lambda m: (-m.score, m.row.key))[:limit]


def share(words: Sequence[str], content: str) -> float:
    """The share of words in lower case that stand in a text, in whatever words they are part of."""
    said = content.lower()
    return len([word for word in words if word in said]) / len(words) if words else 0.0


def shown(query: str, match: Match) -> str:
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
    meant, order = EVERY, "bm25(topics_fts), f.rowid"
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
