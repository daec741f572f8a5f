"""Reads a dataset's JSON file strictly, and its fields with an error that says where they are."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from memsim.errors import ScenarioError
from memsim.json_input import parse_json, read_bytes, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

T = TypeVar("T")

MOST_BYTES = 256 * 2**20
"""Larger than any published file; a file beyond it is a mistake."""

_KINDS = {
    dict: "an object",
    list: "a list",
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def read_json(path: Path, *, most: int | None = None) -> object:
    """The value in a JSON file of at most so many bytes, else of `MOST_BYTES`.

    Raises:
        ScenarioError: it cannot be read, is not UTF-8 or not JSON, repeats a key in one object,
            holds a number that is none or a text that is none.
    """
    try:
        data = read_bytes(path, ScenarioError, most=MOST_BYTES if most is None else most)
    except FileNotFoundError as error:
        raise ScenarioError(f"cannot be read: {error.strerror}", path=path) from None
    value: object = parse_json(data, path, ScenarioError)
    check_texts(path, data, value)
    return value


def read_json_lines(path: Path) -> Iterator[tuple[int, object]]:
    """The value of each line of a JSON Lines file that is not blank, with the line's number.

    Raises:
        ScenarioError: it cannot be read, or a line is not as `read_json` wants a file.
    """
    try:
        for number, data in enumerate(read_lines(path, ScenarioError), start=1):
            if data.strip():
                value: object = parse_json(data, path, ScenarioError, line=number)
                check_texts(path, data, value)
                yield number, value
    except FileNotFoundError as error:
        raise ScenarioError(f"cannot be read: {error.strerror}", path=path) from None


def check_texts(path: Path, data: bytes, value: object) -> None:
    """Refuse a value parsed from some bytes in which a text is none.

    Raises:
        ScenarioError: a text holds half a surrogate pair.
    """
    # Only an escape can smuggle in half a character, and encoding the value would find it.
    if b"\\u" not in data:
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ScenarioError("a text holds half a surrogate pair", path=path) from None


class JsonObject:
    """An object of a dataset's file, with the words for where it stands.

    Raises:
        ScenarioError: it is not an object.
    """

    def __init__(self, path: Path, where: str, value: object) -> None:
        self.path = path
        self.where = where
        if not isinstance(value, dict):
            self.reject(f"is {_kind(value)}, not an object")
        self.fields: dict[str, Any] = value

    def __contains__(self, name: str) -> bool:
        return self.fields.get(name) is not None

    def reject(self, problem: str) -> NoReturn:
        """Refuse the file because of this object.

        Raises:
            ScenarioError: always.
        """
        raise ScenarioError(f"{self.where} {problem}", path=self.path)

    def text(self, name: str) -> str:
        """A field that has to be a text."""
        value = self._field(name)
        if not isinstance(value, str):
            self.reject(f"has {_kind(value)} as {name!r}, not a text")
        return value

    def number(self, name: str) -> int:
        """A field that has to be a whole number."""
        value = self._field(name)
        if not isinstance(value, int) or isinstance(value, bool):
            self.reject(f"has {_kind(value)} as {name!r}, not a whole number")
        return value

    def members(self, name: str) -> list[Any]:
        """A field that has to be a list."""
        value = self._field(name)
        if not isinstance(value, list):
            self.reject(f"has {_kind(value)} as {name!r}, not a list")
        return value

    def texts(self, name: str) -> list[str]:
        """A field that has to be a list of texts."""
        values = self.members(name)
        for value in values:
            if not isinstance(value, str):
                self.reject(f"has {_kind(value)} in {name!r}, not a text")
        return values

    def printed(self, name: str) -> str:
        """A field that is a text or a number, as text."""
        value = self._field(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.reject(f"has {_kind(value)} as {name!r}, not a text or a number")
        if isinstance(value, float) and not math.isfinite(value):
            self.reject(f"has a number as {name!r} that is not finite")
        return str(value)

    def check_distinct(self, name: str, value: T, seen: set[T]) -> None:
        """Refuse a value that another object has in the same field; else note it as seen."""
        if value in seen:
            self.reject(f"has the {name!r} {value!r} of another")
        seen.add(value)

    def _field(self, name: str) -> object:
        if name not in self.fields:
            self.reject(f"has no {name!r}")
        return self.fields[name]


def _kind(value: object) -> str:
    return _KINDS.get(type(value), type(value).__name__)
