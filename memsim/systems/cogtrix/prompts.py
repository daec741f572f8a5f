"""What Cogtrix tells a model: the five documented rules of a summary, and how facts are distilled.

The words are memsim's own. The shape of the user's messages is the source's: what is said first,
and what is said once there is a summary.
"""

from __future__ import annotations

from memsim.models import Prompt
from memsim.systems.cogtrix.settings import SUMMARY_WORDS

RULES = (
    "Keep facts, data, decisions, user preferences and action items.",
    "Leave out small talk, greetings and the details of tool calls.",
    "Write in the third person and the present tense.",
    f"Use fewer than {SUMMARY_WORDS} words.",
    "Use bullet points.",
)
"""The five rules of the document."""

SUMMARY = Prompt(
    system="\n".join(f"- {rule}" for rule in RULES),
    user="The conversation to summarise:\n\n{messages}",
    again=(
        "The summary so far:\n---\n{previous}\n---\n\nTake these further exchanges into it, and say"
        " once what belongs together:\n\n{messages}"
    ),
    line="{Role}: {text}",
    joiner="\n\n",
)

DISTILLATION = Prompt(
    system=(
        "A summary of an earlier conversation is about to be dropped. List the facts in it that"
        " still matter: at most 15 lines, each of at most 20 words, each understandable on its"
        " own. Write nothing else."
    ),
    user="{messages}",
    line="{text}",
)
"""The source bounds the facts so; its words are not documented, and these are memsim's own."""
