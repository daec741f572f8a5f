"""Print to the terminal, and turn every error into one line and an exit code.

`Terminal` holds the width, signs and colours that standard output can show. `printable`, `calm` and
`safe_json` escape control characters in texts of users. `guarded` runs a command.
"""

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

JOINER = "\u200d"
"""The zero-width joiner: it joins emoji, and terminals do not interpret it otherwise."""


def printable(text: object) -> str:
    """A text on one line, with control and reordering characters written as escapes."""
    return "".join(c if _harmless(c) else _escaped(c) for c in str(text))


def calm(text: str) -> str:
    """A text of several lines, with control characters escaped and line breaks kept."""
    return "\n".join(line if _plain(line) else printable(line) for line in text.split("\n"))


def safe_json(value: JSON) -> str:
    """Canonical JSON, with control characters written as escapes."""
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


_BUG = "memsim: this is a bug of memsim, not of your input; please report it with the lines above"


def guarded(command: Callable[[], object]) -> int:
    """Run a command and return the exit code of the process."""
    _always_have_streams()
    try:
        with _ended_like_interrupted():
            code = _attempt(command)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe, as `| head` does: that is no error.
        close_stdout()
        return ExitCode.PASSED
    return code


def close_stdout() -> None:
    """Send the rest of standard output nowhere, so that the interpreter's last flush succeeds."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> None:
    """Print one line on standard error."""
    with suppress(BrokenPipeError):
        click.echo(printable(" ".join(text.split())), err=True)


@contextmanager
def _ended_like_interrupted() -> Iterator[None]:
    # A CI system cancels a job with SIGTERM: finished cases are then kept as after Ctrl-C.
    before = None
    with suppress(ValueError):  # only the main thread may set a handler
        handler = signal.getsignal(signal.SIGINT)
        handler = handler if callable(handler) else signal.default_int_handler
        before = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def _attempt(command: Callable[[], object]) -> int:
    try:
        code = command()
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - the last handler of every error
        return _end(error)
    return code if isinstance(code, int) else ExitCode.PASSED


def _end(error: Exception) -> ExitCode:
    """Print an error, and return the exit code of its kind."""
    if isinstance(error, click.ClickException):
        complain(_usage_line(error))
        return ExitCode.USAGE
    if isinstance(error, click.Abort):
        complain("memsim: interrupted")
        return ExitCode.INTERRUPTED
    if isinstance(error, MemsimError):
        for line in error_lines(error):
            complain(line)
        return error.exit_code
    if isinstance(error, OSError) and error.filename is not None:
        # Of the file system, such as a full disk: whoever runs the command can mend it.
        complain(f"memsim: {error.filename}: {error.strerror}")
        return ExitCode.USAGE
    traceback.print_exception(error)
    complain(_BUG)
    return ExitCode.INTERNAL


MOST_ERRORS = 20
"""Errors of an input that are printed; the others are counted."""


def error_lines(error: MemsimError) -> Iterator[str]:
    """The lines of an error and of those that were found with it."""
    every = error.every if isinstance(error, LocatedError) else (error,)
    yield from map(error_line, every[:MOST_ERRORS])
    if len(every) > MOST_ERRORS:
        yield f"memsim: and {len(every) - MOST_ERRORS:,} more errors"


def error_line(error: MemsimError) -> str:
    """An error as one line: as it is if it names a file, else after `memsim:`."""
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
    # A service may have closed the streams, and a name may hold characters that the terminal
    # cannot show. Neither may end a run.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - stays open
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
    """What standard output can show.

    Attributes:
        live: whether standard error is a terminal on which a line can be redrawn.
    """

    width: int
    marks: Marks
    color: bool
    live: bool

    @classmethod
    def of_process(cls, color: ColorChoice = "auto") -> Terminal:
        """The standard output and error of this process."""
        environ = os.environ
        return cls(
            width=_width(sys.stdout, environ),
            marks=UNICODE if speaks_unicode(sys.stdout, environ) else ASCII,
            color=wants_color(color, sys.stdout, environ),
            live=sys.stderr.isatty() and not environ.get("CI") and environ.get("TERM") != "dumb",
        )

    def say(self, text: str = "") -> None:
        """Print a text and a newline, with control characters escaped.

        A closed pipe is ignored, because the reader has ended.
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
        """A line in the colour of its tone, or plain where colours are off."""
        style, text = _STYLES.get(line.tone), calm(line.text)
        if not self.color or style is None or not text:
            return text
        return click.style(text, **style)  # type: ignore[arg-type]


def speaks_unicode(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether a stream can show more than ASCII.

    Python uses UTF-8 by itself under the C locale, so the encoding alone does not describe the
    terminal. An explicit C locale means ASCII, unless Python's encoding is set as well.
    """
    encoding = (getattr(stream, "encoding", None) or "ascii").lower().replace("_", "-")
    if not encoding.startswith("utf"):
        return False
    if environ.get("PYTHONIOENCODING") or environ.get("PYTHONUTF8") == "1":
        return True
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    return locale not in {"C", "POSIX"}


def wants_color(choice: ColorChoice, stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether to colour: decided by the flag, NO_COLOR, FORCE_COLOR, or the kind of stream."""
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
