"""Leave out of a list what statements say has ended: `I gave up Dutch, I study it no longer`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memsim.language.lexicon import MONTHS, STOP, WEEKDAYS
from memsim.language.text import fold, stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.models.offline.candidates import Candidate
    from memsim.models.offline.question import ParsedQuestion

_ENDED: Final = re.compile(
    r"\b(?:no\s(?:more|longer)|not?\s.{1,30}\s(?:any\smore|any\slonger|anymore))\b", re.IGNORECASE
)
_NAME: Final = re.compile(r"(?<=[\w,;:]\s)[A-Z][\w\u2019'-]+")
_NO_ITEMS: Final = STOP | frozenset(MONTHS) | frozenset(WEEKDAYS)


def without_ended(question: ParsedQuestion, found: Sequence[Candidate]) -> list[Candidate]:
    """The candidates for a list without what has ended, and without the words that say so."""
    if not question.many or question.past:
        return [*found]
    ends = [c for c in found if _ENDED.search(c.sentence.text)]
    kept = []
    for candidate in found:
        later = (c for c in ends if c.statement.order >= candidate.statement.order)
        items = _items(question, candidate)
        if not any(items & _items(question, end) for end in later):
            kept.append(candidate)
    return kept


def _items(question: ParsedQuestion, candidate: Candidate) -> frozenset[str]:
    found = {stem(fold(word)) for word in _NAME.findall(candidate.sentence.text)}
    return frozenset(found - _NO_ITEMS - question.weights.keys())
