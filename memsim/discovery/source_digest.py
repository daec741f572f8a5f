"""Tell two versions of a strategy apart, with what its source names: mappings, libraries, packages.

A case is not taken over from an earlier run, and a comparison says so, once one of these changes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from memsim.adapters.environments import installed, run_folder
from memsim.adapters.library_process import program_file
from memsim.adapters.mcp_mapping import preset_file
from memsim.discovery.loader import pin
from memsim.discovery.strategy_ref import StrategyRef

_NAMED = re.compile(r'^(?: +(library|program) *= *"|(environment): *"?)([\w-]+)', re.MULTILINE)
"""A class that names a library and its program, or a mapping that names an environment."""


def source_digest(ref: StrategyRef) -> str:
    """The sha256 of a strategy's source, or of its entry point's name if there is no source.

    The source includes a mapping that a parameter names, the program that serves a library, and the
    names and versions of the packages in its environment.
    """
    if ref.file is None:
        return hashlib.sha256(ref.entry.encode()).hexdigest()
    parts = [_file_digest(ref.file, pin(ref.file))]
    for path in (ref.file, *_mappings(ref)):
        if path != ref.file:
            parts.append(_file_digest(path, pin(path)))
        for kind, name in _named(path, pin(path)):
            program = program_file(name)
            if kind != "program":
                parts.append(installed(name))
            elif program.is_file():
                parts.append(_file_digest(program, pin(program)))
    return hashlib.sha256("".join(parts).encode()).hexdigest() if parts[1:] else parts[0]


def _mappings(ref: StrategyRef) -> Iterator[Path]:
    for name, value in ref.params:
        path = run_folder() / value if value.endswith(".yaml") else None
        if name == "preset" and ref.name == "mcp":
            path = preset_file(value)
        if path is not None and path.is_file():
            yield path


@lru_cache(maxsize=256)
def _file_digest(path: Path, _version: tuple[int, int]) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@lru_cache(maxsize=256)
def _named(path: Path, _version: tuple[int, int]) -> tuple[tuple[str, str], ...]:
    found = _NAMED.findall(path.read_text("utf-8", "replace"))
    return tuple((library or mapped, name) for library, mapped, name in found)
