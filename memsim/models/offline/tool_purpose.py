"""Classify the tools of a memory by what they are for, from their descriptions and schemas.

Names of tools do not count, unless a tool has no description. The first verb of a description says
what a tool does, its nouns and parameters say to what:

================  =============================================  ==============================
purpose           description, in words such as                  parameters
================  =============================================  ==============================
store             store, remember, create ...                    content, maybe a key
update            update, change; add to existing ...            key and content
append            append; write to the day's page, a log ...     content
forget            forget, remove, delete ...                     key, or content
search            search, recall, find ...                       query
search sessions   search ... earlier sessions, conversations     query
get               get, look up, open ...                         key
list              list, read all ...                             none that is required
reload            reload, read what was offloaded, truncated     a reference
write notes       write ... scratchpad, notes of this session    content, maybe a key
read notes        read ... scratchpad, notes of this session     none, or a key
================  =============================================  ==============================

A tool whose choice parameter names such verbs, as `action: create | update | delete`, has one
purpose for each. A tool that is not about a memory has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from memsim.language.text import stem
from memsim.models.offline.tool_schema import Parameter, name_words, parameters

if TYPE_CHECKING:
    from memsim.models import ToolSpec

ToolPurpose = Literal[
    "store",
    "update",
    "append",
    "forget",
    "search",
    "search sessions",
    "get",
    "list",
    "reload",
    "write notes",
    "read notes",
]

WRITING: Final = frozenset({"store", "update", "append", "forget", "write notes"})
"""Purposes of tools that change what is remembered."""

_Action = Literal["write", "append", "change", "forget", "find", "read"]


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


_VERBS: Final[tuple[tuple[_Action, frozenset[str]], ...]] = (
    (
        "write",
        _stems("store save keep record remember create insert add write memorize persist put"),
    ),
    ("append", _stems("append")),
    ("change", _stems("update replace change edit modify revise amend overwrite")),
    ("forget", _stems("forget delete remove erase discard drop clear")),
    ("find", _stems("search find recall query retrieve seek")),
    ("read", _stems("read get fetch open look lookup load view show list give return reload")),
)
_MEMORY: Final = _stems(
    "memory memories note notes fact facts remember remembers remembered recall knowledge kept keep"
    " scratchpad conversation session offloaded reload said entity entities observation"
)
_SEARCH: Final = _stems("search")
_NOTES: Final = _stems("scratchpad scratch")
_NOTE: Final = _stems("note notes")
_CURRENT: Final = _stems("conversation session task current working")
_LONG: Final = _stems("memory memories knowledge")
_SESSIONS: Final = _stems("session sessions conversation conversations chat chats dialogue said")
_DAILY: Final = _stems("page daily day journal diary log")
_EXISTING: Final = _stems("existing")
_BEHIND: Final = _stems("offload offloaded reload truncated evicted reference")
"""Words for content that is not in the context, but can be had."""


@dataclass(frozen=True, slots=True)
class ToolUsage:
    """A way to use a tool.

    Attributes:
        choices: values of its choice parameters, such as `action: delete`.
    """

    purpose: ToolPurpose
    tool: ToolSpec
    choices: tuple[tuple[str, str], ...] = ()
    keyed: bool = field(default=False)
    """Whether the agent names the entry by a key of its own, as it stores it."""


@lru_cache(maxsize=1 << 7)
def tool_usages(tools: tuple[ToolSpec, ...]) -> tuple[ToolUsage, ...]:
    """The ways to use tools that are about a memory, in the order of the tools."""
    return tuple(usage for tool in tools for usage in _usages(tool))


def with_purpose(usages: Sequence[ToolUsage], purpose: ToolPurpose) -> tuple[ToolUsage, ...]:
    """The usages of one purpose; of several searches, what says so of itself comes first."""
    found = [usage for usage in usages if usage.purpose == purpose]
    if purpose == "search":
        found.sort(key=lambda usage: _SEARCH.isdisjoint(_spoken(usage.tool)))
    return tuple(found)


def _usages(tool: ToolSpec) -> list[ToolUsage]:
    spoken = _spoken(tool)
    known = frozenset(spoken) | {stem(w) for p in parameters(tool) for w in name_words(p.name)}
    if _MEMORY.isdisjoint(known):
        return []
    choice = next((p for p in parameters(tool) if len(_actions(p.choices)) > 1), None)
    if choice is None:
        found = _purpose(_action(spoken), frozenset(spoken), parameters(tool))
        return [ToolUsage(found, tool, (), _is_keyed(tool))] if found else []
    usages: list[ToolUsage] = []
    # Each choice needs its own parameters, and the schema requires what all of them need.
    said = frozenset(spoken) - _EXISTING - _DAILY
    for value in choice.choices:
        found = _purpose(_action(_stemmed(value)), said, parameters(tool))
        if found:
            usages.append(ToolUsage(found, tool, ((choice.name, value),), _is_keyed(tool)))
    return usages


def _spoken(tool: ToolSpec) -> list[str]:
    return _stemmed(str(tool.description or "")) or [stem(word) for word in name_words(tool.name)]


def _stemmed(text: str) -> list[str]:
    return [stem(word) for part in text.split() for word in _split(part)]


def _split(part: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in "".join(_spaced(part)).split())


def _spaced(part: str) -> Sequence[str]:
    return [c if c.isalnum() else " " for c in part]


def _action(spoken: Sequence[str]) -> _Action | None:
    for word in spoken:
        for action, verbs in _VERBS:
            if word in verbs:
                return action
    return None


def _actions(choices: Sequence[str]) -> frozenset[_Action]:
    found = (_action(_stemmed(value)) for value in choices)
    return frozenset(action for action in found if action)


def _is_keyed(tool: ToolSpec) -> bool:
    return any(p.role == "key" and p.required for p in parameters(tool))


def _purpose(
    action: _Action | None, said: frozenset[str], takes: Sequence[Parameter]
) -> ToolPurpose | None:
    roles: set[str] = {p.role for p in takes}
    required: set[str] = {p.role for p in takes if p.required}
    # Several unnamed texts are the ends of a relation, say, and one is what the tool is about.
    told = sum(p.role == "other" and p.is_text for p in takes) == 1
    content = "content" in roles or not takes or told
    match action:
        case "write" | "append" | "change":
            return _writing(action, said, roles, content=content)
        case "forget":
            return "forget" if roles & {"key", "content", "query"} or told else None
        case "find" | "read":
            return _reading(action, said, roles, required)
        case None:
            return None


def _writing(
    action: _Action, said: frozenset[str], roles: set[str], *, content: bool
) -> ToolPurpose | None:
    if not content:
        return None
    if said & _NOTES or (said & _NOTE and said & _CURRENT and not said & _LONG):
        return "write notes"
    if "key" in roles and (action == "change" or said & _EXISTING):
        return "update"
    if action == "append" or (said & _DAILY and "key" not in roles):
        return "append"
    return "store" if action != "change" else None


def _reading(
    action: _Action, said: frozenset[str], roles: set[str], required: set[str]
) -> ToolPurpose | None:
    if said & _BEHIND and roles & {"reference", "key"}:
        return "reload"
    if said & _NOTES or (said & _NOTE and said & _CURRENT and "query" not in roles):
        return "read notes"
    if action == "find" or "query" in required:
        sessions = said & _SESSIONS and not said & _LONG
        return "search sessions" if sessions else "search"
    if "key" in required:
        return "get"
    return None if required else "list"
