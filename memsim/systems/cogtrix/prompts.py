"""What Cogtrix tells a model: the five documented rules of a summary, and how facts are distilled.

The rules are the document's, in other words but for their numbers. The messages of the user have
the shape that the source gives them.
"""

from __future__ import annotations

from memsim.models import Prompt

SUMMARY = Prompt(
    system=(
        "You summarise a conversation.\n"
        "- Preserve key facts, data, decisions, user preferences and action items.\n"
        "- Drop small-talk, greetings and verbose details of tool calls.\n"
        "- Write in the third person, present tense.\n"
        "- Keep the summary under 400 words.\n"
        "- Use bullet points."
    ),
    user="Summarize the following conversation:\n\n\n{messages}",
    again=(
        "Here is the existing summary of earlier conversation:\n---\n{previous}\n---\n\n"
        "Incorporate the following new exchanges into the summary, merging overlapping topics and"
        " keeping the result concise:\n\n\n{messages}"
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
