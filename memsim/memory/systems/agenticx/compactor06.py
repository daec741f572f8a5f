"""The compactor of AgenticX 0.6: tokens decide, pairs stay whole, demands are to be repeated."""
# ruff: noqa: RUF001 - its messages are Chinese, to the byte

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from memsim.memory.systems.agenticx.carrying import (
    cleaned,
    hard_constraints,
    memory_block,
    pending_question,
)
from memsim.memory.systems.agenticx.compactor import (
    HEADER,
    MARK,
    MAX_TOKENS,
    Compacted,
    ContextCompactor,
    Gauge,
    Invoke,
    Prompt,
    Told,
    asked,
    block,
    origins,
    snippets,
    split,
)
from memsim.memory.systems.agenticx.content import content_of, line_of
from memsim.memory.systems.agenticx.gauging import (
    WINDOW,
    autocompact_threshold,
    characters,
    estimated_tokens,
)

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.memory.compaction.shape import History
    from memsim.memory.systems.agenticx.content import Naming
    from memsim.message import Message

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
    """Compacts by tokens; numbers of messages and characters are escape hatches.

    Args:
        invoke: asks the model.
        naming: names the tool that a message is the result of.
        threshold_messages: as `ContextCompactor`, and 200 by default.
        threshold_chars: as `ContextCompactor`, and 200,000 by default.
        retain_recent_messages: as `ContextCompactor`.
        window: tokens that the model reads.
        smaller: as `ContextCompactor`.
    """

    DEFAULTS: ClassVar[tuple[int, int, int]] = (200, 200_000, 8)

    def __init__(
        self,
        invoke: Invoke,
        *,
        naming: Naming,
        threshold_messages: int | None = None,
        threshold_chars: int | None = None,
        retain_recent_messages: int | None = None,
        window: int = WINDOW,
        smaller: bool = False,
    ) -> None:
        super().__init__(
            invoke,
            threshold_messages=threshold_messages,
            threshold_chars=threshold_chars,
            retain_recent_messages=retain_recent_messages,
            smaller=smaller,
        )
        self.min_new_messages_after_compact = MIN_NEW_MESSAGES
        self.token_compact_ratio = 0.8  # deprecated: nothing reads it
        self._naming = naming
        self._window = window

    def maybe_compact(
        self,
        history: History,
        now: datetime,
        gauge: Gauge | None = None,
        *,
        force: bool = False,
    ) -> Compacted:
        """As `ContextCompactor` has it; `force` passes over every threshold."""
        gauge = gauge or Gauge()
        prior = history[0] if history and _is_block(history[0]) else None
        work = history if prior is None else history[1:]
        keep = self.retain_recent_messages
        if len(work) <= keep:
            return Compacted(messages=history, gauge=gauge)
        reason = "force"
        if not force:
            gauge = replace(
                gauge,
                tokens=estimated_tokens(work),
                threshold=autocompact_threshold(self._window),
            )
            reason = self._reason(work, gauge, cooling=prior is not None)
            if not reason or gauge.failures >= MOST_FAILURES:
                return Compacted(messages=history, reason=reason, gauge=gauge)
        cut = split(work, keep)
        if cut <= 0:
            return Compacted(messages=history, gauge=gauge)
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
    ) -> Compacted:
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
        return Compacted(
            messages=(block(text, told, taken), *work[cut:]),
            count=len(taken),
            summary=told.text,
            sources=origins(behind),
            pending=pending,
            reason=reason,
            gauge=replace(gauge, failures=gauge.failures + 1 if failed else 0, told=told.lines),
        )

    def _told(self, taken: History, carried: str, now: datetime) -> tuple[Told, bool]:
        """The summary, and whether the model failed to give one."""
        text = "\n".join(
            (*INSTRUCTIONS, "", carried, "", "原始上下文：", *map(line_of, taken)),
        )
        prompt = Prompt(text=text, messages=taken, max_tokens=MAX_TOKENS, now=now)
        told = self._fit(_clean(asked(self._invoke, prompt)), taken)
        if told is None:
            return snippets(taken), True
        demands = hard_constraints(taken)
        if all(demand in told.text for demand in demands):
            return told, False
        again = text + RETRY + "\n".join(f"- {demand}" for demand in demands)
        retried = asked(self._invoke, replace(prompt, text=again, max_tokens=RETRY_TOKENS))
        told = self._fit(_clean(retried), taken)
        if told is not None and all(demand in told.text for demand in demands):
            return told, False
        return snippets(taken), False


def _is_block(message: Message) -> bool:
    return message.role == "system" and MARK in content_of(message)


def _prior(prior: Message | None) -> str:
    if prior is None:
        return ""
    after = content_of(prior).partition(MARK)[2].partition("\n")[2].strip()
    told = after[:PRIOR_READ][:PRIOR_LENGTH]
    return f"[prior_compacted_summary]\n{told}\n\n" if told else ""


def _clean(told: Told | None) -> Told | None:
    if told is None:
        return None
    text = cleaned(told.text)
    return replace(told, text=text) if text else None
