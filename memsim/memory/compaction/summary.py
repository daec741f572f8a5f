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
    """One line of a summary.

    Attributes:
        text: what it says.
        sources: ids of the messages that it was made from, as far as the model can tell.
        perhaps: ids of others that it may have been made from, where the model cannot tell its
            lines apart. Nothing is credited to them, but forgetting one of them takes the line.
    """

    text: str
    sources: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()

    @property
    def origins(self) -> tuple[str, ...]:
        """Ids of every message that may stand behind it."""
        return self.sources + self.perhaps


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
        kept = tuple(line for line in self.lines if gone.isdisjoint(line.origins))
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
    known = {line.text: line for line in state.lines}
    texts = [text for text in reply.text.splitlines() if text.strip()]
    origins = provenance(reply, {text: line.sources for text, line in known.items()})
    if origins is None:
        unsure = Line("", reply.sources or (), _unnamed(reply, taken, state))
        made = tuple(replace(known.get(text, unsure), text=text) for text in texts)
    else:
        made = tuple(Line(text, origins.get(text, ())) for text in texts)
    owners = {**state.owners, **{m.id: m.principal for m in taken}}
    return Summary(
        lines=made, owners=_owners(made, owners), compactions=state.compactions + 1, time=now
    )


def _unnamed(reply: Reply, taken: tuple[Message, ...], state: Summary) -> tuple[str, ...]:
    # What a model reworded may come from anything that it read, in this round or an earlier one.
    read = dict.fromkeys(i for line in state.lines for i in line.origins)
    if reply.sources is None:
        read.update(dict.fromkeys(m.id for m in taken))
    return tuple(i for i in read if i not in (reply.sources or ()))


def _owners(lines: tuple[Line, ...], owners: Mapping[str, str]) -> dict[str, str]:
    live = dict.fromkeys(i for line in lines for i in line.origins)
    return {i: owners[i] for i in live if i in owners}
