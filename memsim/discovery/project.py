"""Where things are: a user's project, and the strategies and scenarios that memsim ships."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from memsim.errors import ConfigError

# Line numbers in TOML, which the standard library's reader does not give.


_HEADER = re.compile(r"^\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_KEY = re.compile(
    r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_PLACE = re.compile(r"at line (\d+)")


def line_of(text: str, table: str, key: str) -> int | None:
    """The line, from 1, on which a table's key is set, or its sub-table opens; None if not found.

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
    """The line, from 1, on which a text stands in quotes in the value of a table's key.

    The key's own line where it is written otherwise there; None if the key is not found.
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
    """The line that the reader's own message names."""
    found = _PLACE.search(str(error))
    return int(found[1]) if found else None


PYPROJECT = "pyproject.toml"
_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The folder whose files are trusted, and what its `[tool.memsim]` says.

    Attributes:
        root: the folder of the nearest `pyproject.toml` with `[tool.memsim]`; None outside of one.
        here: the folder that paths on a command line are relative to.
        table: `[tool.memsim]` as it stands there, unchecked.
        text: the text of that file, for line numbers.
    """

    root: Path | None = None
    here: Path = field(default_factory=Path.cwd)
    table: Mapping[str, object] = field(default_factory=dict)
    text: str = ""

    @property
    def base(self) -> Path:
        """The folder that ids are relative to: the root, or the present folder outside of one."""
        return self.root or self.here

    def line(self, key: str, table: str = "") -> int | None:
        """The line of a key of `[tool.memsim]`, or of a table below it."""
        return line_of(self.text, f"tool.memsim.{table}".rstrip("."), key)

    def line_of_text(self, key: str, value: str) -> int | None:
        """The line of a text in the value of a key of `[tool.memsim]`; None without that key."""
        return line_of_text(self.text, "tool.memsim", key, value)

    def unread(self, folder: str) -> str:
        """Why a folder here is not looked into though it is there; empty where nothing is amiss.

        Outside of a project nothing is trusted that happens to lie about.
        """
        if self.root is not None or not (self.here / folder).is_dir():
            return ""
        return f"{folder}/ is not read: no {PYPROJECT} here has [tool.memsim] (memsim init adds it)"

    def show(self, path: Path) -> str:
        """A path as ids and messages write it.

        Relative to the project where it lies below it, `builtin/...` where it is memsim's own,
        otherwise relative to the present folder where it is near; always with forward slashes.
        """
        real = path.resolve()
        for folder in (self.base.resolve(), self.here.resolve()):
            if real.is_relative_to(folder):
                return real.relative_to(folder).as_posix()
        if (shipped := builtin_name(real)) is not None:
            return shipped
        relative = os.path.relpath(real, self.here.resolve()).replace(os.sep, "/")
        return real.as_posix() if relative.startswith("../../../") else relative


def find_project(start: Path | None = None) -> Project:
    """The project that a folder belongs to.

    Args:
        start: the folder to look from, upwards; the present one when None.

    Raises:
        ConfigError: the nearest `pyproject.toml` with `[tool.memsim]` cannot be read.
    """
    here = (start or _present()).resolve()
    for folder in (here, *here.parents):
        path = folder / PYPROJECT
        if path.is_file() and (found := _read(path)) is not None:
            table, text = found
            return Project(root=folder, here=here, table=table, text=text)
    return Project(here=here)


def _present() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise ConfigError("the present folder is gone") from error


def _read(path: Path) -> tuple[Mapping[str, object], str] | None:
    try:
        raw = path.read_bytes()
    except OSError:
        return None  # not a project of ours as far as anyone can tell
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
        tool = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError as error:
        if "[tool.memsim" not in text:
            return None
        message = f"not valid TOML: {error}"
        raise ConfigError(message, path=PYPROJECT, line=syntax_error_line(error)) from error
    table = tool.get("memsim") if isinstance(tool, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigError("[tool.memsim] must be a table", path=PYPROJECT)
    return table, text


def builtin_folder(kind: str) -> Path:
    """The folder of what memsim ships.

    Args:
        kind: `strategies` or `scenarios`.

    Raises:
        ConfigError: it is not there, so the installation is incomplete.
    """
    for folder in _shipped(kind):
        if folder.is_dir():
            return folder
    raise ConfigError(f"this installation of memsim is incomplete: its {kind} are missing")


def _shipped(kind: str) -> tuple[Path, ...]:
    installed = _PACKAGE / "_builtin" / kind
    # Next to the package there may be anybody's folder, unless a checkout of memsim is there.
    checkout = _PACKAGE.parent
    if (checkout / PYPROJECT).is_file() and (checkout / "memsim") == _PACKAGE:
        return installed, checkout / kind
    return (installed,)


def builtin_name(path: Path) -> str | None:
    """A shipped file as `builtin/...`; None for any other file."""
    for kind in ("strategies", "scenarios"):
        for folder in _shipped(kind):
            if path.is_relative_to(folder):
                return f"builtin/{path.relative_to(folder).as_posix()}"
    return None
