"""LangSmith runs: calls of models and retrievers, with messages of LangChain or OpenAI."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memsim.traces.call_history import TracedCall, conversations_of
from memsim.traces.chat_messages import chat_message, field_of, moment_of, object_of, objects_of
from memsim.traces.otel_messages import recalled_documents
from memsim.traces.records import TraceConversation, TraceMessage
from memsim.traces.trace_format import TraceFormat, TraceSource

_CLASSES = {"HumanMessage": "user", "AIMessage": "assistant", "AIMessageChunk": "assistant"}
_CLASSES |= {"SystemMessage": "system", "ToolMessage": "tool", "FunctionMessage": "tool"}


def _is_run(value: object) -> bool:
    entry = object_of(value)
    return "run_type" in entry and ("inputs" in entry or "outputs" in entry)


def recognise(values: Sequence[Any]) -> bool:
    """Whether a value is a run with its type."""
    return any(map(_is_run, values))


def read(source: TraceSource) -> Iterator[TraceConversation]:
    """A conversation for each thread, or else for each trace."""
    return conversations_of(call for _, v in source.values() for call in _calls(v, source))


def _calls(value: object, source: TraceSource) -> Iterator[TracedCall]:
    waiting = deque([value])
    while waiting:
        run = waiting.popleft()
        if not _is_run(run):
            source.drop("not a run")
            continue
        run = object_of(run)
        waiting += objects_of(run.get("child_runs"))
        kind = field_of(run, "run_type")
        if kind not in {"llm", "retriever"}:
            if kind not in {"chain", "prompt", "parser"}:
                source.leave_out(f"run {kind[:30]}")
            continue
        told = object_of(object_of(run.get("extra")).get("metadata"))
        inputs, outputs = object_of(run.get("inputs")), object_of(run.get("outputs"))
        recalls = kind == "retriever"
        listed = inputs.get("messages", inputs.get("input"))
        sent = _recall(run, source) if recalls else _messages(listed, source)
        yield TracedCall(
            conversation=field_of(told, "thread_id", "session_id", "conversation_id")
            or field_of(run, "trace_id", "id"),
            person=field_of(told, "user_id"),
            began=moment_of(run.get("start_time")),
            ended=moment_of(run.get("end_time")),
            inputs=tuple(sent),
            outputs=() if recalls else tuple(_answers(outputs, source)),
        )


def _recall(run: Mapping[str, Any], source: TraceSource) -> Iterator[TraceMessage]:
    inputs, outputs = object_of(run.get("inputs")), object_of(run.get("outputs"))
    documents = recalled_documents(outputs.get("documents", outputs.get("output")), source)
    began = moment_of(run.get("start_time"))
    yield TraceMessage("recall", field_of(inputs, "query", "input"), began, documents=documents)


def _messages(value: object, source: TraceSource) -> Iterator[TraceMessage]:
    if isinstance(value, str):
        value = [{"role": "user", "content": value}]
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, list) and value and isinstance(value[0], list):
        value = value[0]
    for entry in objects_of(value):
        if message := chat_message(_plain(entry), source):
            yield message


def _plain(entry: dict[str, Any]) -> dict[str, Any]:
    """A message of LangChain, which may be wrapped in its constructor, in OpenAI's form."""
    kwargs = object_of(entry.get("kwargs")) or object_of(entry.get("data"))
    if not kwargs:
        return entry
    path = entry.get("id")
    last = str(path[-1]) if isinstance(path, list) and path else ""
    role = _CLASSES.get(last) or field_of(kwargs, "role", "type") or field_of(entry, "type")
    return {**kwargs, "role": role}


def _answers(outputs: Mapping[str, Any], source: TraceSource) -> Iterator[TraceMessage]:
    found: object = outputs.get("generations")
    while isinstance(found, list) and found:
        found = found[0]
    generation = object_of(found)
    for name in ("message", "output"):
        if isinstance(generation.get(name), dict):
            yield from _messages(generation[name], source)
            return
    if "text" in generation:
        yield TraceMessage("assistant", field_of(generation, "text"))
        return
    choices = [choice.get("message") for choice in objects_of(outputs.get("choices"))[:1]]
    listed = choices or outputs.get("messages", outputs.get("output", outputs))
    answers = [m for m in _messages(listed, source) if m.role == "assistant"]
    yield from answers[-1:]


FORMAT = TraceFormat(
    name="langsmith",
    version=1,
    about="LangSmith runs, JSON or JSON lines",
    recognise=recognise,
    read=read,
)
