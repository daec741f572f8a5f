"""Calls of the strategy: a stranger's code, so that whatever it raises is a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.errors import MemsimError, StrategyError
from memsim.replay.blame import blame

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from memsim.replay.meter import MeteredModel
    from memsim.trace import Phase

_PHASES: tuple[Phase, ...] = ("write", "maintain", "search")


class Foreign:
    """Holds calls of the strategy in one phase; used anew for each, as often as one likes.

    Args:
        model: is told of the phase.
        phase: what the strategy is called for.
    """

    __slots__ = ("_model", "_phase")

    def __init__(self, model: MeteredModel, phase: Phase) -> None:
        self._model = model
        self._phase = phase

    def __enter__(self) -> None:
        self._model.phase = self._phase

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, Exception | SystemExit) and not isinstance(error, MemsimError):
            raise StrategyError(blame(error)) from error


def foreign_calls(model: MeteredModel) -> Mapping[str, Foreign]:
    """What holds the strategy's calls, by the phase that they are made in."""
    return {phase: Foreign(model, phase) for phase in _PHASES}
