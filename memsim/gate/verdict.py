"""Judge a run: the verdict gives both the printed sentence and the exit code.

A bound that is not kept fails its case; so does a metric that became worse than in the baseline.
What could not be measured never passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memsim.errors import ExitCode
from memsim.suite.cases import CaseResult
from memsim.suite.reader_limit import within_reach

if TYPE_CHECKING:
    from memsim.gate.comparison import ChangeWord, Comparison

STRICT: tuple[ChangeWord, ...] = ("unsure", "stale")
"""Words that fail a strict gate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict of the gate.

    Attributes:
        passed, failed, unmeasured: cases of each kind; controls are counted only as unmeasured.
    """

    exit_code: ExitCode
    sentence: str
    passed: int = 0
    failed: int = 0
    unmeasured: int = 0


def judge(results: Sequence[CaseResult], *, max_errors: float = 0) -> Verdict:
    """Judge a run by its cases.

    Args:
        results: of every case.
        max_errors: tolerated unscored probes: a count, or a share where below 1.

    A bound on an answer metric that is `n/a (reader)` was not measured.
    """
    results = within_reach(results)
    if not results:
        return Verdict(exit_code=ExitCode.NOTHING, sentence="nothing was run")
    failed = sum(1 for r in results if fails(r))
    unmeasured = sum(1 for r in results if not fails(r) and lacks(r))
    tolerated = _tolerated(results, max_errors)
    passed = sum(1 for r in results if not r.control and not fails(r) and not lacks(r))
    kind = ExitCode.PASSED
    if failed:
        kind = ExitCode.FAILED
    elif not tolerated:
        kind = ExitCode.UNMEASURABLE
    return Verdict(
        exit_code=kind,
        sentence=_sentence(results, passed=passed, failed=failed, unmeasured=unmeasured),
        passed=passed,
        failed=failed,
        unmeasured=unmeasured,
    )


def rule(
    verdict: Verdict, comparison: Comparison | None, *, strict: bool = False, required: str = ""
) -> Verdict:
    """Combine the verdict on a run with its comparison.

    A failure wins over what could not be measured, and that over a pass.

    Args:
        verdict: of the run alone.
        comparison: with its baseline; None without one.
        strict: what is unsure or stale fails, and so does having nothing to compare.
        required: the baseline that there had to be, where there is none.
    """
    if comparison is None:
        if not required:
            return verdict
        sentence = f"{verdict.sentence}; there is no baseline {required}"
        return replace(verdict, exit_code=_worst(verdict, ExitCode.FAILED), sentence=sentence)
    counts = comparison.counts
    code = ExitCode.PASSED
    if counts.get("unmeasured"):
        code = ExitCode.UNMEASURABLE
    unsettled = any(counts.get(word) for word in STRICT) or comparison.stale or comparison.empty
    sentence = f"{verdict.sentence}; {comparison.sentence}"
    if counts.get("worse"):
        code = ExitCode.FAILED
    elif strict and unsettled:
        code = ExitCode.FAILED
        sentence += "; strict: failed"
    return replace(verdict, exit_code=_worst(verdict, code), sentence=sentence)


def _worst(verdict: Verdict, code: ExitCode) -> ExitCode:
    order = (ExitCode.NOTHING, ExitCode.FAILED, ExitCode.UNMEASURABLE)
    return next((c for c in order if c in {verdict.exit_code, code}), ExitCode.PASSED)


def fails(result: CaseResult) -> bool:
    """Whether a measured value breaks a bound; controls are never judged."""
    return not result.control and any(f.value is not None for f in result.expect_failures)


def lacks(result: CaseResult) -> bool:
    """Whether something of the case could not be measured."""
    unbound = any(f.value is None for f in result.expect_failures)
    silent = bool(result.unjudged) or result.counts.get("unjudged", 0) > 0
    return result.state != "scored" or result.counts.get("errors", 0) > 0 or unbound or silent


def _tolerated(results: Sequence[CaseResult], max_errors: float) -> bool:
    # A bound on what was not measured is never kept, whatever else is tolerated.
    if any(f.value is None for r in results if not r.control for f in r.expect_failures):
        return False
    # Nor is a judge that is not believed, or was not asked: no number of answers makes up for it.
    if any(r.unjudged for r in results):
        return False
    probes = sum(r.counts.get("probes", 0) for r in results)
    errors = sum(max(r.counts.get("errors", 0), int(r.state != "scored")) for r in results)
    errors += sum(r.counts.get("unjudged", 0) for r in results)
    allowed = max_errors * probes if max_errors < 1 else max_errors
    return probes > 0 and errors <= allowed


def _sentence(results: Sequence[CaseResult], *, passed: int, failed: int, unmeasured: int) -> str:
    if not any(r.counts.get("probes") for r in results):
        return "nothing could be measured: no scenario asks a probe"
    parts = [
        f"{count} {word}"
        for count, word in ((failed, "failed"), (unmeasured, "unmeasured"), (passed, "passed"))
        if count
    ]
    said = ", ".join(parts) or "only controls were run"
    return f"{said}; the judge is not believed" if any(r.unjudged for r in results) else said
