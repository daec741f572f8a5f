"""Progress: case, rate and time left, on a clock of the test's."""

from __future__ import annotations

import math
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

import memsim
from memsim.cli import progress
from memsim.cli.program import program
from memsim.cli.progress import Progress, ProgressStep, live_line, show_progress
from memsim.cli.terminal import Terminal
from memsim.report.layout import ASCII, UNICODE, cells_wide
from memsim.testing import check_halves
from memsim.testing.checks import CheckPlan, CheckReport

CASE = "scenarios/support_desk.yaml::support_desk[rolling_summary:every=20@4k]"


@dataclass
class Seconds:
    """A clock that goes only when it is told to."""

    at: float = 100.0

    def __call__(self) -> float:
        """Seconds."""
        return self.at


def step(name: str = CASE, *, failed: bool = False) -> ProgressStep:
    """A case that was finished."""
    return ProgressStep(id=name, result="recall .80", seconds=1.0, failed=failed)


def played(clock: Seconds, cases: int, *, total: int, each: float) -> Progress:
    """The progress after some cases of equal length."""
    progress = Progress(total=total, now=clock)
    for _ in range(cases):
        clock.at += each
        progress.end(step())
    return progress


@pytest.mark.parametrize(
    ("cases", "total", "each", "pace"),
    [
        (0, 20, 0.0, ""),
        (2, 20, 5.0, ""),
        (3, 20, 0.5, ""),
        (3, 20, 5.0, "12 cases/min, about 85 s left"),
        (10, 20, 0.5, "2.0 cases/s, about 5 s left"),
        (5, 20, 60.0, "1.0 cases/min, about 15 min left"),
        (5, 20, 3600.0, "1.0 cases/h, about 15 h 00 min left"),
        (100, 20_000, 0.05, "20 cases/s"),
        (500, 20_000, 0.05, "20 cases/s, about 16 min left"),
        (5, 5, 5.0, "12 cases/min"),
    ],
)
def test_a_time_left_is_told_only_where_it_is_known(
    cases: int, total: int, each: float, pace: str
) -> None:
    """Not after two cases, two seconds or two hundredths, and not at the end."""
    assert pace == played(Seconds(), cases, total=total, each=each).pace


def test_cases_of_an_earlier_run_are_no_pace() -> None:
    """They were finished before the clock began."""
    clock = Seconds()
    progress = Progress(total=20, done=10, now=clock)
    clock.at += 30

    assert progress.pace == ""
    for _ in range(3):
        progress.end(step())
    assert progress.pace == "6.0 cases/min, about 70 s left"


def test_a_clock_that_stands_still_is_no_error() -> None:
    """Nor is a plan without a case."""
    progress = played(Seconds(), 5, total=5, each=0.0)

    assert progress.pace == ""
    assert live_line(Progress(total=0, now=Seconds()), 80, unicode=True)


@pytest.mark.parametrize("width", [10, 24, 40, 60, 80, 200])
@pytest.mark.parametrize("name", [CASE, "日本語::会話[要約@4k]" * 4, "e\u0301\x1b[2J\u202e"])
def test_a_live_line_is_narrower_than_the_terminal(width: int, name: str) -> None:
    """Whatever the names are made of; no control character gets through."""
    progress = played(Seconds(), 7, total=20, each=3.0)
    progress.begin(name)
    progress.end(step("other", failed=True))
    progress.begin("another")

    for unicode in (True, False):
        line = live_line(progress, width, unicode=unicode)
        assert cells_wide(line) < width
        assert line.isprintable()
        assert unicode or line.isascii()


def test_a_live_line_says_case_rate_time_left_and_failures() -> None:
    """The latest case that is played, and how many more there are."""
    progress = played(Seconds(), 5, total=20, each=5.0)
    progress.begin("one")
    progress.begin(CASE)
    progress.failed = 2

    wide = live_line(progress, 160, unicode=True)
    narrow = live_line(progress, 40, unicode=False)

    bar = f"{'━' * 5}{'─' * 15}"
    pace = "12 cases/min, about 75 s left"
    assert wide == f"  {bar}  5 of 20  25 s  {pace}  2 failed  {CASE} +1"
    assert narrow == "  5 of 20  2 failed  scenarios/suppor.."


@pytest.mark.parametrize("live", [True, False])
def test_plain_lines_and_none(live: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each case with its pace; a long case is told of each ten seconds; or nothing."""
    clock = Seconds()
    terminal = Terminal(width=80, marks=UNICODE, color=False, live=live)
    with show_progress("plain", terminal, done=0, total=12, now=clock) as watcher:
        for n in range(3):
            watcher.begin(f"case {n}")
            clock.at += 2
            watcher.end(step(f"case {n}", failed=n == 1))
        watcher.begin("long")
        for part in (0.1, 0.2, 0.3):
            clock.at += 6
            watcher.tick(part)
    with show_progress("none", terminal, done=0, total=2, now=clock) as watcher:
        watcher.begin("case")
        watcher.end(step())
        watcher.tick(0.5)

    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "[ 1/12]   case 0  recall .80  1.0 s",
        "[ 2/12] ✗ case 1  recall .80  1.0 s",
        "[ 3/12]   case 2  recall .80  1.0 s  (30 cases/min, about 18 s left)",
        "[ 3/12]   long  20% done  (10 cases/min, about 50 s left)",
    ]


def test_signs_are_those_that_the_terminal_can_show(capsys: pytest.CaptureFixture[str]) -> None:
    """ASCII where it knows no more."""
    terminal = Terminal(width=80, marks=ASCII, color=False, live=False)
    with show_progress("auto", terminal, done=0, total=2) as watcher:
        watcher.end(step(failed=True))

    assert capsys.readouterr().err.startswith("[1/2] x ")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one small scenario, as the present one."""
    small = Path(memsim.__file__).parent / "scaffold_files" / "first.yaml"
    shutil.copy(small, tmp_path / "first.yaml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.processes)])
def test_results_are_the_same_with_and_without_progress(jobs: str, project: Path) -> None:
    """On standard error alone, and in no record."""
    words = ["run", "first.yaml", "-s", "sliding_window", "--format", "jsonl", "-j", jobs]
    found = [
        CliRunner().invoke(program, [*words, "--progress", how, "-o", how])
        for how in ("plain", "none")
    ]

    assert found[1].stderr == ""
    assert len(found[0].stderr.splitlines()) == len(found[0].stdout.splitlines()) > 1
    same = [(project / how / "probes.jsonl").read_bytes() for how in ("plain", "none")]
    assert same[0] == same[1]


@pytest.mark.processes
@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colour_shows_it_as_well(
    variables: dict[str, str], project: Path
) -> None:
    """One line that is drawn again without colours; lines where it cannot be drawn again."""
    environ = {"TERM": "xterm", "COLUMNS": "60", "LANG": "C.UTF-8", "PATH": os.environ["PATH"]}
    environ |= {"PYTHONPATH": str(Path(memsim.__file__).parents[1]), **variables}
    primary, secondary = pty.openpty()
    command = [sys.executable, "-m", "memsim", "run", "first.yaml", "-s", "bm25", "--no-report"]
    done = subprocess.run(
        command, cwd=project, env=environ, stdout=subprocess.PIPE, stderr=secondary, check=False
    )
    os.close(secondary)
    seen = os.read(primary, 1 << 16).decode()
    os.close(primary)

    assert done.returncode == 0
    assert b"\x1b" not in done.stdout
    if "NO_COLOR" in variables:
        assert " of 4" in seen
        assert "\x1b[3" not in seen
    else:
        assert "\x1b" not in seen
        assert seen.startswith("[1/4]   ")


def test_python_shows_progress_on_request(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And says nothing by itself."""
    memsim.run(project / "first.yaml", "sliding_window", controls=False)
    assert capsys.readouterr().err == ""
    memsim.run(project / "first.yaml", "sliding_window", controls=False, progress=True)
    assert capsys.readouterr().err.startswith("[1/1]   ")


def quick(plan: CheckPlan, tick: Callable[[float], None], *, beside: bool) -> CheckReport:
    """A check that takes no time and finds nothing."""
    assert not beside
    for share in (0.5, 1.0):
        tick(share)
    return CheckReport(subject=plan.subject)


def test_a_check_shows_its_progress(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line for each subject on standard error, and nothing on request."""
    monkeypatch.setattr(check_halves, "perform_halves", quick)
    monkeypatch.setattr(progress, "QUIET_SECONDS", math.inf)  # however slow the machine is
    words = ["check", "sliding_window", "no_memory", "-j", "1", "-o", str(project)]

    shown = CliRunner().invoke(program, words)
    silent = CliRunner().invoke(program, [*words, "--progress", "none"])

    first, second = shown.stderr.splitlines()
    assert first.startswith("[1/2]   sliding_window  ")
    assert second.startswith("[2/2]   no_memory  ")
    assert shown.stdout == silent.stdout
    assert silent.stderr == ""


def test_pairs_of_worlds_show_their_progress(project: Path) -> None:
    """As other checks do, with what came of each subject."""
    words = ["check", "no_memory", "--noninterference", "-o", str(project)]

    shown = CliRunner().invoke(program, words)
    silent = CliRunner().invoke(program, [*words, "--progress", "none"])

    assert shown.stderr.startswith("[1/1] ✗ no_memory  they differ  "), shown.output
    assert silent.stderr == ""
    assert shown.stdout == silent.stdout


@pytest.mark.processes
def test_a_check_in_two_processes_shows_its_progress(project: Path) -> None:
    """Each subject when it is done, and how long it took by itself."""
    words = ["check", "no_memory", "full_context", "-k", "I33", "-j", "2", "-o", str(project)]

    shown = CliRunner().invoke(program, words)

    assert ["[1/2]", "[2/2]"] == [line[:5] for line in shown.stderr.splitlines()], shown.output
