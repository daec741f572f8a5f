"""What a memory did of its own accord, told to whoever wants to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEvent:
    """Something that a memory did.

    Attributes:
        kind: compaction, compaction-refused, stored, superseded, offloaded, shortened,
            deduplicated, archived, purged, denied.
        sources: ids of the messages it happened to.
        before, after: tokens before and after, where that makes sense.
        detail: one phrase; never what was said.
    """

    kind: str
    sources: tuple[str, ...] = ()
    before: int | None = None
    after: int | None = None
    detail: str = ""


EventListener = Callable[[MemoryEvent], None]


def ignore_event(_happening: MemoryEvent) -> None:
    """Tell nobody."""
