"""AgenticX's automatic recall: what the latest user messages find, as a section of the prompt."""

# ruff: noqa: RUF001 - its headings are Chinese, to the byte
from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memsim.message import Message
from memsim.systems.agenticx.content import content_of
from memsim.systems.agenticx.workspace_index import IndexMatch, WorkspaceIndex

HEADING = "## 相关历史记忆(自动召回)"
SOURCE_HEADING = "## 相关历史记忆（自动召回）"
FAVOURITES_HEADING = "## 当前收藏（实时）"
FAVOURITE_CUES = ("收藏", "favorite", "saved")
LATEST, EACH, QUERY, LIMIT, SNIPPET, TOTAL = 5, 200, 500, 5, 200, 500
MOST_FAVOURITES, FAVOURITE_LENGTH = 5, 120


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """How a version recalls.

    Attributes:
        among_last: only users among the last five messages count; otherwise the last `users`.
        used: how many of the first five pieces are shown.
        floor: pieces that have no word of the query are left out: no hits, no section.
    """

    among_last: bool = False
    users: int = LATEST
    heading: str = HEADING
    limit: int = LIMIT
    used: int = LIMIT
    floor: bool = True


@dataclass(frozen=True, slots=True)
class RecallSection:
    """The text of the sections, empty where there is none, and the snippets in it."""

    text: str = ""
    shown: tuple[tuple[IndexMatch, str], ...] = ()


def query_of(history: Sequence[Message], *, among_last: bool = False, users: int = LATEST) -> str:
    """What is searched for: the latest user messages, the beginning of each."""
    if among_last:
        latest = [m for m in history[-LATEST:] if m.role == "user"]
    else:
        latest = []
        for message in reversed(history):
            if message.role == "user":
                latest.append(message)
                if len(latest) == users:
                    break
        latest.reverse()
    return " ".join(content_of(m)[:EACH] for m in latest)[:QUERY]


def recall_context(
    history: Sequence[Message],
    index: WorkspaceIndex,
    reading: RecallOptions,
    favourites: Sequence[Mapping[str, str]] = (),
) -> RecallSection:
    """Build the recalled part of the system prompt; empty where anything goes wrong.

    `favourites` have `content` and `saved_at` of what the user marked.
    """
    query = query_of(history, among_last=reading.among_last, users=reading.users)
    if not query.strip() or not len(index):
        return RecallSection()
    try:
        hits = index.search(query, limit=reading.limit)
    except sqlite3.OperationalError:
        return RecallSection()
    shown = _shown([hit for hit in hits[:LIMIT] if hit.score > 0 or not reading.floor], reading)
    sections: list[str] = []
    if any(cue in query.lower() for cue in FAVOURITE_CUES):
        marked = _favourites(favourites)
        sections += ["\n".join((FAVOURITES_HEADING, *marked))] if marked else []
    if shown:
        sections.append("\n".join((reading.heading, *(f"- {text}" for _, text in shown))))
    return RecallSection("\n\n".join(sections) + "\n" if sections else "", tuple(shown))


def _shown(hits: Sequence[IndexMatch], reading: RecallOptions) -> list[tuple[IndexMatch, str]]:
    shown: list[tuple[IndexMatch, str]] = []
    seen: set[str] = set()
    total = 0
    for hit in hits[: reading.used]:
        snippet = hit.text.strip()[:SNIPPET]
        folded = " ".join(snippet.split())
        if not folded or folded in seen:
            continue
        if total + len(snippet) > TOTAL:
            break
        seen.add(folded)
        total += len(snippet)
        shown.append((hit, snippet))
    return shown


def _favourites(favourites: Sequence[Mapping[str, str]]) -> list[str]:
    newest = sorted(favourites, key=lambda f: f["saved_at"], reverse=True)
    texts = dict.fromkeys(f["content"] for f in newest)
    return [f"- {t[:FAVOURITE_LENGTH]}".replace("\n", " ") for t in texts][:MOST_FAVOURITES]
