"""Boards and records made by hand, small enough to be read beside what is printed of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from memsim.report.run_summary import Board, BoardRow, Estimate, Matrix, Slice

Make = Callable[..., Any]


def about(mean: float | None, low: float | None = None, high: float | None = None) -> Estimate:
    """An estimate over forty probes; over none where there is no mean."""
    return Estimate(mean=mean, low=low, high=high, n=0 if mean is None else 40)


@pytest.fixture
def board() -> Board:
    """A ceiling, two strategies of which one broke a bound, and a floor."""
    return Board(
        dataset="",
        budget=4096,
        scenarios=2,
        probes=44,
        answerable=40,
        repeats=1,
        rows=(
            BoardRow(
                letter="",
                strategy="full_context",
                budget=4096,
                control="ceiling",
                recall=about(0.98, 0.96, 0.99),
                in_context=about(0.99),
                evidence=about(1.0),
                abstained=Estimate(mean=1.0, n=4),
                context_mean=31_200.0,
                context_peak=62_000.0,
                missed=1,
                lost=0,
                compactions=0,
            ),
            BoardRow(
                letter="a",
                strategy="tiered",
                budget=4096,
                recall=about(0.91, 0.87, 0.94),
                beats=("b",),
                in_context=about(0.95),
                evidence=about(0.9),
                abstained=Estimate(mean=0.75, n=4),
                context_mean=3_600.0,
                context_peak=3_900.0,
                missed=4,
                lost=4,
                compactions=9,
            ),
            BoardRow(
                letter="b",
                strategy="sliding_window",
                budget=4096,
                failed=True,
                recall=about(0.62, 0.55, 0.68),
                in_context=about(0.64),
                evidence=about(0.6),
                abstained=Estimate(mean=1.0, n=4),
                context_mean=3_900.0,
                context_peak=4_000.0,
                missed=15,
                lost=15,
                compactions=0,
            ),
            BoardRow(
                letter="",
                strategy="no_memory",
                budget=4096,
                control="floor",
                recall=about(0.05, 0.03, 0.08),
                in_context=about(0.0),
                evidence=about(None),
                abstained=Estimate(mean=1.0, n=4),
                context_mean=200.0,
                context_peak=300.0,
                missed=38,
                lost=38,
                compactions=0,
            ),
        ),
        matrices=(
            Matrix(
                by="scenario",
                slices=(
                    Slice(name="support_desk", n=30, recall=(1.0, 0.97, 0.7, 0.07)),
                    Slice(name="coding_session", n=10, recall=(0.92, 0.73, 0.38, None)),
                ),
            ),
        ),
    )


@pytest.fixture
def probe_line() -> Make:
    """Makes a line of `probes.jsonl`: a fact said at turn 3, gone at turn 19, asked at turn 40."""

    def make(**changed: object) -> dict[str, Any]:
        line: dict[str, Any] = {
            "case": "scenarios/a.yaml::a[sliding_window@4k]",
            "repeat": 0,
            "probe": "order_id",
            "turn": 40,
            "session": "s1",
            "ask": "What is my order number?",
            "principal": "user",
            "ability": "recall",
            "match": "tokens",
            "labels": {},
            "expect": ["A-17"],
            "forbid": [],
            "superseded": [],
            "unanswerable": False,
            "excluded": "",
            "answer": "I don't know.",
            "outcome": "MISS",
            "reason": "evicted",
            "whereabouts": "lost",
            "detail": "",
            "error": "",
            "scores": {"recall": 0.0},
            "leaks": [],
            "hidden": 0,
            "evidence": [
                {
                    "source": "m5",
                    "turn": 3,
                    "fact": "order_id",
                    "presence": "absent",
                    "verbatim": False,
                    "trimmed": False,
                    "location": None,
                    "path": [[3, "window", ""], [19, "absent", "dropped"]],
                }
            ],
            "ranks": None,
            "corpus": 80,
            "age": {"turns": 37, "tokens": 5100, "sessions": 0, "days": 0},
            "compactions": 0,
            "context": {
                "tokens": {"window": 3812},
                "total": 3812,
                "overflow": 0,
                "verbatim": ["m69", "m70", "m71"],
                "derived": [],
                "composed": [],
            },
            "query_tokens": 9,
            "inspectable": True,
            "calls": [],
        }
        return line | changed

    return make


@pytest.fixture
def turn_lines() -> list[Mapping[str, Any]]:
    """The turns of that case that tell something."""
    return [
        {"case": "c", "turn": 3, "tokens": {"window": 212}, "sent": 212, "contexts": 1},
        {
            "case": "c",
            "turn": 19,
            "tokens": {"window": 4000},
            "sent": 4000,
            "contexts": 1,
            "moved": {"order_id": "absent"},
            "events": [{"kind": "dropped", "sources": ["m4", "m5"], "detail": "window full"}],
        },
        {"case": "c", "turn": 41, "tokens": {"window": 1}, "events": []},
    ]
