"""A strategy of which only a part could be scored is never shown as the best one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memsim.report.board_tables import legend, note
from memsim.report.boards import boards_of
from memsim.report.html.leaderboard import leaderboard, verdict
from memsim.report.html.page_content import PageContent
from memsim.report.layout import ASCII
from memsim.report.probe_answers import ProbeAnswer, answers_of
from memsim.report.run_summary import RunSummary
from memsim.report.summarise import summarise
from memsim.runs import Run


def failing(run: Run, share: float) -> RunSummary:
    """The run as if bm25 could not be scored on that share of its probes, those it missed first."""
    answers = list(answers_of(run))
    mine = [a for a in answers if a.strategy == "bm25:k=4" and a.answerable]
    mine.sort(key=lambda a: not a.missed)
    gone = {id(a) for a in mine[: round(share * len(mine))]}

    def unscored(answer: ProbeAnswer) -> ProbeAnswer:
        return replace(answer, outcome="ERROR", scores={}) if id(answer) in gone else answer

    boards = boards_of(run.cases, [unscored(a) for a in answers])
    return replace(summarise(run), boards=boards)


def test_what_was_scored_in_part_is_ranked_below_and_says_so(run: Run) -> None:
    """Though what was scored of it is better than all others."""
    found = failing(run, 0.5)
    (board,) = found.boards
    subject = PageContent(run=run, summary=found)
    last = [row for row in board.rows if not row.control][-1]

    assert "bm25:k=4" == last.strategy
    assert last.recall.mean == max(r.recall.mean or 0 for r in board.rows if not r.control)
    assert "18 of 36 scored" == note(last)
    assert any("ranked below the others" in said for said in legend(board, ASCII))
    assert '<tr class="partial">' in leaderboard(subject)
    assert "Bound by the reader: 1.00 recall from the evidence alone (oracle)." in verdict(subject)
    assert "Scored only in part, and so ranked below: bm25:k=4 (18 of 36 probes)." in verdict(
        subject
    )


@pytest.mark.parametrize(("share", "said"), [(0.03, "35 of 36 scored"), (0, "")])
def test_a_probe_or_two_are_told_and_change_no_place(run: Run, share: float, said: str) -> None:
    """Of a strategy that was scored on nineteen in twenty."""
    first = next(row for row in failing(run, share).boards[0].rows if not row.control)

    assert ("bm25:k=4", said) == (first.strategy, note(first))
