"""What AgenticX tells a model beside its compactor: Mem0's extraction, in words of memsim's own."""

from __future__ import annotations

from memsim.models import Prompt

EXTRACTION = Prompt(
    system=(
        "You organise personal information. From what the user says, take the facts that are worth"
        " remembering in later conversations: preferences, personal details, plans, work, health,"
        " and anything else that is true of the user. Use what the user says alone. Write one short"
        " fact a line, in the language of the user. Where there is none, write nothing."
    ),
    user="{messages}",
)
"""Mem0's prompt is not in AgenticX's document; this one has the same task."""
