"""Refs: printable names of strategies with parameters, which processes exchange.

::

    sliding_window                          a strategy by name
    sliding_window:messages=40,scope=turn   with parameters
    my.py                                   the only strategy in a file
    my.py@Mine:x=1                          one of several
    mcp:server-memory,k=5                   the same as mcp:preset=server-memory,k=5
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from memsim.errors import RefError

Origin = Literal["project", "installed", "built-in", "path"]

_FILE = re.compile(
    r"^(?P<path>(?:[A-Za-z]:(?=[\\/]))?[^:@]*\.py)(?:@(?P<name>\w+))?(?::(?P<rest>.*))?$", re.DOTALL
)
_NAME = re.compile(r"^(?P<name>[A-Za-z_][\w-]*)(?::(?P<rest>.*))?$", re.DOTALL)
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


_UNNAMED = {"mcp": "preset"}
"""By strategy, the parameter that may stand first without its name, and is printed so."""
_PRESET = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyRef:
    """A strategy and its parameters.

    Attributes:
        name: its name, such as `sliding_window`; if given by path, its class as written, or empty
            for the only strategy of the file.
        path: the file as the user wrote it, if given by path; otherwise empty.
        params: parameters and their values as written.
        file: the file that defines it, once found.
        entry: the entry point of an installed strategy.
        class_name: the class that defines it, once found.
        control: its `control`, if its source sets it.
    """

    name: str
    path: str = ""
    params: tuple[tuple[str, str], ...] = ()
    file: Path | None = field(default=None, compare=False, repr=False)
    entry: str = field(default="", compare=False, repr=False)
    class_name: str = field(default="", compare=False, repr=False)
    control: str = field(default="", compare=False, repr=False)

    @property
    def handle(self) -> str:
        """The ref without its parameters."""
        if not self.path:
            return self.name
        return f"{self.path}@{self.name}" if self.name else self.path

    def __str__(self) -> str:
        if not self.params:
            return self.handle
        return f"{self.handle}:" + ",".join(self._shown(*each) for each in self.params)

    def _shown(self, key: str, value: str) -> str:
        unnamed = key == _UNNAMED.get(self.handle) and key == self.params[0][0]
        return value if unnamed and _PRESET.fullmatch(value) else f"{key}={value}"


def parse_ref(text: str) -> StrategyRef:
    """Parse a ref.

    Raises:
        RefError: the text is not a ref.
    """
    found = _FILE.match(text) or _NAME.match(text)
    if not found or not text.isprintable():
        raise RefError(
            f"{text!r} is not a strategy such as sliding_window:messages=20 or my.py@Mine"
        )
    parts = found.groupdict()
    return StrategyRef(
        name=parts["name"] or "",
        path=parts.get("path") or "",
        params=_parse_params(_named(text, parts), text),
    )


def _named(text: str, parts: Mapping[str, str | None]) -> str | None:
    """The parameters, each with its name."""
    rest, first = parts["rest"], _UNNAMED.get(text.partition(":")[0])
    if first and rest and _PRESET.fullmatch(rest.partition(",")[0]):
        return f"{first}={rest}"
    return rest


def _parse_params(rest: str | None, text: str) -> tuple[tuple[str, str], ...]:
    if rest is None:
        return ()
    params: dict[str, str] = {}
    for part in rest.split(","):
        key, equals, value = part.partition("=")
        key = key.strip()
        if not equals or not key.isidentifier():
            raise RefError(f"{text!r}: a parameter must be written as name=value, not {part!r}")
        if key in params:
            raise RefError(f"{text!r}: parameter {key} is given twice")
        params[key] = value.strip()
    return tuple(params.items())


def snake_case(class_name: str) -> str:
    """The strategy name of a class: `FullContext` is `full_context`, `Bm25` is `bm25`."""
    return _WORD.sub("_", class_name).lower()
