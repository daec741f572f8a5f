"""A small run that is replayed."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from memsim.cli.program import program
from memsim.runs import Run
from memsim.runs.run_reader import open_folder

SCENARIO = """memsim: 1
name: parcel
turns:
  - user: My order is A-17.
    facts: {order: A-17}
  - assistant: Noted. The key is ghp_%s.
  - filler: 6
  - user: The parcel goes to Oslo.
    facts: {city: Oslo}
  - assistant: It will go there.
probes:
  order: {ask: What is my order number?, expect: A-17}
  city: {ask: Where does the parcel go?, expect: Oslo}
"""


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two windows of which one forgets, one that searches, and the controls."""
    base = tmp_path_factory.mktemp("viewed")
    (base / "parcel.yaml").write_text(SCENARIO % ("a1" * 18), encoding="utf-8")
    refs = "-s sliding_window:messages=4 -s sliding_window:messages=40 -s bm25:k=3"
    more = f"--budget 1k --progress none --no-report -q -o {base / 'played'}"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(base)
        done = CliRunner().invoke(program, [*f"run parcel.yaml {refs} {more}".split()])
    assert done.exit_code in {0, 1}, done.output
    return open_folder(base / "played")


def key(run: Run, strategy: str) -> str:
    """The key of a strategy's case."""
    found: list[str] = [case.key for case in run.cases if case.strategy == strategy]
    assert len(found) == 1
    return Path(found[0]).as_posix()
