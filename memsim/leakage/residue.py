"""Every tier of a memory, searched for what should be gone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from memsim.leakage.world import Seen

if TYPE_CHECKING:
    from memsim.canary import Canary
    from memsim.leakage.lab import Lab
    from memsim.leakage.records import Trail
    from memsim.leakage.world import World

EXPORT, LOG = "export", "log"
"""Tiers that every strategy may have, besides those that it shows and its files."""

_RUN = re.compile(rb"[\x20-\x7e\t\r\n]{12,}")
_FOLDERS = {"cassettes": "cassette", "reports": "report", "backups": "backup"}
_KINDS = {
    "wal": "wal",
    "journal": "wal",
    "shm": "wal",
    "db": "database",
    "sqlite": "database",
    "sqlite3": "database",
    "md": "markdown",
    "log": "log file",
    "bak": "backup",
    "tmp": "temporary file",
}


def legible(data: bytes) -> str:
    """What can be read in a file: all of a text, and the runs of letters in anything else.

    Numbers as a program keeps them look like letters now and then; a run as long as a token does
    not come about by chance.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "\n".join(run.decode("ascii") for run in _RUN.findall(data))


def tier_of(name: str) -> str:
    """What sort of file a name belongs to: `wal`, `database`, `markdown`, ..., else `file`."""
    *folders, file = name.casefold().split("/")
    suffix = re.split(r"[.-]", file)[-1]
    return next((_FOLDERS[f] for f in folders if f in _FOLDERS), _KINDS.get(suffix, "file"))


def shown(world: World) -> Iterator[Seen]:
    """The tiers that a strategy can show its operator, and its saved state."""
    if world.inspectable:
        yield from world.surfaces()
    exported = world.exported()
    if exported is not None:
        yield exported


def beneath(world: World) -> Iterator[Seen]:
    """What lies beneath: every file, byte by byte, with its name, and whatever was logged."""
    for name, data in world.files():
        yield _seen(world, tier_of(name), f"{name}\n{legible(data)}")
    lines = "\n".join(text for _, text in world.logs())
    if lines:
        yield _seen(world, LOG, lines)


def found(
    lab: Lab, views: Iterable[Seen], canaries: Iterable[Canary]
) -> Mapping[str, dict[str, Trail]]:
    """Where each secret still is: the first trail to it in each tier, by its fingerprint."""
    wanted = tuple(canaries)
    by: dict[str, dict[str, Trail]] = {lab.fingerprint(canary): {} for canary in wanted}
    for view in views:
        whole = lab.trails(wanted, [view], lab.planted)
        for trail in whole:
            by[trail.canary].setdefault(view.surface, trail)
    return by


def _seen(world: World, tier: str, text: str) -> Seen:
    return Seen(surface=tier, viewer="", turn=world.turn, text=text)
