"""JSON values as the same bytes wherever they are written, so that states can be compared."""

from __future__ import annotations

import json
from typing import Any

from memsim.errors import StateError
from memsim.memory.state import JSON

DEEPEST = 200
"""Nesting that is written at most, well below what would end the interpreter's stack."""


def canonical(value: JSON) -> str:
    """A JSON value as text: keys sorted, no spaces, nothing escaped that need not be.

    What comes back from `parse` is equal, and its canonical text is the same again.

    Raises:
        ValueError: the value is no JSON: another type, a key that is no text, a number that is not
            finite, a text that UTF-8 cannot encode, or nesting deeper than `DEEPEST`. What the
            value holds is not said.
    """
    _check(value, DEEPEST)
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )


def parse(text: str | bytes) -> Any:  # noqa: ANN401 - what was read from a file may be anything
    """The JSON value that a text holds.

    Raises:
        StateError: it holds none, a key twice, or a number that is not finite.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise StateError("the saved state cannot be read back: it is not valid JSON") from None


def _check(value: object, depth: int) -> None:
    if depth < 0:
        raise ValueError(f"a value is nested deeper than {DEEPEST}")
    if isinstance(value, str):
        _encodable(value)
    elif isinstance(value, list):
        for item in value:
            _check(item, depth - 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError("a key is not a text")  # noqa: TRY004 - one error for bad values
            _encodable(key)
            _check(item, depth - 1)
    elif value is not None and not isinstance(value, bool | int | float):
        raise ValueError(f"a value is of type {type(value).__name__}, which JSON does not know")
    elif isinstance(value, float) and not -float("inf") < value < float("inf"):
        raise ValueError("a number is not finite")


def _encodable(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a text cannot be encoded as UTF-8") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(constant: str) -> float:
    raise ValueError(constant)
