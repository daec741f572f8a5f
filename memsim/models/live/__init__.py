"""Models of any provider, asked over the network: what is sent, and what comes back.

Nothing here imports litellm before the first call. A request becomes a `Call`, which is all that a
provider is told and all that a recording is found by; what it says becomes an `Answer`, which is
all that a reply is made from. So a replayed answer and a live one lead to the same records.

An `Asker` turns calls into answers. They are put one inside the other: recordings, retries, the
purse, and innermost litellm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from memsim.message import ToolUse
    from memsim.models import Task, ToolSpec

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
class Answer:
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


class Asker(Protocol):
    """Turns calls into answers."""

    def ask(self, call: Call) -> Answer:
        """The answer to a call.

        Raises:
            ModelError: there is none.
        """
        ...
