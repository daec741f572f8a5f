"""Read statements off messages by rules: what a model's extraction passes over."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memsim.language.change_cues import LIGHT_STEMS, announces_change
from memsim.language.exact_values import EXACT, exact_values
from memsim.language.text import content, sentences, speaker_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memsim.message import Message

FEWEST_STEMS: Final = 2
"""Stems of a statement that tell what it is about, at least."""

_REQUESTS: Final = re.compile(
    r",\s(?:will|would|can|could)\syou\?$|,?\s(?:please|ok|okay|all\sright)\?$", re.IGNORECASE
)


def statements(message: Message) -> Iterator[str]:
    """Sentences of a user's message that state a value or a change, in their order.

    Where one sentence announces a change, all are given: another may state the new value.
    """
    found = [piece for line in message.spoken.splitlines() for piece in sentences(line)]
    said = [sentence for sentence in found if _states(sentence)]
    changes = any(announces_change(sentence) for sentence in found)
    for sentence in said:
        if changes or any(value.kind in EXACT for value in exact_values(sentence)):
            yield sentence


def statement_line(message: Message, sentence: str) -> str:
    """A statement as a line of facts, with who said it."""
    return f"{speaker_label(message.role, message.principal)}: {sentence}"


def _states(sentence: str) -> bool:
    if sentence.endswith(("?", "\uff1f", "\u061f")) and not _REQUESTS.search(sentence):
        return False
    return len(frozenset(content(sentence)) - LIGHT_STEMS) >= FEWEST_STEMS
