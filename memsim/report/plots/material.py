"""What plots are drawn from: the numbers that tables show, and the records behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from memsim.report.frames import Frames
    from memsim.report.rows import Board, Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A run's numbers.

    Attributes:
        summary: as tables show them.
        frames: the records, for what tables do not show.
    """

    summary: Summary
    frames: Frames

    @property
    def board(self) -> Board | None:
        """The board that stands for the run: that of the largest budget, scenarios first."""
        ranked = sorted(self.summary.boards, key=lambda b: (bool(b.dataset), -b.budget))
        return ranked[0] if ranked else None

    @property
    def boards(self) -> tuple[Board, ...]:
        """Those of the same scenarios or dataset, by budget."""
        board = self.board
        mine = [b for b in self.summary.boards if board and b.dataset == board.dataset]
        return tuple(sorted(mine, key=lambda b: b.budget))

    def shown(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of a frame that belong to the board."""
        board = self.board
        if board is None:
            return frame.iloc[:0]
        return frame[(frame["budget"] == board.budget) & (frame["dataset"] == board.dataset)]

    @property
    def strategies(self) -> tuple[str, ...]:
        """Those of the board that are compared, best first."""
        board = self.board
        return tuple(r.strategy for r in board.rows if not r.control) if board else ()
