"""Metrics: the registry that bounds, lists and tables go by."""

from __future__ import annotations

import pytest

from memsim.scoring.metrics import METRICS
from memsim.scoring.outcomes import OUTCOMES, PASSED, UNMEASURED


def test_every_metric_says_what_it_is(subtests: pytest.Subtests) -> None:
    """In a phrase, with the way that is better and a unit."""
    for name in METRICS:
        with subtests.test(name=name):
            metric = METRICS[name]

            assert metric.about
            assert not metric.about.endswith(".")
            assert str(metric).startswith(metric.about)
            assert name == name.lower().strip()


def test_the_names_that_scenarios_and_tables_use_exist() -> None:
    """A bound names a metric by these words."""
    for name in (
        "recall",
        "answer_in_context",
        "evidence_recall",
        "evidence_any",
        "evidence_all",
        "evidence_derived",
        "false_answers",
        "false_abstentions",
        "locomo_f1",
        "recall@5",
        "session_recall@5",
        "mrr",
        "ndcg@10",
        "context_mean",
        "context_peak",
        "compactions",
        "lost",
        "leaks",
        "unscored",
        "cost_per_100_turns",
    ):
        assert name in METRICS


def test_outcomes_part_into_passed_failed_and_unmeasured() -> None:
    """No outcome is in two of them."""
    assert PASSED | UNMEASURED < set(OUTCOMES)
    assert not PASSED & UNMEASURED
