"""AgenticX's `memory:` settings, and where its workspace and databases are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

WORKSPACE = "~/.agenticx/workspace"
DEFAULT_WORKSPACE_MEMORY_DB = "~/.agenticx/memory/main.sqlite"
"""Where the index of workspaces is kept."""

ROOT_VARIABLE = "AGX_WORKSPACE_ROOT"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """The `memory:` part of `~/.agenticx/config.yaml`.

    Attributes:
        backend: `sqlite`, `redis`, `postgresql` or another; declared, and read by no part of the
            memory, whatever it says.
        path: the root of the workspace.

    Raises:
        ValueError: a value is no text, or empty.
    """

    backend: str = "sqlite"
    path: str = WORKSPACE

    def __post_init__(self) -> None:
        for name in ("backend", "path"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value:
                raise ValueError(f"memory.{name} is {value!r}: it is a text")


def configured(config: Mapping[str, Any]) -> MemorySettings:
    """The settings of a configuration file, given as values.

    Raises:
        ValueError: its `memory:` part holds what it does not take.
    """
    told = config.get("memory") or {}
    if not isinstance(told, Mapping):
        raise ValueError("memory is no part of the settings")  # noqa: TRY004 - a user's mistake
    known = {field.name for field in fields(MemorySettings)}
    for name in told:
        if name not in known:
            raise ValueError(f"memory takes no {name!r}: it takes {', '.join(sorted(known))}")
    return MemorySettings(**told)


def workspace_dir(session: str | None, environment: Mapping[str, str], home: Path) -> Path:
    """Where the hook writes: the session's workspace, else the variable's, else the user's home.

    Args:
        session: `session.workspace_dir`.
        environment: variables.
        home: of the user.
    """
    return Path(session or environment.get(ROOT_VARIABLE) or home)
