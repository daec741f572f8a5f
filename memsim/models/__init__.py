"""What a memory may ask of a language model, and what it gets back.

A request names its task, so that the offline model can do it by rule and a live one by prompt:

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

    # numpy's own module is imported where arrays are made: start-up must not wait for it.
    import numpy as np
    from numpy.typing import NDArray

    from memsim.message import Message, ToolUse

    Vectors = NDArray[np.float32]


# How much an agent may do, so that what it costs is bounded before it is asked.


AGENT_ROUNDS = 4
"""Times that an agent may call tools for one message or question."""

AGENT_CALLS = 16
"""Calls of one round that are carried out; further ones are told of in the record alone."""


Task = Literal["summarise", "extract", "answer", "judge", "act"]

IDK = "I don't know."
"""What a reader says when its context does not hold the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as a provider is told of it.

    Attributes:
        parameters: a JSON Schema text.
        reads: whether calling it changes nothing that can be seen later; only such tools are
            offered with a probe's question.
    """

    name: str
    description: str
    parameters: str
    reads: bool = False


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of a model.

    Attributes:
        messages: what the model may read, oldest first; for `answer`, the whole context and nothing
            else.
        previous: `summarise`: the summary so far, to be carried on.
        question, expected, given: `answer` and `judge`; of several expected answers, each on a line
            of its own, any one will do.
        outdated: `judge`: answers that held once, or that are somebody else's, one a line.
        draw: `judge`: which of several opinions on the same answer this is; part of every
            recording's key.
        asker: the principal whose `I` and `my` the question's are; empty where it makes no
            difference.
        max_tokens: upper bound of the reply, in the tokenizer's tokens; None leaves it to the
            model.
        now: the instant at which it is asked, for relative dates.
        repeat: which repeat of the case asks; part of every recording's key.
        round: `act`: how many rounds of calls there were for this message before.
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


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call."""

    input: int = 0
    output: int = 0


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered.

    Attributes:
        sources: ids of the request's messages that the text was taken from; None when the model
            cannot say.
        line_sources: where the text is one statement a line, the same for each line; a line that
            has none was carried on from `previous`, word for word. None when the model cannot say.
            Of another number of lines than the text has, it says nothing: see `by_line`.
        cost: dollars; None when no price is known.
        cut: whether the model was cut off before it had said everything.
    """

    text: str = ""
    tool_calls: tuple[ToolUse, ...] = ()
    usage: Usage = Usage()
    cost: float | None = 0.0
    sources: tuple[str, ...] | None = None
    line_sources: tuple[tuple[str, ...], ...] | None = None
    cut: bool = False


def by_line(reply: Reply) -> list[tuple[str, tuple[str, ...]]] | None:
    """Each line of a reply with its sources; None where the model cannot say, line by line."""
    lines = reply.text.splitlines()
    if reply.line_sources is None or len(lines) != len(reply.line_sources):
        return None
    return [*zip(lines, reply.line_sources, strict=True)]


def provenance(
    reply: Reply, known: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]] | None:
    """Where each line of a summary or of extracted facts comes from, lines carried on included.

    A strategy keeps the answer and gives it back with the next request's `previous`, so that a
    line's origin is known however often it was carried on::

        origins = provenance(reply, origins) or {}

    Args:
        reply: what the model answered.
        known: the origin of each line of the request's `previous`.

    Returns:
        Ids of original messages by line, in the order of the lines; None when the model cannot
        say.
    """
    said = by_line(reply)
    if said is None:
        return None
    return {line: tuple(dict.fromkeys((*known.get(line, ()), *new))) for line, new in said}


def check_embedder(ref: str) -> None:
    """Refuse an embedder's ref that means nothing, without loading anything.

    Raises:
        RefError: no embedder is called that, or it has no such parameter.
    """
    from memsim.models.model_ref import read_embedder

    read_embedder(ref)


def check_model(ref: str) -> None:
    """Refuse a model's ref that means nothing, without loading anything.

    Raises:
        RefError: no model is called that, or it has no such parameter.
    """
    from memsim.models.model_ref import read_model

    read_model(ref)


@runtime_checkable
class Model(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """The ref that names it, with what shapes its replies."""
        ...

    def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            ModelError: the model failed, or gave nothing usable.
        """
        ...


@runtime_checkable
class Embedder(Protocol):
    """Texts to vectors."""

    @property
    def name(self) -> str:
        """The ref that names it; stored with every index."""
        ...

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension).

        Raises:
            ModelError: the embedder failed, or gave vectors that are not finite or of another
                dimension.
        """
        ...
