"""OpenInference spans, as Phoenix and its instrumentations write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memsim.traces.call_history import TracedCall, conversations_of
from memsim.traces.chat_messages import chat_message, field_of, object_of
from memsim.traces.otel_messages import recalled_documents
from memsim.traces.records import TraceConversation, TraceMessage
from memsim.traces.spans import Span, spans_of, unflattened
from memsim.traces.trace_format import TraceFormat, TraceSource

_KIND = "openinference.span.kind"


def _spans(value: object) -> Iterator[Span]:
    # A table of spans has its attributes as columns: attributes.llm.input_messages.
    columns = {
        key.removeprefix("attributes."): each
        for key, each in object_of(value).items()
        if key.startswith("attributes.")
    }
    yield from spans_of({**value, "attributes": columns} if columns else value)  # type: ignore[dict-item]


def recognise(values: Sequence[Any]) -> bool:
    """Whether a span has a kind of OpenInference, or messages under its keys."""
    return any(
        _KIND in span.attributes or any(k.startswith("llm.input_messages") for k in span.attributes)
        for value in values
        for span in _spans(value)
    )


def read(source: TraceSource) -> Iterator[TraceConversation]:
    """A conversation for each `session.id`, or else for each trace."""
    return conversations_of(call for _, v in source.values() for call in _calls(v, source))


def _calls(value: object, source: TraceSource) -> Iterator[TracedCall]:
    for span in _spans(value):
        told = span.attributes
        kind = field_of(told, _KIND).upper()
        inputs = tuple(_messages(told, "llm.input_messages", source))
        outputs = tuple(_messages(told, "llm.output_messages", source))
        if kind == "RETRIEVER":
            inputs = (_recall(told, span, source),)
        elif not (inputs or outputs):
            if kind not in {"", "CHAIN", "AGENT", "EMBEDDING"}:
                source.leave_out(f"span {kind[:30].lower()}")
            continue
        yield TracedCall(
            conversation=field_of(told, "session.id") or span.trace,
            person=field_of(told, "user.id"),
            began=span.began,
            ended=span.ended,
            inputs=inputs,
            outputs=outputs,
        )


def _entries(told: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    listed = told.get(prefix)
    return listed if isinstance(listed, list) else unflattened(told, prefix + ".")


def _messages(told: Mapping[str, Any], prefix: str, source: TraceSource) -> Iterator[TraceMessage]:
    for each in _entries(told, prefix):
        entry = _inner(each, "message")
        entry["tool_calls"] = [
            _named_call(_inner(call, "tool_call")) for call in _entries(entry, "tool_calls")
        ]
        if "content" not in entry:
            parts = (_inner(part, "message_content") for part in _entries(entry, "contents"))
            entry["content"] = [part for part in parts if part]
        if message := chat_message(entry, source):
            yield message


def _inner(entry: object, name: str) -> dict[str, Any]:
    """The keys below a name, be they nested or flat."""
    found = object_of(entry)
    flat = {k.removeprefix(f"{name}."): v for k, v in found.items() if k.startswith(f"{name}.")}
    return {**object_of(found.get(name)), **flat}


def _named_call(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": call.get("id"), "function": _inner(call, "function")}


def _recall(told: Mapping[str, Any], span: Span, source: TraceSource) -> TraceMessage:
    documents = [_inner(each, "document") for each in _entries(told, "retrieval.documents")]
    made = recalled_documents(documents, source)
    return TraceMessage("recall", field_of(told, "input.value"), span.began, documents=made)


FORMAT = TraceFormat(
    name="openinference",
    version=1,
    about="OpenInference spans of Phoenix and its instrumentations",
    recognise=recognise,
    read=read,
)
