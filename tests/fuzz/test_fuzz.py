"""A slice of the fuzzing, the same each time: whatever is loaded, loads or gets its one line."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from benchmarks import fuzz
from benchmarks.fuzz_states import ChangedError
from memsim.errors import BaselineError, MemsimError, SchemaError
from memsim.gate.baseline_file import encode, read_baseline
from tests.faults.areas import EMPTY

INPUTS: Final = {
    "scenario": 300,
    "run": 60,
    "baseline": 120,
    "locomo": 120,
    "memoryagentbench": 60,
    "page": 12,
    "plots": 12,
    "trace values": 60,
}
STATES, OTHERS = 80, 24
"""Inputs of states and of other kinds; `benchmarks/fuzz.py` tries a hundred thousand of each."""


SLOW: Final = {"leakage report", "page", "plots", "chroma store", "run", "tool arguments"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.fuzz] if name in SLOW else []) for name in fuzz.TARGETS],
)
def test_whatever_is_loaded_loads_or_is_refused_in_one_line(name: str) -> None:
    """Nothing but memsim's own errors comes out, and a refused state changes nothing."""
    found, wrong = fuzz.fuzz(
        [name], inputs=INPUTS.get(name, STATES if name.startswith("state of ") else OTHERS)
    )

    assert wrong == []
    # Both must be there, or the mutations are too mild or too wild to test anything.
    assert found[name].refused >= 5
    assert found[name].loaded >= 1


def test_what_is_not_refused_as_it_should_be_is_told() -> None:
    """Another error, a message of two lines, and a state that changed."""

    def raising(error: Exception) -> fuzz.Target:
        def target(_chance: object) -> None:
            raise error

        return target

    came = Counter(
        fuzz.one(raising(error), "7")[0]
        for error in (
            ValueError("no"),
            MemsimError("two\nlines"),
            ChangedError("no"),
            MemsimError("one line"),
        )
    )

    assert {"wrong": 3, "refused": 1} == came


def test_a_version_that_is_none_is_told_in_one_line() -> None:
    """What stands in its place in a file can be anything, and turn a terminal's text around."""
    for version in ("\u202e", "1\n2", ["\x00"], "9" * 500):
        said = str(SchemaError("a.db", version, 1))
        assert said.isprintable()
        assert len(said) < 200


def test_a_baseline_of_endless_numbers_is_refused(tmp_path: Path) -> None:
    """JSON has no infinity, and yet 1e999 is one to whoever reads it."""
    path = tmp_path / "main.json"
    text = encode(EMPTY, "main")
    for key in ("seed", "repeat"):
        path.write_text(re.sub(rf'"{key}": \d+', f'"{key}": 1e999', text), encoding="utf-8")
        with pytest.raises(BaselineError):
            read_baseline(path)
