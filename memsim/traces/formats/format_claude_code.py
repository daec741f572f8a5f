"""Claude Code's transcripts: one event a line, in files named after the session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from memsim.traces.chat_messages import (
    arguments_of,
    field_of,
    moment_of,
    object_of,
    objects_of,
    text_of,
)
from memsim.traces.records import TraceCall, TraceConversation, TraceMessage
from memsim.traces.trace_format import TraceFormat, TraceSource

_BLOCKS = frozenset({"tool_use", "tool_result"})


def recognise(values: Sequence[Any]) -> bool:
    """Whether an event has a session, a type and a message inside."""
    return any(
        "sessionId" in entry
        and "message" in entry
        and field_of(entry, "type") in {"user", "assistant"}
        for entry in map(object_of, values)
    )


def read(source: TraceSource) -> Iterator[TraceConversation]:
    """A conversation for each session of the file."""
    sessions: dict[str, list[TraceMessage]] = {}
    spoke: dict[str, str] = {}
    seen: set[str] = set()
    for _line, value in source.values():
        event = object_of(value)
        session = field_of(event, "sessionId")
        uuid = field_of(event, "uuid")
        why = _left_out(event) or ("repeated event" if uuid and uuid in seen else "")
        if why:
            source.drop(why)
            continue
        # A session that was resumed may stand in its file again.
        seen.add(uuid)
        said = sessions.setdefault(session, [])
        answer = field_of(object_of(event.get("message")), "id")
        for message in _messages(event, source):
            # The blocks of one answer come as events of their own.
            if answer and spoke.get(session) == answer and message.role == "assistant":
                said[-1] = _joined(said[-1], message)
            else:
                said.append(message)
            spoke[session] = answer
    for session, said in sessions.items():
        yield TraceConversation(id=session, messages=tuple(said))


def _left_out(event: dict[str, Any]) -> str:
    kind = field_of(event, "type")
    if kind not in {"user", "assistant"}:
        return f"event of type {kind[:30]!a}" if kind else "no type"
    if event.get("isSidechain"):
        return "of a subagent"
    return "inserted by the program" if event.get("isMeta") else ""


def _messages(event: dict[str, Any], source: TraceSource) -> Iterator[TraceMessage]:
    message, time = object_of(event.get("message")), moment_of(event.get("timestamp"))
    content = message.get("content")
    blocks = objects_of(content)
    text = (
        text_of([b for b in content if field_of(object_of(b), "type") not in _BLOCKS], source)
        if (isinstance(content, list))
        else text_of(content, source)
    )
    if event.get("type") == "assistant":
        calls = tuple(
            TraceCall(
                field_of(b, "id"), field_of(b, "name") or "tool", arguments_of(b.get("input"))
            )
            for b in blocks
            if b.get("type") == "tool_use"
        )
        yield TraceMessage("assistant", text, time, calls=calls)
        return
    for block in blocks:
        if block.get("type") == "tool_result":
            yield TraceMessage(
                "tool",
                text_of(block.get("content"), source),
                time,
                answers=field_of(block, "tool_use_id"),
                is_error=block.get("is_error") is True,
            )
    if event.get("isCompactSummary"):
        yield TraceMessage("compaction", text, time)
    elif text or not blocks:
        yield TraceMessage("user", text, time)


def _joined(first: TraceMessage, second: TraceMessage) -> TraceMessage:
    text = "\n".join(t for t in (first.text, second.text) if t)
    return replace(first, text=text, calls=first.calls + second.calls)


FORMAT = TraceFormat(
    name="claude_code",
    version=1,
    about="Claude Code transcripts, JSON lines below ~/.claude/projects",
    recognise=recognise,
    read=read,
)
