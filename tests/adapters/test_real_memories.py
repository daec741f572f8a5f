"""The page that compares real memories: figures, and reasons where there are none."""

from __future__ import annotations

from datetime import date
from typing import Any

from benchmarks.real_memories import BEGIN, END, PAGE, Measured, rows_of, tables, written
from benchmarks.real_memory_targets import TARGETS, Target
from memsim.discovery.catalogue import find_strategies
from memsim.discovery.project import Project

DAY = date(2026, 11, 23)
TARGET = Target("some:infer=on", "a memory")
ERROR = "some.py:3: ValueError: there is no environment .venv-some: make it (in __init__)"


def case(name: str, **more: object) -> dict[str, Any]:
    """A line of cases.jsonl."""
    return {"scenario": name, "error": "", "counts": {"probes": 60, "errors": 0}, **more}


def test_figures_versions_and_leaks_are_shown() -> None:
    """Recall with its leaks, attempts that say anything, and the version that a note names."""
    metrics = {"recall": 0.8461, "leaks": 3.0, "context_mean": 1234.5}
    notes = ["some-package 2.2.1", "keeps nothing in files"]
    outcomes = {"leak": 1, "safe": 58, "error": 1}
    found = {
        "two_customers": case("two_customers", metrics=metrics, notes=notes),
        "L1": case("L1", outcomes=outcomes, counts={"probes": 60, "errors": 1}),
    }

    text = "\n".join(tables([Measured(TARGET, found)], DAY, {}))

    assert "| some-package 2.2.1 | 2026-11-23 | n/a | n/a | .85 (leaks: 3) | 1,234 |" in text
    assert "| `some:infer=on` | 2026-11-23 | 1 of 59 | n/a | n/a |" in text
    assert "keeps nothing in files; another person asks: 1 of 60 without a score |" in text


def test_generated_families_have_a_table() -> None:
    """A family that was not played is n/a, and the wall time is not said of each memory again."""
    found = {
        "updates": case(
            "updates",
            metrics={"answer_in_context": 0.875},
            notes=["lives in wall time: age and expiry are not measured"],
        )
    }

    text = "\n".join(tables([Measured(TARGET, found)], DAY, {}))

    assert "| `some:infer=on` | 2026-11-23 |" + " n/a |" * 7 + " .88 |" in text
    assert "lives in wall time" not in text


def test_what_failed_is_not_a_figure() -> None:
    """The reason stands below the tables, without the place where it was raised."""
    metrics = {"recall": None, "leaks": None, "context_mean": None}
    failed = case("two_customers", metrics=metrics, error=ERROR)

    text = "\n".join(tables([Measured(TARGET, {"two_customers": failed})], DAY, {}))

    assert "| memsim | 2026-11-23 | n/a | n/a | n/a | n/a |" in text
    assert "two_customers: there is no environment .venv-some: make it |" in text


def test_conversations_of_locomo_are_pooled_by_their_probes() -> None:
    """A server whose name has two words has a version as well."""

    def played(name: str, recall: float, probes: int) -> dict[str, Any]:
        metrics = {"recall": recall, "evidence_recall": recall, "leaks": None, "context_mean": 9.0}
        counts = {"probes": probes, "answerable": probes, "errors": 0}
        notes = ["Some Memory 4.0.0b1 over MCP 2025-06-18"]
        return case(name, dataset="locomo", metrics=metrics, counts=counts, notes=notes)

    found = {"conv-30": played("conv-30", 0.5, 100), "conv-41": played("conv-41", 0.8, 200)}
    measured = Measured(TARGET, found)

    text = "\n".join(tables([measured], DAY, {}))

    assert measured.version == "Some Memory 4.0.0b1"
    assert "| `some:infer=on` | 2026-11-23 | 2 | .70 | .70 | .50 | 9 |" in text


def test_rows_of_what_was_not_played_stay() -> None:
    """Each part has its own day."""
    leaks = {"L1": case("L1", outcomes={"leak": 0, "safe": 9})}
    page = "\n".join(tables([Measured(TARGET, leaks)], date(2026, 1, 1), {}))

    text = "\n".join(tables([Measured(TARGET, {})], DAY, rows_of(page)))

    assert "| `some:infer=on` | 2026-01-01 | 0 of 9 | n/a | n/a |" in text
    assert text == page


def test_the_page_keeps_what_is_around_the_tables() -> None:
    """Only the part between the marks is written."""
    page = PAGE.read_text("utf-8")

    assert written(f"a\n{BEGIN}\nold\n{END}\nb\n", iter(["new"])) == (
        f"a\n{BEGIN}\n\nnew\n\n{END}\nb\n"
    )
    assert [page.count(mark) for mark in (BEGIN, END)] == [1, 1]


def test_every_target_is_a_strategy_and_on_the_page() -> None:
    """The list names nothing that is gone, and the page nothing that was not measured."""
    page = PAGE.read_text("utf-8")
    known = {found.name for found in find_strategies(Project())}

    assert {target.ref.partition(":")[0] for target in TARGETS} <= known
    assert [t.ref for t in TARGETS if f"| `{t.ref}` | {t.about} |" not in page] == []
