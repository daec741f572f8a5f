"""Acts by rule: stores what the user states, searches what the user asks, and otherwise answers."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, NamedTuple

from memsim.message import ToolUse
from memsim.models.extractor import states
from memsim.models.reader import answer
from memsim.models.statements import sentence
from memsim.models.text import sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.message import Message
    from memsim.models import Request, ToolSpec

NOTED = "Noted."
"""What is said where there is nothing to store, to search or to answer."""

_STORES = re.compile(r"store|remember|save|add|write|note|insert|create|update", re.IGNORECASE)
_SEARCHES = re.compile(r"search|recall|find|retrieve|look_?up|query|read|get", re.IGNORECASE)
_MEMORY = re.compile(r"memor|note|fact|remember|recall|knowledge", re.IGNORECASE)
_TEXTS = ("content", "text", "fact", "memory", "value", "note", "query", "question", "q", "input")


class Action(NamedTuple):
    """What the agent does: words, calls, and the messages that it took the words from."""

    text: str
    calls: tuple[ToolUse, ...] = ()
    sources: tuple[str, ...] = ()


def act(request: Request) -> Action:
    """The next step after the last user message: a tool call, or once it has results an answer."""
    at = _last_user(request.messages)
    if at is None:
        return Action(NOTED)
    message = request.messages[at]
    facts, questions = _parted(message)
    if any(m.calls for m in request.messages[at + 1 :]):
        return _answered(request, questions)
    store, search = _tool(request.tools, _STORES), _tool(request.tools, _SEARCHES)
    if facts and store:
        return Action("", (_call(store, message, " ".join(facts)),))
    if questions and search:
        return Action("", (_call(search, message, " ".join(questions)),))
    return _answered(request, questions)


def _last_user(messages: Sequence[Message]) -> int | None:
    return next((n for n in range(len(messages) - 1, -1, -1) if messages[n].role == "user"), None)


def _parted(message: Message) -> tuple[list[str], list[str]]:
    found = [sentence(s) for line in message.text.splitlines() for s in sentences(line)]
    facts = [s.text for s in found if states(s)]
    return facts, [s.text for s in found if s.question]


def _answered(request: Request, questions: Sequence[str]) -> Action:
    if not questions:
        return Action(NOTED)
    from dataclasses import replace

    said = answer(replace(request, question=questions[-1]))
    return Action(said.text, sources=said.sources)


def _tool(tools: Sequence[ToolSpec], verb: re.Pattern[str]) -> ToolSpec | None:
    named = [t for t in tools if verb.search(t.name) and _MEMORY.search(t.name + t.description)]
    return named[0] if named else None


def _call(tool: ToolSpec, message: Message, text: str) -> ToolUse:
    arguments = json.dumps({_parameter(tool): text}, ensure_ascii=False, sort_keys=True)
    digest = hashlib.blake2b(f"{message.id}\n{tool.name}\n{arguments}".encode(), digest_size=6)
    return ToolUse(id=f"call_{digest.hexdigest()}", name=tool.name, arguments=arguments)


def _parameter(tool: ToolSpec) -> str:
    try:
        schema = json.loads(tool.parameters or "{}")
    except ValueError:
        return _TEXTS[0]
    properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
    required = schema.get("required", []) if isinstance(schema, dict) else []
    usual = [name for name in _TEXTS if name in properties]
    return str(next(iter([*usual, *required, *properties]), _TEXTS[0]))
