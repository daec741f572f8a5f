"""Models of any provider, asked over the network: what is sent, and what comes back.

Nothing here imports litellm before the first call. A request becomes a `Call`, which is all that a
provider is told and all that a recording is found by. Its words become a `ProviderAnswer`, which is
all that a reply is made from. So a replayed answer and a live one lead to the same records.

A `ModelClient` turns calls into answers. They are put one inside the other: recordings, retries,
the purse, and innermost litellm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from memsim.errors import ContextOverflow, ModelError

if TYPE_CHECKING:
    from memsim.message import ToolUse
    from memsim.models import Task, ToolSpec


# How a provider fails: what may be tried again, what never helps, and what a recording keeps.


FailureKind = Literal["overflow", "filtered"]
"""Failures that are the call's own, and happen again whenever it is made: they are recorded."""


class TransientError(ModelError):
    """The provider could not answer now, and may be able to in a while.

    Args:
        said: what happened, in one line.
        after: seconds that the provider asks to be left alone; None where it does not say.
        billed: whether the call may have been paid for although nothing came of it.
    """

    def __init__(self, said: str, *, after: float | None = None, billed: bool = False) -> None:
        super().__init__(said)
        self.after = after
        self.billed = billed


class RefusalError(ModelError):
    """The provider will not answer, however often it is asked: a wrong key, name or parameter."""


class Outage(ModelError):  # noqa: N818 - what happened to a call
    """The provider was asked as often as is decent, and never answered."""


class FilterError(ModelError):
    """The provider holds the call, or its own answer, for improper."""


def failure_error(kind: FailureKind, said: str) -> ModelError:
    """The error that a recorded failure is raised as."""
    return ContextOverflow(said) if kind == "overflow" else FilterError(said)


def failure_kind(error: ModelError) -> FailureKind | None:
    """The failure as it is recorded; None for one that may not happen again."""
    if isinstance(error, ContextOverflow):
        return "overflow"
    return "filtered" if isinstance(error, FilterError) else None


Speaker = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """A message as providers know it.

    Attributes:
        calls: the tool calls that an assistant makes.
        answers: the id of the call that a tool answers; empty for everyone else.
    """

    role: Speaker
    text: str
    calls: tuple[ToolUse, ...] = ()
    answers: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """All that a provider is told.

    Attributes:
        model: litellm's id of it, such as `openai/gpt-4o-mini`.
        task: what it is asked for; a provider is not told, a reader of recordings is.
        max_tokens: where the provider cuts the answer off, in its own tokens.
        draw: which of several answers to the same call is wanted; a provider is not told.
    """

    model: str
    task: Task
    messages: tuple[ChatMessage, ...]
    max_tokens: int
    temperature: float = 0.0
    tools: tuple[ToolSpec, ...] = ()
    draw: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAnswer:
    """All that came back.

    Attributes:
        finish: why it ended: `stop`, `length`, `tool_calls`, `content_filter`, or the provider's
            own word.
        input: tokens of the call, as the provider counts them.
        output: tokens of the answer, likewise.
        cost: dollars; None when no price is known.
    """

    text: str
    calls: tuple[ToolUse, ...] = ()
    finish: str = "stop"
    input: int = 0
    output: int = 0
    cost: float | None = None


class ModelClient(Protocol):
    """Turns calls into answers."""

    def ask(self, call: Call) -> ProviderAnswer:
        """The answer to a call.

        Raises:
            ModelError: there is none.
        """
        ...
