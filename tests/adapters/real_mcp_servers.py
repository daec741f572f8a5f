"""Real MCP servers in their own environments: make test-libraries. Recall is of two_customers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from memsim.adapters.mcp_mapping import presets
from memsim.cli.program import program
from memsim.errors import ExitCode

LEAST = dict.fromkeys(presets(), 0.75)


@pytest.mark.parametrize("preset", LEAST)
def test_a_server_remembers(preset: str, tmp_path: Path) -> None:
    """A whole conversation with an erasure, grants and a restart; nobody sees what is another's."""
    flags = ["-s", f"mcp:{preset}", "-k", "mcp", "--progress", "none", "-o", str(tmp_path)]
    run = CliRunner().invoke(program, ["run", "two_customers", *flags])
    lines = (tmp_path / "cases.jsonl").read_text("utf-8").splitlines()
    (case,) = (e for e in map(json.loads, lines) if e["strategy"] == f"mcp:{preset}")

    assert run.exit_code == ExitCode.PASSED, run.output
    assert case["metrics"]["recall"] >= LEAST[preset]
    assert case["metrics"]["leaks"] == 0
    assert case["counts"]["uncredited"] == 0
