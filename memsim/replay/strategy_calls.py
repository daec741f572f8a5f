"""Meter model calls by phase, and turn errors of the strategy into `StrategyError`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType

from memsim.errors import MemsimError, StrategyError, describe_error
from memsim.models import Model, Reply, Request
from memsim.trace import CallRecord, Phase

HearError = Callable[[BaseException], None]


class MeteredModel:
    """A model whose calls are recorded."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.phase: Phase = "write"
        self._calls: list[CallRecord] = []

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._model.name

    def complete(self, request: Request) -> Reply:
        """Answer a request and record it; a summary always counts as maintenance.

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
        """The calls since the last call of this."""
        calls = tuple(self._calls)
        self._calls.clear()
        return calls


_PHASES: tuple[Phase, ...] = ("write", "maintain", "search")


class StrategyCall:
    """A reusable context manager around calls of the strategy in one phase."""

    __slots__ = ("_hear", "_model", "_phase")

    def __init__(self, model: MeteredModel, phase: Phase, hear: HearError | None = None) -> None:
        self._model = model
        self._phase = phase
        self._hear = hear

    def __enter__(self) -> None:
        self._model.phase = self._phase

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and self._hear is not None:
            self._hear(error)
        if isinstance(error, Exception | SystemExit) and not isinstance(error, MemsimError):
            raise StrategyError(describe_error(error)) from error


def calls_by_phase(
    model: MeteredModel, hear: HearError | None = None
) -> Mapping[str, StrategyCall]:
    """By phase, the context manager for calls of the strategy; `hear` is told what they raise."""
    return {phase: StrategyCall(model, phase, hear) for phase in _PHASES}
