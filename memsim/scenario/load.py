"""Finds scenario files and loads them."""

from __future__ import annotations

from pathlib import Path

from memsim.errors import ScenarioError
from memsim.scenario.files import read_bytes, scenario_files, shows_mark
from memsim.scenario.making import make_scenario
from memsim.scenario.names import folded
from memsim.scenario.nodes import Mapping
from memsim.scenario.script import Scenario
from memsim.scenario.source import decode, parse, read_text


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
        if marked and not shows_mark(data):
            return None
        return make_scenario(parse(decode(data)), path)
    except ScenarioError as error:
        raise ScenarioError(error.message, path=path, line=error.line, hint=error.hint) from None


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
