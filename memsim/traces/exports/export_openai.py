"""Write OpenAI chat messages as JSON lines; what they cannot say stands in `metadata`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO

from memsim.traces.conversation_file import encode_json, iso_time, message_object
from memsim.traces.records import TraceConversation, TraceMessage

_EVENTS = frozenset({"recall", "compaction"})


def write(conversations: Iterable[TraceConversation], stream: BinaryIO) -> None:
    """Write one line for each conversation."""
    stream.writelines(f"{encode_json(_line(each))}\n".encode() for each in conversations)


def _line(conversation: TraceConversation) -> dict[str, Any]:
    said = [m for m in conversation.messages if m.role not in _EVENTS]
    return {"messages": [chat_object(m) for m in said], "metadata": _metadata(conversation, said)}


def _metadata(conversation: TraceConversation, said: list[TraceMessage]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "conversation_id": conversation.id,
        "user_id": conversation.person,
        "title": conversation.title,
    }
    made = {name: value for name, value in made.items() if value}
    if any(message.time for message in said):
        made["times"] = [iso_time(m.time) if m.time else None for m in said]
    if failed := [place for place, message in enumerate(said) if message.is_error]:
        made["tool_errors"] = failed
    if events := memory_events(conversation):
        made["memory"] = events
    return made


def memory_events(conversation: TraceConversation) -> list[dict[str, Any]]:
    """What a memory did, each with the place of the chat message before which it stands."""
    made: list[dict[str, Any]] = []
    place = 0
    for message in conversation.messages:
        if message.role in _EVENTS:
            made.append({"at": place, **message_object(message)})
        else:
            place += 1
    return made


def chat_object(message: TraceMessage) -> dict[str, Any]:
    """A message as OpenAI's API takes it."""
    made: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.speaker:
        made["name"] = message.speaker
    if message.calls:
        made["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.calls
        ]
    if message.role == "tool":
        made["tool_call_id"] = message.answers
    return made
