"""Whose fault an exception is, in one line."""

from __future__ import annotations

import traceback
from pathlib import Path

_PACKAGE = str(Path(__file__).resolve().parent.parent)


def blame(error: BaseException) -> str:
    """An exception in one line.

    The innermost place in the strategy's own file, the kind and the text.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if not f.filename.startswith(_PACKAGE)] or list(frames)
    place = f"{Path(own[-1].filename).name}:{own[-1].lineno}: " if own else ""
    said = " ".join(str(error).split())
    return f"{place}{type(error).__name__}: {said}" if said else f"{place}{type(error).__name__}"
