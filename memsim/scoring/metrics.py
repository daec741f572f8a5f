"""Every number that sums up a case: what it means, which way is better, what it counts in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from memsim.context import SECTIONS
from memsim.scoring.evidence import CUTOFFS, DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterator

Unit = Literal["share", "tokens", "count", "dollars"]
Better = Literal["higher", "lower"]

PHASES = ("write", "maintain", "search", "answer", "judge")
"""When model calls are made, in the order of a case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number of a case.

    Attributes:
        about: what it is, in a phrase.
        better: which way is better.
        unit: `share` is 0 to 1.
    """

    about: str
    better: Better
    unit: Unit

    def __str__(self) -> str:
        return f"{self.about} ({self.unit}, {self.better} is better)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A metric's value for a case.

    Attributes:
        value: None where there was nothing to measure.
        n: how many probes, turns or contexts it is taken over.
        reason: why there is no value; empty when there is one.
        note: what has to be known to read the value; empty when nothing.
    """

    value: float | None
    n: int
    reason: str = ""
    note: str = ""


@lru_cache(maxsize=1 << 10, typed=True)
def measured(value: float, n: int) -> Measure:
    """A value and how much it is taken over; most are zeros and ones, and are made once."""
    return Measure(value=value, n=n)


@lru_cache(maxsize=1 << 10)
def unmeasured(reason: str, n: int = 0) -> Measure:
    """No value, and why there is none."""
    return Measure(value=None, n=n, reason=reason)


def _share(about: str, better: Better = "higher") -> Metric:
    return Metric(about=about, better=better, unit="share")


def _amount(about: str, unit: Unit, better: Better = "lower") -> Metric:
    return Metric(about=about, better=better, unit=unit)


ANSWERS = {
    "recall": _share("answerable probes answered rightly, nothing forbidden given"),
    "answer_share": _share("part of the expected answer that was given"),
    "locomo_f1": _share("LoCoMo's token F1, on probes with one of its categories"),
    "answer_in_context": _share("probes whose expected answer stood in the context"),
    "stale": _share("probes of changed facts answered with an old value as current", "lower"),
    "false_answers": _share("unanswerable probes that were answered all the same", "lower"),
    "false_abstentions": _share("answerable probes answered by not knowing", "lower"),
}
JUDGED = {
    "judged": _share("probes that the judge was asked about and whose answer it found right"),
    "judge_agreement": _share("probes of which the judge and the rules say the same"),
    "judge_flips": _share("probes on which the judge's own opinions differ", "lower"),
    "judge_unread": _share("probes on which no majority of its opinions was a verdict", "lower"),
}
"""Metrics of runs that have a judge; others do not have them at all."""

EVIDENCE = {
    "evidence_recall": _share("evidence messages that stood in the context in their own words"),
    "evidence_any": _share("probes with at least one evidence message in the context"),
    "evidence_all": _share("probes with every evidence message in the context"),
    "evidence_derived": _share("evidence messages in the context only in other words"),
}


def _ranked() -> Iterator[tuple[str, Metric]]:
    for prefix, what in (("", "messages"), ("session_", "sessions")):
        for k in CUTOFFS:
            first = f"the first {k} ranked {what}"
            yield f"{prefix}recall@{k}", _share(f"evidence {what} among {first}")
            yield f"{prefix}any@{k}", _share(f"probes with any evidence {what} among {first}")
            yield f"{prefix}all@{k}", _share(f"probes with all evidence {what} among {first}")
    yield "mrr", _share("reciprocal rank of the first evidence message")
    yield f"ndcg@{DEPTH}", _share(f"nDCG of the first {DEPTH} ranks, ideal over all evidence")


RANKED = dict(_ranked())
AUDITED = {
    "recall_masked": _share("recall without gold answers that an audit found wrong"),
    "locomo_f1_masked": _share("LoCoMo F1 without gold answers that an audit found wrong"),
    "evidence_recall_masked": _share("evidence recall without citations that an audit found wrong"),
}
STATES = {
    "lost": _amount("pieces of evidence that were not in the context of a question", "count"),
    "leaks": _amount("probes that showed the asker what they may not see", "count"),
    "unscored": _share("probes that could not be scored", "lower"),
}


def _used() -> Iterator[tuple[str, Metric]]:
    over = "of turns that sent one, else of questions"
    yield "context_mean", _amount(f"mean context {over}", "tokens")
    yield "context_peak", _amount("largest context", "tokens")
    yield "context_total", _amount("all contexts sent", "tokens")
    for section in SECTIONS:
        if section != "query":
            yield f"context_{section}", _amount(f"context's {section}, mean {over}", "tokens")
    yield "overflow", _amount("cut from contexts that were over the budget", "tokens")
    yield "cached_share", _share("sent tokens that repeat the start of the context before")
    yield "cache_breaks", _amount("contexts that do not continue the one before", "count")
    yield "compactions", _amount("compactions", "count")
    yield "tokens_freed", _amount("freed by compactions", "tokens", "higher")
    yield "summaries_grew", _amount("compactions that ended larger than they began", "count")
    yield "model_calls", _amount("model calls", "count")
    yield "model_tokens", _amount("tokens of model calls, in and out", "tokens")
    for phase in PHASES:
        yield f"calls_{phase}", _amount(f"model calls to {phase}", "count")
        yield f"tokens_{phase}", _amount(f"tokens of model calls to {phase}", "tokens")
    yield "cost", _amount("price of the model calls", "dollars")
    yield "cost_per_100_turns", _amount("price of the model calls per 100 turns", "dollars")


USAGE = dict(_used())
METRICS: dict[str, Metric] = {**ANSWERS, **EVIDENCE, **RANKED, **AUDITED, **STATES, **USAGE}
"""Every metric by name."""
