"""The verdict: which exit code, and that the sentence says the same."""

from __future__ import annotations

import pytest

from memsim.errors import ExitCode
from memsim.gate import judge
from memsim.suite.cases import CaseResult, ExpectFailure, State


def case(
    *,
    control: str = "",
    state: State = "scored",
    probes: int = 10,
    errors: int = 0,
    broken: bool = False,
    unmeasured: bool = False,
) -> CaseResult:
    """A result of so many probes."""
    failures = []
    if broken:
        failures.append(ExpectFailure(metric="recall", bound=">= 0.8", value=0.5))
    if unmeasured:
        failures.append(ExpectFailure(metric="stale", bound="<= 0.1", value=None))
    return CaseResult(
        id="a.yaml::a[bm25@4k]",
        scenario="a",
        strategy="bm25",
        budget=4096,
        control=control,
        state=state,
        counts={"probes": probes, "errors": errors},
        expect_failures=tuple(failures),
    )


@pytest.mark.parametrize(
    ("results", "code", "sentence"),
    [
        ([], ExitCode.NOTHING, "nothing was run"),
        ([case(), case()], ExitCode.PASSED, "2 passed"),
        ([case(), case(broken=True)], ExitCode.FAILED, "1 failed, 1 passed"),
        ([case(), case(errors=1)], ExitCode.UNMEASURABLE, "1 unmeasured, 1 passed"),
        ([case(), case(state="error", errors=10)], ExitCode.UNMEASURABLE, "1 unmeasured, 1 passed"),
        ([case(state="lost", probes=0), case()], ExitCode.UNMEASURABLE, "1 unmeasured, 1 passed"),
        ([case(unmeasured=True)], ExitCode.UNMEASURABLE, "1 unmeasured"),
        ([case(broken=True), case(errors=1)], ExitCode.FAILED, "1 failed, 1 unmeasured"),
        ([case(broken=True, errors=1)], ExitCode.FAILED, "1 failed"),
        ([case(control="floor", broken=True), case()], ExitCode.PASSED, "1 passed"),
        (
            [case(control="floor", errors=1), case()],
            ExitCode.UNMEASURABLE,
            "1 unmeasured, 1 passed",
        ),
        ([case(control="floor")], ExitCode.PASSED, "only controls were run"),
        (
            [case(probes=0)],
            ExitCode.UNMEASURABLE,
            "nothing could be measured: no scenario asks a probe",
        ),
    ],
)
def test_the_verdict_is_code_and_sentence_in_one(
    results: list[CaseResult], code: ExitCode, sentence: str
) -> None:
    """Failed wins over unmeasured; what was not measured never passes; controls are not judged."""
    verdict = judge(results)

    assert (verdict.exit_code, verdict.sentence) == (code, sentence)


@pytest.mark.parametrize(
    ("max_errors", "code"),
    [
        (0, ExitCode.UNMEASURABLE),
        (1, ExitCode.UNMEASURABLE),
        (2, ExitCode.PASSED),
        (0.05, ExitCode.UNMEASURABLE),
        (0.1, ExitCode.PASSED),
    ],
)
def test_so_many_errors_are_tolerated(max_errors: float, code: ExitCode) -> None:
    """A count, or a share of all probes where below 1: here 2 of 20."""
    assert judge([case(), case(errors=2)], max_errors=max_errors).exit_code is code


def test_tolerance_does_not_keep_a_bound_that_was_not_measured() -> None:
    """A bound on nothing is never kept."""
    assert judge([case(unmeasured=True)], max_errors=100).exit_code is ExitCode.UNMEASURABLE


def test_every_case_is_counted_once() -> None:
    """Failed, unmeasured and passed are disjoint."""
    verdict = judge([case(), case(broken=True, errors=3), case(errors=1), case(control="floor")])

    assert (verdict.passed, verdict.failed, verdict.unmeasured) == (1, 1, 1)
