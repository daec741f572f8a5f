"""Cases as Python source, for programs, and as JSON, to be tried again; none is executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from memsim.errors import StateError
from memsim.memory.canonical import parse
from memsim.memory.state import reading
from memsim.message import Message, Text, ToolResult, ToolUse
from memsim.testing.cases import (
    AnyCase,
    Case,
    Elapse,
    FileCase,
    Forgotten,
    Granted,
    Kept,
    LedgerCase,
    LedgerOp,
    RunCase,
    ShelfCase,
    Turn,
)

KINDS: Mapping[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(
            Case,
            Turn,
            Elapse,
            Forgotten,
            Granted,
            LedgerCase,
            LedgerOp,
            ShelfCase,
            Kept,
            FileCase,
            RunCase,
        ),
        *(Message, Text, ToolUse, ToolResult),
    )
}
"""Every record that a case is made of, by its name."""


def literal(value: object) -> str:
    """A value as Python source; fields that have their default are left out."""
    if is_dataclass(value) and not isinstance(value, type):
        given = ", ".join(f"{name}={literal(held)}" for name, held in _given(value).items())
        return f"{type(value).__name__}({given})"
    if isinstance(value, tuple):
        inside = ", ".join(literal(item) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, datetime):
        return f"datetime.fromisoformat({value.astimezone(UTC).isoformat()!r})"
    if isinstance(value, timedelta):
        return f"timedelta(seconds={value.total_seconds()!r})"
    return ascii(value)


def encode(value: object) -> Any:  # noqa: ANN401 - any JSON value
    """A case as a JSON value."""
    if is_dataclass(value) and not isinstance(value, type):
        held = {name: encode(inside) for name, inside in _given(value).items()}
        return {"is": type(value).__name__, **held}
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    if isinstance(value, datetime):
        return {"is": "datetime", "at": value.astimezone(UTC).isoformat()}
    if isinstance(value, timedelta):
        return {"is": "timedelta", "seconds": value.total_seconds()}
    return value


def decode(text: str) -> AnyCase:
    """The case that `encode` made a JSON value of.

    Raises:
        StateError: it is no case.
    """
    with reading("it is not a counterexample"):
        value = _decoded(parse(text))
    if not isinstance(value, Case | LedgerCase | ShelfCase | FileCase | RunCase):
        raise StateError("the saved state cannot be read back: it is not a counterexample")
    return value


def _decoded(value: Any) -> object:  # noqa: ANN401 - any JSON value
    if isinstance(value, list):
        return tuple(_decoded(item) for item in value)
    if not isinstance(value, dict):
        return cast("object", value)
    given = dict(value)
    kind = given.pop("is")
    if kind == "datetime":
        return datetime.fromisoformat(given["at"])
    if kind == "timedelta":
        return timedelta(seconds=given["seconds"])
    made: object = KINDS[kind](**{name: _decoded(inside) for name, inside in given.items()})
    return made


def _given(value: Any) -> dict[str, object]:  # noqa: ANN401 - any dataclass
    return {
        field.name: getattr(value, field.name)
        for field in fields(value)
        if field.init and (field.default is MISSING or getattr(value, field.name) != field.default)
    }
