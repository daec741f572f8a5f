"""OpenTelemetry GenAI spans and log records, as the collector's file exporter writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memsim.traces.call_history import TracedCall, conversations_of
from memsim.traces.chat_messages import chat_message, field_of, objects_of
from memsim.traces.otel_messages import part_messages, recalled_documents
from memsim.traces.records import TraceConversation, TraceMessage
from memsim.traces.spans import Span, json_or_itself, spans_of, unflattened
from memsim.traces.trace_format import TraceFormat, TraceSource

_MEMORY = frozenset({"retrieval", "search_memory"})
_SILENT = frozenset({"", "embeddings", "create_agent", "invoke_agent", "invoke_workflow", "plan"})
_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


def recognise(values: Sequence[Any]) -> bool:
    """Whether a span, an attribute of it or an event has a name of GenAI."""
    spans = (span for value in values for span in spans_of(value))
    names = ((s.name, *s.attributes, *(name for name, _ in s.events)) for s in spans)
    return any(name.startswith("gen_ai.") for each in names for name in each)


def read(source: TraceSource) -> Iterator[TraceConversation]:
    """A conversation for each `gen_ai.conversation.id`, or else for each trace."""
    return conversations_of(call for _, v in source.values() for call in _calls(v, source))


def _calls(value: object, source: TraceSource) -> Iterator[TracedCall]:
    for span in spans_of(value):
        told = dict(span.attributes)
        for name, event in span.events:
            if name == "gen_ai.client.inference.operation.details":
                told |= event
        operation = field_of(told, "gen_ai.operation.name")
        inputs: list[TraceMessage] = []
        outputs: list[TraceMessage] = []
        if operation in _MEMORY:
            inputs.append(_recall(told, span, source))
        else:
            inputs += _inputs(told, source)
            outputs += part_messages(told.get("gen_ai.output.messages"), source)
            outputs += _flat(told, "gen_ai.completion", source)
        _add_events(span, inputs, outputs, source)
        if not (inputs or outputs):
            if operation not in _SILENT:
                source.leave_out(f"span {operation[:30]}")
            continue
        yield TracedCall(
            conversation=field_of(told, "gen_ai.conversation.id", "session.id") or span.trace,
            person=field_of(told, "user.id", "enduser.id"),
            title=field_of(told, "memsim.title"),
            began=span.began,
            ended=span.ended,
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            compacted=told.get("gen_ai.conversation.compacted") is True,
        )


def _inputs(told: Mapping[str, Any], source: TraceSource) -> Iterator[TraceMessage]:
    instructions = json_or_itself(told.get("gen_ai.system_instructions"))
    if instructions:
        yield from part_messages([{"role": "system", "parts": instructions}], source)
    yield from part_messages(told.get("gen_ai.input.messages"), source)
    yield from _flat(told, "gen_ai.prompt", source)


def _flat(told: Mapping[str, Any], prefix: str, source: TraceSource) -> Iterator[TraceMessage]:
    for entry in unflattened(told, prefix + "."):
        calls = unflattened(entry, "tool_calls.")
        role = field_of(entry, "role") or "assistant"
        message = chat_message({**entry, "role": role, "tool_calls": calls}, source)
        if message is not None:
            yield message


def _recall(told: Mapping[str, Any], span: Span, source: TraceSource) -> TraceMessage:
    listed = told.get("gen_ai.memory.records", told.get("gen_ai.retrieval.documents"))
    asked = field_of(told, "gen_ai.memory.query.text", "gen_ai.retrieval.query.text")
    documents = recalled_documents(json_or_itself(listed), source)
    return TraceMessage("recall", asked, span.began, documents=documents)


def _add_events(
    span: Span, inputs: list[TraceMessage], outputs: list[TraceMessage], source: TraceSource
) -> None:
    for name, event in span.events:
        role = _EVENT_ROLES.get(name)
        if name == "gen_ai.choice":
            inner = json_or_itself(event.get("message"))
            inner = inner if isinstance(inner, dict) else {"content": inner}
            entry = {**event, **inner, "role": "assistant"}
        elif role:
            entry = {**event, "role": role, "tool_call_id": event.get("id")}
        else:
            continue
        entry["tool_calls"] = objects_of(json_or_itself(entry.get("tool_calls")))
        if message := chat_message(entry, source):
            (outputs if name == "gen_ai.choice" else inputs).append(message)


FORMAT = TraceFormat(
    name="otel",
    version=1,
    about="OpenTelemetry GenAI spans and log records, as the collector writes them to files",
    recognise=recognise,
    read=read,
)
