"""What a terminal is taken for."""

from __future__ import annotations

import io

import pytest

from memsim.cli.terminal import Terminal, speaks_unicode, wants_color
from memsim.report.layout import ASCII, TextLine


class Tty(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """It is."""
        return True


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, True),
        ({"LANG": "en_GB.UTF-8"}, True),
        ({"LANG": "C"}, False),
        ({"LC_ALL": "C", "LANG": "en_GB.UTF-8"}, False),
        ({"LC_ALL": "POSIX"}, False),
        ({"LC_ALL": "C.UTF-8"}, True),
        ({"LC_ALL": "C", "PYTHONIOENCODING": "utf-8"}, True),
        ({"LC_ALL": "C", "PYTHONUTF8": "1"}, True),
    ],
)
def test_an_explicit_c_locale_is_taken_at_its_word(
    environ: dict[str, str], *, expected: bool
) -> None:
    """Python turns to UTF-8 under it, the terminal need not."""
    assert expected == speaks_unicode(Tty(), environ)


def test_a_stream_of_another_encoding_is_ascii() -> None:
    """Latin-1 has no superscripts."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")

    assert not speaks_unicode(stream, {})


@pytest.mark.parametrize(
    ("choice", "environ", "expected"),
    [
        ("auto", {}, True),
        ("auto", {"NO_COLOR": "1"}, False),
        ("auto", {"NO_COLOR": ""}, True),
        ("auto", {"TERM": "dumb"}, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ("always", {"NO_COLOR": "1"}, True),
        ("never", {"FORCE_COLOR": "1"}, False),
    ],
)
def test_the_flag_wins_then_no_color_then_the_terminal(
    choice: str, environ: dict[str, str], *, expected: bool
) -> None:
    """In this order, so that a user can always have the last word."""
    assert expected == wants_color(choice, Tty(), environ)  # type: ignore[arg-type]


def test_a_pipe_has_no_colour_unless_forced() -> None:
    """FORCE_COLOR is for CI logs that render it."""
    pipe = io.StringIO()

    assert not wants_color("auto", pipe, {})
    assert wants_color("auto", pipe, {"FORCE_COLOR": "1"})


def test_a_tone_is_a_colour_or_nothing() -> None:
    """Without colour a line is just its text."""
    line = TextLine(text="FAILED x", tone="bad")
    plain = Terminal(width=80, marks=ASCII, color=False, live=False)
    colored = Terminal(width=80, marks=ASCII, color=True, live=False)

    assert plain.styled(line) == "FAILED x"
    assert colored.styled(line) == "\x1b[31mFAILED x\x1b[0m"
    assert colored.styled(TextLine(text="x", tone="plain")) == "x"
