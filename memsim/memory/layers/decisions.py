"""What a conversation settled: the sentences that say so, read by rule from what was said.

AEGIS's document keeps them with each episode, and does not say how they are found.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memsim.language.text import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memsim.message import Message

MOST = 10
"""Decisions that an episode keeps, the latest ones."""

LONGEST = 200
"""Characters of each."""

_SETTLED = re.compile(
    r"\bdecision\s*:|\bdecided\b|\b(?:we|I)(?:'ll| will)? (?:go|are going|am going) with\b"
    r"|\blet's go with\b|\bwent with\b|\b(?:we|I) (?:chose|choose|picked|agreed|approved?)\b"
    r"|\b(?:agreed|settled) (?:on|to|that)\b|\bit is (?:agreed|settled)\b"
    r"|决定|确定采用|选定|改为|同意",
    re.IGNORECASE,
)


def decisions_in(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """The sentences in which something is settled, each with the id of its message, oldest first.

    What tools say settles nothing, and neither does a question.
    """
    found: dict[str, str] = {}
    for message in messages:
        if message.role not in {"user", "assistant"}:
            continue
        for line in message.spoken.splitlines():
            for said in sentences(line):
                if _SETTLED.search(said) and not said.rstrip().endswith(("?", "\uff1f")):
                    found.setdefault(said.strip()[:LONGEST], message.id)
    yield from list(found.items())[-MOST:]
