"""OpenAI chat messages: objects with `messages`, requests with responses, or bare messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memsim.traces.chat_messages import (
    ROLES,
    chat_message,
    field_of,
    moment_of,
    object_of,
    objects_of,
    sent_events,
)
from memsim.traces.records import TraceConversation, TraceMessage
from memsim.traces.trace_format import TraceFormat, TraceSource


def _is_message(value: object) -> bool:
    entry = object_of(value)
    known = str(entry.get("role")).lower() in ROLES
    return known and ("content" in entry or "tool_calls" in entry)


def _messages(value: object) -> list[Any] | None:
    if isinstance(value, list):
        return value if value and all(map(_is_message, value)) else None
    entry = object_of(value)
    for holder in (entry, object_of(entry.get("request")), object_of(entry.get("body"))):
        if isinstance(holder.get("messages"), list):
            response = object_of(entry.get("response")) or entry
            response = object_of(response.get("body")) or response
            choices = objects_of(response.get("choices"))
            return [*holder["messages"], *(c["message"] for c in choices[:1] if "message" in c)]
    return None


def recognise(values: Sequence[Any]) -> bool:
    """Whether the first values hold `messages`, or are messages."""
    return any(map(_is_message, values)) or any(
        any(map(_is_message, found or ())) for found in map(_messages, values)
    )


def read(source: TraceSource) -> Iterator[TraceConversation]:
    """A conversation for each `messages`; bare messages are one conversation."""
    bare: list[Any] = []
    for _line, value in source.values():
        if _is_message(value):
            bare.append(value)
        elif (found := _messages(value)) is None:
            source.drop("not a conversation")
        else:
            yield _conversation(object_of(value), found, source)
    if bare:
        yield _conversation({}, bare, source)


def _conversation(
    entry: Mapping[str, Any], messages: Sequence[Any], source: TraceSource
) -> TraceConversation:
    told = {**object_of(entry.get("metadata")), **entry}
    noted = told.get("times")
    times: list[Any] = noted if isinstance(noted, list) else []
    noted = told.get("tool_errors")
    failures: list[Any] = noted if isinstance(noted, list) else []
    made: list[TraceMessage] = []
    events = sent_events(told.get("memory"), source)
    for place, each in enumerate(messages):
        made += events.pop(place, [])
        if not isinstance(each, dict):
            source.drop("not an object")
        elif message := chat_message(each, source):
            time = message.time or moment_of(times[place] if place < len(times) else None)
            failed = message.is_error or place in failures
            told_more = time is not message.time or failed
            made.append(replace(message, time=time, is_error=failed) if told_more else message)
    made += [event for rest in events.values() for event in rest]
    return TraceConversation(
        id=field_of(told, "conversation_id", "session_id", "thread_id", "chat_id", "id"),
        messages=tuple(made),
        person=field_of(told, "user_id", "user", "customer_id"),
        title=field_of(told, "title"),
    )


FORMAT = TraceFormat(
    name="openai",
    version=1,
    about="OpenAI chat messages, JSON or JSON lines; Langfuse, LiteLLM and fine-tuning files too",
    recognise=recognise,
    read=read,
)
