"""How AgenticX 0.6 decides that a conversation has become too long: tokens, with escape hatches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memsim.memory.systems.agenticx.content import counted_text

if TYPE_CHECKING:
    from memsim.message import Message

WINDOW = 128_000
"""Tokens that a model is taken to read where nobody says which it is."""

LEAST_WINDOW, RESERVE, BUFFER = 1024, 20_000, 13_000
PER_TOKEN = 3.5
"""Characters of a token where no tokenizer is at hand."""

MICRO_BUDGET, DATA_BUDGET, LEAST_SHOWN = 4000, 24_000, 200
WHOLE = frozenset({"show_widget", "tool_result_recall"})


def autocompact_threshold(window: int = WINDOW) -> int:
    """Tokens at which a conversation is compacted, for a model that reads so many."""
    window = max(LEAST_WINDOW, window)
    effective = max(LEAST_WINDOW, window - min(RESERVE, max(1, window // 4)))
    return max(1, effective - BUFFER)


def estimated_tokens(work: Sequence[Message]) -> int:
    """Tokens of messages, by their characters."""
    return max(1, int(len("\n".join(map(counted_text, work))) / PER_TOKEN))


def characters(work: Sequence[Message]) -> int:
    """Characters of messages, their calls included."""
    return sum(len(counted_text(m)) for m in work)


def micro_compacted(tool: str, text: str, budget: int = MICRO_BUDGET) -> str:
    """A tool's result by its beginning and end, where it is too long.

    Args:
        tool: the tool's name; results of some are never cut, and of data sources later.
        text: the result.
        budget: characters that it may have.
    """
    limit = DATA_BUDGET if tool == "query_data_source" else budget
    if tool in WHOLE or len(text) <= limit:
        return text
    shown = max(LEAST_SHOWN, limit // 3)
    return "\n".join(
        (
            f"[micro-compact tool={tool} original_chars={len(text)}]",
            text[:shown],
            f"... truncated ({len(text) - 2 * shown} chars omitted) ...",
            text[-shown:],
        )
    )
