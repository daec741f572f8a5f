"""What can be set, with the defaults of each mode, and where settings come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from memsim.memory.compaction.outcome import CompactionOutcome
from memsim.message import TokenCounter
from memsim.models import Embedder, Model


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionServices:
    """What a session works with; `tell` takes a summary's outcome, or a sentence on the mode."""

    counter: TokenCounter
    model: Model
    embed: Callable[[], Embedder]
    tell: Callable[[CompactionOutcome | str], None] = lambda _what: None


Mode = Literal["conversation", "code", "reasoning"]
Origin = Literal["document", "source"]
MODES: tuple[Mode, ...] = get_args(Mode)

WINDOWS: dict[Mode, int] = {"conversation": 25, "code": 30, "reasoning": 30}
"""Messages that are sent verbatim."""
RECALL_K = 3
"""Exchanges that are recalled for an input."""
SOURCE_RECALL_K: dict[Mode, int] = {"conversation": 3, "code": 3, "reasoning": 2}
BATCH = 10
"""Messages that must have left the window before they are summarised."""
MEANINGFUL_MESSAGES = 4
MEANINGFUL_CHARACTERS = 5000
SUMMARY_WORDS = 400
SUMMARY_TOKENS = SUMMARY_WORDS * 4 // 3
"""Tokens that so many words have, as a rule."""
UNCOVERED_TOKENS: dict[Mode, int] = {"conversation": 16000, "code": 16000, "reasoning": 32000}
"""The source's: tokens of turns after which a summary is dropped."""
MAX_AGE_HOURS = 24
"""The source's: age at which a summary is dropped when a reasoning session is resumed."""
FACTS_DAYS = 7

ADDITIONS: dict[Mode, str] = {
    "conversation": "You are a helpful AI assistant.",
    "code": "You are an expert programmer.",
    "reasoning": "You are a strategic advisor.",
}
"""How the system prompt speaks to the model in each mode."""

MODE_VARIABLE = "COGTRIX_MEMORY_MODE"
RECALL_VARIABLE = "COGTRIX_VECTOR_RECALL_K"


@dataclass(frozen=True, slots=True, kw_only=True)
class CogtrixSettings:
    """How a session works, None for what a mode decides; see `strategies/cogtrix.py`."""

    mode: Mode = "conversation"
    working_memory_size: int | None = None
    summarization: bool = True
    vector_recall_k: int | None = None
    max_files: int = 20
    max_errors: int = 5
    max_decisions: int = 20
    max_alternatives: int = 10
    prefix_max_stale_turns: int = 3
    origin: Origin = "document"
    fixed: bool = False
    tiers: bool = False
    automatic: bool = False

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("mode", self.mode, MODES),
            ("origin", self.origin, get_args(Origin)),
        ):
            if value not in allowed:
                raise ValueError(f"{name} is {value!r}: it is {' or '.join(map(repr, allowed))}")
        counts = ("working_memory_size", "max_files", "max_errors", "max_decisions")
        least = dict.fromkeys((*counts, "max_alternatives"), 1)
        least |= dict.fromkeys(("vector_recall_k", "prefix_max_stale_turns"), 0)
        for name, at_least in least.items():
            value = getattr(self, name)
            if value is not None and value < at_least:
                raise ValueError(f"{name} is {value}: at least {at_least}")

    @property
    def source(self) -> bool:
        """Whether the source's behaviour holds."""
        return self.origin == "source"

    def window(self, mode: Mode) -> int:
        """Messages that are sent verbatim in a mode."""
        return self.working_memory_size or WINDOWS[mode]

    def recalled(self, mode: Mode) -> int:
        """Exchanges that are recalled in a mode."""
        if self.vector_recall_k is not None:
            return self.vector_recall_k
        return SOURCE_RECALL_K[mode] if self.source else RECALL_K


EMBEDDERS = ("ollama", "openai")
"""Providers of embeddings in the order in which they are tried at the start."""


def embedding_model(config: Mapping[str, Any], available: Mapping[str, str]) -> str | None:
    """Name the model that exchanges are embedded with; None where there is none: recall is skipped.

    It is the `model` of the entry of `models` that `rag.model` names, else that of the first
    provider that answers. Raises ValueError where there is no such entry.
    """
    named = (config.get("rag") or {}).get("model")
    if named is None:
        return next((available[provider] for provider in EMBEDDERS if provider in available), None)
    models = config.get("models") or {}
    if named not in models:
        raise ValueError(f"rag.model is {named!r}: models has no such entry")
    return str(models[named]["model"])


def memory_settings(
    config: Mapping[str, Any], environment: Mapping[str, str] | None = None, mode: str | None = None
) -> CogtrixSettings:
    """Read the `memory:` part of a configuration; a variable outdoes it, a given mode both.

    Raises:
        ValueError: something there means nothing.
    """
    memory = config.get("memory") or {}
    given = environment or {}
    chosen = mode or given.get(MODE_VARIABLE) or memory.get("mode") or "conversation"
    options = dict((memory.get("modes") or {}).get(chosen) or {})
    if RECALL_VARIABLE in given:
        options.setdefault("vector_recall_k", int(given[RECALL_VARIABLE]))
    try:
        return CogtrixSettings(**{**options, "mode": chosen})
    except TypeError as error:
        raise ValueError(f"memory.modes.{chosen}: {error}") from error
