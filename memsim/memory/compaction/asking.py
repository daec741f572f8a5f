"""Asking a model for a summary, and taking no for an answer: a text that is none is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.errors import ModelError
from memsim.language.graphemes import head
from memsim.memory.compaction.summary import unfit
from memsim.models import Reply, Request

if TYPE_CHECKING:
    from memsim.memory.compaction.outcome import Kind
    from memsim.memory.compaction.shape import Means
    from memsim.message import Message

REFUSAL_LENGTH = 400
"""Characters beyond which a text that begins as a refusal is taken for a summary after all."""

_REFUSAL = re.compile(
    r"\W*(?:(?:i(?:['\u2019]m| am) )?(?:very |so )?(?:sorry|afraid)\b.{0,80}?)?"
    r"(?:\b(?:i|we)\s+(?:can(?:no|['\u2019])?t|can not|am unable to|are unable to|am not able to"
    r"|won['\u2019]t|will not|must decline to)\s+(?:be able to\s+)?"
    r"(?:help|assist|comply|summari[sz]e|provide|fulfil|fulfill|continue|process|do (?:that|this))"
    r"|\bas an ai\b)",
    re.IGNORECASE | re.DOTALL,
)
ERROR_LENGTH = 200
"""Characters beyond which a line that begins as an error is taken for a summary after all."""

_NOTHING = re.compile(r"\W*(?:null|none|nil|nan|undefined|n/a)\W*", re.IGNORECASE)
_STATUS = (
    r"(?i:bad request|unauthorized|forbidden|too many requests|internal server error|bad gateway"
    r"|service unavailable|gateway time-?out)"
)
_ERROR = re.compile(
    r"\W*(?:(?:API|HTTP|Model|Request|Server|Unknown)\s+)?"
    r"(?:(?:[\w.]*[a-z_.])?(?:Error|Exception)|ERROR|error|exception)"
    r"(?:\s+\(?\d{3}\)?)?(?:[\"'*]*\s*:|\]|\W*$)"
    rf"|(?:HTTP\s+)?[45]\d\d\s+{_STATUS}\b|{_STATUS}\W*$"
)
_ENDS = tuple(".!?\u2026:;)]}\"'\u201d\u2019`*>|\u3002\uff01\uff1f\uff1b\uff09\u300d\u300f")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a model is asked for a summary.

    Attributes:
        limit: tokens that the summary may have.
        retries: how often it is asked again where it fails, or what it wrote is refused.
        share: of the tokens that are to be replaced, which the summary may have where that is
            less than `limit`; None for no such bound.
        checked: refuse what is not fit to use, or not less than what it replaces. Switching it off
            is for measuring designs that take whatever a model says, and ask again every time.
    """

    limit: int = 400
    retries: int = 0
    share: float | None = None
    checked: bool = True

    def __post_init__(self) -> None:
        if self.limit < 1 or self.retries < 0:
            raise ValueError(f"limit is {self.limit}, retries {self.retries}: at least 1 and 0")
        if self.share is not None and not 0 < self.share <= 1:
            raise ValueError(f"share is {self.share}: above 0, and at most 1")

    def bound(self, replaced: int) -> int:
        """Tokens that a summary may have in place of so many."""
        return (
            self.limit
            if self.share is None
            else max(1, min(self.limit, int(replaced * self.share)))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What came of asking: a reply that is fit to use, or why there is none.

    Attributes:
        reply: None where the model failed, or what it wrote was refused.
        kind: `failed`, `refused`, or `compaction` where there is a reply.
        detail: why there is none.
        calls: how often the model was asked.
    """

    reply: Reply | None
    kind: Kind
    detail: str
    calls: int


def ask(taken: tuple[Message, ...], previous: str, asking: Asking, means: Means) -> Asked:
    """Ask for a summary of messages and of an earlier summary.

    Raises:
        ValueError: there is no model to ask.
    """
    if means.model is None:
        raise ValueError("a summary needs a model")
    replaced = means.counter.messages(taken) + means.counter.text(previous)
    limit = asking.bound(replaced)
    request = Request(
        task="summarise",
        messages=taken,
        previous=previous,
        max_tokens=limit,
        now=means.now,
    )
    asked = Asked(reply=None, kind="failed", detail="", calls=0)
    for calls in range(1, asking.retries + 2):
        try:
            reply = means.model.complete(request)
        except (ModelError, OSError) as error:
            detail = f"the model failed: {type(error).__name__}"
            asked = Asked(reply=None, kind="failed", detail=detail, calls=calls)
            continue
        tokens = means.counter.text(reply.text)
        fault = faulty(reply, tokens, limit, replaced) if asking.checked else ""
        if not fault:
            return Asked(reply=reply, kind="compaction", detail="", calls=calls)
        asked = Asked(reply=None, kind="refused", detail=fault, calls=calls)
    return asked


def faulty(reply: Reply, tokens: int, limit: int, replaced: int) -> str:
    """Why a reply will not do as a summary; empty when it will.

    Args:
        reply: what the model answered.
        tokens: tokens of its text.
        limit: tokens that it might have.
        replaced: tokens of what it would replace.
    """
    fault = unfit(reply.text, tokens, replaced)
    if fault:
        return fault
    if reply.tool_calls:
        return "the model called a tool instead"
    if fault := _no_answer(reply):
        return fault
    if reply.cut or (tokens == limit and _breaks_off(reply)):
        return f"the summary was cut off at {tokens} tokens"
    if tokens > limit:
        return f"the summary has {tokens} tokens, and may have {limit}"
    return ""


def _no_answer(reply: Reply) -> str:
    if len(reply.text) <= REFUSAL_LENGTH and _REFUSAL.match(reply.text):
        return "the model refused"
    if reply.line_sources is not None:
        return ""  # what is traced to a message was said there, however bare it is
    # In doubt it is none: that costs a compaction, and an error for a summary the conversation.
    text = reply.text.strip()
    if _NOTHING.fullmatch(text):
        return "the summary says nothing"
    if len(text) <= ERROR_LENGTH and "\n" not in text and _ERROR.match(text):
        return "the model gave an error for a summary"
    return ""


def _breaks_off(reply: Reply) -> bool:
    # A model that knows where each line is from wrote whole lines.
    return reply.line_sources is None and not reply.text.rstrip().endswith(_ENDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippets:
    """A summary without a model: the beginnings of the latest messages. A pure function of them.

    Attributes:
        last: how many messages.
        each: characters of each, its role included.
        total: characters of all, `joiner` included.
        joiner: stands between them.
        form: what is shown of a message, with `role` and `text`.
    """

    last: int = 12
    each: int = 160
    total: int = 700
    joiner: str = "; "
    form: str = "[{role}] {text}"

    def __call__(self, messages: tuple[Message, ...]) -> str:
        """The text that stands for messages."""
        latest = messages[max(0, len(messages) - self.last) :]
        shown = (
            self.form.replace("{role}", m.role).replace("{text}", m.text.strip()) for m in latest
        )
        return head(self.joiner.join(head(text, self.each) for text in shown), self.total)
