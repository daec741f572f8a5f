"""A scenario's printable handle, and the scenario that it stands for."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.errors import RefError, ScenarioError, nearest
from memsim.frozen import quickly_made

if TYPE_CHECKING:
    from memsim.scenario.script import Scenario


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioRef:
    """A scenario's printable handle; refs cross process borders, scenarios do not.

    Attributes:
        source: the file as ids write it, or the dataset's name.
        name: the scenario's name.
        dataset: the dataset's name; empty for scenario files.
        options: the dataset's options.
        place: where the file or the dataset's data is.
    """

    source: str
    name: str
    dataset: str = ""
    options: tuple[tuple[str, str], ...] = ()
    place: Path | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.source}::{self.name}"

    def load(self) -> Scenario:
        """The scenario; read once for a process while its file does not change.

        Raises:
            ScenarioError: the file is wrong.
            RefError: the file no longer holds it.
        """
        if self.place is None:
            raise RefError(f"{self} has not been found yet")
        if self.dataset:
            inside = scenarios_in_dataset(self.dataset, self.place, self.options)
        else:
            inside = scenarios_in_file(self.place, self.source)
        if self.name not in inside:
            raise RefError(f"{self} is gone", hint=nearest(self.name, inside))
        return inside[self.name]


LEAKAGE = "leakage"
"""The one dataset that is memsim's own: its channels are made from seeds, not read."""
OF_LEAKAGE = frozenset({"attempts"})
"""Its options; the others are for datasets that are read."""

_Stamp = tuple[int, int]
_READ: dict[Path, tuple[_Stamp, Mapping[str, Scenario]]] = {}
"""Files as they were read last, so that a file is parsed once while it does not change."""


def scenarios_in_file(path: Path, shown: str) -> Mapping[str, Scenario]:
    """The scenarios of a file by name, parsed once while the file does not change.

    Args:
        path: the file.
        shown: how errors name it.

    Raises:
        ScenarioError: it is wrong.
    """
    known = _READ.get(path)
    if known is None or known[0] != _stamp(path):
        try:
            known = remember(path, load_path(path))
        except ScenarioError as error:
            raise shown_as(error, shown) from None
    return known[1]


def load_path(path: Path) -> Sequence[Scenario]:
    """The scenarios of a file or folder, parsed now.

    Raises:
        ScenarioError: one is wrong.
    """
    from memsim.scenario import load_scenarios

    return load_scenarios(path)


def remember(path: Path, scenarios: Sequence[Scenario]) -> tuple[_Stamp, Mapping[str, Scenario]]:
    """Note what a file held when it was parsed just now."""
    known = _READ[path] = _stamp(path), {s.name: s for s in scenarios}
    return known


def _stamp(path: Path) -> _Stamp:
    try:
        stat = os.stat(path)  # noqa: PTH116 - a suite asks thousands of times; Path's takes twice
    except OSError:
        return 0, -1
    return stat.st_mtime_ns, stat.st_size


def shown_as(error: ScenarioError, path: str) -> ScenarioError:
    """The error with its file named as ids name it."""
    return ScenarioError(
        error.message, path=path, line=error.line, column=error.column, hint=error.hint
    )


@lru_cache(maxsize=8)
def scenarios_in_dataset(
    name: str, path: Path, options: tuple[tuple[str, str], ...]
) -> Mapping[str, Scenario]:
    """The scenarios of a dataset by name, read once.

    Raises:
        ScenarioError: its data is wrong.
    """
    from memsim.scenario.datasets import load_dataset

    if name == LEAKAGE:
        from memsim.suite.leaking import leak_scenarios

        return {s.name: s for s in leak_scenarios(path, dict(options))}
    return {s.name: s for s in load_dataset(name, path, dict(options))}


def dataset_names() -> Collection[str]:
    """Every dataset that can be named."""
    from memsim.scenario.datasets import DATASETS

    return (*DATASETS, LEAKAGE)
