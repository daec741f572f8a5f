"""`--format`: what standard output carries."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

import memsim.runs

Run = Callable[..., Result]
Saved = Callable[[], memsim.runs.Run]


def test_json_is_one_document(run: Run) -> None:
    """And nothing else is on standard output."""
    result = run("--format", "json", "-k", "mine")

    document = json.loads(result.stdout)
    assert document["boards"][0]["rows"][0]["strategy"] == "mine"


def test_jsonl_is_a_line_a_case(run: Run) -> None:
    """In the plan's order."""
    result = run("--format", "jsonl")

    assert json.loads(result.stdout.splitlines()[0])["strategy"] == "mine"


def test_markdown_is_the_report(run: Run, saved: Saved) -> None:
    """The same text as in the run's folder, but for the time of day."""
    result = run("--format", "md", "-k", "mine")

    assert result.stdout == (saved().folder / "report.md").read_text(encoding="utf-8")


def test_the_variable_stands_in_for_the_flag(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the flag wins over it."""
    monkeypatch.setenv("MEMSIM_FORMAT", "json")

    assert run("-k", "mine").stdout.startswith("{")
    assert not run("-k", "mine", "--format", "table").stdout.startswith("{")
