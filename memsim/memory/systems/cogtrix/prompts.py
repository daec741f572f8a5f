"""What Cogtrix tells a model that summarises, for those who give it one of their own.

memsim's models know the task; what they are given is the same text, and the same limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.memory.systems.cogtrix.exchanges import transcript
from memsim.memory.systems.cogtrix.settings import SUMMARY_WORDS
from memsim.message import said

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memsim.message import Message

RULES = (
    "Keep facts, data, decisions, user preferences and action items.",
    "Leave out small talk, greetings and the details of tool calls.",
    "Write in the third person and the present tense.",
    f"Use fewer than {SUMMARY_WORDS} words.",
    "Use bullet points.",
)
"""The five rules of the document."""

FIRST = "The conversation to summarise:\n\n{text}"
NEXT = (
    "The summary so far:\n---\n{summary}\n---\n\nTake these further exchanges into it, and say once"
    " what belongs together:\n\n{text}"
)


def summary_prompt(batch: Iterable[Message], summary: str = "") -> tuple[Message, Message]:
    """The rules, and what is to be summarised.

    Args:
        batch: messages that have left the window.
        summary: that of all before them; empty for none.
    """
    form = NEXT.replace("{summary}", summary) if summary else FIRST
    return (
        said("system", "\n".join(f"- {rule}" for rule in RULES), id="rules"),
        said("user", form.replace("{text}", transcript(batch)), id="batch"),
    )
