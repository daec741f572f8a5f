"""What PRX 0.3.0 tells a model that sums up a chat, in words of memsim's own.

The document has no prompt. The bounds are those of the package: 12,000 characters are shown, and
2,000 may be written.
"""

from __future__ import annotations

from memsim.models import Prompt

COMPACTION = Prompt(
    system=(
        "You compact the history of a chat, so that the assistant can go on without it. Keep the"
        " preferences of the user, commitments, decisions, unresolved tasks and key facts. Leave"
        " out greetings and repetition. Write short bullet points, at most 2,000 characters in"
        " all."
    ),
    user="Summarise this conversation:\n\n{messages}",
    line="{Role}: {text}",
)
