"""Find the files of a dataset that is published as a folder of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.errors import ScenarioError
from memsim.json_input import is_folder, is_regular

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def find_files(path: Path, *suffixes: str, levels: int = 1) -> list[Path]:
    """The file at a path, or those of a folder with one of these suffixes, sorted.

    Args:
        path: a file or a folder.
        suffixes: such as `.json`.
        levels: how many levels of folders are looked through; 1 for the folder alone.

    Raises:
        ScenarioError: the folder cannot be read, or holds no such file.
    """
    if not is_folder(path):
        return [path]
    try:
        names = ["*/" * level + f"*{suffix}" for level in range(levels) for suffix in suffixes]
        found = sorted({file for name in names for file in path.glob(name)})
    except OSError as error:
        raise ScenarioError(f"cannot be read: {error.strerror}", path=path) from error
    files = [file for file in found if is_regular(file)]
    if not files:
        wanted = " or ".join(f"*{suffix}" for suffix in suffixes)
        raise ScenarioError(f"no {wanted} in this folder", path=path)
    return files


def find_file(path: Path, pattern: str) -> Path:
    """The file at a path, or the only one of a folder whose name fits a pattern.

    Raises:
        ScenarioError: the folder holds no such file, or several.
    """
    if not is_folder(path):
        return path
    return only_file([p for p in sorted(path.glob(pattern)) if is_regular(p)], path, pattern)


def only_file(found: Sequence[Path], folder: Path, pattern: str) -> Path:
    """The one file that was found in a folder.

    Raises:
        ScenarioError: there is none, or there are several.
    """
    if not found:
        raise ScenarioError(f"no {pattern} in this folder", path=folder)
    if len(found) > 1:
        names = ", ".join(p.name for p in found)
        raise ScenarioError(f"several files here, name one: {names}", path=folder)
    return found[0]
