"""Find the environments of memories under test, which `make library NAME=...` makes."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER_VARIABLE = "MEMSIM_FOLDER"
"""Names the folder of the run, in processes that run elsewhere."""


def run_folder() -> Path:
    """The folder in which memsim was started."""
    return Path(os.environ.get(FOLDER_VARIABLE) or Path.cwd())


def environment_folder(name: str, inside: str = "") -> Path | None:
    """The folder `.venv-NAME`, or a path inside it; of the folder of the run or of one above it."""
    here = run_folder()
    for folder in (here, *here.parents):
        found = folder / f".venv-{name}" / inside
        if found.exists():
            return found
    return None


def installed(name: str) -> str:
    """Names and versions of the packages in `.venv-NAME`, of PyPI and npm; empty without it."""
    folder = environment_folder(name)
    if folder is None:
        return ""
    places = ("lib/python3*/site-packages/*.dist-info", "Lib/site-packages/*.dist-info")
    packages = sorted(found.name for place in places for found in folder.glob(place))
    locked = folder / "node_modules" / ".package-lock.json"
    return "\n".join([*packages, locked.read_text("utf-8", "replace") if locked.is_file() else ""])


def find_environment(name: str, install: str = "") -> Path:
    """The folder `.venv-NAME`.

    Args:
        name: of the environment.
        install: a command that makes it, where there is no Makefile of memsim.

    Raises:
        ValueError: there is none; with the commands that make it.
    """
    found = environment_folder(name)
    if found is None:
        other = f", or by `{install}`" if install else ""
        raise ValueError(
            f"there is no environment .venv-{name}: make it by `make library NAME={name}`{other}"
        )
    return found
