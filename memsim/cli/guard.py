"""The one place where errors become a line on standard error and an exit code."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from memsim.cli.printable import printable
from memsim.errors import ExitCode, LocatedError, MemsimError

_BUG = "memsim: this is a fault of memsim, not of your input; please report it with the lines above"


def guarded(command: Callable[[], object]) -> int:
    """Run a command and return the exit code of the process.

    Args:
        command: returns its exit code, or None for 0.
    """
    _always_have_streams()
    try:
        with _ended_like_interrupted():
            code = _attempt(command)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough, as `| head` has: that is no failure of ours.
        close_stdout()
        return ExitCode.PASSED
    return code


def close_stdout() -> None:
    """Send what is still to be printed nowhere, so that the interpreter's last flush succeeds."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> None:
    """One line on standard error."""
    with suppress(BrokenPipeError):
        click.echo(printable(" ".join(text.split())), err=True)


@contextmanager
def _ended_like_interrupted() -> Iterator[None]:
    # A CI system that cancels a job sends SIGTERM: what was played is then kept as after Ctrl-C.
    before = None
    with suppress(ValueError):  # only the main thread may
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def _attempt(command: Callable[[], object]) -> int:
    try:
        code = command()
    except click.ClickException as error:
        complain(_usage_line(error))
        return ExitCode.USAGE
    except click.Abort:
        complain("memsim: interrupted")
        return ExitCode.INTERRUPTED
    except MemsimError as error:
        complain(error_line(error))
        return error.exit_code
    except BrokenPipeError:
        raise
    except Exception:  # noqa: BLE001 - the one place that must know every failure
        traceback.print_exc()
        complain(_BUG)
        return ExitCode.INTERNAL
    return code if isinstance(code, int) else ExitCode.PASSED


def error_line(error: MemsimError) -> str:
    """What an error says on its one line: as it is when it names a file, else after `memsim:`."""
    located = isinstance(error, LocatedError) and error.path is not None
    return str(error) if located else f"memsim: {error}"


def _usage_line(error: click.ClickException) -> str:
    ctx = getattr(error, "ctx", None)
    command = ctx.command_path if ctx else "memsim"
    if isinstance(error, click.NoSuchOption):
        near = f" (did you mean {error.possibilities[0]!r}?)" if error.possibilities else ""
        return f"{command}: no option is called {error.option_name!r}{near}"
    text = error.format_message().rstrip(".")
    return f"{command}: {text[:1].lower()}{text[1:]}"


def _always_have_streams() -> None:
    # A service may have closed them; and a name in a scenario may hold what a terminal cannot
    # show: neither may end a run.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for good
            setattr(sys, name, nowhere)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
