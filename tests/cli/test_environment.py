"""Variables, interrupts, and the files that a CI service offers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result

from memsim.cli.run_options import GROUPS, run_options
from memsim.cli.saved_runs import COMMAND_VARIABLES

Call = Callable[..., Result]

ROOT = Path(__file__).resolve().parents[2]

SLOW = '''
import time

from memsim import Context, Query, Strategy


class Slow(Strategy):
    """Takes its time."""

    def __init__(self, env, *, seconds: float = 0.0) -> None:
        super().__init__(env)
        self.seconds = seconds

    def context(self, query: Query) -> Context:
        time.sleep(self.seconds)
        return self.env.build.context()
'''


def test_a_misspelt_variable_is_exit_four(
    project: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A setting that silently does nothing is worse than none."""
    monkeypatch.setenv("MEMSIM_BUGDET", "2k")

    result = call("run")

    assert result.exit_code == 4
    assert result.stderr == (
        "memsim: unknown variable MEMSIM_BUGDET (did you mean 'MEMSIM_BUDGET'?)\n"
    )


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("MEMSIM_BUDGET", "1k", "budgets     1k\n"),
        ("MEMSIM_STRATEGY", "mine:messages=3 no_memory", "mine:messages=3, no_memory, full"),
        ("MEMSIM_K", "oracle", "strategies  oracle\n"),
        ("MEMSIM_REPEAT", "3", "15 cases"),
    ],
)
def test_a_variable_stands_in_for_a_flag(
    project: Path, call: Call, monkeypatch: pytest.MonkeyPatch, name: str, value: str, shown: str
) -> None:
    """The same name, in capitals."""
    monkeypatch.setenv(name, value)

    assert shown in call("run", "--dry-run").stdout


def test_a_flag_wins_over_its_variable(
    project: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is typed was meant."""
    monkeypatch.setenv("MEMSIM_BUDGET", "1k")

    assert "budgets     2k\n" in call("run", "--dry-run", "--budget", "2k").stdout


def test_every_variable_that_a_flag_reads_is_known() -> None:
    """Otherwise setting it would be an error."""

    @click.command()
    @run_options
    def carrier() -> None:
        """Only to read its options."""

    read = {str(p.envvar).removeprefix("MEMSIM_").lower() for p in carrier.params if p.envvar}

    of_twist = {"max_flips"}
    assert read | of_twist == set(COMMAND_VARIABLES)
    assert sum(len(group) for _, group in GROUPS) == len(carrier.params)


def test_a_step_summary_gets_the_report(
    project: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Appended, as the service asks for it."""
    path = project / "summary.md"
    path.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))

    call("run", "-k", "mine")

    text = path.read_text(encoding="utf-8")
    assert text.startswith("before\n# memsim run\n")
    assert "| a | mine |" in text


# Tests that run in the background ignore Ctrl-C, and so would whatever they start.
HEARING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from memsim.cli import main
main()
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_the_run_and_says_how_to_go_on(
    project: Path, sent: signal.Signals
) -> None:
    """Exit 2, no traceback; the same command then ends what was begun."""
    (project / "strategies/slow.py").write_text(SLOW, encoding="utf-8")
    arguments = ["run", "-s", "mine", "-s", "slow:seconds=30", "-k", "mine or slow", "-j", "1"]
    environ = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    with subprocess.Popen(
        [sys.executable, "-c", HEARING, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
        text=True,
    ) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        process.send_signal(sent)
        rest = process.stderr.read()
        process.wait(timeout=30)

    (folder,) = (project / "reports/runs").iterdir()
    assert first.startswith("[1/2]")
    assert process.returncode == 2
    assert rest.splitlines() == [
        f"interrupted: 1 of 2 cases are kept in reports/runs/{folder.name}",
        "to go on: memsim run -s mine -s slow:seconds=30 -k 'mine or slow' -j 1",
    ]
    assert json.loads((folder / "run.json").read_text(encoding="utf-8"))["finished"] is False


LOUD = """
from memsim import Context, Strategy


class Loud(Strategy):
    def context(self, query):
        print("remembering very hard")
        return Context()
"""


def test_what_a_strategy_prints_is_not_among_the_results(project: Path) -> None:
    """Standard output is the document that was asked for, and nothing else."""
    (project / "strategies/loud.py").write_text(LOUD, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "memsim", "run", "-s", "loud", "--format", "json", "-j", "1"],
        capture_output=True,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
        text=True,
        check=False,
    )

    assert json.loads(done.stdout)
    assert "remembering very hard" in done.stderr


def test_settings_that_are_not_utf_8_are_an_error(project: Path, call: Call) -> None:
    """A project whose settings cannot be read is not run with somebody else's."""
    settings = project / "pyproject.toml"
    settings.write_bytes(settings.read_bytes() + b"# caf\xe9\n")
    line = settings.read_bytes().count(b"\n")

    done = call("run")

    assert done.exit_code == 4
    assert done.stderr == f"pyproject.toml:{line}: not UTF-8\n"
