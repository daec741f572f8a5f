"""Telling a question from an answer: whoever has asked the same before has not answered it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memsim.memory.retrieval.terms import stem

if TYPE_CHECKING:
    from collections.abc import Collection

_MARKS = ("?", "\uff1f", "\u061f")
_ASKS = re.compile(
    r"(?:(?:and|but|so|ok(?:ay)?|please|hey|hi|sorry|again)[,! ]+)*"
    r"(?:(?:can|could|would|will) you )?(?:please )?"
    r"(?:what|where|when|who|whom|whose|which|why|how|tell|remind|show|list)\b",
    re.IGNORECASE,
)
FAMILIAR = 4
"""Of so many terms of a question, one may be missing in another that asks the same."""


def asked(text: str) -> frozenset[str]:
    """The terms of a text that asks for something; none where it states something.

    Args:
        text: as it was said, without its speaker.
    """
    said = text.strip()
    if said.endswith(_MARKS) or _ASKS.match(said):
        return frozenset(stem(said))
    return frozenset()


def repeats(before: frozenset[str], terms: Collection[str]) -> bool:
    """Whether what was asked before is in the words of a question, but for one in four.

    Args:
        before: as `asked` has it.
        terms: of the question.
    """
    return bool(before) and len(before.difference(terms)) * FAMILIAR <= len(before)
