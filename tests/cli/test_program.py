"""The command as such: help, errors, exit codes, pipes."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from memsim.cli import terminal
from memsim.cli.program import COMMANDS
from memsim.errors import ExitCode, NoCasesError, RefError, ScenarioError, Unmeasurable
from memsim.scaffold import scaffold

BAD_COLOR = "memsim run: invalid value for '--color': 'x' is not one of 'auto', 'always', 'never'\n"

Call = Callable[..., Result]
Spawn = Callable[..., "subprocess.CompletedProcess[str]"]


def test_no_arguments_print_help(call: Call) -> None:
    """Whoever types the bare name wants to know what there is."""
    result = call()

    assert result.exit_code == ExitCode.PASSED
    assert "Usage: memsim" in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_each_help_ends_with_two_examples(call: Call, name: str) -> None:
    """They start with the command itself."""
    result = call(name, "--help")

    lines = [line.strip() for line in result.stdout.rstrip().splitlines()]
    assert result.exit_code == ExitCode.PASSED
    assert lines[-3] == "Examples:"
    assert all(line.startswith(f"memsim {name}") for line in lines[-2:])


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_of_itself(name: str) -> None:
    """The table that spares the imports must not drift from the commands."""
    module, _ = COMMANDS[name]
    command = importlib.import_module(f"memsim.cli.{module}").command

    assert command.name == name
    assert command.help


def test_the_version_is_printed(call: Call) -> None:
    """A name and a number."""
    result = call("--version")

    assert result.exit_code == ExitCode.PASSED
    assert result.stdout.split()[0] == "memsim"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["rnu"], "memsim: no command is called 'rnu' (did you mean 'run'?)\n"),
        (["--vresion"], "memsim: no option is called '--vresion' (did you mean '--version'?)\n"),
        (
            ["run", "--bugdet", "4k"],
            "memsim run: no option is called '--bugdet' (did you mean '--budget'?)\n",
        ),
        (["run", "--color", "x"], BAD_COLOR),
        (["run", "--seed"], "memsim: option '--seed' requires an argument\n"),
        (["explain"], "memsim explain: missing argument '[RUN] CASE'\n"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_four(call: Call, arguments: list[str], line: str) -> None:
    """Click's own two-paragraph errors are told as all others are."""
    result = call(*arguments)

    assert (result.exit_code, result.stdout, result.stderr) == (ExitCode.USAGE, "", line)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (
            ScenarioError("unknown key 'aks'", path="a.yaml", line=3, hint="ask"),
            4,
            "a.yaml:3: unknown key 'aks' (did you mean 'ask'?)\n",
        ),
        (RefError("no such strategy"), 4, "memsim: no such strategy\n"),
        (NoCasesError("no case is left"), 5, "memsim: no case is left\n"),
        (Unmeasurable("the model\nfailed"), 7, "memsim: the model failed\n"),
    ],
)
def test_errors_are_one_line_with_the_code_of_their_class(
    capsys: pytest.CaptureFixture[str], error: Exception, code: int, line: str
) -> None:
    """A place stands first where there is one, else the program's name."""

    def failing() -> object:
        raise error

    found = terminal.guarded(failing)

    assert (found, capsys.readouterr().err) == (code, line)


def test_a_fault_of_our_own_is_exit_three_with_its_trace(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The one case in which a user sees a traceback, and a sentence with it."""

    def failing() -> object:
        raise ZeroDivisionError

    code = terminal.guarded(failing)

    said = capsys.readouterr().err
    assert code == ExitCode.INTERNAL
    assert said.startswith("Traceback")
    assert said.splitlines()[-1].startswith("memsim: this is a bug of memsim")


def test_a_command_that_hits_such_a_fault_ends_with_three(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so it does from the command line."""

    def failing() -> object:
        raise ZeroDivisionError

    monkeypatch.setattr("memsim.cli.report.find_project", failing)

    result = call("report")

    assert result.exit_code == 3
    assert result.stderr.splitlines()[-1].startswith("memsim: this is a bug of memsim")


def test_the_scripts_of_the_package_are_the_same_command(spawn: Spawn) -> None:
    """`python -m memsim` calls itself memsim."""
    done = spawn("rnu")

    assert done.returncode == ExitCode.USAGE
    assert done.stderr == "memsim: no command is called 'rnu' (did you mean 'run'?)\n"


def test_a_closed_pipe_is_quiet(project: Path) -> None:
    """`| head` has seen enough; nobody wants to read of it."""
    source = "import subprocess, sys; from memsim.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", source, "list", "metrics"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()

    assert (process.returncode, said) == (0, b"")


def test_a_full_disk_is_one_line() -> None:
    """What cannot be printed is no fault of ours, and no traceback."""
    source = "from memsim.cli import main; main()"
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-c", source, "list", "metrics"],
            stdout=full,
            stderr=subprocess.PIPE,
            env={"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
            text=True,
            check=False,
        )

    assert done.returncode == ExitCode.USAGE
    assert done.stderr == "memsim: standard output cannot be written: No space left on device\n"


def test_closed_streams_are_survived(tmp_path: Path) -> None:
    """A service may start us without any."""
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" -m memsim list metrics >&- 2>&-', sys.executable],
        env={"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        check=False,
    )

    assert done.returncode == ExitCode.PASSED


@pytest.mark.parametrize(
    "environ",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["ascii", "C", "POSIX without UTF-8"],
)
def test_a_terminal_without_unicode_gets_ascii(
    project: Path, spawn: Spawn, environ: dict[str, str]
) -> None:
    """Signs have stand-ins, and no name ends the run."""
    done = spawn("run", "--progress", "none", **environ)

    assert done.returncode == ExitCode.PASSED
    assert done.stdout.isascii()
    assert "memsim" in done.stdout
    assert "5 strategies" in done.stdout


@pytest.mark.parametrize("width", ["1", "20", "0", "-3", "wide", "100000"])
def test_any_width_is_survived(
    project: Path, call: Call, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    """A narrow terminal shows less, a nonsensical one is no error."""
    monkeypatch.setenv("COLUMNS", width)

    result = call("run")

    assert result.exit_code == ExitCode.PASSED
    assert "mine" in result.stdout


def test_a_run_in_this_process_gives_large_blocks_pages_of_their_own(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As each process of a pool does."""
    apart: list[bool] = []
    monkeypatch.setattr("memsim.heap.keep_large_blocks_apart", lambda: apart.append(True))
    scaffold(tmp_path)
    monkeypatch.chdir(tmp_path)

    result = call("run", "-s", "no_memory", "-j", "1", "-q")

    assert (result.exit_code, [True]) == (ExitCode.PASSED, apart)
