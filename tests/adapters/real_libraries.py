"""Real libraries in their own environments: make test-libraries. Recall is of two_customers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from memsim.cli.program import program
from memsim.errors import ExitCode

LEAST = {
    "adk": 0.8,
    "autogen": 0.8,
    "langgraph": 0.8,
    "langmem": 0.45,
    "llamaindex": 0.6,
    "mem0": 0.8,
    "mem0:infer=on": 0.6,
    "openai_session": 0.1,
}
ERASING = {"adk", "langgraph", "mem0"}


@pytest.mark.parametrize("ref", LEAST)
def test_a_library_remembers(ref: str, tmp_path: Path) -> None:
    """A whole conversation with an erasure, grants and a restart; nobody sees what is another's."""
    flags = ["-s", ref, "-k", ref.partition(":")[0], "--progress", "none", "-o", str(tmp_path)]
    run = CliRunner().invoke(program, ["run", "two_customers", *flags])
    lines = (tmp_path / "cases.jsonl").read_text("utf-8").splitlines()
    (case,) = (each for each in map(json.loads, lines) if each["strategy"] == ref)

    assert run.exit_code == ExitCode.PASSED, run.output
    assert case["metrics"]["recall"] >= LEAST[ref]
    assert case["counts"]["uncredited"] == 0
    probes = (tmp_path / "probes.jsonl").read_text("utf-8").splitlines()
    shown = {leak["fact"] for line in probes for leak in json.loads(line).get("leaks", ())}
    assert shown <= (set() if ref in ERASING else {"kofi_doctor"})  # what was to be erased
