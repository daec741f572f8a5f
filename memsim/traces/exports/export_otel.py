"""Write OpenTelemetry GenAI spans as JSON lines, as the collector's file exporter does.

Each message of the assistant is a `chat` span, which was sent all that the recorded agent sent for
it. What its memory returned is a `search_memory` span before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, BinaryIO

from memsim.message import EPOCH
from memsim.traces.conversation_file import encode_json, iso_time
from memsim.traces.records import TraceConversation, TraceMessage

_ZERO = datetime.fromisoformat("1970-01-01T00:00:00Z")


def write(conversations: Iterable[TraceConversation], stream: BinaryIO) -> None:
    """Write one line for each conversation."""
    for number, each in enumerate(conversations, start=1):
        spans = [
            {**span, "traceId": _id(number, "", 32), "spanId": _id(number, str(place), 16)}
            for place, span in enumerate(_spans(each))
        ]
        scope = {"scope": {"name": "memsim"}, "spans": spans}
        line = {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]}
        stream.write(f"{encode_json(line)}\n".encode())


def _id(number: int, place: str, digits: int) -> str:
    return hashlib.sha256(f"{number}:{place}".encode()).hexdigest()[:digits]


def _spans(conversation: TraceConversation) -> Iterator[dict[str, Any]]:
    told = {
        "gen_ai.conversation.id": conversation.id,
        "user.id": conversation.person,
        "memsim.title": conversation.title,
    }
    told = {name: value for name, value in told.items() if value}
    system: list[TraceMessage] = []
    sent: list[TraceMessage] = []
    waiting: list[TraceMessage] = []
    compacted = False
    for message in conversation.messages:
        ends = message.role in {"assistant", "recall", "compaction", "system"}
        if ends and message.role != "assistant" and waiting:
            yield _chat(told, [*system, *sent], waiting[-1], None, compacted=compacted)
            waiting, compacted = [], False
        if message.role == "recall":
            yield _recall(told, message)
        elif message.role == "system":
            system, waiting = [message], [message]
        elif message.role == "compaction":
            sent, waiting, compacted = [message], [message], True
        elif message.role == "assistant":
            before = waiting[-1] if waiting else message
            yield _chat(told, [*system, *sent], before, message, compacted=compacted)
            sent, waiting, compacted = [*sent, message], [], False
        else:
            sent, waiting = [*sent, message], [*waiting, message]
    if waiting:
        yield _chat(told, [*system, *sent], waiting[-1], None, compacted=compacted)


def _chat(
    told: dict[str, Any],
    sent: list[TraceMessage],
    before: TraceMessage,
    answer: TraceMessage | None,
    *,
    compacted: bool,
) -> dict[str, Any]:
    given: dict[str, Any] = {
        **told,
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": encode_json([_object(m) for m in sent]),
    }
    if answer:
        given["gen_ai.output.messages"] = encode_json([_object(answer)])
    if compacted:
        given["gen_ai.conversation.compacted"] = True
    return _span("chat", before, answer or before, given)


def _recall(told: dict[str, Any], message: TraceMessage) -> dict[str, Any]:
    records = [
        {
            "content": each.text,
            **({"id": each.id} if each.id else {}),
            **({} if each.score is None else {"score": each.score}),
        }
        for each in message.documents
    ]
    given = {
        **told,
        "gen_ai.operation.name": "search_memory",
        "gen_ai.memory.query.text": message.text,
        "gen_ai.memory.records": encode_json(records),
    }
    return _span("search_memory", message, message, given)


def _span(
    name: str, first: TraceMessage, last: TraceMessage, given: dict[str, Any]
) -> dict[str, Any]:
    return {
        "name": name,
        "kind": 3,
        "startTimeUnixNano": _nanoseconds(first.time),
        "endTimeUnixNano": _nanoseconds(last.time),
        "attributes": [
            {"key": key, "value": {"boolValue" if value is True else "stringValue": value}}
            for key, value in given.items()
        ],
    }


def _nanoseconds(time: datetime | None) -> str:
    passed = (time or EPOCH) - _ZERO
    micros = (passed.days * 86_400 + passed.seconds) * 10**6 + passed.microseconds
    return str(micros * 1_000)


def _object(message: TraceMessage) -> dict[str, Any]:
    """A message in parts; `time` is memsim's own key."""
    parts: list[dict[str, Any]] = []
    if message.role == "tool":
        response = {"type": "tool_call_response", "id": message.answers, "response": message.text}
        parts.append({**response, "is_error": True} if message.is_error else response)
    elif message.text:
        parts.append({"type": "text", "content": message.text})
    parts += [
        {"type": "tool_call", "id": c.id, "name": c.name, "arguments": c.arguments}
        for c in message.calls
    ]
    role = "user" if message.role == "compaction" else message.role
    made: dict[str, Any] = {"role": role, "parts": parts}
    made |= {"name": message.speaker} if message.speaker else {}
    return {**made, "time": iso_time(message.time)} if message.time else made
