"""Real MCP servers in their own environments: make test-libraries. Recall is of two_customers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from memsim.adapters.mcp_mapping import presets
from memsim.cli.program import program
from memsim.errors import ExitCode
from memsim.message import said
from memsim.strategy import Forget
from tests.strategies.conversations import ask, strategy

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


MANY = 110
"""Messages; mcp-memory-service leaves all but a hundred tags of one deletion out of account."""


@pytest.mark.parametrize("preset", [p for p in presets() if p != "basic-memory"])
def test_a_server_forgets_many_messages_at_once(preset: str) -> None:
    """basic-memory takes a minute for as many; it deletes them one by one as well."""
    memory = strategy(f"mcp:{preset},window=0")
    for n in range(MANY):
        memory.observe(said("user", f"Door {n} has the code zq{n}x.", id=f"m{n}", principal="ana"))
    ids = tuple(f"m{n}" for n in range(MANY))
    codes = ask(memory, f"Which code has door {MANY - 1}: zq{MANY - 1}x?")
    before, listed = memory.context(codes).verbatim, [*memory.surfaces()]

    outcome = memory.forget(Forget(principal="ana", text="Forget everything.", sources=ids))

    assert f"m{MANY - 1}" in before
    assert len(listed) == MANY
    assert outcome.removed == ids
    assert memory.context(codes).verbatim == frozenset()
    assert list(memory.surfaces()) == []
    memory.close()
