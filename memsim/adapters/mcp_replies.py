"""Read what a tool answered as its mapping says; an answer of another shape is an error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memsim.adapters.credit import ForeignText
from memsim.adapters.mcp_mapping import ReplyMapping
from memsim.adapters.mcp_messages import McpError, ToolReply

_MOST_ITEMS = 10_000
_MOST_LINE = 2**18


def read_items(reply: ToolReply, mapping: ReplyMapping, tool: str) -> list[ForeignText]:
    """The texts in an answer, with the ids and times that it gives them.

    Raises:
        McpError: the answer is not as the mapping says.
    """
    rows = _line_items(reply.text, mapping.lines) if mapping.lines else _items(reply, mapping, tool)
    found: list[ForeignText] = []
    for row in rows:
        if len(found) >= _MOST_ITEMS:
            raise McpError(f"{tool}: more than {_MOST_ITEMS:,} texts")
        time = _time(row.get("time"), tool)
        sources = (row["id"],) if row.get("id") else ()
        found.append(ForeignText(text=row.get("text") or "", sources=sources, time=time))
    return found


def _items(reply: ToolReply, mapping: ReplyMapping, tool: str) -> Iterator[Mapping[str, str]]:
    whole = _json(reply, tool)
    for item in values_at(whole, mapping.items, tool):
        row = {}
        for name in ("text", "id", "time"):
            path = getattr(mapping, name)
            told = list(values_at(item, path, tool)) if path else []
            wrong = next((each for each in told if not isinstance(each, str)), None)
            if wrong is not None and name != "id":
                raise McpError(f"{tool}: {path} is {type(wrong).__name__}, not a text")
            row[name] = "\n".join(map(str, told))
        yield row


def values_at(value: object, path: str, tool: str) -> Iterator[Any]:
    """The values at a path such as `result.entities[].name`; a key with `?` may be missing.

    Raises:
        McpError: there is no such place.
    """
    if not path:
        yield value
        return
    step, _, rest = path.partition(".")
    key = step.removesuffix("[]")
    name = key.removesuffix("?")
    found = value
    if name:
        if not isinstance(value, dict) or (name not in value and name == key):
            raise McpError(f"{tool}: the answer has no {name!r}, where its mapping looks for it")
        found = value.get(name)
        if found is None and name != key:
            return
    if key == step:
        yield from values_at(found, rest, tool)
        return
    if not isinstance(found, list):
        raise McpError(f"{tool}: {name or 'the answer'} is no list")
    for each in found:
        yield from values_at(each, rest, tool)


def _json(reply: ToolReply, tool: str) -> object:
    if isinstance(reply.structured, dict):
        return reply.structured
    try:
        return json.loads(reply.text)
    except (ValueError, RecursionError):
        said = " ".join(reply.text.split())[:100]
        raise McpError(f"{tool}: the answer is no JSON: {said}") from None


def _line_items(text: str, patterns: Sequence[str]) -> Iterator[Mapping[str, str]]:
    """Items of a plain answer: a line with a text begins one, and lines of no pattern go on."""
    known = [re.compile(pattern) for pattern in patterns]
    row: dict[str, str] = {}
    for line in text.split("\n"):
        found = _groups(line, known) if len(line) <= _MOST_LINE else None
        if found is None:
            if "text" in row and "id" not in row and "time" not in row:
                row["text"] += f"\n{line}"
            continue
        if "text" in found and row:
            yield row
            row = {}
        row |= found
    if row:
        yield row


def _groups(line: str, patterns: Sequence[re.Pattern[str]]) -> dict[str, str] | None:
    for pattern in patterns:
        found = pattern.fullmatch(line)
        if found:
            return {key: value for key, value in found.groupdict().items() if value is not None}
    return None


def _time(told: str | None, tool: str) -> datetime | None:
    if not told:
        return None
    try:
        time = datetime.fromisoformat(told)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise McpError(f"{tool}: a time is none of ISO 8601") from None
