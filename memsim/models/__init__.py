"""Requests to a language model, its replies, and embedders.

A request names its task. The offline model performs it by rules, a live model by a prompt: memsim's
own, or the `Prompt` of the strategy that asks.

========== ============================== ==========================================
task       input                          reply
========== ============================== ==========================================
summarise  messages, `previous` summary   text of at most `max_tokens`, `sources` of it
extract    messages                       one fact a line
answer     messages (the context), question  an answer drawn only from the messages
judge      question, `expected`, `given`  a verdict as JSON: see `memsim.models.offline.judge`
act        messages, tools                text or tool calls
========== ============================== ==========================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from memsim.fast_dataclass import fast_init

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    # numpy is imported only where arrays are made, for a fast start.
    import numpy as np
    from numpy.typing import NDArray

    from memsim.message import Message, ToolUse

    Vectors = NDArray[np.float32]


# Limits of an agent, so that its costs are bounded.


AGENT_ROUNDS = 4
"""Number of rounds of tool calls that an agent may make for one message or question."""

AGENT_CALLS = 16
"""Number of calls per round that are executed; further calls are only recorded."""


Task = Literal["summarise", "extract", "answer", "judge", "act"]

IDK = "I don't know."
"""The answer of a reader whose context does not contain the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool, as a provider is told about it.

    Attributes:
        parameters: a JSON Schema text.
        reads: whether calling it changes nothing observable; only such tools are offered with a
            probe's question.
    """

    name: str
    description: str
    parameters: str
    reads: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The words in which a strategy asks a live model, in place of memsim's own.

    In `system`, `user` and `again`, these placeholders are filled in:

    ============== ==========================================================
    `{messages}`   the messages of the request, each written as `line` says
    `{previous}`   the earlier summary
    `{question}`   the question
    `{tokens}`     `max_tokens` of the request
    `{words}`      words that are well below so many tokens
    ============== ==========================================================

    The offline model ignores the words, and keeps the limit of the request.

    Attributes:
        system: the instruction, as a message of the system; empty for none.
        user: the message of the user.
        again: the message of the user where there is an earlier summary; empty for `user`.
        line: how a message is written, with `{role}`, `{Role}` (capitalised), `{speaker}` (the
            principal of a user, or the role), `{date}` and `{text}`.
        joiner: stands between two messages.
        chat: send the messages as messages of a chat, between the text before and after
            `{messages}`.
        final: send the texts as they stand: nothing in them is a placeholder.
        cut: let the provider cut its reply at exactly `max_tokens`. By default it may write twice
            as many, because providers count otherwise.
    """

    system: str = ""
    user: str = "{messages}"
    again: str = ""
    line: str = "{role}: {text}"
    joiner: str = "\n"
    chat: bool = False
    final: bool = False
    cut: bool = False


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of a model.

    Attributes:
        messages: the messages that the model may read, oldest first; for `answer`, the whole
            context and nothing else.
        previous: `summarise`: the summary so far.
        question, expected, given: `answer` and `judge`; each line of `expected` is one acceptable
            answer.
        outdated: `judge`: wrong answers that were right once, or that belong to another person, one
            per line.
        draw: `judge`: the number of the opinion on the same answer; part of every recording's key.
        asker: the principal to whom `I` and `my` in the question refer; empty if it makes no
            difference.
        max_tokens: upper bound of the reply, in the tokenizer's tokens; None leaves it to the
            model.
        now: the time of the question, for relative dates.
        repeat: the repeat of the case; part of every recording's key.
        round: `act`: number of rounds of calls for this message so far.
        prompt: `summarise`, `extract` and `answer`: how a live model is asked; None for memsim's
            own words.
    """

    task: Task
    messages: tuple[Message, ...] = ()
    previous: str = ""
    question: str = ""
    expected: str = ""
    given: str = ""
    max_tokens: int | None = None
    now: datetime | None = None
    repeat: int = 0
    tools: tuple[ToolSpec, ...] = ()
    asker: str = ""
    outdated: str = ""
    draw: int = 0
    round: int = 0
    prompt: Prompt | None = None


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call."""

    input: int = 0
    output: int = 0


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The reply of a model.

    Attributes:
        sources: ids of the request's messages that the text is based on; None if unknown.
        line_sources: the sources of each line, if the text has one statement per line; a line
            without sources was copied from `previous`. None if unknown; ignored if the number of
            lines differs: see `by_line`.
        cost: dollars; None if no price is known.
        cut: whether the reply was cut off at its limit.
    """

    text: str = ""
    tool_calls: tuple[ToolUse, ...] = ()
    usage: Usage = Usage()
    cost: float | None = 0.0
    sources: tuple[str, ...] | None = None
    line_sources: tuple[tuple[str, ...], ...] | None = None
    cut: bool = False


def by_line(reply: Reply) -> list[tuple[str, tuple[str, ...]]] | None:
    """Each line of a reply with its sources; None if they are unknown."""
    lines = reply.text.splitlines()
    if reply.line_sources is None or len(lines) != len(reply.line_sources):
        return None
    return [*zip(lines, reply.line_sources, strict=True)]


def provenance(
    reply: Reply, known: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]] | None:
    """The sources of each line of a summary or of extracted facts, including copied lines.

    A strategy stores the result and passes it with the next request's `previous`, so that the
    origin of a line stays known::

        origins = provenance(reply, origins) or {}

    Returns:
        Ids of original messages by line, in the order of the lines; None if unknown.
    """
    said = by_line(reply)
    if said is None:
        return None
    return {line: tuple(dict.fromkeys((*known.get(line, ()), *new))) for line, new in said}


@runtime_checkable
class Model(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """The ref of the model, with the parameters that change its replies."""
        ...

    def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            ModelError: the model failed, or returned nothing usable.
        """
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """The ref of the embedder; stored with every index."""
        ...

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension).

        Raises:
            ModelError: the embedder failed, or returned vectors that are not finite or of another
                dimension.
        """
        ...


def is_by_word(embedder: Embedder) -> bool:
    """Whether an embedder is a mean of vectors of words, as its `by_word` says.

    The vector of a single word then costs next to nothing.
    """
    return bool(getattr(embedder, "by_word", False))
