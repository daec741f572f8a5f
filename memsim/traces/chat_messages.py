"""Read what chat formats share: roles, contents in parts, tool calls and times."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from memsim.traces.conversation_file import message_of
from memsim.traces.records import TraceCall, TraceMessage, TraceRole
from memsim.traces.trace_format import TraceSource

ROLES: Mapping[str, TraceRole] = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "gpt", "chatgpt", "model", "bot", "agent"), "assistant"),
    **dict.fromkeys(("tool", "function", "observation"), "tool"),
}
"""Roles as formats write them."""

_ZERO = datetime(1970, 1, 1, tzinfo=UTC)
_PER_MICROSECOND = ((10**17, 1_000), (10**14, 1))
_MICROSECONDS = ((10**11, 1_000), (0, 1_000_000))
_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def text_of(content: object, source: TraceSource) -> str:
    """The text of a message's content; parts that are no text are counted."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list):
        texts = [text_of(part, source) for part in content]
        return "\n".join(text for text in texts if text)
    if not isinstance(content, dict):
        return str(content)
    kind = field_of(content, "type", "content_type")
    for name in ("text", "content", "parts", "output"):
        if content.get(name) is not None and kind not in _NOT_SAID:
            return text_of(content[name], source)
    source.leave_out(f"{kind[:30] or 'unknown'} part")
    return ""


_NOT_SAID = frozenset(
    {
        *("reasoning", "thinking", "redacted_thinking", "thoughts", "blob", "uri", "file"),
        *("image", "image_url", "image_file", "input_image", "audio", "input_audio", "video"),
        *("server_tool_call", "server_tool_call_response"),
    }
)
"""Kinds of parts that are no text, although they may hold some."""


def arguments_of(value: object) -> str:
    """The arguments of a tool call as text."""
    if isinstance(value, str):
        return value
    return "{}" if value is None else _canonical(value)


def moment_of(value: object) -> datetime | None:
    """A time as formats write it: ISO 8601, or a number of seconds up to nanoseconds."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        if isinstance(value, str):
            bare = value.lstrip("-").replace(".", "", 1)
            if not (bare.isascii() and bare.isdigit()):
                found = datetime.fromisoformat(value)
                found = found if found.tzinfo else found.replace(tzinfo=UTC)
                return _usual(found.astimezone(UTC))
            value = float(value) if "." in value else int(value)
        return _usual(_ZERO + timedelta(microseconds=_microseconds(value)))
    except (ValueError, OverflowError):
        return None


def _usual(moment: datetime) -> datetime | None:
    return moment if 1970 <= moment.year < 9000 else None


def _microseconds(number: float) -> float:
    for least, each in _PER_MICROSECOND:
        if abs(number) >= least:
            return number // each
    return next(round(number * each) for least, each in _MICROSECONDS if abs(number) >= least)


def field_of(entry: Mapping[str, Any], *names: str) -> str:
    """The first of some fields that holds a text or a number, as text."""
    for name in names:
        value = entry.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
            return str(value)
    return ""


def objects_of(value: object) -> list[dict[str, Any]]:
    """The objects of a list; empty for anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def object_of(value: object) -> dict[str, Any]:
    """An object; empty for anything else."""
    return value if isinstance(value, dict) else {}


def chat_message(entry: Mapping[str, Any], source: TraceSource) -> TraceMessage | None:
    """A message as OpenAI, Inspect and their relatives write it; None where it is dropped."""
    named = field_of(entry, "role", "type")
    role = ROLES.get(named.lower())
    if role is None:
        source.drop(f"unknown role {named[:30]!a}" if named else "no role")
        return None
    failed = entry.get("error") or entry.get("is_error") or entry.get("status") == "error"
    return TraceMessage(
        role,
        text_of(entry.get("content"), source),
        moment_of(entry.get("timestamp") or entry.get("created_at") or entry.get("time")),
        calls=calls_of(entry) if role == "assistant" else (),
        answers=field_of(entry, "tool_call_id", "name") if role == "tool" else "",
        is_error=bool(failed) if role == "tool" else False,
        speaker=field_of(entry, "name") if role == "user" else "",
    )


def calls_of(entry: Mapping[str, Any]) -> tuple[TraceCall, ...]:
    """The tool calls of a message, with the function inside or beside."""
    listed = objects_of(entry.get("tool_calls"))
    if old := object_of(entry.get("function_call")):
        listed = [*listed, {"id": field_of(old, "name"), "function": old}]
    return tuple(_call(call, place) for place, call in enumerate(listed))


def _call(call: Mapping[str, Any], place: int) -> TraceCall:
    inner = object_of(call.get("function")) or call
    name = field_of(inner, "name", "function") or "tool"
    arguments = next((inner[k] for k in ("arguments", "args", "input") if k in inner), None)
    return TraceCall(
        field_of(call, "id", "tool_call_id") or f"{place}", name, arguments_of(arguments)
    )


def sent_events(found: object, source: TraceSource) -> dict[int, list[TraceMessage]]:
    """What a memory sent, as memsim's own exports note it: by the place of the next message."""
    made: dict[int, list[TraceMessage]] = {}
    for each in objects_of(found):
        try:
            place = int(each["at"])
            event = message_of({name: value for name, value in each.items() if name != "at"})
        except (KeyError, TypeError, ValueError):
            source.drop("memory event that cannot be read")
        else:
            made.setdefault(place, []).append(event)
    return dict(sorted(made.items()))
