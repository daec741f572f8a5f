"""What conversations of PRX are about: topics with a project, a reference, and members."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import uuid
from datetime import datetime

from memsim.systems.prx.markdown_files import lines_of
from memsim.systems.prx.schema import timestamp

LEAST = 15
"""Characters from which a message is about something."""

TITLE = 80
GLOBAL = "_global"

TASK_WORDS = (
    "bug",
    "修复",
    "部署",
    "实现",
    "开发",
    "问题",
    "需求",
    "fix",
    "deploy",
    "issue",
    "error",
    "todo",
)
GREETINGS = frozenset(
    ("你好", "谢谢", "ok", "okay", "好的", "收到", "嗯", "哈哈", "thanks", "thank you", "got it")
)
PROJECTS = (
    ("openpr", ("openpr", "治理")),
    ("lc", ("lc", "彩票")),
    ("sm", ("sm", "量表", "心理")),
    ("prx", ("prx", "vano")),
)
_URL = re.compile(r"https?://\S+/(?:pull|issues)/\d+")
_TICKET = re.compile(r"\b(?:openpr|pr|issue|mr|ticket)(?:[#:\-]|\s)*\d+")
_NAMESPACE = uuid.UUID("2f1b77a0-9d9e-4f5b-8f7f-6c0d3a1f9e55")


def is_needed(text: str) -> bool:
    """Whether a message is about something: long enough, or a task, and no mere greeting."""
    said = text.strip()
    if len(said) >= LEAST:
        return said.lower() not in GREETINGS
    return any(word in said.lower() for word in TASK_WORDS)


def project_of(text: str) -> str | None:
    """The first project that a message names by any of its words, wherever they stand."""
    said = text.lower()
    for name, words in PROJECTS:
        if any(word in said for word in words):
            return name
    return None


def external_id(text: str) -> str | None:
    """The first pull request or issue that a message refers to: by address, else by ticket."""
    said = text.lower()
    found = _URL.search(said) or _TICKET.search(said)
    return found[0] if found else None


def title_of(text: str) -> str:
    """The first line that is not blank, as far as a title goes."""
    lines = (line.strip() for line in lines_of(text))
    return next((line for line in lines if line), "")[:TITLE]


def assign(connection: sqlite3.Connection, text: str, who: str, now: datetime) -> str | None:
    """Find or make the topic of a message, whose writer takes part in it; None for no topic."""
    if not is_needed(text):
        return None
    project, reference = project_of(text), external_id(text)
    topic = _known(connection, project, reference, title_of(text)) or _made(
        connection, project, reference, title_of(text), now
    )
    connection.execute("INSERT OR IGNORE INTO topic_participants VALUES (?, ?)", (topic, who))
    return topic


def close_idle(connection: sqlite3.Connection, since: datetime, now: datetime) -> int:
    """Close open topics in which nothing was said since an instant; how many."""
    closed = connection.execute(
        "UPDATE topics SET status = 'closed', resolved_at = ? WHERE status = 'open'"
        " AND updated_at < ?",
        (timestamp(now), timestamp(since)),
    )
    return closed.rowcount


def let_go(connection: sqlite3.Connection, topic: str) -> None:
    """Rows of a topic are gone: it is called after those that are left, or goes with them."""
    run = connection.execute
    query = "SELECT content FROM memories WHERE topic_id = ? ORDER BY rowid"
    left = [title_of(text) for (text,) in run(query, (topic,))]
    found = run("SELECT * FROM topics WHERE id = ?", (topic,))
    names = [name for name, *_ in found.description]
    row = found.fetchone()
    if row is None or dict(zip(names, row, strict=True))["title"] in left:
        return
    run("DELETE FROM topics WHERE id = ?", (topic,))
    if not left:
        run("DELETE FROM topic_participants WHERE topic_id = ?", (topic,))
        return
    renamed = dict(zip(names, row, strict=True)) | {
        "title": left[0],
        "normalised": _normalised(left[0]),
        "fingerprint": hashlib.sha256(f"{topic}:{left[0]}".encode()).hexdigest(),
    }
    marks = ", ".join("?" * len(names))
    run(f"INSERT INTO topics VALUES ({marks})", [renamed[name] for name in names])  # noqa: S608


def _known(
    connection: sqlite3.Connection, project: str | None, reference: str | None, title: str
) -> str | None:
    if reference is not None:
        found = connection.execute(
            "SELECT id FROM topics WHERE project = ? AND external_id = ?",
            (project or GLOBAL, reference),
        ).fetchone()
        if found is not None:
            return str(found[0])
    found = connection.execute(
        "SELECT id FROM topics WHERE normalised = ? AND project IS ? ORDER BY rowid LIMIT 1",
        (_normalised(title), project),
    ).fetchone()
    return None if found is None else str(found[0])


def _made(
    connection: sqlite3.Connection,
    project: str | None,
    reference: str | None,
    title: str,
    now: datetime,
) -> str:
    at = timestamp(now)
    if reference is not None and project is None:
        project = GLOBAL
    print_of = hashlib.sha256(f"{project or GLOBAL}:{title}".encode()).hexdigest()
    found = connection.execute(
        "SELECT id FROM topics WHERE fingerprint = ?", (print_of,)
    ).fetchone()
    if found is not None:
        return str(found[0])
    made = str(uuid.uuid5(_NAMESPACE, print_of))
    connection.execute(
        "INSERT INTO topics (id, project, external_id, title, normalised, fingerprint, status,"
        " created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, 'open', ?, ?)",
        (made, project, reference, title, _normalised(title), print_of, at, at),
    )
    return made


def _normalised(title: str) -> str:
    return " ".join(title.lower().split())
