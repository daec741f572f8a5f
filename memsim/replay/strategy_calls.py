"""Meter model calls by phase, and turn errors of the strategy into `StrategyError`."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from types import TracebackType

from memsim.errors import MemsimError, RemoteError, StrategyError, describe_error
from memsim.latency import CallTimer
from memsim.models import Model, Reply, Request
from memsim.strategy import Strategy
from memsim.trace import CallRecord, Phase

HearError = Callable[[BaseException], None]


class MeteredModel:
    """A model whose calls are recorded.

    Attributes:
        phase: of the calls that come next.
        turn: the turn in play; 0 before the first.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.phase: Phase = "write"
        self.turn = 0
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

    def __init__(
        self,
        model: MeteredModel,
        phase: Phase,
        hear: HearError | None = None,
    ) -> None:
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
            said = f"{describe_error(error)}{_when(error, self._model.turn)}"
            raise StrategyError(said) from error


class TimedCall(StrategyCall):
    """A call of the strategy whose duration counts."""

    __slots__ = ("_watch",)

    def __init__(
        self,
        model: MeteredModel,
        phase: Phase,
        hear: HearError | None,
        watch: CallTimer,
    ) -> None:
        super().__init__(model, phase, hear)
        self._watch = watch

    def __enter__(self) -> None:
        super().__enter__()
        self._watch.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watch.stop(self._phase)
        super().__exit__(kind, error, trace)


_METHODS = {name: name for name, found in vars(Strategy).items() if callable(found)}
_METHODS["ranked"] = "context"  # its ranking is made later


def _when(error: BaseException, turn: int) -> str:
    """In which method and turn it was, as a phrase in brackets; empty if nobody can tell."""
    parts = [f"in {method}"] if (method := _method(error)) else []
    parts += [f"turn {turn}"] if turn else []
    return f" ({', '.join(parts)})" if parts else ""


def _method(error: BaseException) -> str:
    """The method of the strategy that was called."""
    if isinstance(error, RemoteError):
        return error.method
    # The first frame is the caller's, whose methods have the same names.
    rest = error.__traceback__.tb_next if error.__traceback__ else None
    names = (frame.f_code.co_name for frame, _ in traceback.walk_tb(rest))
    return next((_METHODS[name] for name in names if name in _METHODS), "")


def calls_by_phase(
    model: MeteredModel, hear: HearError | None = None
) -> Mapping[str, StrategyCall]:
    """By phase, the context manager for calls of the strategy.

    Args:
        model: its calls are metered.
        hear: is told what the strategy raises.
    """
    return {phase: StrategyCall(model, phase, hear) for phase in _PHASES}


def timed_calls_by_phase(
    model: MeteredModel, hear: HearError | None, watch: CallTimer
) -> Mapping[str, StrategyCall]:
    """As `calls_by_phase`, for calls whose durations a stopwatch counts."""
    return {phase: TimedCall(model, phase, hear, watch) for phase in _PHASES}
