"""Write an Inspect log, an `.eval` archive with one sample for each conversation."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from typing import Any, BinaryIO

from memsim.traces.chat_messages import arguments_of, object_of
from memsim.traces.conversation_file import encode_json, iso_time
from memsim.traces.exports.export_openai import chat_object, memory_events
from memsim.traces.records import TraceCall, TraceConversation, TraceMessage
from memsim.traces.spans import json_or_itself

_CREATED = "2026-01-05T09:00:00+00:00"
_DATE = (1980, 1, 1, 0, 0, 0)


def write(conversations: Iterable[TraceConversation], stream: BinaryIO) -> None:
    """Write an archive; the same conversations give the same bytes."""
    summaries: list[dict[str, Any]] = []
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, each in enumerate(conversations, start=1):
            sample = _sample(each, number)
            summaries.append({k: sample[k] for k in ("id", "epoch", "input", "target")})
            _put(archive, f"samples/{number}_epoch_1.json", sample)
        _put(archive, "summaries.json", summaries)
        _put(archive, "header.json", _header(len(summaries)))


def _put(archive: zipfile.ZipFile, name: str, value: object) -> None:
    member = zipfile.ZipInfo(name, _DATE)
    member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, encode_json(value).encode())


def _header(samples: int) -> dict[str, Any]:
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": "memsim",
            "run_id": "memsim",
            "created": _CREATED,
            "task": "memsim",
            "task_id": "memsim",
            "task_version": 0,
            "dataset": {"name": "memsim", "samples": samples},
            "model": "none/none",
            "config": {},
            "packages": {},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {"total_samples": samples, "completed_samples": samples, "scores": []},
        "stats": {"started_at": _CREATED, "completed_at": _CREATED, "model_usage": {}},
    }


def _sample(conversation: TraceConversation, number: int) -> dict[str, Any]:
    messages = [
        _message(m, f"{number}-{place}")
        for place, m in enumerate(conversation.messages)
        if m.role not in {"recall", "compaction"}
    ]
    told = {
        "conversation_id": conversation.id,
        "user_id": conversation.person,
        "title": conversation.title,
    }
    asked = next((m.text for m in conversation.messages if m.role == "user"), "")
    return {
        "id": number,
        "epoch": 1,
        "input": asked,
        "target": "",
        "messages": messages,
        "output": {"model": "none/none", "choices": []},
        "metadata": {name: value for name, value in told.items() if value},
        "scores": {},
        "store": {},
        "events": [
            {"event": "info", "source": "memsim", "timestamp": _CREATED, "data": event}
            for event in memory_events(conversation)
        ],
        "model_usage": {},
        "attachments": {},
    }


def _message(message: TraceMessage, name: str) -> dict[str, Any]:
    made: dict[str, Any] = {"id": name, **chat_object(message)}
    made.pop("name", None)
    told: dict[str, Any] = {}
    if message.calls:
        made["tool_calls"] = [_call(each) for each in message.calls]
        # Inspect holds arguments as an object, which need not be the text that the agent wrote.
        written = [c.arguments for c in message.calls]
        if written != [arguments_of(c["arguments"]) for c in made["tool_calls"]]:
            told["arguments"] = written
    if message.is_error:
        made["error"] = {"type": "unknown", "message": message.text}
    told |= {"time": iso_time(message.time)} if message.time else {}
    told |= {"speaker": message.speaker} if message.speaker else {}
    return {**made, "metadata": told} if told else made


def _call(call: TraceCall) -> dict[str, Any]:
    arguments = object_of(json_or_itself(call.arguments))
    return {"id": call.id, "function": call.name, "arguments": arguments, "type": "function"}
