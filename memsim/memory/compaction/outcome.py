"""What came of a compaction, told so that it can be logged and counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["compaction", "refused", "failed", "nothing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a compaction, or of one step of it.

    Attributes:
        kind: `compaction`: there is less history now. `refused`: what a model wrote was not fit to
            use. `failed`: a model failed. `nothing`: there was nothing to do. History and summary
            are as they were in all cases but the first.
        sources: ids of the messages that were taken out, shortened or merged, or were to be.
        before: tokens before, of history and summary together; of what was to be merged and the
            summary alone where `merge` tells it.
        after: tokens after, of the same; as before when nothing changed.
        detail: why nothing changed, or what was out of the ordinary.
        step: the step that did it.
        calls: how often a model was asked.
        steps: of a chain: what came of each step that was tried.
    """

    kind: Kind
    sources: tuple[str, ...]
    before: int
    after: int
    detail: str = ""
    step: str = ""
    calls: int = 0
    steps: tuple[Outcome, ...] = ()
