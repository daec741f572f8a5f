"""ShareGPT: lists of `conversations` with `from` and `value`; there are no times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memsim.traces.chat_messages import (
    ROLES,
    arguments_of,
    field_of,
    object_of,
    objects_of,
    text_of,
)
from memsim.traces.records import TraceCall, TraceConversation, TraceMessage
from memsim.traces.spans import json_or_itself
from memsim.traces.trace_format import TraceFormat, TraceSource

_CALLS = frozenset({"function_call", "tool_call"})
_RESULTS = frozenset({"observation", "function_response", "tool_response", "tool"})


def _talk(value: object) -> list[Any] | None:
    entry = object_of(value)
    found = entry.get("conversations", entry.get("conversation", entry.get("items")))
    return found if isinstance(found, list) else None


def recognise(values: Sequence[Any]) -> bool:
    """Whether an entry has turns with `from` and `value`."""
    return any("from" in e and "value" in e for v in values for e in objects_of(_talk(v)))


def read(source: TraceSource) -> Iterator[TraceConversation]:
    """A conversation for each entry."""
    for _line, value in source.values():
        turns = _talk(value)
        if turns is None:
            source.drop("not a conversation")
            continue
        messages: list[TraceMessage] = []
        system = field_of(object_of(value), "system")
        if system:
            messages.append(TraceMessage("system", system))
        for turn in turns:
            messages += _messages(turn, len(messages), messages, source)
        yield TraceConversation(
            id=field_of(object_of(value), "id"),
            messages=tuple(messages),
            title=field_of(object_of(value), "title"),
        )


def _messages(
    turn: object, place: int, before: Sequence[TraceMessage], source: TraceSource
) -> list[TraceMessage]:
    if not isinstance(turn, dict):
        source.drop("not an object")
        return []
    speaker, text = field_of(turn, "from").lower(), text_of(turn.get("value"), source)
    if speaker in _CALLS:
        return [TraceMessage("assistant", "", calls=(_call(text, place),))]
    if speaker in _RESULTS:
        calls = before[-1].calls if before else ()
        return [TraceMessage("tool", text, answers=calls[-1].id if calls else "")]
    role = {"bing": "assistant", "bard": "assistant"}.get(speaker) or ROLES.get(speaker)
    if role is None:
        source.drop(f"unknown role {speaker[:30]!a}" if speaker else "no role")
        return []
    return [TraceMessage(role, text)]  # type: ignore[arg-type]


def _call(text: str, place: int) -> TraceCall:
    called: Mapping[str, Any] = object_of(json_or_itself(text))
    name = field_of(called, "name") or "tool"
    given = called.get("arguments", called.get("parameters"))
    return TraceCall(f"call_{place}", name, arguments_of(given) if called else text)


FORMAT = TraceFormat(
    name="sharegpt",
    version=1,
    about="ShareGPT data sets: conversations of `from` and `value`",
    recognise=recognise,
    read=read,
)
