"""Mark answer metrics as not measured where the reader cannot answer from the evidence alone.

`oracle` gets the evidence of each question and nothing else, so what it misses is the reader's own
share. A set is all scenarios, or one dataset, at one budget. Where `oracle` answers less than half
of the answerable probes of a set, no answer metric of that set is a measurement of a memory. A
set that names no evidence at all says nothing about the reader, so nothing is hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memsim.leakage import LEAKAGE
from memsim.suite.cases import ExpectFailure

if TYPE_CHECKING:
    from memsim.suite.cases import CaseResult

LEAST_READ = 0.5
"""Share of the answerable probes that the reader has to answer from the evidence alone."""

ANSWERS_READ = frozenset(
    {
        "recall",
        "answer_share",
        "locomo_f1",
        "stale",
        "false_abstentions",
        "recall_masked",
        "locomo_f1_masked",
    }
)
"""Metrics of answers that the rules score; `judged` is bound by what the judge says of `oracle`."""

SetOfProbes = tuple[str, int]
"""A dataset, empty for scenarios, and a budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderLimit:
    """What the reader answers from the evidence alone.

    Attributes:
        oracle: share of the answerable probes that are answered rightly; None where `oracle` was
            not played, or was not scored.
        judged: the same as the judge says; None without a judge.
        unread: metrics that are `n/a (reader)`.
    """

    oracle: float | None = None
    judged: float | None = None
    unread: tuple[str, ...] = ()

    @property
    def reached(self) -> bool:
        """Whether answer recall is no measurement."""
        return "recall" in self.unread

    def __str__(self) -> str:
        shown = "none" if not self.oracle else f"{self.oracle:.2f}".removeprefix("0")
        return f"n/a (reader): it answers {shown} from the evidence alone (oracle); use --judge"


UNKNOWN = ReaderLimit()
"""The limit of a set without `oracle`: nothing is hidden."""


def reader_limits(cases: Iterable[CaseResult]) -> Mapping[SetOfProbes, ReaderLimit]:
    """Compute by set what the reader answers from the evidence alone."""
    sets: dict[SetOfProbes, list[CaseResult]] = {}
    for case in cases:
        if case.control == "evidence" and case.dataset != LEAKAGE and _has_evidence(case):
            sets.setdefault((case.dataset, case.budget), []).append(case)
    return {key: _limit(found) for key, found in sets.items()}


def _has_evidence(case: CaseResult) -> bool:
    return case.metrics.get("evidence_recall", 1.0) is not None


def _limit(cases: Sequence[CaseResult]) -> ReaderLimit:
    oracle, judged = _share(cases, "recall"), _share(cases, "judged")
    unread = sorted(ANSWERS_READ) if oracle is not None and oracle < LEAST_READ else []
    unread += ["judged"] if judged is not None and judged < LEAST_READ else []
    return ReaderLimit(oracle=oracle, judged=judged, unread=tuple(unread))


def _share(cases: Sequence[CaseResult], metric: str) -> float | None:
    pairs = [(case.metrics.get(metric), case.counts.get("answerable", 0)) for case in cases]
    scored = [(value, n) for value, n in pairs if value is not None and n]
    probes = sum(n for _, n in scored)
    return sum(value * n for value, n in scored) / probes if probes else None


def within_reach(cases: Sequence[CaseResult]) -> tuple[CaseResult, ...]:
    """Leave out the answer metrics that the reader bounds; a bound on one is never kept.

    The rows of `oracle` stay, because they are the measurement of the reader.
    """
    limits = reader_limits(cases)
    if not any(limit.unread for limit in limits.values()):
        return tuple(cases)
    return tuple(_limited(case, limits.get((case.dataset, case.budget), UNKNOWN)) for case in cases)


def _limited(case: CaseResult, limit: ReaderLimit) -> CaseResult:
    if case.control == "evidence" or not limit.unread:
        return case
    hidden = frozenset(limit.unread)
    failures = [replace(f, value=None) if f.metric in hidden else f for f in case.expect_failures]
    known = {(f.metric, f.bound) for f in failures}
    failures += [
        ExpectFailure(metric=bound.metric, bound=str(bound), value=None, place=bound.place)
        for bound in case.answer_bounds
        if bound.metric in hidden and (bound.metric, str(bound)) not in known
    ]
    metrics = {name: None if name in hidden else value for name, value in case.metrics.items()}
    return replace(case, metrics=metrics, expect_failures=tuple(failures), reader_limit=str(limit))
