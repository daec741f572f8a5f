"""What the place we print to can show: its width, its signs, its colours, its liveliness."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TextIO

import click

from memsim.cli.guard import close_stdout
from memsim.cli.printable import calm
from memsim.errors import UsageError
from memsim.report.layout import TextLine, Tone
from memsim.report.marks import ASCII, UNICODE, Marks

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
