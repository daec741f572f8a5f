"""The formats of recorded conversations: a module `format_NAME.py` for each, found by its name."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from memsim.errors import RefError, nearest
from memsim.traces.trace_format import TraceFormat


@cache
def trace_formats() -> Mapping[str, TraceFormat]:
    """Every format by its name, in the order in which a file is held against them."""
    stems = sorted(path.stem for path in Path(__file__).parent.glob("format_*.py"))
    found = [importlib.import_module(f"{__name__}.{stem}").FORMAT for stem in stems]
    return {each.name: each for each in found}


def trace_format(name: str) -> TraceFormat:
    """The format of that name.

    Raises:
        RefError: there is no such format.
    """
    known = trace_formats()
    if name not in known:
        message = f"no format is called {name!r}; there are {', '.join(known)}"
        raise RefError(message, hint=nearest(name, known))
    return known[name]
