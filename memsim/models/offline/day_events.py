"""Answer `What did I do on 2 January 2026?` from `Three days ago I repaired the clock`.

The question has no word in common with the answer but its day. A statement answers when it names
that day, by its date or by how long before the message it was.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memsim.language.dates import mentions, resolve

if TYPE_CHECKING:
    from datetime import date

    from memsim.models.offline.candidates import Candidate, Ranking
    from memsim.models.offline.statements import Sentence

_DID: Final = re.compile(r"\bwhat\s(?:did|have)\s(?:i|we)\s(?:do|done|been\sdoing|get\sup\sto)\b")
_WHOLE_DAYS: Final = frozenset({"dmy", "mdy", "iso"})


def day_events(ranking: Ranking, now: date | None) -> list[Candidate]:
    """The statements of the asker about the day that the question names; empty if it names none."""
    question = ranking.question
    if question.full or not _DID.search(question.folded):
        return []
    asked = {
        meant.first
        for mention in question.dates
        if mention.kind in _WHOLE_DAYS and (meant := resolve(mention, now))
    }
    return [
        candidate
        for candidate in ranking.every()
        if candidate.sentence.first and asked & _days(candidate.sentence, candidate.statement.day)
    ]


def _days(sentence: Sentence, said: date | None) -> set[date]:
    periods = (resolve(mention, said) for mention in mentions(sentence.text))
    return {period.first for period in periods if period and period.first == period.last}
