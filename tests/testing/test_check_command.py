"""`memsim check`: exit codes, what it prints, and what it keeps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from memsim.cli.program import program
from memsim.testing import PROFILES
from memsim.testing.case_search import draw_cases
from memsim.testing.checks import generated
from memsim.testing.counterexamples import program as source_of
from memsim.testing.invariant_catalogue import PARTS
from memsim.testing.invariants import known

Check = Callable[..., Result]
ROOT = Path(__file__).resolve().parents[2]
BENT = Path(__file__).parent / "bent.py"


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Calls the command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(program, ["check", *arguments])


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What Python does in that folder."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ.get("PATH", "")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_holds_passes_and_tells_how_hard_it_was_tried(check: Check) -> None:
    """The number of cases stands where a sign would say less."""
    done = check("sliding_window", "-k", "order and strategy", "-v", "--progress", "none")

    assert (0, "") == (done.exit_code, done.stderr)
    assert "I4 order" in done.stdout
    assert "1 subject, 50 cases each, profile commit, seed 7: 1 hold, 0 broken" in done.stdout
    assert "at least 20%: a tool pair straddles the cut" in done.stdout


def test_what_is_broken_fails_and_leaves_a_program(check: Check, tmp_path: Path) -> None:
    """The program fails by itself, and what it shows is tried first the next time."""
    ref = f"{BENT}@Backwards"
    first = check(ref, "-k", "order and strategy", "--format", "json")
    [subject] = json.loads(first.stdout)["subjects"]
    [found] = subject["results"]
    again = check(ref, "-k", "order and strategy", "--format", "json")
    program = run(tmp_path, found["counterexample"])

    assert (1, 1) == (first.exit_code, again.exit_code)
    assert ("violated", False) == (found["verdict"], found["replayed"])
    assert json.loads(again.stdout)["subjects"][0]["results"][0]["replayed"]
    assert program.returncode == 1
    assert "Violation" in program.stderr


def test_a_program_about_parts_of_memory_runs_by_itself(tmp_path: Path) -> None:
    """It plays nothing first: parts are no strategy. What holds by now ends without a word."""
    wanted = next(i for i in known() if i.name == "cuts_split_no_character")
    case = draw_cases(generated(wanted.on, PROFILES["commit"]), 7, 1)
    path = tmp_path / "program.py"
    path.write_text(source_of(wanted, PARTS, case, "a cut"), encoding="utf-8")

    done = run(tmp_path, str(path))

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["no_such_strategy"], 4, "no_such_strategy"),
        (["sliding_window:messages=0"], 4, "at least 1"),
        (["sliding_window", "-k", "pins and"], 4, "-k"),
        (["sliding_window", "-k", "nonsense"], 5, "no invariant matches"),
        (["sliding_window", "--seed", "x"], 4, "seed"),
        (["sliding_window", "--profile", "fast"], 4, "profile"),
    ],
)
def test_wrong_input_is_one_line(check: Check, arguments: list[str], code: int, said: str) -> None:
    """And no traceback."""
    done = check(*arguments)

    assert code == done.exit_code
    assert said in done.stderr
    assert 1 == len(done.stderr.splitlines())


def test_processes_change_nothing(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """One or two, the same is printed."""
    few = replace(PROFILES["commit"], examples=20)
    monkeypatch.setattr("memsim.testing.checks.PROFILES", {"commit": few})
    wanted = ("sliding_window", "bm25", "-k", "order and strategy", "--format", "json")
    one, two = check(*wanted, "-j", "1"), check(*wanted, "-j", "2")

    assert one.stdout == two.stdout
    assert not Path(".hypothesis").exists()
    # In one of the twenty cases no section has two messages.
    assert [19, 19] == [s["results"][0]["examples"] for s in json.loads(two.stdout)["subjects"]]
    assert 0 == one.exit_code


def test_help_loads_no_hypothesis(tmp_path: Path) -> None:
    """It is there for those who check, and costs nobody else a moment."""
    source = (
        "import sys\nfrom memsim.cli import main\nsys.argv = ['memsim', 'check', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    assert 'hypothesis' not in sys.modules\n"
    )

    assert 0 == run(tmp_path, "-c", source).returncode
