"""Write conversations in formats of other tools: a module `export_NAME.py` for each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

from memsim.errors import RefError, nearest
from memsim.traces.records import TraceConversation

Write = Callable[[Iterable[TraceConversation], BinaryIO], None]

EXPORTS = tuple(
    sorted(path.stem.removeprefix("export_") for path in Path(__file__).parent.glob("export_*.py"))
)
"""Formats that can be written."""


def trace_export(name: str) -> Write:
    """What writes conversations in a format, into a binary stream.

    Raises:
        RefError: no such format can be written.
    """
    if name not in EXPORTS:
        message = f"{name!r} cannot be written; {', '.join(EXPORTS)} can"
        raise RefError(message, hint=nearest(name, EXPORTS))
    write: Write = importlib.import_module(f"{__name__}.export_{name}").write
    return write
