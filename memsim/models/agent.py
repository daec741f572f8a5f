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
from memsim.models.text import content, sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.message import Message
    from memsim.models import Request, ToolSpec

NOTED = "Noted."
"""What is said where there is nothing to store, to search or to answer."""

_STORES = (
    "store",
    "remember",
    "record",
    "save",
    "add",
    "write",
    "note",
    "insert",
    "create",
    "update",
)
_SEARCHES = ("search", "recall", "retrieve", "find", "lookup", "query", "read", "get")
"""What the names of tools begin or end with, best first."""

_MEMORY = re.compile(r"memor|note|fact|remember|recall|knowledge", re.IGNORECASE)
_PARTS = re.compile(r"[^a-z0-9]+")
_ASKED = ("query", "question", "q", "keywords")
_TOLD = ("content", "text", "fact", "memory", "value", "note", "input")
_KEY_WORDS = 6


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
        return Action("", (_call(store, message, " ".join(facts), _TOLD),))
    if questions and search:
        return Action("", (_call(search, message, " ".join(questions), _ASKED),))
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


def _tool(tools: Sequence[ToolSpec], verbs: Sequence[str]) -> ToolSpec | None:
    about = [t for t in tools if _MEMORY.search(f"{t.name} {t.description}")]
    for verb in verbs:
        for tool in about:
            if verb in _PARTS.split(tool.name.lower()):
                return tool
    return None


def _call(tool: ToolSpec, message: Message, text: str, usual: Sequence[str]) -> ToolUse:
    arguments = json.dumps(_arguments(tool, text, usual), ensure_ascii=False, sort_keys=True)
    digest = hashlib.blake2b(f"{message.id}\n{tool.name}\n{arguments}".encode(), digest_size=6)
    return ToolUse(id=f"call_{digest.hexdigest()}", name=tool.name, arguments=arguments)


def _arguments(tool: ToolSpec, text: str, usual: Sequence[str]) -> dict[str, object]:
    """The text under the parameter that is for it, and a name for it under any other it needs."""
    properties, required = _schema(tool)
    known = [name for name in (*usual, *_ASKED, *_TOLD) if name in properties]
    main = next(iter([*known, *required, *properties]), usual[0])
    given: dict[str, object] = {main: _typed(properties.get(main), text)}
    for name in required:
        given.setdefault(name, _typed(properties.get(name), _key(text)))
    return given


def _schema(tool: ToolSpec) -> tuple[dict[str, object], list[str]]:
    try:
        schema = json.loads(tool.parameters or "{}")
    except (ValueError, RecursionError):
        schema = None
    if not isinstance(schema, dict):
        return {}, []
    properties, required = schema.get("properties"), schema.get("required")
    return (
        dict(properties) if isinstance(properties, dict) else {},
        [str(name) for name in required] if isinstance(required, list) else [],
    )


def _typed(schema: object, text: str) -> object:
    listed = isinstance(schema, dict) and schema.get("type") == "array"
    return [text] if listed else text


def _key(text: str) -> str:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return "_".join([*content(text)[:_KEY_WORDS], digest])
