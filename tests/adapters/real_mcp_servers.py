"""Real MCP servers in their own environments: make test-libraries. Recall is of two_customers."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from memsim.adapters.mcp_mapping import presets
from memsim.cli.program import program
from memsim.errors import ExitCode
from memsim.message import said
from memsim.strategy import Forget, Strategy
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
    """What lists everything lists all of them; basic-memory takes a minute for as many."""
    ids = [f"m{n}" for n in range(MANY)]
    last = ask(strategy("no_memory"), f"Which code has door {MANY - 1}: zq{MANY - 1}x?")
    with closing(strategy(f"mcp:{preset},window=0")) as memory:
        for n, source in enumerate(ids):
            memory.observe(
                said("user", f"Door {n} has the code zq{n}x.", id=source, principal="ana")
            )
        before, listed = memory.context(last).verbatim, stored(memory)
        outcome = memory.forget(
            Forget(principal="ana", text="Forget everything.", sources=tuple(ids))
        )

        assert ids[-1] in before
        assert listed == ({*ids} if memory.inspectable else set())
        assert outcome.removed == tuple(ids)
        assert memory.context(last).verbatim == frozenset()
        assert stored(memory) == set()


def stored(memory: Strategy) -> set[str]:
    """The messages that the server lists."""
    found = (s.sources for s in memory.surfaces() if s.tier != "window")
    return {source for sources in found for source in sources}
