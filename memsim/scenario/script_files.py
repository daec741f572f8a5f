"""Find scenario files and read their bytes."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from memsim.errors import ScenarioError

MAX_BYTES = 8 * 1024 * 1024
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SUFFIXES = (".yaml", ".yml")
_MARK = re.compile(rb"""^[ \t]*+(?:\{[ \t]*+)?["']?memsim["']?[ \t]*+:""", re.MULTILINE)


def scenario_files(folder: Path) -> list[Path]:
    """Every YAML file below a folder, sorted by path; what is hidden is left out.

    Raises:
        ScenarioError: a link is broken or circular.
    """
    files, problems = search_scenario_files(folder)
    if problems:
        raise problems[0]
    return files


def search_scenario_files(folder: Path) -> tuple[list[Path], list[ScenarioError]]:
    """The files of `scenario_files`, and an error for every broken or circular link."""
    files: list[Path] = []
    problems: list[ScenarioError] = []
    for root, folders, names in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in [name for name in folders if _circles(folder, Path(root, name))]:
            folders.remove(name)
            said = "is a link to one of its own parents; remove it"
            problems.append(ScenarioError(said, path=Path(root, name)))
        for name in names:
            path = Path(root, name)
            if name.startswith("."):
                continue
            if name.endswith(_SUFFIXES):
                files.append(path)
            elif "." not in name and path.is_symlink() and not path.exists():
                # It may have meant a folder of scenarios.
                problems.append(ScenarioError(_leads_nowhere(path), path=path))
    return sorted(files, key=lambda path: path.parts), problems


def check_one_line(name: str) -> str:
    """Check that a name fits on one line, as ids and reports need.

    Raises:
        ScenarioError: it holds a line break or another control character.
    """
    if _CONTROL.search(name):
        said = "a name must not contain a line break or another control character; rename it"
        raise ScenarioError(said, path=ascii(name)[1:-1])
    return name


def _circles(top: Path, path: Path) -> bool:
    if not path.is_symlink():
        return False
    real, above = path.resolve(), path.parents[: len(path.parts) - len(top.parts)]
    return top.resolve().is_relative_to(real) or real in {each.resolve() for each in above}


def _leads_nowhere(path: Path) -> str:
    return f"is a link to nothing: {str(path.readlink())!a} is not there"


def has_memsim_key(data: bytes) -> bool:
    """Whether a file's bytes have the key `memsim`, so that it means to be a scenario."""
    # UTF-16 must be seen to be said so: without its zero bytes it is ASCII enough.
    if _MARK.match(data):
        return True
    return bool(_MARK.search(data.replace(b"\x00", b"").lstrip(b"\xef\xbb\xbf\xff\xfe")))


def read_bytes(path: Path) -> bytes:
    """What a script file holds; of one that is too large, enough for `decode` to say so.

    Raises:
        ScenarioError: it cannot be read; without a path.
    """
    try:
        name = str(path)
        found = os.stat(name)  # noqa: PTH116 - a suite has thousands of files
        if not stat.S_ISREG(found.st_mode):
            raise ScenarioError("is not a regular file")
        with open(name, "rb", buffering=0) as file:  # noqa: PTH123 - as above
            # As much as there is, and one byte to see it grow; a pseudo file does not say.
            return file.read(min(found.st_size or MAX_BYTES, MAX_BYTES) + 1)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError | ValueError) -> ScenarioError:
    if isinstance(error, FileNotFoundError) and path.is_symlink():
        return ScenarioError(_leads_nowhere(path))
    reason = getattr(error, "strerror", None) or str(error)
    return ScenarioError(f"cannot be read: {reason}")
