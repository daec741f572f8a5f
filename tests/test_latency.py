"""Times of a strategy's calls: counted in steps, added up, and kept apart from all results."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from memsim.atomic_files import TEMPORARY
from memsim.latency import CallTimer, add_latency, latency_rows, quantile, step_of
from memsim.report.latency_table import latency_lines
from memsim.report.number_format import milliseconds
from memsim.runs.latency_file import LATENCY, latency_by_strategy, write_latency
from memsim.suite.cases import CaseResult

CASE = CaseResult(id="a.yaml::a[bm25@4k]", scenario="a", strategy="bm25", budget=4096)


def counted(*milliseconds: float) -> dict[str, int]:
    """The counts of some durations."""
    steps = [str(step_of(round(value * 1e6))) for value in milliseconds]
    return {step: steps.count(step) for step in steps}


def test_quantiles_are_within_a_step_of_the_durations() -> None:
    """Durations are counted in steps of 5 %."""
    counts = counted(*range(1, 101))
    assert quantile(counts, 0.5) == pytest.approx(50, rel=0.05)
    assert quantile(counts, 0.95) == pytest.approx(95, rel=0.05)
    assert quantile({}, 0.5) is None


def test_counts_of_cases_add_up_to_those_of_all_calls() -> None:
    """Shards and repeats give the quantiles of one run, which means of quantiles would not."""
    parts = [{"query.real": counted(1, 2, 3)}, {"query.real": counted(3, 40)}]
    assert add_latency(parts) == {"query.real": counted(1, 2, 3, 3, 40)}


def test_a_timer_counts_each_call_on_both_clocks() -> None:
    """A call of a phase is counted once in real and once in processor time."""
    timer = CallTimer()
    for phase in ("write", "search", "search"):
        timer.start()
        timer.stop(phase)
    calls = {(row.operation, row.clock): row.calls for row in latency_rows(timer.counts)}
    assert calls == {
        ("write", "real"): 1,
        ("write", "processor"): 1,
        ("query", "real"): 2,
        ("query", "processor"): 2,
    }


def test_the_file_of_a_run_has_a_row_for_each_operation_and_clock(tmp_path: Path) -> None:
    """Cases of one strategy and budget are pooled; a run without times has no file."""
    cases = [
        replace(CASE, latency={"query.real": counted(1)}),
        replace(CASE, repeat=1, latency={"query.real": counted(1, 9)}),
    ]
    write_latency(tmp_path, [CASE])
    assert not (tmp_path / LATENCY).exists()
    write_latency(tmp_path, cases)
    (row,) = json.loads((tmp_path / LATENCY).read_text())["rows"]
    told = {key: row[key] for key in ("strategy", "budget", "operation", "clock", "calls")}
    assert told == {
        "strategy": "bm25",
        "budget": 4096,
        "operation": "query",
        "clock": "real",
        "calls": 3,
    }
    assert row["p50_ms"] == pytest.approx(1, rel=0.05)
    assert row["p95_ms"] == pytest.approx(9, rel=0.05)


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    """A run that is continued ends with the files of an undisturbed one."""
    left = tmp_path / f".{LATENCY}.0f3a{TEMPORARY}"
    left.write_text("{", encoding="utf-8")
    write_latency(tmp_path, [replace(CASE, latency={"query.real": {"200": 1}})])

    assert [LATENCY] == [path.name for path in tmp_path.iterdir()]


def test_a_strategy_in_another_process_has_no_processor_time() -> None:
    """A clock that nothing was timed by has no column."""
    (told,) = latency_by_strategy([replace(CASE, latency={"query.real": counted(2)})]).values()
    assert [(row.operation, row.clock) for row in told] == [("query", "real")]
    text = "\n".join(
        line.text for line in latency_lines([replace(CASE, latency={"query.real": counted(2)})], 80)
    )
    assert "query" in text
    assert "query CPU" not in text
    (nothing,) = latency_lines([CASE], 80)
    assert nothing.text.strip() == "no time was kept in this run"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0042, "4.2 µs"), (0.25, "250 µs"), (1.25, "1.2 ms"), (250, "250 ms"), (2100, "2.1 s")],
)
def test_short_durations_are_written_with_their_unit(value: float, expected: str) -> None:
    """Two digits are enough for a time that differs from run to run."""
    assert milliseconds(value) == expected
