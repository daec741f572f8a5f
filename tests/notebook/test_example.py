"""The example notebook runs as it is committed, cell after cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import memsim

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "compare.ipynb"


def cells() -> list[dict[str, Any]]:
    """Its code cells."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one namespace, from an empty folder; the last cells show what the text promises."""
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    for cell in cells():
        source = "".join(cell["source"])
        exec(compile(source, cell["id"], "exec"), space)  # noqa: S102 - our own notebook

    results = space["results"]
    passed = space["probes"].set_index(["strategy", "budget", "probe"])["passed"]
    assert isinstance(results, memsim.Results)
    assert list(map(bool, (passed["short", 4096, "order"], passed["long", 4096, "order"]))) == [
        False,
        True,
    ]
    assert "<table" in results._repr_html_()
    assert list(tmp_path.iterdir()) == []


def test_the_notebook_has_no_outputs() -> None:
    """What is committed is what a reader runs, not what it came to once."""
    assert [cell["id"] for cell in cells() if cell["outputs"] or cell["execution_count"]] == []
