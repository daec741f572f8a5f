"""Live models: calls to providers over the network, and their answers and failures.

litellm is imported at the first call. A request becomes a `Call`: everything that a provider
receives, and the key of a recording. The answer becomes a `ProviderAnswer`, from which the reply is
made. So a replayed answer and a live one lead to the same records.

A `ModelClient` answers calls. Clients are nested: recordings, retries, the cost limit, and litellm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from memsim.errors import ContextOverflow, ModelError

if TYPE_CHECKING:
    from memsim.message import ToolUse
    from memsim.models import Task, ToolSpec


FailureKind = Literal["overflow", "filtered"]
"""Failures that depend on the call alone and would happen again: they are recorded."""


class TransientError(ModelError):
    """The provider could not answer now, but may answer later.

    Args:
        said: what happened, in one line.
        after: seconds that the provider asks to wait; None if it does not say.
        billed: whether the call may have been billed without an answer.
    """

    def __init__(self, said: str, *, after: float | None = None, billed: bool = False) -> None:
        super().__init__(said)
        self.after = after
        self.billed = billed


class RefusalError(ModelError):
    """The provider will never answer: a wrong key, name or parameter."""


class Outage(ModelError):  # noqa: N818 - what happened to a call
    """The provider did not answer in all allowed attempts."""


class FilterError(ModelError):
    """The provider's content filter blocked the call or the answer."""


def failure_error(kind: FailureKind, said: str) -> ModelError:
    """The error of a recorded failure."""
    return ContextOverflow(said) if kind == "overflow" else FilterError(said)


def failure_kind(error: ModelError) -> FailureKind | None:
    """The recorded kind of a failure; None if it may not happen again."""
    if isinstance(error, ContextOverflow):
        return "overflow"
    return "filtered" if isinstance(error, FilterError) else None


Speaker = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """A message in the form of providers.

    Attributes:
        answers: the id of the call that a tool message answers; otherwise empty.
    """

    role: Speaker
    text: str
    calls: tuple[ToolUse, ...] = ()
    answers: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Everything that a provider receives.

    Attributes:
        model: litellm's id of it, such as `openai/gpt-4o-mini`.
        task: the task, for readers of recordings; it is not sent.
        max_tokens: the length at which the provider cuts the answer, in its own tokens.
        draw: the number of the answer to the same call; it is not sent.
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
    """Everything that a provider returned.

    Attributes:
        finish: why it ended: `stop`, `length`, `tool_calls`, `content_filter`, or the provider's
            own word.
        cost: dollars; None if no price is known.
    """

    text: str
    calls: tuple[ToolUse, ...] = ()
    finish: str = "stop"
    input: int = 0
    output: int = 0
    cost: float | None = None


class ModelClient(Protocol):
    """Answers calls."""

    def ask(self, call: Call) -> ProviderAnswer:
        """The answer to a call.

        Raises:
            ModelError: the call failed.
        """
        ...
