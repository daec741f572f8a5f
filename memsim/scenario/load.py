"""Finds scenario files and loads them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from memsim.errors import ScenarioError
from memsim.scenario.making import make_scenario
from memsim.scenario.names import folded
from memsim.scenario.nodes import Mapping
from memsim.scenario.script import Scenario
from memsim.scenario.source import MAX_BYTES, parse, read_text

_SUFFIXES = (".yaml", ".yml")
_MARK = re.compile(rb"""^[ \t]*\{?[ \t]*["']?memsim["']?[ \t]*:""", re.MULTILINE)


def load_scenarios(path: Path | str) -> list[Scenario]:
    """The scenarios of a file, or of all files below a folder, sorted by path.

    Files in a folder that are not scenarios (YAML without the key `memsim`) are left out.

    Args:
        path: a file or a folder.

    Raises:
        ScenarioError: a scenario is wrong, or two have one name; with path and line.
    """
    path = Path(path)
    if not path.is_dir():
        return [load_scenario(path)]
    found = [load_scenario(file) for file in _files(path) if _marked(file)]
    _check_unique(found)
    return found


def load_scenario(path: Path) -> Scenario:
    """The scenario of one file.

    Raises:
        ScenarioError: it is wrong; with path and line.
    """
    try:
        return make_scenario(parse(read_text(path)), path)
    except ScenarioError as error:
        raise ScenarioError(error.message, path=path, line=error.line, hint=error.hint) from None


def _files(folder: Path) -> Iterator[Path]:
    found = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [
            Path(root, name)
            for name in files
            if name.endswith(_SUFFIXES) and not name.startswith(".")
        ]
    yield from sorted(found)


def _marked(file: Path) -> bool:
    try:
        if not file.is_file():
            return False
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES)
    except OSError:
        return True
    # UTF-16 must be seen to be said so: without its zero bytes it is ASCII enough.
    return bool(_MARK.search(data.replace(b"\x00", b"").lstrip(b"\xef\xbb\xbf\xff\xfe")))


def _check_unique(scenarios: list[Scenario]) -> None:
    seen: dict[str, Scenario] = {}
    for scenario in scenarios:
        twin = seen.setdefault(folded(scenario.name), scenario)
        if twin is not scenario:
            raise ScenarioError(
                f"the name {scenario.name!r} is also that of {twin.path}",
                path=scenario.path,
                line=_name_line(Path(scenario.path)),
            )


def _name_line(path: Path) -> int | None:
    root = parse(read_text(path))
    return root.line_of("name") if isinstance(root, Mapping) else None
