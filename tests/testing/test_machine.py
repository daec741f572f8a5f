"""The machine: what holds goes through it, what is bent does not; what it prints is a program."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis.stateful import run_state_machine_as_test

from memsim.testing import PROFILES, CompactionMachine

QUICK = replace(PROFILES["commit"], examples=10, steps=15)
ROOT = Path(__file__).resolve().parents[2]
BENT = Path(__file__).parent / "bent.py"


def tried(ref: str, budget: int = 240) -> str:
    """The program that Hypothesis prints for what does not hold; empty where all does."""
    machine = CompactionMachine.for_strategy(ref, profile=QUICK, budget=budget)
    try:
        run_state_machine_as_test(machine, settings=machine.TestCase.settings)
    except AssertionError as error:
        told = "\n".join(error.__notes__)
        lines = [line for line in told.splitlines() if line.startswith("state")]
        return "\n".join(["from memsim.testing import CompactionMachine", *lines])
    return ""


@pytest.mark.parametrize(
    "ref",
    ["sliding_window", "sliding_window:scope=principal", "bm25:scope=principal", "layered"],
)
def test_our_memories_go_through_it(ref: str) -> None:
    """Whatever happens to them, in whatever order, and in two worlds at once."""
    assert "" == tried(ref)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("Leaking", "two worlds apart"),
        ("Torn", "without"),
        ("Overrunning", "the budget is 90"),
        ("Amnesiac", "saved and loaded"),
    ],
)
def test_what_is_bent_is_found_and_its_program_fails_by_itself(
    kind: str, said: str, tmp_path: Path
) -> None:
    """Put into a file with the import before it, what was printed breaks again."""
    program = tmp_path / "program.py"
    program.write_text(tried(f"{BENT}@{kind}", 90), encoding="utf-8")

    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (1, True) == (done.returncode, said in done.stderr), done.stderr


def test_a_machine_is_of_a_strategy() -> None:
    """On its own it has nothing to try."""
    with pytest.raises(TypeError, match="for_strategy"):
        CompactionMachine()
