"""What came of a compaction, told so that it can be logged and counted."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from memsim.models import Reply

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
class SummaryAttempt:
    """What came of asking: a reply that is fit to use, or why there is none.

    Attributes:
        reply: None where the model failed, or what it wrote was refused.
        kind: `failed`, `refused`, or `compaction` where there is a reply.
        detail: why there is none.
        calls: how often the model was asked.
    """

    reply: Reply | None
    kind: OutcomeKind
    detail: str
    calls: int


def reply_fault(reply: Reply, tokens: int, limit: int, replaced: int) -> str:
    """Why a reply will not do as a summary; empty when it will."""
    fault = text_fault(reply.text, tokens, replaced)
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


def text_fault(text: str, tokens: int, replaced: int) -> str:
    """Why a text will not do as a summary; empty when it will."""
    if not text.strip():
        return "the summary is empty"
    if _garbled(text) or not any(map(str.isalnum, text)):
        return "the summary is not text"
    if tokens >= replaced:
        return f"the summary has {tokens} tokens, and what it replaces has {replaced}"
    return ""


def _garbled(text: str) -> bool:
    # Most lines are printable throughout, and then need no look at each character.
    return "\ufffd" in text or any(
        not line.isprintable() and any(map(_is_garbage, line)) for line in text.split("\n")
    )


def _is_garbage(character: str) -> bool:
    if character in "\n\t\r" or character.isalnum():
        return False
    return character == "\ufffd" or unicodedata.category(character) in {"Cc", "Cs", "Cn", "Co"}


OutcomeKind = Literal["compaction", "refused", "failed", "nothing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionOutcome:
    """What came of a compaction, or of one step of it.

    Attributes:
        kind: `compaction`: there is less history now. `refused`: what a model wrote was not fit to
            use. `failed`: a model failed. `nothing`: there was nothing to do. History and summary
            are as they were in all cases but the first.
        sources: ids of the messages that were taken out, shortened or merged, or were to be.
        before: tokens before, of history and summary together; of what was to be merged and the
            summary alone where `merge` tells it.
        after: tokens after, of the same; as before when nothing changed.
        detail: why nothing changed, or what was out of the ordinary.
        step: the step that did it.
        calls: how often a model was asked.
        steps: of a chain: what came of each step that was tried.
    """

    kind: OutcomeKind
    sources: tuple[str, ...]
    before: int
    after: int
    detail: str = ""
    step: str = ""
    calls: int = 0
    steps: tuple[CompactionOutcome, ...] = ()
