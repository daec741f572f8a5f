"""What AgenticX 0.6 carries over a compaction beside the summary, by rule and not by a model."""
# ruff: noqa: RUF001 - its cue words are Chinese

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memsim.memory.systems.agenticx.content import content_of, uses_of

if TYPE_CHECKING:
    from memsim.memory.systems.agenticx.content import Naming
    from memsim.message import Message

DECISIONS = ("决定", "采用", "选择", "方案", "结论", "放弃", "取消", "优先", "必须", "不要")
WRITTEN = ("OK: wrote ", "OK: edited ")
WRITERS = frozenset({"file_write", "file_edit"})
PENDING_LENGTH, MEMORY_LENGTH = 4000, 1800
MOST_CONSTRAINTS = 12
_CONSTRAINTS = (
    *(re.compile(f"{word}[^。；\n]{{0,120}}") for word in ("必须", "不要", "始终")),
    *(
        re.compile(rf"{word}\s+[^.;\n]{{0,120}}", re.IGNORECASE)
        for word in ("must", "never", "always")
    ),
)
_WRAPPED = re.compile(r"\[([A-Za-z][A-Za-z0-9_-]*)\](.*?)\[/\1\]", re.DOTALL)
_CLOSING = re.compile(r"\[/[A-Za-z][A-Za-z0-9_-]*\]")
LEAKS = (
    "请将以下对话压缩",
    "请将以下多条历史对话压缩",
    "压缩成用于后续推理",
    "must preserve",
    "highest priority",
)
ROUNDS = 5


def session_memory(messages: Sequence[Message], naming: Naming) -> dict[str, Any]:
    """Files that were changed, errors, decisions, and how often which tool was used."""
    files: set[str] = set()
    errors: list[str] = []
    decisions: list[str] = []
    used: Counter[str] = Counter()
    for message in messages:
        text = content_of(message)
        if message.role == "tool":
            name = naming(message)
            files.update(_written(text))
            if "ERROR:" in text or text.lstrip().startswith("ERROR"):
                errors.append(f"{name}: {text[:200]}")
            if name:
                used[name] += 1
        elif message.role == "assistant":
            files.update(_targets(message))
            used.update(use.name for use in uses_of(message))
            told = text.strip()
            if told and len(told) < 400 and any(cue in told for cue in DECISIONS):
                decisions.append(told[:300])
    return {
        "files_modified": sorted(files)[:30],
        "errors_encountered": errors[:20],
        "key_decisions": decisions[:15],
        "tools_used_summary": dict(used.most_common(40)),
    }


def memory_block(messages: Sequence[Message], naming: Naming) -> str:
    """The same as a line of a compacted message."""
    found = json.dumps(session_memory(messages, naming), ensure_ascii=False)
    return f"[session_memory]{found[:MEMORY_LENGTH]}"


def pending_question(work: Sequence[Message]) -> str:
    """The latest user's message, where the assistant has not had its last word on it."""
    for message in reversed(work):
        if message.role == "assistant" and not message.calls:
            return ""
        text = content_of(message).strip()
        if message.role == "user" and text:
            return text[:PENDING_LENGTH]
    return ""


def hard_constraints(messages: Sequence[Message]) -> tuple[str, ...]:
    """What users demanded, word for word, as a summary has to repeat it."""
    texts = [content_of(m) for m in messages if m.role == "user"]
    found = (
        match.strip()
        for text in texts
        for pattern in _CONSTRAINTS
        for match in pattern.findall(text)
    )
    return tuple(dict.fromkeys(c for c in found if c))[:MOST_CONSTRAINTS]


def cleaned(text: str) -> str:
    """A summary without wrappers in square brackets, and without what leaked of the prompt."""
    for _ in range(ROUNDS):
        fewer = _WRAPPED.sub(_unwrapped, text)
        if fewer == text:
            break
        text = fewer
    return _CLOSING.sub("", text).strip()


def _unwrapped(match: re.Match[str]) -> str:
    inside = match[2].strip()
    return "" if any(leak in inside for leak in LEAKS) else inside


def _written(text: str) -> list[str]:
    parts = (text.partition(mark)[2].partition("\n")[0].strip() for mark in WRITTEN)
    return [part for part in parts if part]


def _targets(message: Message) -> list[str]:
    found: list[str] = []
    for use in uses_of(message):
        if use.name in WRITERS:
            try:
                path = json.loads(use.arguments).get("path")
            except (ValueError, AttributeError):
                continue
            # Whatever it is, it is taken for a text, as Python writes it.
            if path and str(path).strip():
                found.append(str(path).strip())
    return found
