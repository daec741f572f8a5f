"""Recorded behaviour of the published systems: reading it, and comparing with it field by field."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

MOST_TOLD = 12
MISSING = object()


class Recordings:
    """A folder of inputs and of what the real systems did with them.

    Args:
        folder: holds fixed_inputs.json, prx_inputs.json and out/.
        literals: the folder to take recorded-literals.json from where the first has none.
    """

    def __init__(self, folder: Path, literals: Path) -> None:
        self.folder = folder
        self._literals = literals

    @property
    def inputs(self) -> Any:  # noqa: ANN401 - JSON
        """What fixed_inputs.json holds."""
        return read(self.folder / "fixed_inputs.json")

    @property
    def prx_inputs(self) -> Any:  # noqa: ANN401 - JSON
        """What prx_inputs.json holds."""
        return read(self.folder / "prx_inputs.json")

    def literals(self, system: str) -> Any:  # noqa: ANN401 - JSON
        """The fixed arguments of the calls that were made of a system."""
        name = "recorded-literals.json"
        own = self.folder / name
        return read(own if own.is_file() else self._literals / name)[system]

    def output(self, name: str) -> Any:  # noqa: ANN401 - JSON
        """What out/<name>.json holds."""
        return read(self.folder / "out" / f"{name}.json")


class Comparison:
    """Compares what a strategy does with what was recorded, and counts the fields.

    Attributes:
        counts: by file, fields that are equal, and all fields compared.
        differences: of each field that differs, what was recorded and what came.
    """

    def __init__(self) -> None:
        self.counts: dict[str, tuple[int, int]] = {}
        self.differences: list[str] = []

    def __call__(self, file: str, path: str, recorded: object, actual: object) -> None:
        """Compare a value, field by field; what is a table of fields on one side only differs."""
        for where, expected, got in fields(path, recorded, actual):
            same = alike(expected, got)
            equal, all_of_it = self.counts.get(file, (0, 0))
            self.counts[file] = (equal + same, all_of_it + 1)
            if not same:
                self.differences.append(f"{file} {where}\n  {_short(expected)}\n  {_short(got)}")

    def told(self) -> str:
        """What differs, in short."""
        first = "\n".join(self.differences[:MOST_TOLD])
        return f"{len(self.differences)} fields differ (recorded, then actual):\n{first}"


def fields(path: str, recorded: object, actual: object) -> Iterator[tuple[str, object, object]]:
    """The fields of two JSON values side by side: what stands in objects, however deep."""
    if isinstance(recorded, Mapping) and isinstance(actual, Mapping) and (recorded or actual):
        for key in sorted({*recorded, *actual}, key=str):
            yield from fields(f"{path}/{key}", recorded.get(key, MISSING), actual.get(key, MISSING))
    elif _rows(recorded) and _rows(actual):
        yield f"{path}/#", len(_list(recorded)), len(_list(actual))
        for place, (one, other) in enumerate(zip(_list(recorded), _list(actual), strict=False)):
            yield from fields(f"{path}/{place}", one, other)
    else:
        yield path, recorded, actual


def alike(recorded: object, actual: object) -> bool:
    """Whether two values are equal; numbers with a fraction to one unit in the last digit."""
    if type(recorded) is not type(actual):
        return False
    if isinstance(recorded, list) and isinstance(actual, list):
        pairs = zip(recorded, actual, strict=False)
        return len(recorded) == len(actual) and all(alike(one, other) for one, other in pairs)
    if isinstance(recorded, float) and isinstance(actual, float):
        digits = len(repr(recorded).partition(".")[2])
        return abs(recorded - actual) <= 1.001 * 10.0 ** -max(digits, 4)
    return recorded == actual


def read(path: Path) -> Any:  # noqa: ANN401 - JSON
    """A JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def h16(text: str) -> str:
    """The digest by which recordings name texts."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def canonical(value: object) -> str:
    """The JSON text whose digest recordings name values by."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _short(value: object) -> str:
    text = "(nothing)" if value is MISSING else repr(value)
    return text if len(text) <= 400 else f"{text[:400]}... ({len(text)})"
