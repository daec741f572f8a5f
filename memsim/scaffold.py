"""Create a project for `memsim init`: a small one that passes and is read in a minute.

::

    scenarios/first.yaml       a conversation with facts and questions
    strategies/mine.py         a minimal memory
    tests/test_memory.py       assertions about the memory
    reports/.gitignore         keeps runs out of the repository
    pyproject.toml             a [tool.memsim] block, appended if there is none
    .github/workflows/memsim.yml   the same on every push, with --github, in --shards if told
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from memsim.discovery.strategy_source import StrategySource, strategies_in
from memsim.errors import ConfigError, RefError
from memsim.json_input import read_bytes
from memsim.toml_input import parse_toml

ScaffoldAction = Literal["created", "kept", "extended"]

MINE = "strategies/mine.py"
TEST = "tests/test_memory.py"
CONFIG = """\
[tool.memsim]
scenarios = ["scenarios"]
strategies = ["mine", "sliding_window:messages=12"]   # a floor and ceilings are always added
budget = ["4k"]
seed = 7
reports = "reports"
"""

FILES = {
    "scenarios/first.yaml": "first.yaml",
    MINE: "mine.py.txt",
    TEST: "test_memory.py.txt",
    "reports/.gitignore": "gitignore.txt",
}
WORKFLOW = ".github/workflows/memsim.yml"
"""Every file of a project, and its template in `memsim/scaffold_files`."""

NEXT = (
    "memsim run",
    "memsim explain 'scenarios/first.yaml::first[sliding_window:messages=12@4k]::order'",
    "memsim check strategies/mine.py",
    "memsim baseline save",
    "pytest",
)
"""Commands to type after `memsim init`, in this order."""

WHEEL = "mkdir wheels && cp PATH/TO/memsim-*.whl wheels/   # what the workflow installs"
"""The step that makes the workflow complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaffoldFile:
    """What was done with one file.

    Attributes:
        action: `created`, `kept` as it was, or `extended` by a block at its end.
    """

    path: str
    action: ScaffoldAction


def scaffold(folder: Path, *, github: bool = False, shards: int = 1) -> tuple[ScaffoldFile, ...]:
    """Write the missing files of a project into a folder.

    If `strategies/mine.py` exists already, the block names the strategies in it, and no tests of
    the example strategy are written.

    Args:
        folder: the project; created if it does not exist.
        github: also write a workflow for GitHub Actions.
        shards: jobs among which the workflow splits a run; 1 for one job.

    Raises:
        ConfigError: a file cannot be written, or `pyproject.toml` is not valid TOML.
    """
    try:
        # Checked first, so that a broken pyproject.toml does not leave half a project behind.
        kept = _kept(folder / MINE)
        configuration = _extended(folder / "pyproject.toml", _settings(kept))
        folder.mkdir(parents=True, exist_ok=True)
        texts = {name: template(made) for name, made in _files(kept).items()}
        if github:
            texts[WORKFLOW] = workflow(shards)
        done = [_write(folder, name, text) for name, text in texts.items()]
        return (*done, _configure(folder, configuration))
    except OSError as error:
        path = error.filename or folder
        raise ConfigError(f"cannot be written: {error.strerror}", path=path) from error


def workflow(shards: int = 1) -> str:
    """The workflow for GitHub Actions: one job, or a job for each shard and one that merges."""
    if shards == 1:
        return template("memsim.yml")
    numbers = ", ".join(map(str, range(1, shards + 1)))
    return template("memsim-shards.yml").replace("NUMBERS", numbers).replace("COUNT", str(shards))


def template(name: str) -> str:
    """Read a template of a project's file."""
    return files(__package__).joinpath("scaffold_files", name).read_text(encoding="utf-8")


def _write(folder: Path, name: str, text: str) -> ScaffoldFile:
    path = folder / name
    if path.exists() or path.is_symlink():
        return ScaffoldFile(path=name, action="kept")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return ScaffoldFile(path=name, action="created")


def _kept(path: Path) -> tuple[StrategySource, ...] | None:
    """The strategies in an existing file; None if there is no file."""
    if not path.exists():
        return None
    try:
        return strategies_in(path)
    except RefError:
        return ()


def _settings(kept: tuple[StrategySource, ...] | None) -> str:
    if kept is None or any(found.name == "mine" for found in kept):
        return CONFIG
    usable = [f.name for f in kept if all(param.default is not None for param in f.params)]
    return CONFIG.replace('"mine", ', f'"{usable[0]}", ' if usable else "")


def _files(kept: tuple[StrategySource, ...] | None) -> dict[str, str]:
    mine = [found for found in kept or () if found.name == "mine"]
    tested = kept is None or any(p.name == "messages" for found in mine for p in found.params)
    return {path: name for path, name in FILES.items() if tested or path != TEST}


def _extended(path: Path, block: str) -> str | None:
    """The text of a `pyproject.toml` with the block; None if it has one already."""
    if not path.exists():
        return block
    try:
        text = read_bytes(path, ConfigError).decode()
        tools = parse_toml(text.removeprefix("\ufeff")).get("tool", {})
    except ValueError as error:
        raise ConfigError(f"not valid TOML: {error}", path=path) from error
    if not isinstance(tools, dict):
        raise ConfigError("[tool] must be a table", path=path)
    if "memsim" in tools:
        return None
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{block}"


def _configure(folder: Path, text: str | None) -> ScaffoldFile:
    path = folder / "pyproject.toml"
    if text is None:
        return ScaffoldFile(path=path.name, action="kept")
    action: ScaffoldAction = "extended" if path.exists() else "created"
    path.write_text(text, encoding="utf-8")
    return ScaffoldFile(path=path.name, action=action)
