"""Asking a model for a summary, and taking no for an answer: a text that is none is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from memsim.errors import ModelError
from memsim.language.graphemes import head, tail
from memsim.memory.compaction.outcome import SummaryAttempt, reply_fault
from memsim.memory.compaction.step import History, Means
from memsim.message import Message, Role, Text
from memsim.models import Prompt, Request

# What a model is shown of the messages that it is to summarise, where that is not all of them.


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryInput:
    """Messages as a model is to read them: some roles only, long ones by their beginning and end.

    Attributes:
        roles: whose words are shown.
        over: characters beyond which a message is shown in part.
        first: so many characters of its beginning are shown then.
        last: so many characters of its end are.
        gap: stands between the two.
        total: characters of all messages together; the latest that fit are shown. None for all.
    """

    roles: tuple[Role, ...] = ("user", "assistant")
    over: int = 2000
    first: int = 1000
    last: int = 500
    gap: str = " [...] "
    total: int | None = None

    def __call__(self, messages: History) -> History:
        """The messages as they are shown, under their own ids."""
        shown = [self._message(m) for m in messages if m.role in self.roles and m.text.strip()]
        if self.total is None:
            return tuple(shown)
        room, start = self.total, len(shown)
        while start > 0 and len(shown[start - 1].text) <= room:
            start -= 1
            room -= len(shown[start].text)
        return tuple(shown[start:])

    def _message(self, message: Message) -> Message:
        text = message.text
        if len(text) <= self.over:
            return message
        short = f"{head(text, self.first)}{self.gap}{tail(text, self.last)}"
        return replace(message, blocks=(Text(short),))


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """How a model is asked for a summary.

    Attributes:
        limit: tokens that the summary may have.
        retries: how often it is asked again where it fails, or what it wrote is refused.
        share: of the tokens that are to be replaced, which the summary may have where that is
            less than `limit`; None for no such bound.
        checked: refuse what is not fit to use, or not less than what it replaces. Switching it off
            is for measuring designs that take whatever a model says, and ask again every time.
        prompt: the words for a live model, or what makes them of the messages; None for memsim's.
    """

    limit: int = 400
    retries: int = 0
    share: float | None = None
    checked: bool = True
    prompt: Prompt | Callable[[History], Prompt] | None = None

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


def ask(
    taken: tuple[Message, ...], previous: str, asking: SummaryRequest, means: Means
) -> SummaryAttempt:
    """Ask for a summary of messages and of an earlier summary.

    Raises `ValueError` if there is no model to ask.
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
        prompt=asking.prompt(taken) if callable(asking.prompt) else asking.prompt,
    )
    asked = SummaryAttempt(reply=None, kind="failed", detail="", calls=0)
    for calls in range(1, asking.retries + 2):
        try:
            reply = means.model.complete(request)
        except (ModelError, OSError) as error:
            detail = f"the model failed: {type(error).__name__}"
            asked = SummaryAttempt(reply=None, kind="failed", detail=detail, calls=calls)
            continue
        tokens = means.counter.text(reply.text)
        fault = reply_fault(reply, tokens, limit, replaced) if asking.checked else ""
        if not fault:
            return SummaryAttempt(reply=reply, kind="compaction", detail="", calls=calls)
        asked = SummaryAttempt(reply=None, kind="refused", detail=fault, calls=calls)
    return asked


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
