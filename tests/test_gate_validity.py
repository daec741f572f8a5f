"""The gate's statistics, put to the test in small: it neither cries wolf nor sleeps."""

from __future__ import annotations

import pytest

from benchmarks.gate_validity import (
    DROPS,
    FAMILY,
    KINDS,
    SUITES,
    Measured,
    family,
    faults,
    measure,
)

PAIRS = 2000
DRAWS = 1000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [0, 1], ids=["30 probes", "90 probes"])
def test_small_suites_keep_what_is_promised(kind: str, place: int) -> None:
    """False alarms at most 5 %, intervals right 93 to 97 times of 100, power as was asked for."""
    cells = [
        measure(kind, SUITES[place], drop, pairs=PAIRS, draws=DRAWS, seed=11 + place)
        for drop in DROPS
    ]

    assert faults(cells, pairs=PAIRS) == []


def test_large_suites_see_small_drops() -> None:
    """400 probes, each asked three times, see five points nearly always."""
    cell = measure("repeated", SUITES[3], 0.05, pairs=400, draws=DRAWS, seed=3)

    assert cell.failed > 0.9


def test_many_strategies_are_no_reason_to_cry_wolf() -> None:
    """Of eight unchanged ones, any is called worse at most one time in twenty."""
    assert FAMILY == 8
    assert family(pairs=400, draws=DRAWS) <= 0.05


def test_broken_promises_are_told() -> None:
    """Too many alarms, a wrong interval, a blind gate."""
    cells = [
        Measured(kind="k", probes=30, scenarios=6, drop=0.0, failed=0.06, covered=0.92, unsure=0),
        Measured(kind="k", probes=90, scenarios=6, drop=0.1, failed=0.3, covered=0.95, unsure=0),
    ]

    assert faults(cells, pairs=2000) == [
        "k, 30 probes, drop 0: false alarms 0.060 > .05",
        "k, 30 probes, drop 0: coverage 0.920 is not .93 to .97",
        "k, 90 probes, drop 0.1: power 0.300 < 0.47",
    ]
