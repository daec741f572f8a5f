"""What a list shows of a scenario, without reading again what memsim ships and has checked.

`known.json` holds the outlines of memsim's own scenarios by the SHA-256 of their bytes. A file with
any other content is read and checked in full. `python -m memsim.scenario.outline` writes it anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from memsim.errors import ScenarioError
from memsim.scenario.script_files import (
    has_memsim_key,
    read_bytes,
    scenario_files,
    search_scenario_files,
)

KNOWN = Path(__file__).with_name("known.json")


@dataclass(frozen=True, slots=True)
class Outline:
    """A scenario's name, how many turns and probes it has, and what it says that it is about."""

    name: str
    turns: int
    probes: int
    about: str


def outlines(folder: Path) -> Iterator[tuple[Path, Outline | ScenarioError]]:
    """Every scenario file below a folder, with its outline or what is wrong with it."""
    files, problems = search_scenario_files(folder)
    for path in files:
        try:
            found = outline(path)
        except ScenarioError as error:
            yield path, error
        else:
            if found is not None:
                yield path, found
    for problem in problems:
        yield Path(problem.path or folder), problem


def outline(path: Path) -> Outline | None:
    """The outline of a file's scenario; None for YAML that means to be no scenario.

    Raises:
        ScenarioError: it is wrong; with path and line.
    """
    try:
        data = read_bytes(path)
    except ScenarioError as error:
        raise ScenarioError(error.message, path=path) from None
    if not has_memsim_key(data):
        return None
    known = _known().get(hashlib.sha256(data).hexdigest())
    return known or _read(path)


def _read(path: Path) -> Outline:
    from memsim.scenario.scenario_loader import load_scenario

    scenario = load_scenario(path)
    about = " ".join(scenario.about.split())
    return Outline(scenario.name, scenario.turns, len(scenario.probes), about)


@cache
def _known() -> Mapping[str, Outline]:
    try:
        said = json.loads(KNOWN.read_text(encoding="utf-8"))
        return {digest: Outline(*row) for digest, row in said.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}  # everything is then read, as it may be


def known_outlines(files: Iterable[Path]) -> str:
    """What `known.json` says of the scenarios among files, as it is written."""
    rows = []
    for path in files:
        if not has_memsim_key(path.read_bytes()):
            continue
        found = _read(path)
        row = [found.name, found.turns, found.probes, found.about]
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        rows.append(f"  {json.dumps(digest)}: {json.dumps(row, ensure_ascii=False)}")
    return "{\n" + ",\n".join(rows) + "\n}\n"


if __name__ == "__main__":
    from memsim.discovery.project import builtin_folder

    KNOWN.write_text(known_outlines(scenario_files(builtin_folder("scenarios"))), encoding="utf-8")
