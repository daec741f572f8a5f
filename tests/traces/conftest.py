"""Shared by the tests of recorded conversations: reading a file as an import does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memsim.traces.records import TraceConversation
from memsim.traces.trace_files import recognised, trace_sources
from memsim.traces.trace_format import ImportCounts

Imported = tuple[list[TraceConversation], ImportCounts, list[str]]
"""Conversations, counts, and the names of the formats that were recognised."""

ReadTrace = Callable[[Path], Imported]


def read_trace(path: Path) -> Imported:
    """The conversations of a file, as `memsim import` reads them."""
    counts = ImportCounts()
    found: list[TraceConversation] = []
    names: list[str] = []
    for source in trace_sources(path, counts):
        known = recognised(source)
        if known is not None:
            names.append(known.name)
            found += known.read(source)
    return found, counts, names


@pytest.fixture(name="read_trace")
def read_trace_fixture() -> ReadTrace:
    """Reads a file as an import does."""
    return read_trace


@pytest.fixture
def written(tmp_path: Path) -> Callable[[bytes | str], Imported]:
    """Reads a file with this content."""

    def read(content: bytes | str) -> Imported:
        path = tmp_path / "trace.json"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_trace(path)

    return read
