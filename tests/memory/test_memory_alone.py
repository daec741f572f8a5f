"""A memory used alone, as the README shows it: what is printed there is what is printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLE = next(
    b for b in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "open_memory" in b
)

PRECISE = """\
from datetime import UTC, datetime
from functools import partial
from memsim.memory import open_memory
from memsim.message import said


def now():
    return datetime(2026, 1, 5, 9, tzinfo=UTC)


with open_memory("ana.memory", now=now) as memory:
    say = partial(said, principal="ana", session="ana-1")
    memory.observe(say("user", "My order is A-17.", id="m1", time=now()))
    memory.observe(say("assistant", "Noted.", id="m2", time=now()))
    memory.end_turn()
    memory.remember("ana", "style", "Ana likes four spaces.")
    print(memory.search("Where is my order?", principal="ana")[0].entry.text)
    print(memory.context("And my order?", principal="ana", session="ana-1", budget=2000).text())
    memory.forget("ana", ["m1"])
"""
FOUND = "ana: My order is A-17.\n"
COMPOSED = "My order is A-17.\nNoted.\n"


@pytest.mark.parametrize(
    ("program", "printed"), [(EXAMPLE, FOUND), (PRECISE, FOUND + COMPOSED)], ids=["short", "long"]
)
def test_the_example_of_the_readme_runs(tmp_path: Path, program: str, printed: str) -> None:
    """Open, say, ask, forget, close, in few calls or in precise ones, in an empty folder."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, printed, "") == (done.returncode, done.stdout, done.stderr)
    files = [path.read_bytes() for path in (tmp_path / "ana.memory").iterdir()]
    assert [data for data in files if b"A-17" in data] == []
