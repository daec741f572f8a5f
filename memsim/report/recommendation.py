"""Choose the strategy that a report recommends: recall first, then leaks, then tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memsim.report import number_format
from memsim.report.leak_board import LeakBoard
from memsim.report.run_summary import Board, BoardRow, RunSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The recommended row of a board, and those that it was chosen from.

    Attributes:
        chosen: the cheapest of `equals` that does not leak; the cheapest if all of them leak.
        equals: the row with the highest recall, and the rows that it does not beat significantly.
        channels: by strategy, how many leakage channels leak.
    """

    chosen: BoardRow
    equals: tuple[BoardRow, ...]
    channels: Mapping[str, int] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """Why this one of the equals; empty if there is no other."""
        if len(self.equals) == 1:
            return ""
        leaks = {row.strategy: said for row in self.equals if (said := self.leaks_of(row))}
        tokens = f"{number_format.tokens(self.chosen.context_mean)} tokens a turn"
        if not leaks:
            return f"It is the cheapest of them: {tokens}."
        if len(leaks) == len(self.equals):
            return f"All of them leak; it is the cheapest: {tokens}."
        leaky = "; ".join(f"{name}: {said}" for name, said in leaks.items())
        clean = len(self.equals) - len(leaks)
        cheapest = f" It is the cheapest of those that do not: {tokens}." if clean > 1 else ""
        return f"Others of them leak ({leaky}).{cheapest}"

    def leaks_of(self, row: BoardRow) -> str:
        """Count what a strategy leaks; empty for nothing."""
        channels = self.channels.get(row.strategy, 0)
        found = [number_format.plural(row.leaks, "leak")] if row.leaks else []
        found += [f"{number_format.plural(channels, 'channel')} leaking"] if channels else []
        return ", ".join(found)


def recommend(rows: Sequence[BoardRow], leakage: Sequence[LeakBoard] = ()) -> Recommendation:
    """Recommend one of the rows of a board.

    Args:
        rows: without controls, in order of recall; at least one.
        leakage: the boards of leakage of the same run.
    """
    channels = _leaking_channels(leakage[-1]) if leakage else {}
    best = rows[0]
    scored = (row for row in rows[1:] if row.lead.mean is not None and not row.partial)
    equals = (best, *(row for row in scored if row.letter not in best.beats))

    def standing(row: BoardRow) -> tuple[bool, float, float]:
        tokens = float("inf") if row.context_mean is None else row.context_mean
        leaks = bool(row.leaks or channels.get(row.strategy))
        return leaks, tokens, -(row.lead.mean or 0.0)

    return Recommendation(chosen=min(equals, key=standing), equals=equals, channels=channels)


def findings(summary: RunSummary) -> str:
    """Say what a comparison of rivals found, in a few sentences."""
    board = summary.main_board
    rows = [row for row in board.rows if not row.control] if board else []
    if board is None or not rows:
        return "No strategy was compared on a scenario."
    found = recommend(rows, summary.leakage)
    chosen = found.chosen
    over = [number_format.plural(board.scenarios, "scenario")]
    over += [f"{len(each.rows)} channels of leakage" for each in summary.leakage[-1:]]
    parts = [
        lead_of(chosen, board),
        found.leaks_of(chosen) or "no leak",
        f"{number_format.tokens(chosen.context_mean)} tokens a turn",
    ]
    said = [
        f"{len(rows)} strategies were compared on {' and '.join(over)}.",
        f"{chosen.strategy} is recommended: {', '.join(parts)}.",
    ]
    for count, what in (
        (len(summary.failures), "broke a bound of their scenario or channel"),
        (len(summary.unscored), "could not be measured"),
    ):
        said += [f"{number_format.plural(count, 'case')} {what}."] if count else []
    return " ".join(said)


def lead_of(row: BoardRow, board: Board) -> str:
    """Say what a row is ranked by, with what the reader answers from the evidence alone."""
    share = number_format.share(row.lead.mean)
    oracle = "unknown"
    if board.reader.oracle is not None:
        oracle = number_format.share(board.reader.oracle)
    if row.unread:
        return f"{share} evidence recall (answers n/a (reader), oracle {oracle})"
    return f"{share} recall (oracle {oracle})"


def _leaking_channels(board: LeakBoard) -> dict[str, int]:
    return {
        strategy: sum(1 for row in board.rows if (cell := row.cells[place]) and cell.breaches)
        for place, strategy in enumerate(board.strategies)
    }
