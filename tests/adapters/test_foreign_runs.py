"""Runs of foreign memories: notes in every report, explain, the gate, and several workers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from memsim.cli.program import program
from memsim.errors import ExitCode
from tests.doubles.broken_servers import BROKEN
from tests.doubles.contract_server import HonestServer, serving_double

SHELF = """\
import memsim
from memsim.adapters.black_box import BlackBox
from memsim.adapters.credit import ForeignText


class Shelf(BlackBox, memsim.Strategy):
    '''Tells what it was told, and adds a text of its own.'''

    def __init__(self, env):
        super().__init__(env, window=1)
        self.texts = []

    async def add(self, message):
        self.texts.append(message.text)

    async def find(self, query, user, room):
        return [ForeignText(text=t) for t in (*self.texts, "Whales sing at night.")]
"""
SCRIPT = """\
memsim: 1
name: code
turns:
  - user: The code is A-17.
    facts: {code: A-17}
  - filler: 6
probes:
  code: {after: end, ask: What is the code?, expect: A-17}
  again: {after: end, ask: Which code is it?, expect: A-17}
"""
SETTINGS = """\
[tool.memsim]
reports = "reports"
tokenizer = "chars/4"
[tool.memsim.gate]
min_probes = 2
"""
WALL = "lives in wall time: age and expiry are not measured"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a scenario and a strategy over a foreign memory."""
    (tmp_path / "strategies").mkdir()
    (tmp_path / "strategies" / "shelf.py").write_text(SHELF, "utf-8")
    (tmp_path / "code.yaml").write_text(SCRIPT, "utf-8")
    (tmp_path / "pyproject.toml").write_text(
        "[tool.memsim]\nreports = 'reports'\n[tool.memsim.gate]\nmin_probes = 2\n", "utf-8"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def memsim(*arguments: str) -> Result:
    """The command line."""
    return CliRunner().invoke(program, list(arguments))


def cases(folder: Path) -> list[dict[str, Any]]:
    """The results of a run."""
    lines = (folder / "cases.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_notes_stand_in_every_report(project: Path) -> None:
    """What could not be credited, and that the memory lives in wall time."""
    run = memsim(
        "run", "code.yaml", "-s", "strategies/shelf.py", "-k", "shelf", "-o", "r", "--html"
    )
    (case,) = cases(project / "r")
    texts, lost = case["counts"]["recalled_texts"], case["counts"]["uncredited"]
    share = f"{lost / texts:.0%} of {texts} recalled texts could not be credited to a message"

    assert run.exit_code == ExitCode.PASSED, run.output
    assert (lost, case["notes"]) == (2, [WALL])
    assert f"strategies/shelf.py: {WALL}; {share}" in run.output
    page = (project / "r" / "report.md").read_text("utf-8")
    assert WALL in page
    assert share in page


def test_a_server_is_explained_and_gated(project: Path) -> None:
    """The probe's way is told, and a second run is the same as a saved baseline."""
    with serving_double(HonestServer()) as url:
        flags = ["code.yaml", "-s", f"http:url={url}", "-k", "http", "--repeat", "3"]
        first = memsim("run", *flags)
        saved = memsim("baseline", "save", "--name", "main")
        again = memsim("run", *flags, "--baseline", "main")
    told = memsim("explain", f"code.yaml::code[http:url={url}@4k]::code")

    assert {first.exit_code, again.exit_code, told.exit_code} == {ExitCode.PASSED}, first.output
    assert "PASS" in told.output
    assert saved.exit_code == ExitCode.PASSED, saved.output


def test_what_a_server_leaves_behind_is_a_leak(project: Path) -> None:
    """One that lists its store is searched for what was to be forgotten."""
    found = {}
    for kind in (HonestServer, BROKEN["deletion.residue"]):
        with serving_double(kind()) as url:
            flags = ["-s", f"http:url={url}", "-k", "L7", "--leak-attempts", "0.05"]
            found[kind] = memsim("run", "leakage", *flags).exit_code

    assert list(found.values()) == [ExitCode.PASSED, ExitCode.FAILED]


def test_runs_are_the_same_with_two_workers(project: Path) -> None:
    """Cases side by side on one server do not meet."""
    with serving_double(HonestServer()) as url:
        flags = ["code.yaml", "-s", f"http:url={url}", "-s", f"http:url={url},read=search"]
        for jobs in ("1", "2"):
            run = memsim("run", *flags, "-k", "http", "--repeat", "4", "-j", jobs, "-o", jobs)
            assert run.exit_code == ExitCode.PASSED, run.output

    memsim("report", "1", "--html")
    page = (project / "1" / "report.html").read_text("utf-8")
    assert "0% of 48 recalled texts could not be credited to a message" in page
    one, two = ((project / jobs / "probes.jsonl").read_bytes() for jobs in ("1", "2"))
    assert one == two
