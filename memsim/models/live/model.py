"""A live model: prompt a provider for each task, and turn its answers into replies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memsim.errors import ModelError
from memsim.message import ToolUse
from memsim.models import Reply, Usage
from memsim.models.live import FilterError, Outage, RefusalError
from memsim.models.live.task_prompts import compose
from memsim.models.model_access import CallAccount

if TYPE_CHECKING:
    from memsim.models import Request
    from memsim.models.live import Call, ModelClient, ProviderAnswer
    from memsim.models.model_ref import LiveRef


def reply_of(call: Call, answer: ProviderAnswer) -> Reply:
    """Turn a provider's answer into a reply.

    The text is passed on unchanged, even if it is poor, because it is measured.

    Raises:
        Filtered: the provider's content filter withheld the answer.
        ModelError: the answer has no content that the task can use.
    """
    if answer.finish == "content_filter" and not answer.text.strip():
        raise FilterError(f"{call.model} withheld its answer: its content filter blocked it")
    acting = call.task == "act"
    if answer.calls and not acting and not answer.text.strip():
        raise ModelError(
            f"{call.model} called a tool instead of answering in words (task {call.task})"
        )
    if answer.finish == "length" and not answer.text.strip() and not answer.calls:
        raise ModelError(
            f"{call.model} used up its {call.max_tokens} tokens without a word:"
            " give it more with `:max_tokens=N`"
        )
    return Reply(
        text=answer.text,
        tool_calls=distinct_calls(answer.calls) if acting else (),
        usage=Usage(input=answer.input, output=answer.output),
        cost=answer.cost,
        cut=answer.finish == "length",
    )


def distinct_calls(calls: tuple[ToolUse, ...]) -> tuple[ToolUse, ...]:
    """The calls with canonical arguments and unique ids, which results refer to."""
    seen: set[str] = set()
    found: list[ToolUse] = []
    for number, call in enumerate(calls):
        own = call.id if call.id and call.id not in seen else f"call_{number}"
        while own in seen:
            own += "_"
        seen.add(own)
        found.append(ToolUse(id=own, name=call.name, arguments=canonical_arguments(call.arguments)))
    return tuple(found)


def canonical_arguments(arguments: str) -> str:
    """A tool's arguments as canonical JSON; invalid JSON stays as the model wrote it.

    Half an emoji, which cannot be sent or stored, becomes a question mark.
    """
    try:
        read = json.loads(arguments or "{}")
        written = json.dumps(read, ensure_ascii=False, sort_keys=True, allow_nan=False)
    except (ValueError, RecursionError):
        written = arguments
    return written.encode("utf-8", "replace").decode()


class LiveModel:
    """Summarises, extracts, answers, judges and acts by calling a language model.

    Several threads may use it.
    """

    def __init__(
        self, ref: LiveRef, asker: ModelClient, account: CallAccount | None = None
    ) -> None:
        self._ref = ref
        self._asker = asker
        self._account = account or CallAccount()

    @property
    def name(self) -> str:
        """The ref of the model."""
        return self._ref.label

    def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            ModelError: the model failed, or returned nothing usable.
        """
        call = compose(request, self._ref)
        try:
            answer = self._asker.ask(call)
        except (Outage, RefusalError) as error:
            self._account.fail(str(error))
            raise
        return reply_of(call, answer)
