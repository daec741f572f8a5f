"""Which short-term memory it is to be: of a version, with a window strategy and thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memsim.memory.systems.agentscope.config import (
    STRATEGIES,
    VERSIONS,
    AutoContextConfig,
    Strategy,
    Version,
)
from memsim.memory.systems.agentscope.estimate import DocumentCounter, PackageCounter
from memsim.memory.systems.agentscope.families import Asks, families
from memsim.memory.systems.agentscope.marked import CompressionConfig
from memsim.memory.systems.agentscope.plans import PlanNotebook
from memsim.memory.systems.agentscope.python_agent import PythonAgentMemory
from memsim.memory.systems.agentscope.short_term import ShortTermMemory
from memsim.memory.systems.agentscope.windows import documented, packaged

if TYPE_CHECKING:
    from memsim.tokens import TokenCounter

CHARACTERS = 4
"""Characters that the Python package's threshold is taken to have for each token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is wanted of a short-term memory; the attributes are the strategy's parameters.

    Raises:
        ValueError: a word means nothing here, or a number is out of its range.
    """

    memory: Literal["inmemory", "autocontext"]
    version: Version
    window: Strategy | Literal["auto"]
    config: AutoContextConfig
    keep_recent: int
    summary: int
    fixed: bool

    def __post_init__(self) -> None:
        words: dict[str, tuple[str, ...]] = {
            "memory": ("inmemory", "autocontext"),
            "version": VERSIONS,
            "window": ("auto", *STRATEGIES),
        }
        for name, known in words.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}: one of {', '.join(known)}")
        for name in ("keep_recent", "summary"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: at least 1")
        if self.version != "document" and self.window != "auto":
            raise ValueError(f"window is {self.window!r}: version {self.version} has its own ways")

    @property
    def strategy(self) -> Strategy:
        """The window strategy, where the document's are meant."""
        if self.window != "auto":
            return self.window
        return "progressive" if self.memory == "autocontext" else "none"


def short_term(
    choice: Choice, counter: TokenCounter, names: dict[str, str]
) -> ShortTermMemory | PythonAgentMemory:
    """A short-term memory.

    Args:
        choice: which.
        counter: tokens as contexts count them.
        names: by message id, the name of the tool whose answer it is; grows.
    """
    compresses = choice.memory == "autocontext"
    if choice.version == "1.0.21":
        threshold = CHARACTERS * choice.config.token_threshold
        config = CompressionConfig(
            trigger_threshold=threshold,
            keep_recent=choice.keep_recent,
            summary_template="{task_overview}",
            few=not choice.fixed,
        )
        used = config if compresses else None
        return PythonAgentMemory(counter, names, used, choice.summary)
    if choice.version == "1.0.12":
        estimate = PackageCounter(names)
        plans = PlanNotebook()
        asks = Asks(limit=choice.summary, hint=plans.hint)
        made = families(choice.config, estimate, asks)
        compressing = packaged(choice.config, estimate, made) if compresses else None
        return ShortTermMemory(counter, compressing, plans)
    text_only = DocumentCounter(results=choice.fixed)
    compressing = documented(
        choice.strategy, choice.config, text_only, choice.summary, smaller=choice.fixed
    )
    return ShortTermMemory(counter, compressing)
