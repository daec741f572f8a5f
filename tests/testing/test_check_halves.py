"""A long check of an isolated strategy is split in two, and its reports are joined."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memsim.testing import check_halves
from memsim.testing.case_coverage import FeatureCount
from memsim.testing.check_halves import halves, joined, perform_halves
from memsim.testing.checks import (
    PROFILES,
    CheckPlan,
    CheckProfile,
    CheckReport,
    CheckResult,
    Verdict,
    case_of,
    chosen,
    perform,
)
from tests.testing.test_isolated_checks import MINE

SMALL = CheckProfile(name="small", examples=6, steps=30, patience=12)
PLAN = CheckPlan(subject="mine", names=("order",), profile=PROFILES["commit"], guarded=())


def _result(verdict: Verdict, why: str = "", looked: int = 0) -> CheckResult:
    return CheckResult(
        invariant="order",
        subject="mine",
        verdict=verdict,
        why=why,
        looked=looked,
        examples=min(looked, 1),
    )


def _report(*results: CheckResult) -> CheckReport:
    coverage = (FeatureCount(name="pins", floor=0.5, cases=3, seen=2),)
    return CheckReport(subject="mine", results=results, coverage=coverage)


@pytest.mark.parametrize(
    "beside", [False, pytest.param(True, marks=pytest.mark.processes, id="in two processes")]
)
def test_two_halves_say_what_one_check_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, beside: bool
) -> None:
    """Verdicts, counts, counterexamples and coverage; the progress ends with the whole."""
    monkeypatch.setattr(check_halves, "LONG", 0)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.py"
    path.write_text(MINE, "utf-8")
    names = tuple(i.name for i in chosen("strategy and (i4 or i32 or i58)"))
    plan = CheckPlan(subject=str(path), names=names, profile=SMALL, guarded=())
    shares: list[float] = []

    found = perform_halves(plan, shares.append, beside=beside)

    assert [range(3), range(3, 6)] == [part.numbers for part in halves(plan)]
    assert perform(plan) == found
    assert sorted(shares) == shares
    assert 1.0 == shares[-1]
    assert [path] == [made for made in tmp_path.iterdir() if made.name != "__pycache__"]


def test_only_long_checks_of_isolated_strategies_are_split() -> None:
    """Another process takes longer than a short check."""
    every = tuple(i.name for i in chosen("strategy"))

    assert (PLAN,) == halves(PLAN)
    assert 1 == len(halves(replace(PLAN, names=every, guarded=None)))
    assert 2 == len(halves(replace(PLAN, names=every)))


def test_a_counterexample_that_was_kept_is_tried_in_one_half() -> None:
    """Where it still fails, the report says that it was replayed."""
    case = case_of("strategy", 30, 7, 0)
    plan = replace(PLAN, names=PLAN.names * 50, counterexamples={"order": case})

    assert [True, False] == [bool(part.counterexamples) for part in halves(plan)]


@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [
        (_result("holds", looked=3), _result("nothing", "none"), _result("holds", looked=3)),
        (_result("violated", "a", 9), _result("holds", looked=1), None),
        (_result("nothing", "none"), _result("nothing", "none"), _result("nothing", "none")),
        (_result("violated", "a", 1), _result("violated", "b", 1), _result("violated", "a", 1)),
        (_result("declared", "a", 1), _result("holds", looked=5), _result("declared", "a", 1)),
        (_result("nothing", "none"), _result("violated", "b", 1), _result("violated", "b", 1)),
        (_result("not applicable", "x"), _result("not applicable", "x"), None),
        (_result("violated", "a", 1), _result("invalid", "read x"), _result("invalid", "read x")),
        (_result("invalid", "x; y"), _result("invalid", "y; z"), _result("invalid", "x; y; z")),
    ],
)
def test_results_are_joined(
    first: CheckResult, second: CheckResult, whole: CheckResult | None
) -> None:
    """What the first cases show comes first, as in one check."""
    found = joined([_report(first), _report(second)])

    assert (whole or first,) == found.results
    assert [(6, 4)] == [(count.cases, count.seen) for count in found.coverage]
