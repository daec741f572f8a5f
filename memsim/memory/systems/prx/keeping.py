"""How PRX 0.3.0 writes: what is the system's own is refused, and what is kept has its copy."""

from __future__ import annotations

from datetime import datetime

from memsim.errors import StoreError
from memsim.memory.systems.prx import access
from memsim.memory.systems.prx.brain import Brain
from memsim.memory.systems.prx.files import Files
from memsim.memory.systems.prx.rows import Stamp

SYSTEM = "self_system"
SELF, ROUTER = "self/", "router/"
UNWRITABLE = "refusing to write reserved memory namespace without self_system session"


def keep(
    brain: Brain,
    files: Files | None,
    key: str,
    content: str,
    category: str,
    *,
    now: datetime,
    session: str | None = None,
    stamp: Stamp | None = None,
    space: str = "",
    sources: tuple[str, ...] = (),
) -> None:
    """Write a row and, where there are files, its copy.

    Raises:
        StoreError: the key is the system's own, or it cannot be written.
    """
    if key.startswith((SELF, ROUTER)) and session != SYSTEM:
        raise StoreError(UNWRITABLE)
    brain.store(
        key,
        content,
        category,
        now=now,
        session=session,
        stamp=stamp,
        space=space,
        sources=sources,
    )
    if files is not None:
        files.append(key, content, category, now)


def keep_scoped(
    brain: Brain,
    key: str,
    content: str,
    category: str,
    scope: access.Scope,
    *,
    now: datetime,
    sender_id: str | None = None,
    session: str | None = None,
    space: str = "",
    sources: tuple[str, ...] = (),
    files: Files | None = None,
) -> None:
    """Write a row on behalf of somebody, sorted by who they are and what it says.

    Raises:
        StoreError: as `keep`.
    """
    keep(
        brain,
        files,
        key,
        content,
        category,
        now=now,
        session=session,
        stamp=access.stamp_of(brain, content, scope, now, sender_id),
        space=space,
        sources=sources,
    )
