"""The tools that AgenticX's agent has for its memory, and their answers."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime
from typing import Any

from memsim.models import ToolSpec
from memsim.systems.agenticx.chat_session import SessionStore
from memsim.systems.agenticx.content import content_of
from memsim.systems.agenticx.studio import Studio

SHOWN = 240
"""Characters of a piece that `memory_search` shows."""

_TEXT = {"type": "string"}
_TOOLS: dict[str, tuple[str, dict[str, Any], tuple[str, ...], bool]] = {
    "scratchpad_write": (
        "Write a value to the session's scratchpad.",
        {"key": _TEXT, "value": _TEXT},
        ("key", "value"),
        False,
    ),
    "scratchpad_read": (
        "Read a value of the session's scratchpad, or list its keys.",
        {"key": _TEXT, "list_only": {"type": "boolean"}},
        (),
        True,
    ),
    "memory_append": (
        "Append a note to today's memory or to long-term memory.",
        {"target": {"type": "string", "enum": ["daily", "long_term"]}, "content": _TEXT},
        ("target", "content"),
        False,
    ),
    "memory_search": (
        "Search the workspace's memory.",
        {"query": _TEXT, "limit": {"type": "integer"}, "mode": _TEXT},
        ("query",),
        True,
    ),
    "session_search": (
        "Search what was said in earlier sessions.",
        {"query": _TEXT, "limit": {"type": "integer"}},
        ("query",),
        True,
    ),
}


def tool_specs() -> tuple[ToolSpec, ...]:
    """The tools as a provider is told of them."""
    return tuple(
        ToolSpec(
            name=name,
            description=description,
            parameters=json.dumps(
                {"type": "object", "properties": properties, "required": list(required)}
            ),
            reads=reads,
        )
        for name, (description, properties, required, reads) in _TOOLS.items()
    )


def call_tool(name: str, arguments: str, studio: Studio, session: str, now: datetime) -> str:
    """Run a tool with JSON arguments; wrong ones get an error text, an unknown tool KeyError."""
    words = _read(arguments, *_TOOLS[name][1:3])
    if isinstance(words, str):
        return words
    if name == "scratchpad_write":
        return studio.session(session).scratchpad.write(words["key"], words["value"])
    if name == "scratchpad_read":
        listed = words.get("list_only") == "True"
        return studio.seen(session).scratchpad.read(words.get("key", ""), list_only=listed)
    if name == "memory_append":
        return _append(words, studio, now)
    return _search(words, studio) if name == "memory_search" else _sessions(words, studio)


_MOST = 10**9


def _read(
    arguments: str, properties: dict[str, Any], required: tuple[str, ...]
) -> dict[str, str] | str:
    """The arguments as text, or what is wrong with them."""
    try:
        given = json.loads(arguments or "{}")
        json.dumps(given, ensure_ascii=False).encode()  # half a surrogate pair is no text
    except (ValueError, RecursionError):
        return "ERROR: invalid arguments"
    if not isinstance(given, dict) or not given.keys() <= properties.keys():
        return "ERROR: invalid arguments"
    missing = next((word for word in required if word not in given), "")
    if missing:
        return f"ERROR: {missing} is required"
    return {key: str(value) for key, value in given.items()}


def _append(given: dict[str, str], studio: Studio, now: datetime) -> str:
    note, day = given["content"].strip(), now.date().isoformat()
    if not note:
        return "ERROR: content is required"
    if not studio.pages.append(given["target"], note, day):
        return "ERROR: memory file not found"
    studio.reindex(now)
    return f"OK: memory appended ({given['target']})"


def _search(given: dict[str, str], studio: Studio) -> str:
    limit = _number(given.get("limit"), 5)
    try:
        hits = studio.index.search(given["query"], limit, given.get("mode", "hybrid"))
    except sqlite3.OperationalError as error:
        return f"ERROR: {error}"
    lines = (f"{hit.source}:{hit.start}-{hit.end} {hit.text[:SHOWN]}" for hit in hits)
    return "\n".join(lines) or "no results"


def _sessions(given: dict[str, str], studio: Studio) -> str:
    store = SessionStore()
    for name, session in studio.sessions.items():
        rows = [(m.role, content_of(m), m.time.timestamp()) for m in session.chat]
        store.index_messages(name, rows)
    found = store.search_messages(given["query"], _number(given.get("limit"), 20))
    store.close()
    return "\n".join(f"[{role}] {snippet}" for role, snippet, _ in found) or "no results"


def _number(text: str | None, otherwise: int) -> int:
    if text is None or not (text.isdecimal() and text.isascii()):
        return otherwise
    return int(text) if len(text) < len(str(_MOST)) else _MOST
