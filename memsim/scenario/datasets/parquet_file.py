"""Reads the rows of a dataset's Parquet file, with the package of an extra."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from memsim.errors import ConfigError, ScenarioError
from memsim.json_input import read_bytes
from memsim.scenario.datasets.json_file import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def read_parquet(path: Path, columns: Sequence[str]) -> list[object]:
    """The rows of a Parquet file, each as an object of its columns.

    Args:
        path: the file.
        columns: those that are read, where they are there; `a.b` is the field `b` of column `a`.

    Raises:
        ConfigError: pyarrow is not installed.
        ScenarioError: it cannot be read, is larger than `MOST_BYTES`, packed or not, or is not
            Parquet.
    """
    try:
        data = read_bytes(path, ScenarioError, most=MOST_BYTES)
    except FileNotFoundError as error:
        raise ScenarioError(f"cannot be read: {error.strerror}", path=path) from None
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ModuleNotFoundError as error:
        what = "needs pyarrow to be read: pip install 'memsim[parquet]', or export it as JSON"
        raise ConfigError(what, path=path) from error
    try:
        file = parquet.ParquetFile(arrow.BufferReader(data))
        groups = map(file.metadata.row_group, range(file.num_row_groups))
        if sum(group.total_byte_size for group in groups) > MOST_BYTES:
            raise ScenarioError(f"unpacks to more than {MOST_BYTES // 2**20} MB", path=path)
        rows: list[object] = file.read(columns=list(columns)).to_pylist()
    except (arrow.ArrowException, OSError, ValueError, TypeError) as error:
        # What it quotes of the file may be anything.
        said = "".join(letter if letter.isprintable() else " " for letter in str(error))
        raise ScenarioError(f"not Parquet: {said}", path=path) from error
    return rows
