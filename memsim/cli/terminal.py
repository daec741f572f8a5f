"""What the place we print to can show: its width, its signs, its colours, its liveliness."""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

import click

from memsim.errors import ExitCode, LocatedError, MemsimError, UsageError
from memsim.report.layout import ASCII, UNICODE, Marks, TextLine, Tone

if TYPE_CHECKING:
    from memsim.memory.codec import JSON


# Texts of users' own as a terminal may be given them: it obeys nothing that stands in them.


JOINER = "\u200d"
"""Holds emoji together, and does nothing else to a terminal."""


def printable(text: object) -> str:
    """A text on one line, with nothing in it that a terminal obeys or that reorders its letters."""
    return "".join(c if _harmless(c) else _escaped(c) for c in str(text))


def calm(text: str) -> str:
    """The same for a text of several lines, which stay lines."""
    return "\n".join(line if _plain(line) else printable(line) for line in text.split("\n"))


def safe_json(value: JSON) -> str:
    """Canonical JSON, in which what a terminal would obey is written as escapes."""
    from memsim.memory.codec import canonical

    return "".join(c if _harmless(c) else json.dumps(c)[1:-1] for c in canonical(value))


def _plain(line: str) -> bool:
    return line.isascii() and line.isprintable()


def _harmless(character: str) -> bool:
    if " " <= character <= "~" or character == JOINER:
        return True
    kind = unicodedata.category(character)
    return kind[0] != "C" and kind not in {"Zl", "Zp"}


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


# The one place where errors become a line on standard error and an exit code.


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


ColorChoice = Literal["auto", "always", "never"]

UNBOUNDED = 1000
"""Width of a pipe or a file: every column is shown."""

_STYLES: dict[Tone, dict[str, object]] = {
    "dim": {"dim": True},
    "bad": {"fg": "red"},
    "good": {"fg": "green"},
    "head": {"bold": True},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """Standard output, as it is.

    Attributes:
        width: cells in a line.
        marks: signs that it can show.
        color: whether lines are coloured.
        live: whether standard error is a terminal on which a line may be redrawn.
    """

    width: int
    marks: Marks
    color: bool
    live: bool

    @classmethod
    def of_process(cls, color: ColorChoice = "auto") -> Terminal:
        """The process's own standard output and error."""
        environ = os.environ
        return cls(
            width=_width(sys.stdout, environ),
            marks=UNICODE if speaks_unicode(sys.stdout, environ) else ASCII,
            color=wants_color(color, sys.stdout, environ),
            live=sys.stderr.isatty() and not environ.get("CI") and environ.get("TERM") != "dumb",
        )

    def say(self, text: str = "") -> None:
        """Print a text and a newline; quiet when nobody reads any more.

        Whatever in it a terminal would obey is shown as an escape.

        Raises:
            UsageError: it cannot be printed, as where a disk is full.
        """
        self._print(calm(text))

    def _print(self, text: str) -> None:
        try:
            click.echo(text, color=self.color)
        except BrokenPipeError:
            close_stdout()
        except OSError as error:
            close_stdout()
            raise UsageError(f"standard output cannot be written: {error.strerror}") from error

    def say_lines(self, lines: tuple[TextLine, ...] | list[TextLine]) -> None:
        """Print lines in their tones."""
        self._print("\n".join(self.styled(line) for line in lines))

    def styled(self, line: TextLine) -> str:
        """A line with its tone as colour, or plain where there is none."""
        style, text = _STYLES.get(line.tone), calm(line.text)
        if not self.color or style is None or not text:
            return text
        return click.style(text, **style)  # type: ignore[arg-type]


def speaks_unicode(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether a stream can show more than ASCII.

    Python turns to UTF-8 by itself under the C locale, and then the encoding says nothing of the
    terminal: an explicit C locale is taken at its word, unless Python's encoding was named as well.
    """
    encoding = (getattr(stream, "encoding", None) or "ascii").lower().replace("_", "-")
    if not encoding.startswith("utf"):
        return False
    if environ.get("PYTHONIOENCODING") or environ.get("PYTHONUTF8") == "1":
        return True
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    return locale not in {"C", "POSIX"}


def wants_color(choice: ColorChoice, stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether to colour: the flag, NO_COLOR, FORCE_COLOR, or else whether it is a terminal."""
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environ.get("TERM") != "dumb"


def _width(stream: TextIO, environ: Mapping[str, str]) -> int:
    asked = environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    if not stream.isatty():
        return UNBOUNDED
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
