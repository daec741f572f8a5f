"""Line numbers in TOML, which the standard library's reader does not give."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tomllib

_HEADER = re.compile(r"^\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_KEY = re.compile(
    r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_PLACE = re.compile(r"at line (\d+)")


def line_of(text: str, table: str, key: str) -> int | None:
    """The line, from 1, on which a table's key is set, or its sub-table opens; None if not found.

    Args:
        text: a valid TOML document.
        table: dotted name of the table.
        key: a key in it.
    """
    wanted = f"{table}.{key}"
    current = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            current = _dotted(header[1])
            named = current
        elif found := _KEY.match(line):
            named = f"{current}.{_dotted(found[1])}".lstrip(".")
        else:
            continue
        if named == wanted or named.startswith(f"{wanted}."):
            return number
    return None


def line_of_text(text: str, table: str, key: str, value: str) -> int | None:
    """The line, from 1, on which a text stands in quotes in the value of a table's key.

    The key's own line where it is written otherwise there; None if the key is not found.
    """
    start = line_of(text, table, key)
    if start is None:
        return None
    for number, line in enumerate(text.splitlines()[start - 1 :], start=start):
        if f'"{value}"' in line or f"'{value}'" in line:
            return number
        if number > start and (_KEY.match(line) or _HEADER.match(line)):
            break
    return start


def _dotted(name: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in name.split("."))


def syntax_error_line(error: tomllib.TOMLDecodeError) -> int | None:
    """The line that the reader's own message names."""
    found = _PLACE.search(str(error))
    return int(found[1]) if found else None
