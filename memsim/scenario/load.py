"""Finds scenario files and loads them."""

from __future__ import annotations

import os
import re
from pathlib import Path

from memsim.errors import ScenarioError
from memsim.scenario.making import make_scenario
from memsim.scenario.names import folded
from memsim.scenario.nodes import Mapping, shown
from memsim.scenario.script import Scenario
from memsim.scenario.source import decode, parse, read_bytes, read_text

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
    found = [scenario for file in scenario_files(path) if (scenario := _load(file, marked=True))]
    _check_unique(found)
    return found


def load_scenario(path: Path) -> Scenario:
    """The scenario of one file.

    Raises:
        ScenarioError: it is wrong; with path and line.
    """
    scenario = _load(path, marked=False)
    assert scenario is not None  # noqa: S101 - only a file without the mark may be left out
    return scenario


def _load(path: Path, *, marked: bool) -> Scenario | None:
    try:
        data = read_bytes(path)
        if marked and not _marked(data):
            return None
        return make_scenario(parse(decode(data)), path)
    except ScenarioError as error:
        raise ScenarioError(error.message, path=path, line=error.line, hint=error.hint) from None


def scenario_files(folder: Path) -> list[Path]:
    """Every YAML file below a folder, sorted by path; what is hidden is left out.

    Raises:
        ScenarioError: a link leads nowhere, or round in a circle.
    """
    found: list[str] = []
    for root, folders, files in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in folders:
            _check_folder(folder, root, name)
        for name in files:
            if name.startswith("."):
                continue
            if name.endswith(_SUFFIXES):
                found.append(f"{root}{os.sep}{name}")
            elif "." not in name:
                # It may have meant a folder of scenarios.
                _check_link(Path(root, name))
    return sorted(map(Path, found), key=lambda path: path.parts)


def _check_folder(top: Path, root: str, name: str) -> None:
    path = Path(root, name)
    if not path.is_symlink():
        return
    real, inside = path.resolve(), Path(root)
    above = [inside, *list(inside.parents)[: len(inside.parts) - len(top.parts)]]
    if top.resolve().is_relative_to(real) or real in {each.resolve() for each in above}:
        raise ScenarioError("is a link that leads round in a circle", path=path)


def _check_link(path: Path) -> None:
    if path.is_symlink() and not path.exists():
        target = shown(str(path.readlink()))
        raise ScenarioError(f"is a link to nothing: {target} is not there", path=path)


def _marked(data: bytes) -> bool:
    # UTF-16 must be seen to be said so: without its zero bytes it is ASCII enough.
    if _MARK.match(data):
        return True
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
