"""Where the reader cannot answer from the evidence alone, no answer metric passes a gate."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memsim.errors import ExitCode
from memsim.gate import judge
from memsim.report.boards import boards_of
from memsim.suite.cases import CaseResult, MetricBound
from memsim.suite.reader_limit import reader_limits, within_reach


def cases(oracle: float | None) -> list[CaseResult]:
    """A strategy that keeps a bound on recall, and `oracle`, of one dataset."""
    bound = MetricBound(metric="recall", sign=">=", value=0.01)
    mine = CaseResult(
        id="beam::a[bm25@4k]",
        scenario="a",
        strategy="bm25",
        budget=4096,
        dataset="beam",
        metrics={"recall": 0.9, "evidence_recall": 0.4},
        counts={"probes": 20, "answerable": 20},
        answer_bounds=(bound,),
    )
    if oracle is None:
        return [mine]
    control = CaseResult(
        id="beam::a[oracle@4k]",
        scenario="a",
        strategy="oracle",
        budget=4096,
        dataset="beam",
        control="evidence",
        metrics={"recall": oracle},
        counts={"probes": 20, "answerable": 20},
    )
    return [mine, control]


@pytest.mark.parametrize(
    ("oracle", "code"),
    [
        (0.49, ExitCode.UNMEASURABLE),
        (0.0, ExitCode.UNMEASURABLE),
        (0.5, ExitCode.PASSED),
        (None, ExitCode.PASSED),
    ],
)
def test_a_kept_bound_on_answers_is_not_green(oracle: float | None, code: ExitCode) -> None:
    """Half of the answerable probes is enough; without `oracle` nothing is hidden."""
    assert code == judge(cases(oracle)).exit_code


def test_without_evidence_oracle_says_nothing_of_the_reader() -> None:
    """It was given nothing to read."""
    mine, control = cases(0.0)
    blind = replace(control, metrics={**control.metrics, "evidence_recall": None})

    assert ExitCode.PASSED == judge([mine, blind]).exit_code


def test_answers_are_left_out_and_evidence_stays() -> None:
    """The rows of `oracle` stay, and a second time changes nothing."""
    once = within_reach(cases(0.04))

    assert within_reach(once) == once
    assert {"recall": None, "evidence_recall": 0.4} == once[0].metrics
    assert {"recall": 0.04} == once[1].metrics
    assert "answers .04 from the evidence alone (oracle); use --judge" in once[0].reader_limit


def test_the_share_is_over_answerable_probes_of_one_set() -> None:
    """Another dataset has a limit of its own."""
    limits = reader_limits(cases(0.04))

    assert {("beam", 4096)} == set(limits)
    assert 0.04 == limits["beam", 4096].oracle


def test_a_board_of_the_set_is_led_by_evidence() -> None:
    """The board says the same as the gate."""
    board = boards_of(cases(0.04), [])[0]

    assert board.reader.reached
    assert all(row.unread for row in board.rows)
