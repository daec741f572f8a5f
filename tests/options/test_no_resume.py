"""`--no-resume`: begin anew even if the same run was interrupted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Run = Callable[..., Result]
Runs = Callable[[], tuple[Path, ...]]


def interrupt(runs: Runs) -> None:
    """Make the newest run look as a kill leaves it: unfinished, its last case torn."""
    (folder,) = runs()
    info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    (folder / "run.json").write_text(json.dumps(info | {"finished": False}), encoding="utf-8")
    cases = (folder / "cases.jsonl").read_bytes()
    (folder / "cases.jsonl").write_bytes(cases[: len(cases) * 2 // 3])


def test_an_interrupted_run_is_continued(run: Run, runs: Runs) -> None:
    """The same command goes on in the same folder, and ends with the same bytes."""
    run()
    whole = (runs()[0] / "probes.jsonl").read_bytes()
    interrupt(runs)

    result = run()

    assert result.exit_code == 0
    assert " is continued: 3 of 5 cases are done" in result.stderr
    assert len(runs()) == 1
    assert whole == (runs()[0] / "probes.jsonl").read_bytes()


def test_unless_it_is_to_begin_anew(run: Run, runs: Runs) -> None:
    """Then the old one stays as it is."""
    run()
    interrupt(runs)

    assert run("--no-resume").exit_code == 0
    assert len(runs()) == 2
