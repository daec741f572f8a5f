"""ATIF, the trajectories that Harbor's agents write: steps of system, user and agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memsim.traces.chat_messages import (
    arguments_of,
    field_of,
    moment_of,
    object_of,
    objects_of,
    text_of,
)
from memsim.traces.records import TraceCall, TraceConversation, TraceMessage, TraceRole
from memsim.traces.trace_format import TraceFormat, TraceSource

_SOURCES: Mapping[str, TraceRole] = {"system": "system", "user": "user", "agent": "assistant"}


def recognise(values: Sequence[Any]) -> bool:
    """Whether a value names its schema as ATIF."""
    return any(_version(value).startswith("ATIF") for value in values)


def _version(value: object) -> str:
    return field_of(object_of(value), "schema_version")


def read(source: TraceSource) -> Iterator[TraceConversation]:
    """A conversation for each trajectory; those of subagents are left out and counted."""
    for _line, value in source.values():
        if not _version(value).startswith("ATIF"):
            source.drop("not a trajectory")
            continue
        inner = objects_of(value.get("subagent_trajectories"))
        source.drop("of a subagent", sum(len(objects_of(each.get("steps"))) for each in inner))
        steps = value.get("steps")
        messages = [m for step in _listed(steps) for m in _messages(step, source)]
        extra = object_of(value.get("extra"))
        yield TraceConversation(
            id=field_of(value, "session_id", "trajectory_id"),
            messages=tuple(messages),
            person=field_of(extra, "user_id", "user"),
        )


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _messages(step: object, source: TraceSource) -> Iterator[TraceMessage]:
    if not isinstance(step, dict):
        source.drop("not an object")
        return
    if step.get("is_copied_context"):
        source.drop("copied context")
        return
    role = _SOURCES.get(field_of(step, "source"))
    if role is None:
        source.drop(f"unknown role {field_of(step, 'source')[:30]!a}")
        return
    time = moment_of(step.get("timestamp"))
    if step.get("reasoning_content"):
        source.leave_out("reasoning part")
    calls = tuple(
        TraceCall(
            field_of(call, "tool_call_id"),
            field_of(call, "function_name") or "tool",
            arguments_of(call.get("arguments")),
        )
        for call in objects_of(step.get("tool_calls"))
    )
    yield TraceMessage(role, text_of(step.get("message"), source), time, calls=calls)
    observation = object_of(step.get("observation"))
    for result in objects_of(observation.get("results")):
        called = field_of(result, "source_call_id") or (calls[0].id if len(calls) == 1 else "")
        text = text_of(result.get("content"), source)
        yield TraceMessage("tool", text, time, answers=called)


FORMAT = TraceFormat(
    name="atif",
    version=1,
    about="ATIF trajectories of Harbor, terminal-bench and NeMo",
    recognise=recognise,
    read=read,
)
