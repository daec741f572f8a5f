"""The compactor of AgenticX 0.6: tokens decide, pairs stay whole, demands are to be repeated."""
# ruff: noqa: RUF001 - its cue words are Chinese

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar

from memsim.message import Message
from memsim.systems.agenticx.compactor import (
    HEADER,
    MARK,
    MAX_TOKENS,
    CompactionResult,
    ContextCompactor,
    Gauge,
    History,
    Invoke,
    SourcedSummary,
    SummaryCall,
    ask_model,
    original_ids,
    snippets,
    summary_message,
    tail_start,
)
from memsim.systems.agenticx.content import Naming, content_of, counted_text, line_of, uses_of

# What AgenticX 0.6 carries over a compaction beside the summary, by rule and not by a model.

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


def clean_summary(text: str) -> str:
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


# How AgenticX 0.6 decides that a conversation has become too long: tokens, with escape hatches.

WINDOW = 128_000
"""Tokens that a model is taken to read where nobody says which it is."""

LEAST_WINDOW, RESERVE, BUFFER = 1024, 20_000, 13_000
PER_TOKEN = 3.5
"""Characters of a token where no tokenizer is at hand."""

MICRO_BUDGET, DATA_BUDGET, LEAST_SHOWN = 4000, 24_000, 200
WHOLE = frozenset({"show_widget", "tool_result_recall"})


def autocompact_threshold(window: int = WINDOW) -> int:
    """Tokens at which a conversation is compacted, for a model that reads so many."""
    window = max(LEAST_WINDOW, window)
    effective = max(LEAST_WINDOW, window - min(RESERVE, max(1, window // 4)))
    return max(1, effective - BUFFER)


def estimated_tokens(work: Sequence[Message]) -> int:
    """Tokens of messages, by their characters."""
    return max(1, int(len("\n".join(map(counted_text, work))) / PER_TOKEN))


def characters(work: Sequence[Message]) -> int:
    """Characters of messages, their calls included."""
    return sum(len(counted_text(m)) for m in work)


def micro_compacted(tool: str, text: str, budget: int = MICRO_BUDGET) -> str:
    """Cut a tool's result to its beginning and end, where it has more characters than `budget`.

    Results of some tools are never cut, those of data sources later.
    """
    limit = DATA_BUDGET if tool == "query_data_source" else budget
    if tool in WHOLE or len(text) <= limit:
        return text
    shown = max(LEAST_SHOWN, limit // 3)
    return "\n".join(
        (
            f"[micro-compact tool={tool} original_chars={len(text)}]",
            text[:shown],
            f"... truncated ({len(text) - 2 * shown} chars omitted) ...",
            text[-shown:],
        )
    )


INSTRUCTIONS = (
    "请将以下多条历史对话压缩成一段精炼摘要，用于后续推理。",
    "要求：",
    "1. 仅输出摘要正文，不要复述本指令、不要输出任何形如 `[xxx]` 或 `[/xxx]` 的标签。",
    "2. 必须逐字保留用户硬约束，尤其含有「必须 / 不要 / 始终 / must / never / always」的原句片段。",
    (
        "3. 摘要必须覆盖：用户目标与硬约束、关键文件路径、错误与已尝试修复、当前进度与下一步、"
        "以及用户最近一条尚未被完整回答的原始问题（若存在）。"
    ),
    "4. 同时保留：用户完整指令、任务模板、约束规则、已执行操作、进度追踪、当前状态。",
    "5. 输出中文，长度控制在 400 字以内，使用条目式，不要写客套话或解释。",
)
RETRY = "\n\n补充要求：你刚才遗漏了用户硬约束。请重写摘要，并逐字包含以下片段：\n"
RETRY_TOKENS = 500
MOST_FAILURES = 3
MIN_NEW_MESSAGES = 6
PRIOR_READ, PRIOR_LENGTH = 1500, 1200


class ContextCompactor06(ContextCompactor):
    """Compacts by tokens of the model's `window`; messages and characters are escape hatches."""

    DEFAULTS: ClassVar[tuple[int, int, int]] = (200, 200_000, 8)

    def __init__(
        self,
        invoke: Invoke,
        *,
        naming: Naming,
        window: int = WINDOW,
        smaller: bool = False,
        **sizes: int | None,
    ) -> None:
        super().__init__(invoke, pairs=False, smaller=smaller, **sizes)
        self.min_new_messages_after_compact = MIN_NEW_MESSAGES
        self.token_compact_ratio = 0.8  # deprecated: nothing reads it
        self._naming = naming
        self._window = window

    def maybe_compact(
        self, history: History, now: datetime, gauge: Gauge | None = None, *, force: bool = False
    ) -> CompactionResult:
        """As `ContextCompactor` has it; `force` passes over every threshold."""
        gauge = gauge or Gauge()
        first = history[0] if history and history[0].role == "system" else None
        prior = first if first and MARK in content_of(first) else None
        work = history if prior is None else history[1:]
        keep = self.retain_recent_messages
        if len(work) <= keep:
            return CompactionResult(messages=history, gauge=gauge)
        reason = "force"
        if not force:
            gauge = replace(
                gauge, tokens=estimated_tokens(work), threshold=autocompact_threshold(self._window)
            )
            reason = self._reason(work, gauge, cooling=prior is not None)
            if not reason or gauge.failures >= MOST_FAILURES:
                return CompactionResult(messages=history, reason=reason, gauge=gauge)
        cut = tail_start(work, keep)
        if cut <= 0:
            return CompactionResult(messages=history, gauge=gauge)
        return self._compacted(work, cut, prior, now, reason, gauge)

    def _reason(self, work: History, gauge: Gauge, *, cooling: bool) -> str:
        hit = gauge.tokens >= gauge.threshold
        size = characters(work)
        fresh = self.retain_recent_messages + max(1, self.min_new_messages_after_compact)
        if cooling and len(work) <= fresh:
            if hit:
                return "cooldown_token_escape"
            return "char_escape" if size > 2 * self.threshold_chars else ""
        if hit:
            return "token_window"
        if len(work) > self.threshold_messages:
            return "message_escape"
        return "char_escape" if size > self.threshold_chars else ""

    def _compacted(
        self,
        work: History,
        cut: int,
        prior: Message | None,
        now: datetime,
        reason: str,
        gauge: Gauge,
    ) -> CompactionResult:
        taken = work[:cut]
        carried = _prior(prior) + memory_block(taken, self._naming)
        told, failed = self._told(taken, carried, now)
        pending = pending_question(work)
        parts = [f"[user-pending-question] {pending}", ""] if pending else []
        header = HEADER.replace("{count}", str(len(taken)))
        text = "\n\n".join((*parts, carried, "", header, told.text))
        behind = taken if prior is None else (prior, *taken)
        carrying = _prior(prior)
        kept = tuple(line for line in gauge.told if line[0] in carrying)
        told = replace(told, lines=tuple(dict.fromkeys((*kept, *told.lines))))
        return CompactionResult(
            messages=(summary_message(text, told, taken, self._role), *work[cut:]),
            count=len(taken),
            summary=told.text,
            sources=original_ids(behind),
            pending=pending,
            reason=reason,
            gauge=replace(gauge, failures=gauge.failures + 1 if failed else 0, told=told.lines),
        )

    def _told(self, taken: History, carried: str, now: datetime) -> tuple[SourcedSummary, bool]:
        """The summary, and whether the model failed to give one."""
        text = "\n".join((*INSTRUCTIONS, "", carried, "", "原始上下文：", *map(line_of, taken)))
        prompt = SummaryCall(text=text, messages=taken, max_tokens=MAX_TOKENS, now=now)
        told = self._fit(_clean(ask_model(self._invoke, prompt, checked=self._smaller)), taken)
        if told is None:
            return snippets(taken, clusters=self._smaller), True
        demands = hard_constraints(taken)
        if all(demand in told.text for demand in demands):
            return told, False
        again = text + RETRY + "\n".join(f"- {demand}" for demand in demands)
        longer = replace(prompt, text=again, max_tokens=RETRY_TOKENS)
        retried = ask_model(self._invoke, longer, checked=self._smaller)
        told = self._fit(_clean(retried), taken)
        if told is not None and all(demand in told.text for demand in demands):
            return told, False
        return snippets(taken, clusters=self._smaller), False


def _prior(prior: Message | None) -> str:
    if prior is None:
        return ""
    after = content_of(prior).partition(MARK)[2].partition("\n")[2].strip()
    told = after[:PRIOR_READ][:PRIOR_LENGTH]
    return f"[prior_compacted_summary]\n{told}\n\n" if told else ""


def _clean(told: SourcedSummary | None) -> SourcedSummary | None:
    if told is None:
        return None
    text = clean_summary(told.text)
    return replace(told, text=text) if text else None
