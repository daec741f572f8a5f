"""What a session works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.memory.compaction.outcome import Outcome
    from memsim.models import Embedder, Model
    from memsim.tokens import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Works:
    """What a session works with.

    Attributes:
        counter: token counts.
        model: writes summaries.
        embed: makes the embedder on first use.
        tell: takes what came of a summary, or the words that tell of another mode.
    """

    counter: TokenCounter
    model: Model
    embed: Callable[[], Embedder]
    tell: Callable[[Outcome | str], None] = lambda _what: None
