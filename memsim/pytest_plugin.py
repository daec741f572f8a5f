"""Makes memsim known to pytest wherever both are installed; it collects no scenarios yet."""

from __future__ import annotations

from importlib.metadata import version


def pytest_report_header() -> str:
    """The line that pytest's header shows, so that a log tells which memsim ran."""
    return f"memsim: {version('memsim')}"
