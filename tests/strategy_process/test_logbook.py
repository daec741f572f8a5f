"""A logbook hears what a strategy logs, warns of and prints, whatever logger it uses."""

from __future__ import annotations

import logging
import sys
import warnings

import pytest

from memsim.errors import error_text
from memsim.strategy_process.logbook import Logbook


def _own_logger() -> logging.Logger:
    """A logger that does not propagate, with a handler of its own."""
    own = logging.getLogger("tests.logbook.own")
    own.propagate = False
    own.handlers = [logging.NullHandler()]
    return own


def test_every_way_of_saying_something_is_heard(capsys: pytest.CaptureFixture[str]) -> None:
    """Loggers that propagate, others, warnings and both streams; all is as it was afterwards."""
    own = _own_logger()
    before = sys.stdout, logging.Logger.callHandlers, logging.getLogger().level

    with Logbook() as book:
        logging.getLogger("tests.logbook").debug("one %s", "word")
        own.error("two", extra={"more": "three"})
        for _ in range(2):
            warnings.warn("four", DeprecationWarning, stacklevel=1)
        print("five")  # noqa: T201 - what is tested
        sys.stderr.buffer.write(b"six")

    assert [
        ("DEBUG", "tests.logbook one word"),
        ("ERROR", "tests.logbook.own two more=three"),
        ("WARNING", "DeprecationWarning: four"),
        ("STDOUT", "five\n"),
        ("STDERR", "six"),
    ] == [*book.all()]
    assert before == (sys.stdout, logging.Logger.callHandlers, logging.getLogger().level)
    assert "five\n" == capsys.readouterr().out


def test_a_record_that_cannot_be_formatted_is_no_error() -> None:
    """As with any handler."""

    class Broken:
        def __str__(self) -> str:
            raise RuntimeError

    with Logbook() as book:
        _own_logger().info("%s", Broken())
        _own_logger().info("%d", "x")

    assert ["tests.logbook.own"] * 2 == [text for _, text in book.others]


def test_what_was_drained_is_heard_in_another_process() -> None:
    """Once, by every book that is entered."""
    there = Logbook()
    there.lines.append(("INFO", "a"))
    there.others.append(("WARNING", "b"))

    with Logbook() as outer, Logbook() as inner:
        Logbook.hear(there.drain())
        Logbook.hear(there.drain())

    assert [("INFO", "a"), ("WARNING", "b")] == [*outer.all()] == [*inner.all()]


def test_an_error_says_its_notes_causes_and_groups() -> None:
    """Also where its own text cannot be made."""

    class MuteError(ValueError):
        def __str__(self) -> str:
            raise RuntimeError

    inner = KeyError("inner")
    inner.add_note("a note")
    error = ExceptionGroup("many", [MuteError(), OSError("one of many")])
    error.__cause__ = inner

    said = error_text(error)

    for part in ("many", "inner", "a note", "one of many", "MuteError"):
        assert part in said
