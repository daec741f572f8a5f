"""AgenticX's ContextCompactor: all but the latest messages in one system message or snippets."""

# ruff: noqa: RUF001 - its messages are Chinese, to the byte
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from memsim.errors import ModelError
from memsim.language.graphemes import head
from memsim.memory.compaction.condense import BEGINNING
from memsim.memory.compaction.outcome import reply_fault
from memsim.memory.compaction.summary import Summary, absorb_reply, originals
from memsim.message import Message, Role, Text, ToolUse, composed
from memsim.models import Model, Prompt, Reply, Request
from memsim.systems.agenticx.content import content_of, line_of

History = tuple[Message, ...]

MARK = "[compacted]"
HEADER = "[compacted] 已压缩 {count} 条历史消息，以下为摘要："
PROMPT = (
    "请将以下对话压缩成用于后续推理的精炼上下文。",
    "必须包含：关键决策、关键工具结果、关键文件改动、当前待办与风险。",
    "输出中文，长度控制在 400 字以内，使用条目式。",
    "",
    "原始上下文：",
)
MAX_TOKENS = 400
LAST, EACH, TOTAL, JOINER = 12, 160, 700, "；"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryCall:
    """One call of the model that summarises; `text` is what AgenticX's own model is sent."""

    text: str
    messages: History
    max_tokens: int
    now: datetime
    temperature: float = 0.0


Lines = tuple[tuple[str, tuple[str, ...]], ...]

Invoke = Callable[[SummaryCall], "Reply"]
"""Asks a model; raises ModelError where that fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """State for a compactor's next run (0.6); `told` has the summary's lines with their sources."""

    tokens: int = 0
    threshold: int = 0
    failures: int = 0
    told: Lines = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionResult:
    """A history after `maybe_compact`.

    Attributes:
        messages: the history, with one system message in the place of what was compacted.
        count: messages that were compacted; 0 where nothing was done.
        sources: ids of the originals that are no longer there themselves.
        pending: the user's question that nobody has answered yet (0.6).
        reason: what set it off (0.6).
    """

    messages: History
    count: int = 0
    summary: str = ""
    sources: tuple[str, ...] = ()
    pending: str = ""
    reason: str = ""
    gauge: Gauge = Gauge()

    @property
    def did(self) -> bool:
        """Whether anything was compacted."""
        return self.count > 0


@dataclass(frozen=True, slots=True)
class SourcedSummary:
    """A summary, and the originals that can be seen in each line of it."""

    text: str
    lines: Lines = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The originals that can be seen in it."""
        return tuple(dict.fromkeys(i for _, sources in self.lines for i in sources))


class ContextCompactor:
    """Compacts a history that has become too long: the document, and version 0.3.

    It takes whatever the model says, and keeps no call together with its result.

    Args:
        threshold_messages: compact above so many messages; at least 8.
        threshold_chars: compact above so many characters of content; at least 4000.
        retain_recent_messages: so many of the latest stay as they are; at least 4.
        pairs: never part a call from its results, which the original does.
        smaller: take no summary that is longer than what it stands for, no refusal and none that
            was cut off, and let none speak as the system; the original does all of these.
    """

    DEFAULTS: ClassVar[tuple[int, int, int]] = (20, 48_000, 8)
    FLOORS: ClassVar[tuple[int, int, int]] = (8, 4000, 4)

    def __init__(
        self,
        invoke: Invoke,
        *,
        threshold_messages: int | None = None,
        threshold_chars: int | None = None,
        retain_recent_messages: int | None = None,
        pairs: bool = False,
        smaller: bool = False,
    ) -> None:
        given = (threshold_messages, threshold_chars, retain_recent_messages)
        self.threshold_messages, self.threshold_chars, self.retain_recent_messages = (
            max(floor, default if value is None else value)
            for floor, default, value in zip(self.FLOORS, self.DEFAULTS, given, strict=True)
        )
        self._invoke = invoke
        self._pairs = pairs
        self._smaller = smaller
        self._role: Role = "user" if smaller else "system"

    def maybe_compact(
        self, history: History, now: datetime, gauge: Gauge | None = None
    ) -> CompactionResult:
        """The history as the model is to be sent it; pure, but for the model's being asked."""
        cut = len(history) - self.retain_recent_messages
        characters = sum(len(content_of(m)) for m in history)
        due = len(history) > self.threshold_messages or characters > self.threshold_chars
        if self._pairs and cut > 0:
            cut = tail_start(history, self.retain_recent_messages)
        if not due or cut <= 0:
            return CompactionResult(messages=history, gauge=gauge or Gauge())
        taken = history[:cut]
        gauge = gauge or Gauge()
        told = self._summary(taken, now, gauge.told)
        text = f"{HEADER.replace('{count}', str(len(taken)))}\n{told.text}"
        return CompactionResult(
            messages=(summary_message(text, told, taken, self._role), *history[cut:]),
            count=len(taken),
            summary=told.text,
            sources=original_ids(taken),
            gauge=replace(gauge, told=told.lines),
        )

    def _summary(self, taken: History, now: datetime, before: Lines) -> SourcedSummary:
        text = "\n".join((*PROMPT, *map(line_of, taken)))
        prompt = SummaryCall(text=text, messages=taken, max_tokens=MAX_TOKENS, now=now)
        told = self._fit(ask_model(self._invoke, prompt, before, checked=self._smaller), taken)
        return told or snippets(taken, before, clusters=self._smaller)

    def _fit(self, told: SourcedSummary | None, taken: History) -> SourcedSummary | None:
        if told is None or not self._smaller:
            return told
        return told if len(told.text) < sum(len(content_of(m)) for m in taken) else None


def ask_model(
    invoke: Invoke, prompt: SummaryCall, before: Lines = (), *, checked: bool = False
) -> SourcedSummary | None:
    """Ask the model; None if it fails or says nothing. `before` are lines of the summary so far.

    If `checked`, a refusal and a reply that was cut off are nothing, too.
    """
    try:
        reply = invoke(prompt)
    except (ModelError, OSError):
        return None
    text = reply.text.strip()
    if not text or (checked and reply_fault(reply, tokens=0, limit=1, replaced=1)):
        return None
    made = absorb_reply(reply, prompt.messages, Summary(), prompt.now)
    said = frozenset(m.id for m in prompt.messages)
    return SourcedSummary(
        text, tuple((n.text, _narrowed(n.text, n.sources, said, before)) for n in made.lines)
    )


def _narrowed(
    line: str, sources: tuple[str, ...], said: frozenset[str], before: Lines
) -> tuple[str, ...]:
    # What is carried on from the summary before is due to the lines of it that say so, not to all.
    if said.issuperset(sources):
        return sources
    carried = [i for told, behind in before if told in line or line in told for i in behind]
    fresh = (i for i in sources if i in said)
    return tuple(dict.fromkeys((*carried, *fresh)))


def invoker(model: Model) -> Invoke:
    """Asks one of memsim's models, in AgenticX's words where it is a live one."""

    def invoke(prompt: SummaryCall) -> Reply:
        request = Request(
            task="summarise",
            messages=tuple(map(_worded, prompt.messages)),
            max_tokens=prompt.max_tokens,
            now=prompt.now,
            prompt=Prompt(user=prompt.text, final=True, cut=True),
        )
        return model.complete(request)

    return invoke


def _worded(message: Message) -> Message:
    blocks = tuple(b for b in message.blocks if not isinstance(b, ToolUse))
    return replace(message, blocks=blocks or (Text(""),))


def snippets(taken: History, before: Lines = (), *, clusters: bool = False) -> SourcedSummary:
    """The beginnings of the latest of the messages, where there is no summary.

    With `clusters`, no character as readers see it is cut in two.
    """
    latest = taken[-LAST:]
    cut = head if clusters else _code_points
    text = cut(JOINER.join(cut(line_of(m), EACH) for m in latest), TOTAL)
    own = (m for m in latest if m.id in m.verbatim)
    lines = [(told, (m.id,)) for m in own if (told := content_of(m).strip())]
    kept = [(told, sources) for told, sources in before if told.strip()]
    return SourcedSummary(text, tuple(n for n in (*kept, *lines) if n[0][:BEGINNING] in text))


def _code_points(text: str, length: int) -> str:
    return text[:length]


def summary_message(
    text: str, told: SourcedSummary, taken: History, role: Role = "system"
) -> Message:
    """The message that stands for the messages taken; of the system, unless it is repaired."""
    return composed(
        role,
        text,
        id=f"compacted:{taken[-1].id}",
        derived_from=told.sources,
        time=taken[-1].time,
    )


def original_ids(taken: History) -> tuple[str, ...]:
    """Ids of the originals in messages, or behind them."""
    return tuple(dict.fromkeys(i for m in taken for i in originals(m)))


def tail_start(work: History, keep: int) -> int:
    """Where the tail begins that stays: never with a tool's row, if that can be (0.6)."""
    start = _before_results(work, max(0, len(work) - keep))
    if start < len(work) and work[start].calls:
        end = start + 1
        while end < len(work) and work[end].role == "tool":
            end += 1
        if end - start > keep:
            start = _before_results(work, max(0, end - keep))
    return start


def _before_results(work: History, start: int) -> int:
    while 0 < start < len(work) and work[start].role == "tool":
        start -= 1
    return start
