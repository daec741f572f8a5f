"""What AEGIS tells a model, in words of memsim's own: its prompts are not documented.

The document says what comes of them: a summary of a conversation, and notes in the scratchpad.
"""

from __future__ import annotations

from memsim.models import Prompt

EPISODE = Prompt(
    system=(
        "You write the record of a finished conversation, by which an agent recalls it later. Say"
        " in one paragraph of at most {words} words what the user wanted, what was found and done,"
        " what was decided, and which entities it was about, with their names, numbers and dates."
    ),
    user="{messages}",
)

NOTES = Prompt(
    system=(
        "You keep the scratchpad of an agent that works on a task. List what the user just said"
        " that the task will need again: names, numbers, dates, wishes, intermediate results. One"
        " short note a line. Where there is none, write nothing."
    ),
    user="{messages}",
)
