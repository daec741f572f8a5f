"""The short-term memory of Python 1.0.21 as an agent has it, which compresses before it reasons."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memsim.errors import ModelError
from memsim.memory.codec import JSON, pack, reading, unpack
from memsim.memory.compaction import Summary
from memsim.memory.compaction.summary import absorb_reply
from memsim.memory.history.window import Window
from memsim.message import Message, Text, TokenCounter, ToolResult, ToolUse, composed
from memsim.models import Model, Prompt, Request
from memsim.systems.agentscope.prompts import STRUCTURE
from memsim.systems.agentscope.thresholds import told_input

COMPRESSED = "compressed"
FIELDS = (
    "task_overview",
    "current_state",
    "important_discoveries",
    "next_steps",
    "context_to_preserve",
)
"""What a summary has to say, by name."""

HINT = "Summarise what was said and done so far, for whoever goes on with it."
TEMPLATE = "\n".join(f"{field}: {{{field}}}" for field in FIELDS)

MarkedRow = dict[str, Any]
Ask = Callable[[list[MarkedRow], tuple["Message", ...]], Mapping[str, str] | None]
"""Asks a model for the fields of a summary, of a prompt that was made of messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionConfig:
    """When and how the agent compresses.

    Attributes:
        trigger_threshold: characters of the prompt beyond which it does.
        keep_recent: latest messages that stay, a call and its results being one.
        summary_template: the summary, with the names in `FIELDS`.
        few: compress all of them where there are fewer than that.

    Raises:
        ValueError: a number is below 1.
    """

    trigger_threshold: int = 32_000
    keep_recent: int = 3
    compression_prompt: str = HINT
    summary_template: str = TEMPLATE
    sys_prompt: str = ""
    few: bool = True

    def __post_init__(self) -> None:
        for name in ("trigger_threshold", "keep_recent"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: at least 1")


class MarkedMemory:
    """Messages with marks; `names` holds the tool of each answer by message id."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names
        self.summary = ""
        self.sources: tuple[str, ...] = ()
        """Ids of the messages that the summary was made from, as far as is known."""
        self.content: list[tuple[Message, tuple[str, ...]]] = []

    def __len__(self) -> int:
        return len(self.content)

    def add(
        self,
        messages: Iterable[Message],
        marks: str | Sequence[str] = (),
        *,
        allow_duplicates: bool = False,
    ) -> None:
        """Add messages; ids that are there already are left out unless duplicates are allowed."""
        known = set() if allow_duplicates else {m.id for m, _ in self.content}
        given = (marks,) if isinstance(marks, str) else tuple(marks)
        self.content.extend((m, given) for m in messages if m.id not in known)

    def get_memory(
        self,
        mark: str | None = None,
        exclude_mark: str | None = None,
        *,
        prepend_summary: bool = True,
    ) -> list[Message]:
        """The messages with a mark, or without one, the summary before them."""
        found = [
            m
            for m, marks in self.content
            if (mark is None or mark in marks)
            and (exclude_mark is None or exclude_mark not in marks)
        ]
        if self.summary and prepend_summary:
            made = composed("user", self.summary, id="summary", derived_from=self.sources)
            return [made, *found]
        return found

    def update_messages_mark(
        self,
        new_mark: str | None,
        old_mark: str | None = None,
        msg_ids: Collection[str] | None = None,
    ) -> int:
        """Put one mark in the place of another, add one, or take one off; how many messages."""
        changed = 0
        for place, (message, marks) in enumerate(self.content):
            if msg_ids is not None and message.id not in msg_ids:
                continue
            if old_mark is not None and old_mark not in marks:
                continue
            left = tuple(m for m in marks if m != old_mark)
            if new_mark is not None and new_mark not in left:
                left = (*left, new_mark)
            self.content[place] = (message, left)
            changed += 1
        return changed

    def delete(self, ids: Collection[str]) -> int:
        """Delete messages; how many there were."""
        return self._keep(lambda message, _: message.id not in ids)

    def delete_by_mark(self, marks: Collection[str]) -> int:
        """Delete the messages that have any of these marks; how many there were."""
        gone = frozenset(marks)
        return self._keep(lambda _, has: gone.isdisjoint(has))

    def clear(self) -> None:
        """Delete all messages; the summary stays."""
        self.content = []

    def state_dict(self) -> MarkedRow:
        """The state as the package has it."""
        return {
            "_compressed_summary": self.summary,
            "content": [[self.row(m), list(marks)] for m, marks in self.content],
        }

    def row(self, message: Message) -> MarkedRow:
        """A message as the package writes it."""
        tool = message.role == "tool"
        stamp = message.time.isoformat(sep=" ", timespec="milliseconds")[:23]
        return {
            "id": message.id,
            "name": "system" if tool else message.role,
            "role": "system" if tool else message.role,
            "content": self._content(message),
            "metadata": {},
            "timestamp": stamp,
        }

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return {
            "summary": self.summary,
            "sources": list(self.sources),
            "messages": pack(m for m, _ in self.content),
            "marks": [list(marks) for _, marks in self.content],
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file
        """Take over a saved state. Raises StateError where it is damaged."""
        with reading("a short-term memory is damaged"):
            marks = [tuple(has) for has in saved["marks"]]
            self.content = list(zip(unpack(saved["messages"]), marks, strict=True))
            self.summary = "" + saved["summary"]
            self.sources = tuple(saved["sources"])

    def _keep(self, stays: Callable[[Message, tuple[str, ...]], bool]) -> int:
        before = len(self.content)
        self.content = [(m, marks) for m, marks in self.content if stays(m, marks)]
        return before - len(self.content)

    def _content(self, message: Message) -> str | list[MarkedRow]:
        if message.role == "user":
            return message.text
        return [self._block(block, message) for block in message.blocks]

    def _block(self, block: Text | ToolUse | ToolResult, message: Message) -> MarkedRow:
        if isinstance(block, Text):
            return {"type": "text", "text": block.text}
        if isinstance(block, ToolUse):
            given = told_input(block.arguments)
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": given}
        output = [{"type": "text", "text": block.text}]
        name = self.names.get(message.id, "")
        return {"type": "tool_result", "id": block.id, "name": name, "output": output}


def compress_if_needed(
    memory: MarkedMemory, config: CompressionConfig, ask: Ask
) -> tuple[str, ...]:
    """Compress where the older messages are too much; return the ids of those that were marked.

    Where `ask` gives None, everything stays as it was.
    """
    older = to_compress(
        memory.get_memory(exclude_mark=COMPRESSED), config.keep_recent, few=config.few
    )
    if not older:
        return ()
    prompt = prompt_rows(older, config.sys_prompt, memory.names)
    if prompt_characters(prompt) <= config.trigger_threshold:
        return ()
    hint = composed("user", config.compression_prompt, id="hint")
    asked = prompt_rows([*older, hint], config.sys_prompt, memory.names)
    told = ask(asked, tuple(older))
    if told is None:
        return ()
    text = config.summary_template
    for name in FIELDS:
        text = text.replace(f"{{{name}}}", told.get(name, ""))
    memory.summary = text
    ids = {m.id for m in older}
    memory.update_messages_mark(COMPRESSED, msg_ids=ids)
    return tuple(m.id for m in older if not m.composed)


def to_compress(messages: list[Message], keep_recent: int, *, few: bool = True) -> list[Message]:
    """The messages before the latest so many; where there are fewer, all or none."""
    waiting: set[str] = set()
    count = 0
    for place in range(len(messages) - 1, -1, -1):
        waiting.update(messages[place].results)
        waiting.difference_update(messages[place].calls)
        count += not waiting
        if count >= keep_recent and not waiting:
            return messages[:place]
    return list(messages) if few else []


def prompt_rows(
    messages: Iterable[Message], sys_prompt: str, names: Mapping[str, str]
) -> list[MarkedRow]:
    """Messages as a prompt in the format of OpenAI's chats."""
    system = [{"type": "text", "text": sys_prompt}]
    rows: list[MarkedRow] = [{"role": "system", "name": "system", "content": system}]
    for message in messages:
        rows.extend(_rows(message, names))
    return rows


def _rows(message: Message, names: Mapping[str, str]) -> list[MarkedRow]:
    texts = [{"type": "text", "text": b.text} for b in message.blocks if isinstance(b, Text)]
    calls = [_call(b) for b in message.blocks if isinstance(b, ToolUse)]
    results: list[MarkedRow] = [
        {"role": "tool", "tool_call_id": b.id, "content": b.text, "name": names.get(message.id, "")}
        for b in message.blocks
        if isinstance(b, ToolResult)
    ]
    if not texts and not calls:
        return results
    role = "system" if message.role == "tool" else message.role
    row: MarkedRow = {"role": role, "name": role, "content": texts or None}
    return [*results, {**row, "tool_calls": calls} if calls else row]


def _call(use: ToolUse) -> MarkedRow:
    arguments = json.dumps(told_input(use.arguments), ensure_ascii=False)
    function = {"name": use.name, "arguments": arguments}
    return {"id": use.id, "type": "function", "function": function}


def prompt_characters(prompt: list[MarkedRow]) -> int:
    """Characters of a prompt as the package's counter has them: of each row as Python prints it."""
    return len("\n".join(map(str, prompt)))


@dataclass(frozen=True, slots=True)
class MarkingDraft:
    """A compression that is computed and not yet adopted."""

    memory: MarkedMemory
    sources: tuple[str, ...]
    window: Window
    detail: str = "marked as compressed"


class PythonAgentMemory:
    """Messages that are marked once they are compressed; never compressed without a `config`."""

    def __init__(
        self,
        counter: TokenCounter,
        names: Mapping[str, str],
        config: CompressionConfig | None,
        limit: int,
    ) -> None:
        self._counter = counter
        self._names = names
        self._config = config
        self._limit = limit
        self.revision = 0
        self._take(MarkedMemory(names))

    def add_message(self, message: Message) -> None:
        """Add a message; one that is there already is left out."""
        before = len(self.memory)
        self.memory.add([message], allow_duplicates=message.id not in self.ids)
        self.ids.add(message.id)
        if len(self.memory) > before:
            self.window.add(message)
            self.revision += 1

    def get_messages(self) -> tuple[Message, ...]:
        """The summary and the messages that are not compressed."""
        return tuple(self.window)

    def draft(self, model: Model, now: Callable[[], datetime]) -> MarkingDraft | None:
        """What a compression would come to, with nothing changed; None where none is due."""
        if self._config is None:
            return None
        memory, hint = MarkedMemory(self._names), self._config.compression_prompt
        memory.content = list(self.memory.content)
        memory.summary, memory.sources = self.memory.summary, self.memory.sources

        def ask(_prompt: list[MarkedRow], older: tuple[Message, ...]) -> Mapping[str, str] | None:
            request = Request(
                task="summarise",
                messages=older,
                max_tokens=self._limit,
                now=now(),
                prompt=Prompt(user=f"{{messages}}\n{hint}\n{STRUCTURE}", chat=True),
            )
            try:
                reply = model.complete(request)
            except ModelError:
                return None
            if not reply.text.strip():
                return None
            memory.sources = absorb_reply(reply, older, Summary(), now()).sources
            return {"task_overview": reply.text}

        sources = compress_if_needed(memory, self._config, ask)
        return MarkingDraft(memory, sources, self._shown(memory)) if sources else None

    def adopt(self, marking: MarkingDraft) -> None:
        """Make a draft the memory; it is of the messages as they are now."""
        self._take(marking.memory)

    def delete_message(self, index: int) -> None:
        """Delete a message that is shown by its place; a place that there is not is ignored."""
        shown = self.get_messages()
        if 0 <= index < len(shown):
            self.memory.delete([shown[index].id])
            self._take(self.memory)

    def remove(self, ids: Collection[str]) -> tuple[str, ...]:
        """Take messages out, and the summary that may have been made from them."""
        wanted = frozenset(ids)
        gone = [m.id for m, _ in self.memory.content if m.id in wanted]
        marked = {m.id for m in self.memory.get_memory(COMPRESSED, prepend_summary=False)}
        if not wanted.isdisjoint((*marked, *self.memory.sources)):
            self.memory.summary, self.memory.sources = "", ()
        self.memory.delete(gone)
        self._take(self.memory)
        return tuple(gone)

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return self.memory.save()

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file
        """Replace everything by a saved state. Raises StateError where it is damaged."""
        memory = MarkedMemory(self._names)
        memory.load(saved)
        self._take(memory)

    def _take(self, memory: MarkedMemory) -> None:
        self.memory = memory
        self.ids = {m.id for m, _ in memory.content}
        self.window = self._shown(memory)
        self.revision += 1

    def _shown(self, memory: MarkedMemory) -> Window:
        window = Window(self._counter)
        for message in memory.get_memory(exclude_mark=COMPRESSED):
            window.add(message)
        return window
