"""Extracts facts: the sentences that state something durable, one a line, each with who said it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memsim.models.lexicon import DECIDING, REACTION
from memsim.models.summariser import select, worth
from memsim.models.telling import Told, once, told
from memsim.models.text import stem

if TYPE_CHECKING:
    from memsim.models import Request
    from memsim.models.statements import Sentence
    from memsim.tokens import TokenCounter

LEAST_WORDS = 2
"""Content words below which a sentence states nothing."""

_SMALL_TALK = frozenset(stem(word) for word in REACTION)
_DECIDING = frozenset(stem(word) for word in DECIDING)
_STATES = re.compile(
    r"\b(?:am|is|are|was|were|has|have|had|will|'m|'s|'re|'ve|'ll)\b|['\u2019](?:m|s|re|ve|ll)\b|\w[:=]\s?\S",
    re.IGNORECASE,
)


def extract(request: Request, counter: TokenCounter) -> list[Told]:
    """The facts that the messages state, in their order, each once."""
    found = [
        said for said in once(list(told(request.messages, named=True))) if states(said.sentence)
    ]
    if request.max_tokens is None:
        return found
    return select(found, worth(found), request.max_tokens, counter)


def states(sentence: Sentence) -> bool:
    """Whether a sentence states a fact: about somebody, exact or settled, and no small talk."""
    if sentence.question or len(sentence.stems - _SMALL_TALK) < LEAST_WORDS:
        return False
    settled = not sentence.stems.isdisjoint(_DECIDING)
    exact = any(c.isdigit() for c in sentence.text) or bool(sentence.names)
    return sentence.first or settled or exact or bool(_STATES.search(sentence.text))
