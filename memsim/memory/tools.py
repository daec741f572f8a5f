"""The tools by which an agent uses a memory, with JSON Schemas that providers accept.

Who calls is never an argument: it is the principal of the session. A key that somebody else uses
and a key that nobody uses are answered in the same bytes. Under access control `memory_recall` is
not among the tools, and calling it is answered as any name that is no tool (PRX). Nor is
`memory_reload` where nothing is offloaded from the conversation. Of a memory that is only looked
into, those that read are all there are.

=================== ============================================== ==============
tool                arguments                                      reads or writes
=================== ============================================== ==============
memory_store        key, value, category = core                    writes
memory_forget       key                                            writes
memory_get          key                                            reads
memory_recall       query, max_results = 20                        reads
memory_search       query, category, max_results = 20              reads
record_to_memory    thinking, content: a list of statements        writes
retrieve_from_memory keywords: a list                              reads
scratchpad_write    text                                           writes
scratchpad_read                                                    reads
memory_append       text                                           writes
memory_reload       reference, start = 0                           reads
=================== ============================================== ==============
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from memsim.errors import ModelError, StoreError
from memsim.language.graphemes import head
from memsim.memory.compaction.blobs import NOTHING_OFFLOADED
from memsim.memory.entry import Conversation
from memsim.memory.history.working_memory import WorkingFull
from memsim.memory.layers.pages import WorkspaceFull
from memsim.models import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from memsim.memory.audit import AuditOutcome
    from memsim.memory.deletion import ErasureReport
    from memsim.memory.entry import Entry
    from memsim.memory.history.working_memory import WorkingMemory
    from memsim.memory.layers.long_term import LongTerm
    from memsim.memory.options import MemoryOptions
    from memsim.memory.vault import SearchHit, Vault
    from memsim.message import Message

MOST_RESULTS = 100
"""Results that a search gives at most, whatever it is asked for."""

DEFAULT_RESULTS = 20

RELOADED = 8_000
"""Characters that are reloaded at once, so that what was too large for a window fits into one."""

SHOWN = 300
"""Characters of a result that a search shows, so that a few long messages do not fill a context."""

READING = frozenset(
    {
        "memory_get",
        "memory_recall",
        "memory_reload",
        "memory_search",
        "retrieve_from_memory",
        "scratchpad_read",
    }
)
"""The tools that change nothing that can be recalled later."""

_TEXT = {"type": "string"}
_WORDS = {"type": "array", "items": {"type": "string"}}
_COUNT = {"type": "integer", "minimum": 1, "maximum": MOST_RESULTS}
_PLACE = {"type": "integer", "minimum": 0, "maximum": 2**53}


class ToolRefusal(Exception):  # noqa: N818 - an answer to the agent, not a failure
    """The arguments are not what the tool takes; the message is for the agent."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool gives back."""

    text: str
    outcome: AuditOutcome = "allowed"
    key: str = ""
    category: str = ""


Run = Callable[["MemoryTools", Mapping[str, Any]], ToolAnswer]


@dataclass(frozen=True, slots=True)
class _Tool:
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    run: Run


class ToolHost(Protocol):
    """The memory that tools use, with the methods of `Memory` that they call."""

    options: MemoryOptions
    vault: Vault
    working: WorkingMemory
    long_term: LongTerm
    now: Callable[[], datetime]

    def search(
        self, text: str, *, principal: str, category: str | None = None, k: int = 20
    ) -> list[SearchHit]:
        """Entries that match a text, best first."""
        ...

    def reload(self, reference: str, *, principal: str, session: str) -> tuple[Message, ...]:
        """The messages that were offloaded under a reference."""
        ...

    def has_offloaded(self, principal: str, session: str) -> bool:
        """Whether a principal may reload anything of a conversation."""
        ...

    def remember(
        self,
        principal: str,
        key: str,
        text: str,
        *,
        category: str = "core",
        session: str = "",
        sources: Iterable[str] = (),
    ) -> Entry:
        """Store a text under a key."""
        ...

    def forget_key(self, owner: str, key: str) -> ErasureReport:
        """Erase what is stored under a key."""
        ...

    def current_messages(self, principal: str) -> tuple[str, ...]:
        """Ids of a principal's messages in this turn."""
        ...

    def note(self, principal: str, text: str, *, session: str = "") -> str:
        """Add a note."""
        ...

    def record_audit(
        self, tool: str, *, principal: str, outcome: AuditOutcome, key: str = "", category: str = ""
    ) -> None:
        """Record a call in the audit trail."""
        ...


class MemoryTools:
    """A memory's tools for one principal in one conversation."""

    def __init__(self, memory: ToolHost, principal: str, session: str) -> None:
        self._memory = memory
        self._principal = principal
        self._session = session

    def specs(self) -> tuple[ToolSpec, ...]:
        """What the agent may call, by name in order; nothing where the framework does it all."""
        return tuple(_spec(name, TOOLS[name]) for name in sorted(self._names()))

    def call(self, name: str, arguments: str) -> str:
        """Run a tool with JSON arguments; what is wrong with a call is told in its answer.

        Raises `StoreError` if the store failed, or `ModelError` if the embedder failed.
        """
        tool = TOOLS.get(name) if name in self._names() else None
        if tool is None:
            self._note(name, ToolAnswer("", "refused"))
            return f"Error: there is no tool {name!r}"
        try:
            answer = tool.run(self, _read(tool, arguments))
        except ToolRefusal as error:
            answer = ToolAnswer(f"Error: {error}", "refused")
        except (WorkingFull, WorkspaceFull) as error:
            answer = ToolAnswer(f"Error: {error}", "refused")
        except (StoreError, ModelError):
            self._note(name, ToolAnswer("", "failed"))
            raise
        self._note(name, answer)
        return answer.text

    def _names(self) -> set[str]:
        if self._memory.options.mode == "framework":
            return set()
        gone = {"memory_recall"} if self._memory.options.acl else set()
        if not self._memory.has_offloaded(self._principal, self._session):
            gone.add("memory_reload")
        if self._memory.vault.readonly:
            gone |= TOOLS.keys() - READING
        return TOOLS.keys() - gone

    def _note(self, name: str, answer: ToolAnswer) -> None:
        self._memory.record_audit(
            name,
            principal=self._principal,
            outcome=answer.outcome,
            key=answer.key,
            category=answer.category,
        )

    # -- long-term memory

    def store(self, given: Mapping[str, Any]) -> ToolAnswer:
        """memory_store."""
        key, category = given["key"], given.get("category", "core")
        entry = self._kept(key, given["value"], category)
        return ToolAnswer(f"Stored memory: {entry.key}", key=key, category=category)

    def forget(self, given: Mapping[str, Any]) -> ToolAnswer:
        """memory_forget."""
        key = given["key"]
        gone = self._memory.forget_key(self._principal, key).entries
        if not gone:
            return ToolAnswer(f"No memory found with key: {key}", "missing", key)
        return ToolAnswer(f"Forgot memory: {key}", key=key, category=gone[0].category)

    def get(self, given: Mapping[str, Any]) -> ToolAnswer:
        """memory_get."""
        key = given["key"]
        found = self._memory.long_term.get(self._principal, key)
        if found is None:
            return ToolAnswer(f"No memory found with key: {key}", "missing", key)
        return ToolAnswer(found.text, key=key, category=found.category)

    def search(self, given: Mapping[str, Any]) -> ToolAnswer:
        """memory_search and memory_recall."""
        return self._found(given["query"], given.get("category"), given.get("max_results"))

    def record(self, given: Mapping[str, Any]) -> ToolAnswer:
        """record_to_memory."""
        texts = [text for text in given["content"] if text.strip()]
        for text in texts:
            digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
            self._kept(f"record-{digest}", text, "core")
        return ToolAnswer(f"Recorded {len(texts)} memories.")

    def retrieve(self, given: Mapping[str, Any]) -> ToolAnswer:
        """retrieve_from_memory."""
        return self._found(" ".join(given["keywords"]), None, None)

    # -- working memory and workspace

    def scratchpad_write(self, given: Mapping[str, Any]) -> ToolAnswer:
        """scratchpad_write."""
        memory = self._memory
        memory.working.write_scratchpad(self._conversation, given["text"], memory.now())
        return ToolAnswer("Written to the scratchpad.")

    def scratchpad_read(self, _given: Mapping[str, Any]) -> ToolAnswer:
        """scratchpad_read."""
        text = self._memory.working.scratchpad(self._conversation, self._memory.now())
        return ToolAnswer(text or "The scratchpad is empty.")

    def append(self, given: Mapping[str, Any]) -> ToolAnswer:
        """memory_append."""
        try:
            self._memory.note(self._principal, given["text"], session=self._session)
        except ValueError as error:
            raise ToolRefusal(str(error)) from error
        return ToolAnswer("Appended to today's notes.")

    def reload(self, given: Mapping[str, Any]) -> ToolAnswer:
        """memory_reload."""
        reference, start = given["reference"], given.get("start", 0)
        try:
            found = self._memory.reload(reference, principal=self._principal, session=self._session)
        except StoreError as error:
            if str(error) != NOTHING_OFFLOADED:
                raise
            return ToolAnswer("Nothing is offloaded under this reference.", "missing", reference)
        text = "\n".join(message.text for message in found)
        rest = text[start:]
        shown = head(rest, RELOADED) or rest[:RELOADED]  # a cluster may be longer than that
        left = len(text) - start - len(shown)
        if left > 0:
            shown += f"\n[{left} characters more: start = {start + len(shown)}]"
        return ToolAnswer(shown or "There is nothing more.", key=reference)

    @property
    def _conversation(self) -> Conversation:
        return Conversation(self._principal, self._session)

    def _kept(self, key: str, text: str, category: str) -> Entry:
        try:
            return self._memory.remember(
                self._principal,
                key,
                text,
                category=category,
                session=self._session,
                sources=self._memory.current_messages(self._principal),
            )
        except ValueError as error:
            raise ToolRefusal(str(error)) from error

    def _found(self, query: str, category: str | None, count: int | None) -> ToolAnswer:
        found = self._memory.search(
            query, principal=self._principal, category=category, k=count or DEFAULT_RESULTS
        )
        if not found:
            text = "No memories found matching that query."
            return ToolAnswer(text, "missing", query, category or "")
        lines = (f"- [{f.entry.category}] {f.entry.key}: {_shown(f.text)}" for f in found)
        text = "\n".join((f"Found {len(found)} memories:", *lines))
        return ToolAnswer(text, key=query, category=category or "")


def _shown(text: str) -> str:
    """The beginning of a result, with what is left out counted."""
    start = head(text, SHOWN) or text[:SHOWN]  # a cluster may be longer than that
    left = len(text) - len(start)
    return f"{start} [{left} characters more]" if left else start


TOOLS: Mapping[str, _Tool] = {
    "memory_store": _Tool(
        "Store a fact, preference or note in long-term memory.",
        {"key": _TEXT, "value": _TEXT, "category": _TEXT},
        ("key", "value"),
        MemoryTools.store,
    ),
    "memory_forget": _Tool(
        "Remove an entry of your own from long-term memory.",
        {"key": _TEXT},
        ("key",),
        MemoryTools.forget,
    ),
    "memory_get": _Tool(
        "Look up an entry of long-term memory by its exact key.",
        {"key": _TEXT},
        ("key",),
        MemoryTools.get,
    ),
    "memory_recall": _Tool(
        "Recall memories that speak to a query.",
        {"query": _TEXT, "max_results": _COUNT},
        ("query",),
        MemoryTools.search,
    ),
    "memory_search": _Tool(
        "Search all memory by words and by meaning.",
        {"query": _TEXT, "category": _TEXT, "max_results": _COUNT},
        ("query",),
        MemoryTools.search,
    ),
    "record_to_memory": _Tool(
        "Record important statements to long-term memory.",
        {"thinking": _TEXT, "content": _WORDS},
        ("content",),
        MemoryTools.record,
    ),
    "retrieve_from_memory": _Tool(
        "Retrieve what long-term memory holds for some keywords.",
        {"keywords": _WORDS},
        ("keywords",),
        MemoryTools.retrieve,
    ),
    "scratchpad_write": _Tool(
        "Write notes for this conversation, in place of those there are.",
        {"text": _TEXT},
        ("text",),
        MemoryTools.scratchpad_write,
    ),
    "scratchpad_read": _Tool(
        "Read the notes of this conversation.", {}, (), MemoryTools.scratchpad_read
    ),
    "memory_reload": _Tool(
        "Read what was offloaded from this conversation, by the reference in its place.",
        {"reference": _TEXT, "start": _PLACE},
        ("reference",),
        MemoryTools.reload,
    ),
    "memory_append": _Tool(
        "Append a note to today's page of the workspace.",
        {"text": _TEXT},
        ("text",),
        MemoryTools.append,
    ),
}


def _spec(name: str, tool: _Tool) -> ToolSpec:
    schema = {
        "type": "object",
        "properties": tool.properties,
        "required": list(tool.required),
        "additionalProperties": False,
    }
    parameters = json.dumps(schema, sort_keys=True)
    return ToolSpec(
        name=name,
        description=tool.description,
        parameters=parameters,
        reads=name in READING,
    )


def _read(tool: _Tool, arguments: str) -> Mapping[str, Any]:
    """The arguments, checked against what the tool takes.

    Raises `Refused` if they are not JSON, or not what the tool takes.
    """
    try:
        given = json.loads(arguments or "{}", object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise ToolRefusal("the arguments are not JSON") from error
    if not isinstance(given, dict):
        raise ToolRefusal("the arguments are not an object")
    unknown = sorted(given.keys() - tool.properties.keys())
    if unknown:
        raise ToolRefusal(f"unknown argument {unknown[0]!r}")
    missing = [name for name in tool.required if given.get(name) is None]
    if missing:
        raise ToolRefusal(f"missing argument {missing[0]!r}")
    known = {name: value for name, value in given.items() if value is not None}
    for name, value in known.items():
        _check(name, value, tool.properties[name])
    return known


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object, where no name stands in it twice: readers differ in which of the two counts."""
    given: dict[str, Any] = {}
    for name, value in pairs:
        if name in given:
            raise ToolRefusal(f"argument {name!r} is given twice")
        given[name] = value
    return given


def _check(name: str, value: object, schema: Mapping[str, Any]) -> None:
    kind = schema["type"]
    if kind == "string":
        if not isinstance(value, str):
            raise ToolRefusal(f"{name} has to be a text")
        _encodable(name, [value])
    elif kind == "array":
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise ToolRefusal(f"{name} has to be a list of texts")
        _encodable(name, value)
    else:
        least, most = schema["minimum"], schema["maximum"]
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ToolRefusal(f"{name} has to be a number from {least} to {most}")


def _encodable(name: str, texts: Sequence[str]) -> None:
    for text in texts:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ToolRefusal(f"{name} cannot be encoded as UTF-8") from error
