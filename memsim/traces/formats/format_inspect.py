"""Inspect's logs: samples of an `.eval` archive, or of a log in JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memsim.traces.chat_messages import (
    arguments_of,
    chat_message,
    field_of,
    moment_of,
    object_of,
    objects_of,
    sent_events,
)
from memsim.traces.records import TraceConversation, TraceMessage
from memsim.traces.trace_format import TraceFormat, TraceSource


def _is_sample(value: object) -> bool:
    entry = object_of(value)
    return "epoch" in entry and isinstance(entry.get("messages"), list)


def _is_log(value: object) -> bool:
    entry = object_of(value)
    return "eval" in entry and "version" in entry


def recognise(values: Sequence[Any]) -> bool:
    """Whether a value is a sample or a whole log."""
    return any(_is_sample(value) or _is_log(value) for value in values)


def read(source: TraceSource) -> Iterator[TraceConversation]:
    """A conversation for each sample and epoch."""
    for _line, value in source.values():
        if _is_sample(value):
            yield _conversation(value, source)
        elif _is_log(value):
            samples = value.get("samples")
            for sample in samples if isinstance(samples, list) else []:
                if _is_sample(sample):
                    yield _conversation(sample, source)
                else:
                    source.drop("not a sample")
        else:
            source.drop("not a sample")


def _conversation(sample: Mapping[str, Any], source: TraceSource) -> TraceConversation:
    told = object_of(sample.get("metadata"))
    events = sent_events(
        [object_of(e.get("data")) for e in objects_of(sample.get("events")) if _is_own(e)], source
    )
    made: list[TraceMessage] = []
    for place, each in enumerate(sample["messages"]):
        made += events.pop(place, [])
        if isinstance(each, dict):
            made += _message(each, source)
        else:
            source.drop("not an object")
    made += [event for rest in events.values() for event in rest]
    epoch = sample.get("epoch")
    name = field_of(told, "conversation_id") or field_of(sample, "id")
    return TraceConversation(
        id=name if epoch in (1, None) or not name else f"{name}_{epoch}",
        messages=tuple(made),
        person=field_of(told, "user_id", "user"),
        title=field_of(told, "title"),
    )


def _is_own(event: Mapping[str, Any]) -> bool:
    return event.get("event") == "info" and event.get("source") == "memsim"


def _message(entry: Mapping[str, Any], source: TraceSource) -> list[TraceMessage]:
    message = chat_message(entry, source)
    if message is None:
        return []
    told = object_of(entry.get("metadata"))
    speaker = field_of(told, "speaker")
    answers = field_of(entry, "tool_call_id", "function") if message.role == "tool" else ""
    time = message.time or moment_of(told.get("time"))
    written = told.get("arguments")
    calls = message.calls
    if isinstance(written, list) and len(written) == len(calls):
        calls = tuple(
            replace(c, arguments=arguments_of(w)) for c, w in zip(calls, written, strict=True)
        )
    spoke = speaker or message.speaker
    return [replace(message, time=time, speaker=spoke, answers=answers, calls=calls)]


FORMAT = TraceFormat(
    name="inspect",
    version=1,
    about="Inspect logs, .eval archives or JSON",
    recognise=recognise,
    read=read,
)
