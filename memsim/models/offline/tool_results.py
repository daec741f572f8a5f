"""Read what the tools of a memory answered: the entries found, and references to what is not shown.

Three forms of entries are understood: lines such as `- [core] key: text`, blocks of `key:` and
`content:`, and JSON whose objects have a key and a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memsim.language.text import content
from memsim.message import Text, ToolResult, ToolUse
from memsim.models.offline.tool_purpose import ToolPurpose, ToolUsage
from memsim.models.offline.tool_schema import name_words

if TYPE_CHECKING:
    from memsim.message import Message

_LINE: Final = re.compile(r"^\s*[-*]\s+(?:\[[^\]\n]*\]\s+)?(?P<key>\S{1,160}):\s+(?P<text>\S.*)$")
_FIELD: Final = re.compile(
    r"^\s*(?:[-*]\s+)?(?P<name>key|id|name|content|text|value):\s+(?P<is>.+)$"
)
_CUT: Final = re.compile(r"(?:\.\.\.|\u2026)\s*(?:\[\d+%\])?\s*$")
_MORE: Final = re.compile(
    r"\[[^\[\]\n]{0,80}\b(?:start|offset|from)\s*=\s*(?P<place>\d{1,15})\]?\s*$"
)
_REFERENCE: Final = re.compile(
    r"[<\[][^<>\[\]\n]{0,80}?\b(?:ref|reference|uuid|id|handle)\s*[=:]\s*[\"']?"
    r"(?P<ref>[\w:.\-/]{6,160})",
    re.IGNORECASE,
)
_AROUND: Final = 300
"""Characters before and after a reference that tell what is behind it."""

_KEYS: Final = ("key", "id", "uuid", "name", "path")
_TEXTS: Final = frozenset({"content", "text", "value", "fact", "memory", "observation", "note"})
_DEPTH: Final = 8
_EMPTY: Final = re.compile(r"^\W*(?:no|none|nothing|empty|error)\b|\bis empty\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """An entry of a memory, as a search showed it.

    Attributes:
        cut: whether only its beginning is shown.
    """

    key: str
    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call of the agent, and what the tool answered."""

    usage: ToolUsage
    arguments: str
    text: str
    is_error: bool

    @property
    def purpose(self) -> ToolPurpose:
        """What the call was for."""
        return self.usage.purpose

    @property
    def found_something(self) -> bool:
        """Whether the answer is more than a word that there is nothing."""
        if self.is_error or not self.text.strip() or _EMPTY.search(self.text[:80]):
            return False
        decoded = _decoded(self.text) if self.text.lstrip()[:1] in {"[", "{"} else None
        return not isinstance(decoded, list | dict) or any(_leaf_texts(decoded, 0))


def _leaf_texts(value: object, depth: int) -> Iterator[str]:
    inner = value.values() if isinstance(value, dict) else value
    if isinstance(inner, str):
        yield inner
    elif isinstance(inner, Iterable) and depth < _DEPTH:
        for item in inner:
            yield from _leaf_texts(item, depth + 1)


@dataclass(frozen=True, slots=True)
class ContextReference:
    """A reference to content that is not shown, with the text beside it.

    Attributes:
        beside: the words before it, the call whose result it stands in, and the next message.
    """

    reference: str
    beside: str


def answered_calls(
    traffic: Sequence[Message], usages: Sequence[ToolUsage]
) -> tuple[AnsweredCall, ...]:
    """The calls in the agent's own messages with their answers, in order."""
    answers = {b.id: b for m in traffic for b in m.blocks if isinstance(b, ToolResult)}
    found: list[AnsweredCall] = []
    for call in (b for m in traffic for b in m.blocks if isinstance(b, ToolUse)):
        usage, answer = _usage(call, usages), answers.get(call.id)
        if usage is not None and answer is not None:
            found.append(AnsweredCall(usage, call.arguments, answer.text, answer.is_error))
    return tuple(found)


def _usage(call: ToolUse, usages: Sequence[ToolUsage]) -> ToolUsage | None:
    given = _decoded(call.arguments)
    arguments = given if isinstance(given, dict) else {}
    for usage in usages:
        if usage.tool.name == call.name and all(arguments.get(n) == v for n, v in usage.choices):
            return usage
    return None


def _decoded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def found_entries(text: str) -> tuple[FoundEntry, ...]:
    """The entries that the answer of a search shows, each key once."""
    decoded = _decoded(text) if text.lstrip()[:1] in {"[", "{"} else None
    entries = _in_json(decoded, 0) if isinstance(decoded, list | dict) else _in_lines(text)
    by_key: dict[str, FoundEntry] = {}
    for entry in entries:
        by_key.setdefault(entry.key, entry)
    return tuple(by_key.values())


def _in_lines(text: str) -> Iterator[FoundEntry]:
    key = ""
    for line in text.splitlines():
        named = _FIELD.match(line)
        if named and named["name"] in _KEYS:
            key = named["is"].strip()
        elif named and key:
            yield _entry(key, named["is"])
            key = ""
        elif not named and (listed := _LINE.match(line)):
            yield _entry(listed["key"], listed["text"])


def _entry(key: str, text: str) -> FoundEntry:
    return FoundEntry(key, text.strip(), cut=bool(_CUT.search(text[-40:])))


def _in_json(value: object, depth: int) -> Iterator[FoundEntry]:
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _in_json(item, depth + 1)
    elif isinstance(value, dict):
        key = next((str(value[k]) for k in _KEYS if isinstance(value.get(k), str | int)), "")
        text = " ".join(_texts(value, 0))
        if key and text:
            yield _entry(key, text)
        else:
            for item in value.values():
                yield from _in_json(item, depth + 1)


def _texts(value: Mapping[str, object], depth: int) -> Iterator[str]:
    for name, held in value.items():
        if isinstance(held, dict) and depth < _DEPTH:
            yield from _texts(held, depth + 1)
        elif not _TEXTS.isdisjoint(name_words(name)):
            yield from (str(h) for h in (held if isinstance(held, list) else [held]))


def next_place(text: str) -> int | None:
    """Where the rest of a long answer begins, as the answer says; None where it is whole."""
    match = _MORE.search(text[-200:])
    return int(match["place"]) if match else None


def without_next_place(text: str) -> str:
    """An answer without the line that says where its rest begins."""
    return text[:-200] + _MORE.sub("", text[-200:])


def context_references(messages: Sequence[Message]) -> tuple[ContextReference, ...]:
    """The references in composed messages of a context, in order.

    What users, assistants and tools wrote themselves refers to nothing.
    """
    found: list[ContextReference] = []
    asked: dict[str, str] = {}
    for at, message in enumerate(messages):
        calls = [b for b in message.blocks if isinstance(b, ToolUse)]
        asked |= {c.id: f"{c.name} {c.arguments}" for c in calls}
        if not message.composed:
            continue
        after = messages[at + 1].text[:_AROUND] if at + 1 < len(messages) else ""
        for block in message.blocks:
            if isinstance(block, Text | ToolResult):
                call = asked.get(block.id, "") if isinstance(block, ToolResult) else ""
                found += (
                    ContextReference(m["ref"], f"{call}\n{_before(m, block.text)}\n{after}")
                    for m in _REFERENCE.finditer(block.text)
                )
    return tuple({f.reference: f for f in found}.values())


def _before(match: re.Match[str], text: str) -> str:
    return text[max(0, match.start() - _AROUND) : match.start()]


def shared_words(text: str, words: frozenset[str]) -> int:
    """How many of the words a text holds."""
    return len(words.intersection(content(text)))
