"""From what a provider said to the reply that a memory or the harness gets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memsim.errors import ModelError
from memsim.message import ToolUse
from memsim.models import Reply, Usage
from memsim.models.live.failing import Filtered

if TYPE_CHECKING:
    from memsim.models.live import Answer, Call


def reply_of(call: Call, answer: Answer) -> Reply:
    """The reply that an answer comes to.

    What the model said is passed on as it is, however poor it is: that is what is measured.

    Raises:
        Filtered: the provider kept the answer to itself.
        ModelError: there is nothing in it that the task could use.
    """
    if answer.finish == "content_filter" and not answer.text.strip():
        raise Filtered(f"{call.model} kept its answer to itself: its content filter")
    acting = call.task == "act"
    if answer.calls and not acting and not answer.text.strip():
        raise ModelError(f"{call.model} called a tool where it was asked for words ({call.task})")
    if answer.finish == "length" and not answer.text.strip() and not answer.calls:
        raise ModelError(
            f"{call.model} used up its {call.max_tokens} tokens without a word:"
            " give it more with `:max_tokens=N`"
        )
    return Reply(
        text=answer.text,
        tool_calls=distinct(answer.calls) if acting else (),
        usage=Usage(input=answer.input, output=answer.output),
        cost=answer.cost,
        cut=answer.finish == "length",
    )


def distinct(calls: tuple[ToolUse, ...]) -> tuple[ToolUse, ...]:
    """The calls with canonical arguments, and each with an id of its own, as results need one."""
    seen: set[str] = set()
    found: list[ToolUse] = []
    for number, call in enumerate(calls):
        own = call.id if call.id and call.id not in seen else f"call_{number}"
        while own in seen:
            own += "_"
        seen.add(own)
        found.append(ToolUse(id=own, name=call.name, arguments=canonical(call.arguments)))
    return tuple(found)


def canonical(arguments: str) -> str:
    """A tool's arguments as canonical JSON; what is none stays as the model wrote it.

    Half an emoji, which could neither be sent nor kept, becomes a question mark.
    """
    try:
        read = json.loads(arguments or "{}")
        written = json.dumps(read, ensure_ascii=False, sort_keys=True, allow_nan=False)
    except (ValueError, RecursionError):
        written = arguments
    return written.encode("utf-8", "replace").decode()
