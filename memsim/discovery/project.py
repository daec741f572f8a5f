"""The user's project, and the folders of the strategies and scenarios of memsim."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from memsim.errors import ConfigError
from memsim.json_input import is_regular, read_bytes
from memsim.toml_input import parse_toml

# Line numbers in TOML, because the standard library does not report them.

_HEADER = re.compile(r"^\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_KEY = re.compile(
    r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_PLACE = re.compile(r"at line (\d+)")


def line_of(text: str, table: str, key: str) -> int | None:
    """The line, from 1, on which a table's key is set or its sub-table opens; None if not found.

    Args:
        text: a valid TOML document.
        table: dotted name of the table.
        key: a key in it.
    """
    wanted = f"{table}.{key}"
    current = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            current = _dotted(header[1])
            named = current
        elif found := _KEY.match(line):
            named = f"{current}.{_dotted(found[1])}".lstrip(".")
        else:
            continue
        if named == wanted or named.startswith(f"{wanted}."):
            return number
    return None


def line_of_text(text: str, table: str, key: str, value: str) -> int | None:
    """The line, from 1, of a quoted text in the value of a table's key.

    The line of the key if the text is written differently; None if there is no such key.
    """
    start = line_of(text, table, key)
    if start is None:
        return None
    for number, line in enumerate(text.splitlines()[start - 1 :], start=start):
        if f'"{value}"' in line or f"'{value}'" in line:
            return number
        if number > start and (_KEY.match(line) or _HEADER.match(line)):
            break
    return start


def _dotted(name: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in name.split("."))


def syntax_error_line(error: tomllib.TOMLDecodeError) -> int | None:
    """The line in the message of a TOML error."""
    found = _PLACE.search(str(error))
    return int(found[1]) if found else None


PYPROJECT = "pyproject.toml"
_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project: the folder whose files are trusted, and its `[tool.memsim]`.

    Attributes:
        root: the folder of the nearest `pyproject.toml` with `[tool.memsim]`; None outside of one.
        here: the folder that paths on a command line are relative to.
        table: `[tool.memsim]`, unchecked.
        text: the text of that file, for line numbers.
    """

    root: Path | None = None
    here: Path = field(default_factory=Path.cwd)
    table: Mapping[str, object] = field(default_factory=dict)
    text: str = ""

    @property
    def base(self) -> Path:
        """The folder that ids are relative to: the project, else the current folder."""
        return self.root or self.here

    def line(self, key: str, table: str = "") -> int | None:
        """The line of a key of `[tool.memsim]`, or of a table below it."""
        return line_of(self.text, f"tool.memsim.{table}".rstrip("."), key)

    def line_of_text(self, key: str, value: str) -> int | None:
        """The line of a text in the value of a key of `[tool.memsim]`; None without that key."""
        return line_of_text(self.text, "tool.memsim", key, value)

    def unread(self, folder: str) -> str:
        """Why an existing folder is ignored; empty if it is not.

        Outside of a project, no folder is trusted.
        """
        if self.root is not None or not (self.here / folder).is_dir():
            return ""
        return f"{folder}/ is not read: no {PYPROJECT} here has [tool.memsim] (memsim init adds it)"

    def show(self, path: Path) -> str:
        """A path in the form of ids and messages.

        It is relative to the project if it is inside, `builtin/...` if it belongs to memsim, and
        otherwise relative to the current folder if it is near. It always has forward slashes.
        """
        real = Path(os.path.realpath(path))  # which takes links to themselves
        for folder in (self.base.resolve(), self.here.resolve()):
            if real.is_relative_to(folder):
                return real.relative_to(folder).as_posix()
        if (shipped := builtin_name(real)) is not None:
            return shipped
        relative = os.path.relpath(real, self.here.resolve()).replace(os.sep, "/")
        return real.as_posix() if relative.startswith("../../../") else relative


def find_project(start: Path | None = None) -> Project:
    """The project of a folder.

    Args:
        start: the folder from which to search upwards; None for the current folder.

    Raises:
        ConfigError: the nearest `pyproject.toml` with `[tool.memsim]` cannot be read.
    """
    here = (start or _present()).resolve()
    for folder in (here, *here.parents):
        path = folder / PYPROJECT
        if is_regular(path) and (found := _read(path)) is not None:
            table, text = found
            return Project(root=folder, here=here, table=table, text=text)
    return Project(here=here)


def _present() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise ConfigError(
            "the current folder does not exist any more: change to another one"
        ) from error


def _read(path: Path) -> tuple[Mapping[str, object], str] | None:
    try:
        raw = read_bytes(path, ConfigError)
    except (FileNotFoundError, ConfigError):
        return None  # an unreadable file is taken for a foreign project
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if b"[tool.memsim" not in raw:
            return None
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError("not UTF-8", path=PYPROJECT, line=line) from error
    if "tool" not in text or "memsim" not in text:
        return None
    try:
        tool = parse_toml(text).get("tool", {})
    except ValueError as error:
        if "[tool.memsim" not in text:
            return None
        where = syntax_error_line(error) if isinstance(error, tomllib.TOMLDecodeError) else None
        raise ConfigError(f"not valid TOML: {error}", path=PYPROJECT, line=where) from error
    table = tool.get("memsim") if isinstance(tool, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigError("[tool.memsim] must be a table", path=PYPROJECT)
    return table, text


def builtin_folder(kind: str) -> Path:
    """The folder of memsim's own strategies or scenarios.

    Raises:
        ConfigError: it does not exist, so the installation is incomplete.
    """
    for folder in _shipped(kind):
        if folder.is_dir():
            return folder
    raise ConfigError(f"this installation of memsim is incomplete: its {kind} are missing")


def _shipped(kind: str) -> tuple[Path, ...]:
    installed = _PACKAGE / "_builtin" / kind
    # The folder beside the package is memsim's only in a checkout of memsim.
    checkout = _PACKAGE.parent
    if (checkout / PYPROJECT).is_file() and (checkout / "memsim") == _PACKAGE:
        return installed, checkout / kind
    return (installed,)


def is_built_in(file: Path | None) -> bool:
    """Whether a strategy's file is memsim's own, and not a user's or an installed package's."""
    return file is not None and builtin_name(file.resolve()) is not None


def builtin_name(path: Path) -> str | None:
    """A file of memsim as `builtin/...`; None for any other file."""
    for kind in ("strategies", "scenarios"):
        for folder in _shipped(kind):
            if path.is_relative_to(folder):
                return f"builtin/{path.relative_to(folder).as_posix()}"
    return None
