"""A store whose process is killed holds what was promised, as the benchmark counts it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memsim.memory.places import StoreKind, open_store
from tests.memory.stores.made import ALL

ROOT = Path(__file__).resolve().parents[3]

WRITER = """
import sys
from pathlib import Path
from memsim.memory.entry import Entry
from memsim.memory.places import open_store
kind, folder, me = sys.argv[1:]
store = open_store(kind, lambda: Path(folder), {})
for n in range(40):
    store.write([Entry(key=f"{n}", text=f"falcon {me}", owner=me)])
    store.write([Entry(key="both", text=f"lunch {me}", owner="all")])
store.close()
"""


def test_killed_writers_leave_a_whole_store() -> None:
    """Every kind that keeps files, 12 kills each, as the benchmark does it a thousand times."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(ROOT / "benchmarks" / "store_kills.py"), "--quick"],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stdout + done.stderr
    assert 5 == len(done.stdout.splitlines())


@pytest.mark.parametrize("kind", ["markdown", "sqlite"])
def test_two_processes_lose_nothing(tmp_path: Path, kind: StoreKind) -> None:
    """Both write at once, into a store that neither has made before."""
    command = [sys.executable, "-c", WRITER, kind, str(tmp_path)]
    writers = [
        subprocess.Popen([*command, me], env={"PYTHONPATH": str(ROOT)}) for me in ("ann", "bob")
    ]

    assert [0, 0] == [writer.wait(120) for writer in writers]

    store = open_store(kind, lambda: tmp_path, {})
    assert 81 == store.count(ALL) == len(store.find(ALL))
    assert 80 == len(store.lexical("falcon", ALL, 99))
    assert 1 == len(store.lexical("lunch", ALL, 99))
    store.close()
