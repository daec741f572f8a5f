"""Which AgenticX it is: the document, the package of a version, or either without its defects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.memory.systems.agenticx.compactor import ContextCompactor
from memsim.memory.systems.agenticx.compactor06 import ContextCompactor06
from memsim.memory.systems.agenticx.gauging import WINDOW
from memsim.memory.systems.agenticx.index import WorkspaceIndex
from memsim.memory.systems.agenticx.recall import HEADING, LATEST, SOURCE_HEADING, Reading

if TYPE_CHECKING:
    from memsim.memory.systems.agenticx.compactor import Invoke
    from memsim.memory.systems.agenticx.content import Naming

NEW = "0.6"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a version does.

    Attributes:
        version: `0.3`, which the document describes, or `0.6`.
        source: as the package does it, where that differs from the document.
        fixed: without what defeats the design's own purpose.
    """

    version: str = "0.3"
    source: bool = False
    fixed: bool = False

    @property
    def new(self) -> bool:
        """Whether it is 0.6."""
        return self.version == NEW

    @property
    def kinds(self) -> int:
        """Kinds of facts."""
        return 4 if self.source else 2

    @property
    def replaces(self) -> bool:
        """Whether a compaction stays; the source of 0.3 compacts all of the history each time."""
        return self.new or self.fixed or not self.source

    @property
    def indexing(self) -> str:
        """When the workspace is indexed: after each `turn`, or `never`."""
        return "never" if self.source and not self.new and not self.fixed else "turn"

    def index(self) -> WorkspaceIndex:
        """An empty index."""
        return WorkspaceIndex(cjk=self.new, raw=self.source, fixed=self.fixed)

    def reading(self) -> Reading:
        """How it recalls."""
        return Reading(
            among_last=self.source and not self.fixed,
            users=1 if self.fixed else LATEST,
            heading=SOURCE_HEADING if self.source else HEADING,
            limit=30 if self.new else 5,
            used=3 if self.new else 5,
            floor=self.fixed or not self.source,
        )

    def compactor(
        self,
        invoke: Invoke,
        naming: Naming,
        *,
        messages: int | None = None,
        chars: int | None = None,
        keep: int | None = None,
        window: int | None = None,
    ) -> ContextCompactor:
        """A compactor; what is None is as published."""
        if self.new:
            return ContextCompactor06(
                invoke,
                naming=naming,
                threshold_messages=messages,
                threshold_chars=chars,
                retain_recent_messages=keep,
                window=WINDOW if window is None else window,
                smaller=self.fixed,
            )
        return ContextCompactor(
            invoke,
            threshold_messages=messages,
            threshold_chars=chars,
            retain_recent_messages=keep,
            pairs=self.fixed,
            smaller=self.fixed,
        )
