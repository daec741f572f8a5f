"""A memory used alone, as the README shows it: what is printed there is what is printed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

EXAMPLE = """\
from datetime import UTC, datetime
from memsim.memory import open_memory
from memsim.message import said

def now():
    return datetime(2026, 1, 5, 9, tzinfo=UTC)  # in a product: datetime.now(UTC)

with open_memory("ana.memory", now=now) as memory:
    memory.observe(said("user", "My order is A-17.", id="m1", principal="ana", time=now()))
    memory.observe(said("assistant", "Noted.", id="m2", principal="ana", time=now()))
    memory.end_turn()  # from here on it survives a kill
    memory.remember("ana", "style", "Ana likes four spaces.")
    print(memory.search("Where is my order?", principal="ana")[0].entry.text)
    context = memory.context("Where is my order?", principal="ana", session="s1", budget=2000)
    print(context.text())
    memory.forget("ana", ["m1"])
"""

PRINTED = """\
ana: My order is A-17.
My order is A-17.
Noted.
"""


def test_the_example_of_the_readme_runs(tmp_path: Path) -> None:
    """Open, say, ask, remember, forget, close: in a process of its own, in an empty folder."""
    done = subprocess.run(
        [sys.executable, "-c", EXAMPLE],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, PRINTED, "") == (done.returncode, done.stdout, done.stderr)
    files = [path.read_bytes() for path in (tmp_path / "ana.memory").iterdir()]
    assert [data for data in files if b"A-17" in data] == []
