"""The tools that AgentScope's framework gives its agents, and what they answer."""

from __future__ import annotations

import json
from typing import Any

from memsim.memory.compaction import Blobs
from memsim.models import ToolSpec
from memsim.systems.agentscope.long_term_memory import (
    NO_KEYWORDS,
    NOTHING_FOUND,
    NOTHING_TO_RECORD,
    NOTHING_VALID,
    RECORDED,
    LongTermMemory,
)
from memsim.systems.agentscope.offloads import NULL_UUID, reload_answer
from memsim.systems.agentscope.thresholds import ROLE_NAMES

RECORD, RETRIEVE, RELOAD = "record_to_memory", "retrieve_from_memory", "context_reload"
UUID = "working_context_offload_uuid"
NO_LIST = "Error: {} has to be a list of texts"

_TEXT = {"type": "string"}
_LIST = {"type": "array", "items": _TEXT}


def _spec(name: str, description: str, properties: dict[str, Any], *, reads: bool) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return ToolSpec(name=name, description=description, parameters=json.dumps(schema), reads=reads)


LONG_TERM_TOOLS = (
    _spec(
        RECORD,
        "Record important info to long-term memory",
        {"thinking": _TEXT, "content": _LIST},
        reads=False,
    ),
    _spec(RETRIEVE, "Retrieve info from long-term memory", {"keywords": _LIST}, reads=True),
)
RELOAD_TOOL = _spec(
    RELOAD,
    "Give back the messages that a reference in the context stands for",
    {UUID: _TEXT},
    reads=True,
)


def call_tool(
    name: str,
    arguments: str,
    memory: LongTermMemory,
    user: str,
    *,
    said: tuple[str, ...],
    blobs: Blobs | None,
) -> str:
    """Run a tool with arguments that the agent wrote; `said` are ids of this turn's messages."""
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        return f"Error: the arguments of {name} are no JSON object"
    if name == RECORD:
        return record_to_memory(given, memory, user, said)
    if name == RETRIEVE:
        return retrieve_from_memory(given, memory, user)
    return context_reload(given, blobs)


def record_to_memory(
    given: dict[str, Any], memory: LongTermMemory, user: str, said: tuple[str, ...]
) -> str:
    """Answer record_to_memory."""
    content = given.get("content")
    if not content:
        return NOTHING_TO_RECORD
    if not isinstance(content, list):
        return NO_LIST.format("content")
    texts = [text for text in content if isinstance(text, str) and text.strip()]
    if not texts:
        return NOTHING_VALID
    thinking = given.get("thinking")
    if isinstance(thinking, str) and thinking.strip():
        texts.insert(0, thinking)
    for text in texts:
        memory.keep(text, user, perhaps=said)
    return RECORDED


def retrieve_from_memory(given: dict[str, Any], memory: LongTermMemory, user: str) -> str:
    """Answer retrieve_from_memory; the keywords are joined by one blank."""
    keywords = given.get("keywords")
    if not keywords:
        return NO_KEYWORDS
    if not isinstance(keywords, list):
        return NO_LIST.format("keywords")
    found = memory.retrieve(" ".join(map(str, keywords)), user)
    return "\n".join(m.text for m in found) or NOTHING_FOUND


def context_reload(given: dict[str, Any], blobs: Blobs | None) -> str:
    """Answer context_reload."""
    uuid = given.get(UUID)
    if not isinstance(uuid, str):
        return NULL_UUID
    found = reload_answer(uuid, blobs)
    if isinstance(found, str):
        return found
    return "\n".join(f"{ROLE_NAMES[m.role]}: {m.text}" for m in found)
