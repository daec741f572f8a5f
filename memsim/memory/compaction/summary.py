"""A rolling summary: the oldest messages are merged into it, as LangChain's summary buffer does.

A compaction is a function of history and state; a summary that fails leaves both as they were.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from memsim.memory.window import Window
from memsim.message import EPOCH
from memsim.models import Request, provenance

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memsim.message import Message
    from memsim.models import Model, Reply
    from memsim.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a summary, with the ids of the messages that it was made from."""

    text: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What is left of the messages that were compacted.

    Attributes:
        lines: in the order in which they are read.
        owners: the principal of each message that a line was made from.
        compactions: how many made it.
        time: when the last of them was made.
    """

    lines: tuple[Line, ...] = ()
    owners: Mapping[str, str] = field(default_factory=dict)
    compactions: int = 0
    time: datetime = EPOCH

    @property
    def text(self) -> str:
        """The summary as a model wrote it."""
        return "\n".join(line.text for line in self.lines)

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of the messages that something in it was made from."""
        return tuple(dict.fromkeys(i for line in self.lines for i in line.sources))

    def without(self, sources: Iterable[str]) -> Summary:
        """The summary without the lines that were made from any of these messages."""
        gone = set(sources)
        kept = tuple(line for line in self.lines if gone.isdisjoint(line.sources))
        return replace(self, lines=kept, owners=_owners(kept, self.owners))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a compaction.

    Attributes:
        kind: `compaction`, or `refused`: the model's summary was not fit to use.
        sources: ids of the messages that were to be merged into the summary.
        before: tokens of these and of the summary before.
        after: tokens of the summary now; as before when it was refused.
        detail: why it was refused.
    """

    kind: Literal["compaction", "refused"]
    sources: tuple[str, ...]
    before: int
    after: int
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """History and state after a compaction, and what came of it; None when there was no need."""

    history: tuple[Message, ...]
    state: Summary
    outcome: Outcome | None = None


def compact(
    history: tuple[Message, ...],
    state: Summary,
    *,
    model: Model,
    counter: TokenCounter,
    keep: int,
    limit: int,
    now: datetime,
) -> Compaction:
    """Merge the oldest messages into the summary, so that the rest has at most `keep` tokens.

    Tool calls stay with their results, and the newest group of messages is always kept.

    Args:
        history: what is still verbatim, oldest first.
        state: the summary so far.
        model: writes the summary.
        counter: token counts.
        keep: tokens that may stay verbatim.
        limit: tokens that the summary may have.
        now: when it is asked for.

    Raises:
        ModelError: the model failed; nothing has changed.
    """
    window = Window(counter)
    for message in history:
        window.add(message)
    taken = window.older(keep)
    if not taken:
        return Compaction(history=history, state=state)
    merged, outcome = merge(taken, state, model=model, counter=counter, limit=limit, now=now)
    left = history if outcome.kind == "refused" else history[len(taken) :]
    return Compaction(history=left, state=merged, outcome=outcome)


def merge(
    taken: tuple[Message, ...],
    state: Summary,
    *,
    model: Model,
    counter: TokenCounter,
    limit: int,
    now: datetime,
) -> tuple[Summary, Outcome]:
    """Merge messages into the summary; the arguments are those of `compact`.

    Returns:
        The new summary and what came of it; the old one where the model's was not fit to use.

    Raises:
        ModelError: the model failed.
    """
    reply = model.complete(
        Request(task="summarise", messages=taken, previous=state.text, max_tokens=limit, now=now)
    )
    ids = tuple(m.id for m in taken)
    before = counter.messages(taken) + counter.text(state.text)
    fault = unfit(reply.text, counter.text(reply.text), before)
    if fault:
        return state, Outcome(
            kind="refused", sources=ids, before=before, after=before, detail=fault
        )
    merged = _merged(reply, taken, state, now)
    after = counter.text(merged.text)
    return merged, Outcome(kind="compaction", sources=ids, before=before, after=after)


def unfit(text: str, tokens: int, replaced: int) -> str:
    """Why a text will not do as a summary; empty when it will.

    Args:
        text: what the model wrote.
        tokens: its tokens.
        replaced: tokens of what it would replace.
    """
    if not text.strip():
        return "the summary is empty"
    if _garbled(text) or not any(map(str.isalnum, text)):
        return "the summary is not text"
    if tokens > replaced:
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


def _merged(reply: Reply, taken: tuple[Message, ...], state: Summary, now: datetime) -> Summary:
    known = {line.text: line.sources for line in state.lines}
    origins = provenance(reply, known)
    lines = [line for line in reply.text.splitlines() if line.strip()]
    if origins is None:
        # The model cannot tell its lines apart: all that is new may come from all that it names.
        named = reply.sources or ()
        origins = {line: known.get(line, named) for line in lines}
    made = tuple(Line(line, origins.get(line, ())) for line in lines)
    owners = {**state.owners, **{m.id: m.principal for m in taken}}
    return Summary(
        lines=made, owners=_owners(made, owners), compactions=state.compactions + 1, time=now
    )


def _owners(lines: tuple[Line, ...], owners: Mapping[str, str]) -> dict[str, str]:
    live = dict.fromkeys(i for line in lines for i in line.sources)
    return {i: owners[i] for i in live if i in owners}
