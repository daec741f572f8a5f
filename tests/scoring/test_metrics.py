"""Metrics: the registry that bounds, lists and tables go by."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import memsim
from memsim.scoring import METRICS, OUTCOMES, PASSED, UNMEASURED


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_says_what_it_is(name: str) -> None:
    """In a phrase, with the way that is better and a unit."""
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


NEW_METRIC = '''"""Number of probes."""

from memsim.scoring.metric import amount, measured

METRICS = {"probes_asked": amount("probes that were asked", "count", "higher")}


def measure(records):
    """One for each line."""
    return {"probes_asked": measured(len(records.probes), 1)}
'''


def test_a_metric_needs_one_new_file(tmp_path: Path) -> None:
    """It is listed, a bound may name it, and it is measured after the others."""
    package = tmp_path / "memsim"
    shutil.copytree(
        Path(memsim.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    (package / "scoring" / "metrics" / "probes_asked.py").write_text(NEW_METRIC, "utf-8")
    code = (
        "from memsim.scoring import METRICS, summarise;"
        "names = list(summarise([], []));"
        "assert names == list(METRICS);"
        "print(names[-1], METRICS[names[-1]], summarise([], [])[names[-1]].value)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (done.stdout.strip(), done.stderr) == (
        "probes_asked probes that were asked (count, higher is better) 0",
        "",
    )


def test_outcomes_part_into_passed_failed_and_unmeasured() -> None:
    """No outcome is in two of them."""
    assert PASSED | UNMEASURED < set(OUTCOMES)
    assert not PASSED & UNMEASURED
