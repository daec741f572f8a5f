"""The hash that a call is found by, and what of the call is kept beside it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from memsim.canary.secrets import redact
from memsim.models.cassette import BEGINNING, Said

if TYPE_CHECKING:
    from collections.abc import Callable

    from memsim.models.live import Call, ChatMessage

_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode


def key_of(call: Call) -> str:
    """128 bits in hexadecimal, of everything that the provider is told."""
    return _digest(
        {"messages": list(message_ids(call)), "settings": settings_of(call), "task": call.task}
    )[:32]


def settings_of(call: Call) -> dict[str, object]:
    """Everything that a provider is told besides the messages; of tools the names and a hash.

    And which draw it is, from the second on: so several answers to one call are several recordings.
    """
    tools = [[t.name, t.description, t.parameters] for t in call.tools]
    found: dict[str, object] = {
        "max_tokens": call.max_tokens,
        "model": call.model,
        "temperature": call.temperature,
    }
    if call.draw:
        found["draw"] = call.draw
    if tools:
        found["tools"] = [t.name for t in call.tools]
        found["tools_hash"] = _digest(tools)[:16]
    return found


def message_ids(call: Call) -> tuple[str, ...]:
    """64 bits in hexadecimal of each message, in order."""
    return tuple(_id(message) for message in call.messages)


def messages_of(call: Call, clean: Callable[[str], str] = redact) -> dict[str, Said]:
    """What is kept of each message, by its hash.

    Args:
        call: whose messages they are.
        clean: takes out of a text what must not be kept.
    """
    return {
        _id(m): Said(role=m.role, beginning=beginning(_shown(m), clean), length=len(_shown(m)))
        for m in call.messages
    }


def beginning(text: str, clean: Callable[[str], str] = redact) -> str:
    """The first characters of a text, without what must not be kept; not even a part of that."""
    return clean(text[: 16 * BEGINNING])[:BEGINNING]


def _shown(message: ChatMessage) -> str:
    calls = " ".join(f"{call.name}({call.arguments})" for call in message.calls)
    return f"{message.text} {calls}".strip() if calls else message.text


def _id(message: ChatMessage) -> str:
    calls = [[c.id, c.name, c.arguments] for c in message.calls]
    return _digest([message.role, message.text, calls, message.answers])[:16]


def _digest(value: object) -> str:
    return hashlib.sha256(_encode(value).encode()).hexdigest()
