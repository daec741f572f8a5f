"""`memsim import` writes questions from values that are said again, and a run scores them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

GARDEN = str(Path(__file__).resolve().parents[2] / "docs" / "examples" / "garden.json")

Call = Callable[..., Result]


def test_needs_are_questions_of_the_scenario(call: Call, project: Path) -> None:
    """Corrections come first, and every import of a trace writes the same bytes."""
    made = call("import", GARDEN, "-o", "scenarios/mine")
    file = project / "scenarios/mine/ada.yaml"
    text = file.read_text(encoding="utf-8")

    assert (0, "") == (made.exit_code, made.stderr)
    assert "1 question where a user says that something was said before:" in made.stdout
    assert "ada::correction-m21" in made.stdout
    assert text.index("correction-m21:") < text.index("reuse-m19:")
    page = (Path(GARDEN).parents[1] / "import.md").read_text(encoding="utf-8")
    assert re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[2] in text
    assert made.stdout.partition("5 questions")[2] in page

    call("import", GARDEN, "-o", "scenarios/twin")

    assert text == (project / "scenarios/twin/ada.yaml").read_text(encoding="utf-8")


def test_needs_are_scored_without_labels(call: Call, project: Path) -> None:
    """The ceiling is 1.0, a short window misses them, and a missed correction is named first."""
    call("import", GARDEN, "-o", "scenarios/mine")

    refs = ("oracle", "bm25", "sliding_window:messages=4", "no_memory")
    flags = [flag for ref in refs for flag in ("-s", ref)]
    run = call("run", "scenarios/mine", *flags, "--no-report", "--format", "jsonl")
    cases = {line["strategy"]: line["metrics"] for line in map(json.loads, run.stdout.splitlines())}

    assert 0 == run.exit_code, run.stderr
    assert 1.0 == cases["oracle"]["recall"] == cases["oracle"]["evidence_recall"]
    assert 0.0 == cases["sliding_window:messages=4"]["recall"] == cases["no_memory"]["recall"]
    assert 1.0 == cases["bm25"]["recall"]

    again = call("run", "scenarios/mine", "-s", "sliding_window:messages=4", "--no-report")
    case = "scenarios/mine/ada.yaml::ada[sliding_window:messages=4@4k]"
    why = call("explain", f"{case}::correction-m21")

    assert "::correction-m21" in again.stdout.partition("missed, and why")[2].splitlines()[3]
    assert "answer    not asked for: the context is searched" in why.stdout
    assert "outcome   MISS, evicted" in why.stdout


def test_nobody_is_asked_for_an_answer(call: Call, project: Path) -> None:
    """No reader is called, so a live model costs nothing for them."""
    call("import", GARDEN, "-o", "scenarios/mine")
    call("run", "scenarios/mine", "-s", "bm25", "--no-report")
    (file,) = (project / "reports" / "runs").glob("*/probes.jsonl")
    probes = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    asked = [p for p in probes if "bm25" in p["case"]]

    assert asked
    assert all(p["answer"] is None and not p["calls"] for p in asked)
    assert {"PASS"} == {p["outcome"] for p in asked}


def test_none_are_written_where_none_are_wanted(call: Call, project: Path) -> None:
    """`--needs 0` leaves the file without questions, and a dry run writes nothing."""
    made = call("import", GARDEN, "-o", "scenarios/mine", "--needs", "0")

    assert "probes:" not in (project / "scenarios/mine/ada.yaml").read_text(encoding="utf-8")
    assert "said again" not in made.stdout
    assert "said again" not in call("import", GARDEN, "--dry-run").stdout


def test_long_imports_are_searched_on_request_only(
    call: Call, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million messages come in as fast as before, and the import says what it left."""
    monkeypatch.setattr("memsim.cli.import_command._SEARCHED", 23)

    some = call("import", GARDEN, "-o", "scenarios/some")
    every = call("import", GARDEN, "-o", "scenarios/every", "--needs", "1")

    assert "1 scenario not searched, to save time: --needs 200 searches all" in some.stdout
    assert "probes:" not in (project / "scenarios/some/ada.yaml").read_text(encoding="utf-8")
    assert "1 question from values" in every.stdout
