"""Calls that the offline agent plans, and the arguments that their tools take."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from memsim.language.text import content
from memsim.message import ToolUse
from memsim.models.offline.tool_purpose import ToolUsage
from memsim.models.offline.tool_schema import ArgumentValues, ParameterRole, arguments, parameters

if TYPE_CHECKING:
    from memsim.message import Message
    from memsim.models import ToolSpec
    from memsim.models.offline.tool_results import FoundEntry

NOTES_KEY: Final = "standing_instructions"
"""The key under which the agent writes its notes, where notes have keys."""

_KEY_WORDS: Final = 6


class PlannedCall(NamedTuple):
    """A use of a tool, and the values for its parameters."""

    usage: ToolUsage
    values: ArgumentValues
    main: ParameterRole


def find_call(usage: ToolUsage, text: str) -> PlannedCall:
    """Search for a text, or list everything."""
    if usage.purpose == "list":
        return PlannedCall(usage, ArgumentValues(), "query")
    listed = any(p.role == "query" and p.listed for p in parameters(usage.tool))
    return PlannedCall(
        usage, ArgumentValues(query=text, keywords=(text,) if listed else ()), "query"
    )


def key_call(usage: ToolUsage, entry: FoundEntry) -> PlannedCall:
    """Look up, or forget, an entry by its key."""
    needed = any(p.role == "content" and p.required for p in parameters(usage.tool))
    values = ArgumentValues(key=entry.key, content=(entry.text,) if needed else ())
    return PlannedCall(usage, values, "key")


def page_call(usage: ToolUsage, reference: str, place: int | None = None) -> PlannedCall:
    """Read what a reference stands for, from a place on."""
    named = any(p.role == "reference" for p in parameters(usage.tool))
    values = ArgumentValues(place=place)
    values = replace(values, reference=reference) if named else replace(values, key=reference)
    return PlannedCall(usage, values, "reference")


def notes_call(usage: ToolUsage) -> PlannedCall:
    """Read the agent's notes."""
    return PlannedCall(usage, ArgumentValues(key=NOTES_KEY), "key")


def tool_use(call: PlannedCall, message: Message) -> ToolUse:
    """The call as a model makes it; its id follows from the message and the arguments."""
    usage = call.usage
    values = replace(call.values, choices={**dict(usage.choices), **call.values.choices})
    given = arguments(usage.tool, values, call.main)
    return _identified(usage.tool, message, given)


def _identified(tool: ToolSpec, message: Message, given: dict[str, object]) -> ToolUse:
    text = json.dumps(given, ensure_ascii=False, sort_keys=True)
    digest = hashlib.blake2b(f"{message.id}\n{tool.name}\n{text}".encode(), digest_size=6)
    return ToolUse(id=f"call_{digest.hexdigest()}", name=tool.name, arguments=text)


def entry_key(text: str) -> str:
    """The key under which the agent stores a text."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return "_".join([*content(text)[:_KEY_WORDS], digest])
