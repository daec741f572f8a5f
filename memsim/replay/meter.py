"""A model that keeps account of what is asked of it, and in which phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.trace import CallRecord

if TYPE_CHECKING:
    from memsim.models import Model, Reply, Request
    from memsim.trace import Phase


class MeteredModel:
    """A model whose calls are recorded.

    Args:
        model: what answers.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.phase: Phase = "write"
        self._calls: list[CallRecord] = []

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._model.name

    def complete(self, request: Request) -> Reply:
        """Answer a request and record it; a summary is maintenance whenever it is asked for.

        Raises:
            ModelError: the model failed, or gave nothing usable.
        """
        reply = self._model.complete(request)
        phase: Phase = "maintain" if request.task == "summarise" else self.phase
        self._calls.append(
            CallRecord(
                phase=phase,
                task=request.task,
                input=reply.usage.input,
                output=reply.usage.output,
                cost=reply.cost,
            )
        )
        return reply

    def take(self) -> tuple[CallRecord, ...]:
        """The calls since the last time this was asked."""
        calls = tuple(self._calls)
        self._calls.clear()
        return calls
