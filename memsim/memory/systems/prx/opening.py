"""Opens what PRX keeps its rows and files in, by the backend that its settings name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.memory.systems.prx.brain import BRAIN, UNEMBEDDED, Brain
from memsim.memory.systems.prx.files import Files
from memsim.memory.systems.prx.soul import hydrate, should_hydrate

if TYPE_CHECKING:
    from memsim.memory.systems.prx.settings import Settings
    from memsim.models import Embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a memory is given to live in.

    Attributes:
        embed: gives the embedder on first use.
        folder: gives the workspace on first use; asked of no backend without files.
        services: addresses of servers.
        closing: closes what is opened here.
    """

    embed: Callable[[], Embedder]
    folder: Callable[[], Path]
    services: Mapping[str, str]
    closing: ExitStack


def workspace_of(settings: Settings, around: Surroundings) -> Path | None:
    """The folder of backends that have files."""
    return around.folder() if settings.backend in {"sqlite", "markdown"} else None


def files_of(settings: Settings, workspace: Path | None, *, real: bool) -> Files | None:
    """The files beside the rows, where there are any."""
    if workspace is None:
        return None
    if settings.backend == "markdown":
        return Files(workspace, stamped=False)
    # What is under access control is not written where everybody could read it.
    if real and not settings.acl_enabled:
        return Files(workspace, stamped=True)
    return None


def open_brain(
    settings: Settings,
    workspace: Path | None,
    around: Surroundings,
    *,
    now: datetime,
    real: bool,
    fixed: bool,
) -> Brain:
    """The rows of a memory, with all that its server has of them.

    0.3.0 makes a database that is lost again from its files, which it cannot open then.

    Raises:
        ValueError: a server has no address.
        StoreError: the backend cannot be opened.
    """
    mirror = None
    if settings.backend == "postgres":
        from memsim.memory.stores.opening import open_places
        from memsim.memory.systems.prx.mirror import StoreMirror

        places = open_places("postgres", around.folder, around.services, throwaway=True)
        around.closing.callback(places.close)
        mirror = StoreMirror(places.store)
    path = None
    if settings.backend == "sqlite" and workspace is not None:
        path = workspace / BRAIN
        if real and settings.auto_hydrate and should_hydrate(workspace):
            hydrate(workspace, now, fixed=fixed)
    brain = Brain(
        path,
        embed=around.embed if settings.hybrid else None,
        unembedded=UNEMBEDDED if real else frozenset(),
        cache_size=settings.embedding_cache_size,
        mirror=mirror,
        apart=fixed,
        erases=fixed,
    )
    around.closing.callback(brain.close)
    if mirror is not None:
        brain.restore(mirror.rows())
    return brain
