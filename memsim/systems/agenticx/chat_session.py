"""One conversation with AgenticX: what was said, what is sent of it, and its scratchpad."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memsim.memory.codec import JSON, pack, reading, unpack
from memsim.message import Message, ToolResult
from memsim.systems.agenticx.compactor import Gauge
from memsim.systems.agenticx.compactor06 import micro_compacted
from memsim.systems.agenticx.content import uses_of

VALUE_LENGTH, MOST_KEYS, SHOWN = 10_000, 50, 200
FACTS = "session_facts"
SUBAGENT, DELEGATION = "subagent_result::", "delegation_result::"
PENDING = "__pending_subagent_summaries__"
HINTS = ("__taskspace_hint__", "__taskspace_label_hint__")
RESULT_LENGTH, MOST_PENDING = 500, 50


class Scratchpad:
    """What a session's agent and its hooks write down."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        # Thousands of turns add to these: they become one text only where somebody reads it.
        self._facts: list[str] = []

    @property
    def values(self) -> dict[str, Any]:
        """What is there by key; one reserved key holds a list, all others text."""
        if not self._facts:
            return dict(self._values)
        facts = "\n".join((self._values.get(FACTS, ""), *self._facts)).strip()
        return {**self._values, FACTS: facts}

    @property
    def facts(self) -> list[str]:
        """The lines of `session_facts`, oldest first."""
        return [*self._values.get(FACTS, "").split("\n"), *self._facts]

    def __bool__(self) -> bool:
        return bool(self._values or self._facts)

    def write(self, key: str, value: str) -> str:
        """`scratchpad_write`: the answer that the agent gets."""
        key = key.strip()
        if not key:
            return "ERROR: key is required"
        there = {*self._values, *([FACTS] if self._facts else [])}
        if key not in there and len(there) >= MOST_KEYS:
            return f"ERROR: scratchpad key limit exceeded ({MOST_KEYS})"
        if len(value) > VALUE_LENGTH:
            value = f"{value[:VALUE_LENGTH]}\n... (truncated to {VALUE_LENGTH} chars)"
        if key == FACTS:
            self._facts.clear()
        self._values[key] = value
        return f"OK: scratchpad[{key}] updated"

    def read(self, key: str = "", *, list_only: bool = False) -> str:
        """`scratchpad_read`: a value, or the keys."""
        values = self.values
        if list_only or not key:
            return "\n".join(sorted(values)) or "(empty)"
        if key not in values:
            return f"ERROR: key not found: {key}"
        return str(values[key])

    def note_facts(self, lines: Sequence[str]) -> None:
        """Add a turn's facts to those of the session; nothing is looked for twice."""
        self._facts += lines

    def erase(self, lines: Sequence[str]) -> None:
        """Take lines out of the session's facts."""
        kept = [line for line in self.facts if line and line not in lines]
        self._values.pop(FACTS, None)
        self._facts = kept

    def report(self, agent: str, status: str, summary: str) -> None:
        """Take what a sub-agent came back with, under each of the reserved keys."""
        text = f"{status}: {summary[:RESULT_LENGTH]}"
        self._values[f"{SUBAGENT}{agent}"] = self._values[f"{DELEGATION}{agent}"] = text
        pending = [*self._values.get(PENDING, []), text]
        self._values[PENDING] = pending[-MOST_PENDING:]

    def results(self) -> dict[str, str]:
        """The reports of sub-agents, by agent: the historical results of the prompt."""
        keys = sorted(key for key in self._values if key.startswith(SUBAGENT))
        return {key.removeprefix(SUBAGENT): self._values[key] for key in keys}

    def rendered(self) -> str:
        """The scratchpad as the prompt shows it."""
        shown = {key: str(value)[:SHOWN] for key, value in self._values.items()}
        if self._facts:
            shown[FACTS] = "\n".join((shown.get(FACTS, ""), *self._facts[:SHOWN])).strip()[:SHOWN]
        lines = (f"- {key}: {shown[key]}...".replace("\n", " ") for key in sorted(shown))
        return "\n".join(lines) or "(empty)"

    def shown_facts(self) -> list[str]:
        """The lines of the session's facts that the prompt shows whole."""
        begun = "\n".join((self._values.get(FACTS, ""), *self._facts[:SHOWN])).strip()
        whole = begun.split("\n")
        return [line for line in begun[:SHOWN].split("\n") if line in whole]

    def save(self) -> JSON:
        """All values, by key."""
        return self.values

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over saved values. Raises StateError where they are damaged."""
        with reading("its scratchpad is damaged"):
            self._values = dict(saved.items())
            self._facts = []


class AgenticxSession:
    """A StudioSession: `agent` is what compaction works on, `chat` is all that was said.

    With `micro`, long results of tools are cut as they come (0.6).
    """

    def __init__(self, *, micro: bool = False) -> None:
        self.agent: tuple[Message, ...] = ()
        self.chat: list[Message] = []
        self.scratchpad = Scratchpad()
        self.gauge = Gauge()
        self._micro = micro
        self._tools: dict[str, str] = {}
        self._ids: set[str] = set()

    def add(self, message: Message) -> bool:
        """Take in what was said; false where it was said already."""
        if message.id in self._ids:
            return False
        self._ids.add(message.id)
        self._tools.update((use.id, use.name) for use in uses_of(message))
        self.chat.append(message)
        self.agent = (*self.agent, self._cut(message) if self._micro else message)
        return True

    def naming(self, message: Message) -> str:
        """The tool that a message is the result of."""
        return next((self._tools.get(call, "") for call in message.results), "")

    def remove(self, ids: frozenset[str]) -> None:
        """Take messages out, and every summary that was made from one of them."""
        self.chat = [m for m in self.chat if m.id not in ids]
        self._ids -= ids
        left = (m for m in self.agent if m.id not in ids)
        self.agent = tuple(m for m in left if ids.isdisjoint(m.derived_from))
        told = tuple(line for line in self.gauge.told if ids.isdisjoint(line[1]))
        self.gauge = replace(self.gauge, told=told)

    def save(self) -> JSON:
        """The session as JSON values."""
        return {
            "agent": pack(self.agent),
            "chat": pack(self.chat),
            "scratchpad": self.scratchpad.save(),
            "gauge": {
                "tokens": self.gauge.tokens,
                "threshold": self.gauge.threshold,
                "failures": self.gauge.failures,
                "told": [[line, list(sources)] for line, sources in self.gauge.told],
            },
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved session. Raises StateError where it is damaged."""
        with reading("a session is damaged"):
            self.chat = unpack(saved["chat"])
            self._ids = {m.id for m in self.chat}
            self.agent = tuple(unpack(saved["agent"]))
            self.scratchpad.load(saved["scratchpad"])
            lines = tuple((n, tuple(ids)) for n, ids in saved["gauge"]["told"])
            self.gauge = Gauge(**{**saved["gauge"], "told": lines})
            self._tools = {use.id: use.name for m in self.chat for use in uses_of(m)}

    def _cut(self, message: Message) -> Message:
        blocks = tuple(
            replace(b, text=micro_compacted(self._tools.get(b.id, ""), b.text))
            if isinstance(b, ToolResult)
            else b
            for b in message.blocks
        )
        if blocks == message.blocks:
            return message
        return replace(message, blocks=blocks, composed=True, derived_from=(message.id,))


MEMORY_HOOK = -10
"""The priority of the hook that writes facts down: others of a higher one run before it."""

AgentHook = Callable[[AgenticxSession, datetime], None]
"""Called with a session whose turn is over, and the time."""

LONGEST, MOST, WORDS, PREVIEW = 200_000, 500, 40, 800
_SCHEMA = """
CREATE TABLE scratchpad (session_id TEXT, key TEXT, value TEXT, PRIMARY KEY (session_id, key));
CREATE TABLE session_summaries (session_id TEXT PRIMARY KEY, summary TEXT, metadata TEXT);
CREATE TABLE session_messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT,
    timestamp REAL);
CREATE VIRTUAL TABLE session_messages_fts USING fts5(
    content, content='session_messages', content_rowid='id');
CREATE TRIGGER session_messages_ai AFTER INSERT ON session_messages BEGIN
    INSERT INTO session_messages_fts (rowid, content) VALUES (new.id, new.content);
END;
CREATE TRIGGER session_messages_ad AFTER DELETE ON session_messages BEGIN
    INSERT INTO session_messages_fts (session_messages_fts, rowid, content)
    VALUES ('delete', old.id, old.content);
END;
"""
_OPERATOR = r"(?:AND|OR|NOT)"
_LEADING = re.compile(rf"^{_OPERATOR}\b\s*", re.IGNORECASE)
_TRAILING = re.compile(rf"\s+{_OPERATOR}$", re.IGNORECASE)
_HYPHENATED = re.compile(r"\b\w+(?:-\w+)+\b")
_QUOTED = re.compile(r'"[^"]*"')


class SessionStore:
    """What outlives a session, in a database of its own in memory."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.executescript(_SCHEMA)

    def save_scratchpad(self, session: str, values: Mapping[str, str]) -> None:
        """Put a scratchpad in the place of the session's earlier one."""
        run = self._database.execute
        run("DELETE FROM scratchpad WHERE session_id = ?", (session,))
        for key, value in values.items():
            run("INSERT INTO scratchpad VALUES (?, ?, ?)", (session, key, value))

    def load_scratchpad(self, session: str) -> dict[str, str]:
        """A session's scratchpad, by key in order."""
        query = "SELECT key, value FROM scratchpad WHERE session_id = ? ORDER BY key"
        return dict(self._database.execute(query, (session,)).fetchall())

    def save_summary(self, session: str, summary: str, metadata: Mapping[str, Any]) -> None:
        """Keep what a session was about."""
        told = json.dumps(dict(metadata), ensure_ascii=False)
        self._database.execute(
            "INSERT OR REPLACE INTO session_summaries VALUES (?, ?, ?)", (session, summary, told)
        )

    def search_summaries(self, words: str) -> list[str]:
        """The summaries that hold some words as they stand."""
        query = "SELECT summary FROM session_summaries WHERE summary LIKE ? ORDER BY rowid DESC"
        return [row[0] for row in self._database.execute(query, (f"%{words}%",))]

    def index_messages(self, session: str, rows: Sequence[tuple[str, str, float]]) -> int:
        """Put a session's messages, as role, content and timestamp, in place of earlier ones."""
        run = self._database.execute
        run("DELETE FROM session_messages WHERE session_id = ?", (session,))
        for role, content, timestamp in rows:
            run(
                "INSERT INTO session_messages (session_id, role, content, timestamp)"
                " VALUES (?, ?, ?, ?)",
                (session, role, content[:LONGEST], timestamp),
            )
        return len(rows)

    def search_messages(self, query: str, limit: int = 20) -> list[tuple[str, str, float]]:
        """Role, snippet and timestamp of the messages that a query finds, newest first."""
        cleaned = sanitised_query(query)
        if not cleaned:
            return []
        try:
            rows = self._database.execute(
                "SELECT m.role, snippet(session_messages_fts, 0, '»', '«', '…', ?), m.timestamp"
                " FROM session_messages_fts JOIN session_messages m"
                " ON m.id = session_messages_fts.rowid WHERE session_messages_fts MATCH ?"
                " ORDER BY m.timestamp DESC LIMIT ?",
                (WORDS, cleaned, min(max(limit, 1), MOST)),
            ).fetchall()
        except sqlite3.OperationalError:
            return []
        return [(role, snippet[:PREVIEW], timestamp) for role, snippet, timestamp in rows]

    def close(self) -> None:
        """Release the database."""
        self._database.close()


def sanitised_query(query: str) -> str:
    """A query that the full text search understands; quoted parts stay as they are."""
    if not query.strip():
        return ""
    quoted: list[str] = []

    def aside(match: re.Match[str]) -> str:
        quoted.append(match[0])
        return f"\x00{len(quoted) - 1}\x00"

    text = re.sub(r'[+{}()"^]', " ", _QUOTED.sub(aside, query))
    text = re.sub(r"(^|\s)\*", r"\1", re.sub(r"\*+", "*", text))
    text = _TRAILING.sub("", _LEADING.sub("", text.strip()).strip())
    text = _HYPHENATED.sub(lambda match: f'"{match[0]}"', text)
    return re.sub(r"\x00(\d+)\x00", lambda match: quoted[int(match[1])], text).strip()
