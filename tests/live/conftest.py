"""What `make test-live` is told, and what it tells in the end."""

from __future__ import annotations

import pytest

from tests.live.telling import LINES


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--save-recordings` makes what was recorded the recordings that are committed."""
    parser.addoption(
        "--save-recordings",
        action="store_true",
        help="commit to what the small real model says this time",
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was asked of the model, and how fast it was."""
    if LINES:
        terminalreporter.section("a small real model")
        for line in LINES:
            terminalreporter.write_line(line)
