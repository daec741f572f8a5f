"""Read messages in parts, as OpenTelemetry's GenAI conventions define them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from memsim.traces.chat_messages import (
    ROLES,
    arguments_of,
    field_of,
    moment_of,
    object_of,
    objects_of,
    text_of,
)
from memsim.traces.records import TraceCall, TraceDocument, TraceMessage
from memsim.traces.spans import json_or_itself
from memsim.traces.trace_format import TraceSource

_LARGEST_SCORE = 1e300
"""A score beyond it, such as infinity, is none that JSON could hold."""


def part_messages(value: object, source: TraceSource) -> Iterator[TraceMessage]:
    """The messages of an attribute, given as a list or as its JSON text."""
    for entry in objects_of(json_or_itself(value)):
        role = ROLES.get(field_of(entry, "role").lower())
        if role is None:
            source.drop(f"unknown role {field_of(entry, 'role')[:30]!a}")
            continue
        parts = entry.get("parts", entry.get("content"))
        texts: list[str] = []
        calls: list[TraceCall] = []
        results: list[Mapping[str, Any]] = []
        for part in parts if isinstance(parts, list) else [parts]:
            inner = object_of(part)
            if inner.get("type") == "tool_call":
                calls.append(_call(inner, len(calls)))
            elif inner.get("type") == "tool_call_response":
                results.append(inner)
            else:
                texts.append(text_of(part, source))
        time = moment_of(entry.get("time"))
        speaker = field_of(entry, "name") if role == "user" else ""
        text = "\n".join(text for text in texts if text)
        if not results:
            yield TraceMessage(role, text, time, tuple(calls), speaker=speaker)
        for result in results:
            yield _result(result, time)


def _call(part: Mapping[str, Any], place: int) -> TraceCall:
    name, arguments = field_of(part, "name") or "tool", arguments_of(part.get("arguments"))
    return TraceCall(field_of(part, "id") or str(place), name, arguments)


def _result(part: Mapping[str, Any], time: datetime | None) -> TraceMessage:
    said = part.get("response", part.get("result"))
    text = said if isinstance(said, str) else arguments_of(said) if said is not None else ""
    failed = part.get("is_error") is True
    return TraceMessage("tool", text, time, answers=field_of(part, "id"), is_error=failed)


def recalled_documents(value: object, source: TraceSource) -> tuple[TraceDocument, ...]:
    """The documents or records that a memory returned."""
    made = []
    for entry in objects_of(value):
        content = next((entry[k] for k in ("content", "text", "page_content") if k in entry), None)
        text = text_of(content, source) if not isinstance(content, dict) else arguments_of(content)
        made.append(TraceDocument(text, field_of(entry, "id"), _score(entry.get("score"))))
    return tuple(made)


def _score(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) <= _LARGEST_SCORE else None
