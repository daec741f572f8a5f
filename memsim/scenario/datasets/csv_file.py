"""Reads a dataset's CSV file strictly, each row as an object that says where it stands."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from memsim.errors import ScenarioError
from memsim.json_input import MOST_VALUES, parse_json, read_bytes
from memsim.scenario.datasets.json_file import JsonObject, check_texts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MARK = "\ufeff"


def read_csv(path: Path) -> list[JsonObject]:
    """The rows of a CSV file with a header, each by the names of its columns.

    Raises:
        ScenarioError: it cannot be read, is not UTF-8 or not CSV, has a column twice, no row, a
            row of another length than the header, or too many cells.
    """
    try:
        data = read_bytes(path, ScenarioError)
        # A comma takes a byte of a file, and a cell a hundred once it is read.
        if data.count(b",") + data.count(b"\n") + data.count(b"\r") > MOST_VALUES:
            raise ScenarioError(f"has more than {MOST_VALUES:,} cells", path=path)
        text = data.decode()
    except FileNotFoundError as error:
        raise ScenarioError(f"cannot be read: {error.strerror}", path=path) from None
    except UnicodeDecodeError as error:
        raise ScenarioError(f"not UTF-8 at byte {error.start}", path=path) from None
    reader = csv.reader(io.StringIO(text.removeprefix(_MARK), newline=""), strict=True)
    try:
        header = next(reader, [])
        rows = list(_rows(path, header, reader))
    except csv.Error as error:
        raise ScenarioError(f"not CSV: {error}", path=path, line=reader.line_num) from None
    if not rows:
        raise ScenarioError("holds no row", path=path)
    return rows


def _rows(path: Path, header: list[str], reader: Iterator[list[str]]) -> Iterator[JsonObject]:
    for name in header:
        if header.count(name) > 1:
            raise ScenarioError(f"has the column {name!r} twice", path=path, line=1)
    for number, cells in enumerate(reader, start=1):
        if not cells:
            continue
        row = JsonObject(path, f"row {number}", dict(zip(header, cells, strict=False)))
        if len(cells) != len(header):
            row.reject(f"has {len(cells)} cells, and the header {len(header)}")
        yield row


def json_cell(row: JsonObject, name: str) -> JsonObject:
    """The cell of a row that holds JSON, as an object that has it under the same name.

    Raises:
        ScenarioError: there is no such cell, or it holds no JSON.
    """
    data = row.text(name).encode()
    value: object = parse_json(data, row.path, ScenarioError, prefix=f"{row.where}: {name!r}: ")
    check_texts(row.path, data, value)
    return JsonObject(row.path, row.where, {name: value})
