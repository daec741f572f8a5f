"""Answers a question from a context, and from nothing else.

The reader looks for the sentences that share the question's words, weighs them by how rare these
are in the context, and gives the newest of the best: a date, a number or a name where the sentence
holds exactly one, else the sentence itself. It says that it does not know when the context does not
speak of what is asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from memsim.frozen import quickly_made
from memsim.models import IDK
from memsim.models.dates import resolve, told
from memsim.models.evidence import STRICT, fits, span
from memsim.models.forms import CODES
from memsim.models.lexicon import CONTINUING, NEGATIVE, UPDATING
from memsim.models.numbers import numbers
from memsim.models.question import Question, parse
from memsim.models.ranking import Candidate, Ranking
from memsim.models.statements import speaker, statements
from memsim.models.text import content, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memsim.models import Request

ANSWER_WORDS = 40
"""Words that an answer has at most."""

LEAD = 8
"""Words before the first that is asked for, where a long sentence is cut down to an answer."""

CONSIDERED = 16
"""Best sentences among which the answer is looked for."""

NEEDED = (0.9, 0.55, 0.45, 0.38, 0.3)
"""Share of the question that must be found, by how many full content words it has."""

SHORT_CONTEXT = 0.2
"""What is left of that share in a context of a few lines, where little can be found by chance."""

FITTING, SAME, UPDATED, ALL = 0.7, 0.9, 0.7, 0.99
"""Shares of the best score from which a sentence may answer in its place: because it holds what is
asked for, says the same of a later day, or says that something has changed. And the share of the
question that a sentence has to hold itself to stand alone, without those around it."""


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the reader says, and the ids of the messages that it took it from."""

    text: str
    sources: tuple[str, ...] = ()


UNKNOWN = Answer(text=IDK)


def answer(request: Request) -> Answer:
    """Answer the request's question from its messages."""
    question = parse(request.question)
    ranking = _ranking(request, question)
    ranked = ranking.best()
    if not ranked or not _enough(ranking, ranked[0]):
        return UNKNOWN
    fitting = _fitting(question, ranking, ranked[:CONSIDERED])
    if not fitting:
        return _undated(question, ranked[0])
    best = _newest(question, fitting)
    if question.kind == "yesno":
        return _said([best], _verdict(best))
    alone = span(question, best, request.now.date() if request.now else None)
    if alone is not None and not question.many:
        return _said([best], alone)
    return _quoted(question, ranking, best, fitting)


def _ranking(request: Request, question: Question) -> Ranking:
    now = request.now.date() if request.now else None
    periods = [meant for m in question.asked if (meant := resolve(m, now))]
    asker = speaker("user", request.asker) if request.asker else ""
    return Ranking(question, statements(request.messages, request.asker), asker, periods)


def _enough(ranking: Ranking, best: Candidate) -> bool:
    needed = NEEDED[min(ranking.full, len(NEEDED) - 1)]
    size = len(ranking.found)
    spread = min(1.0, max(0.0, math.log(max(size, 1) / 4) / math.log(50)))
    return best.coverage >= needed * (SHORT_CONTEXT + (1 - SHORT_CONTEXT) * spread)


def _fitting(question: Question, ranking: Ranking, top: Sequence[Candidate]) -> list[Candidate]:
    least = top[0].score * FITTING
    found = [c for c in top if c.score >= least and fits(question, c.sentence)]
    if question.kind in STRICT:
        return [c for c in found if ranking.touches(c)]
    if found:
        return found
    return [c for c in top if c.score >= least and not (question.coded and _codeless(c))]


def _codeless(candidate: Candidate) -> bool:
    # That something was bought is no number of an order; a number may be a word where one is named.
    text = candidate.sentence.text
    return bool(candidate.matched) and not numbers(text) and CODES.isdisjoint(words(text))


def _undated(question: Question, best: Candidate) -> Answer:
    # An event told without a date happened when it was told of.
    day = best.statement.day
    past = not {"did", "was", "were", "has", "have", "had"}.isdisjoint(words(question.folded))
    if question.kind == "when" and past and day is not None:
        return _said([best], told(day))
    return UNKNOWN


def _newest(question: Question, fitting: Sequence[Candidate]) -> Candidate:
    best = fitting[0]
    rivals = [c for c in fitting if _same_attribute(question, best, c)]
    pick = min if question.past else max
    return pick(rivals, key=_age)


def _same_attribute(question: Question, best: Candidate, other: Candidate) -> bool:
    if other is best:
        return True
    full = {root for root in best.matched if question.weights.get(root, 0) >= 1}
    if full and full <= other.matched and other.score >= SAME * best.score:
        return True
    return bool(_updates(other) and full & other.matched and other.score >= UPDATED * best.score)


def _updates(candidate: Candidate) -> bool:
    return not UPDATING.isdisjoint(words(candidate.sentence.text))


def _age(candidate: Candidate) -> tuple[bool, date, bool, int, int]:
    statement = candidate.statement
    day = statement.day
    original = not statement.message.composed
    return (day is not None, day or date.min, original, statement.order, -candidate.place)


def _verdict(best: Candidate) -> str:
    denied = not NEGATIVE.isdisjoint(words(best.sentence.text))
    return f"{'No' if denied else 'Yes'}: {_cropped(best, ANSWER_WORDS - 1)}"


def _quoted(
    question: Question, ranking: Ranking, best: Candidate, fitting: Sequence[Candidate]
) -> Answer:
    chosen = [best]
    room = ANSWER_WORDS - _length(best)
    more = _elsewhere(best, fitting) if question.many and not _updates(best) else ()
    beside = ranking.beside(best)
    if ranking.own(best) >= ALL and not question.many:
        beside = [c for c in beside if _continues(best, c)]
    for candidate in [*more, *beside]:
        length = _length(candidate)
        if length <= room and all(c.sentence.text != candidate.sentence.text for c in chosen):
            chosen.append(candidate)
            room -= length
    chosen.sort(key=lambda c: (c.statement.order, c.place))
    return _said(chosen, " ".join(_cropped(c) for c in chosen))


def _continues(best: Candidate, other: Candidate) -> bool:
    opening = words(other.sentence.text)[:1]
    return other.place > best.place and not CONTINUING.isdisjoint(opening)


def _elsewhere(best: Candidate, fitting: Sequence[Candidate]) -> Iterable[Candidate]:
    seen = {best.statement.order}
    for candidate in fitting:
        if candidate.statement.order not in seen:
            seen.add(candidate.statement.order)
            yield candidate


def _length(candidate: Candidate) -> int:
    return min(ANSWER_WORDS, len(candidate.sentence.text.split()))


def _cropped(candidate: Candidate, limit: int = ANSWER_WORDS) -> str:
    text = candidate.sentence.text
    found = text.split()
    if len(found) <= limit:
        return text
    met = (n for n, word in enumerate(found) if not candidate.matched.isdisjoint(content(word)))
    start = min(max(0, next(met, 0) - LEAD), len(found) - limit)
    return " ".join(found[start : start + limit])


def _said(chosen: Sequence[Candidate], text: str) -> Answer:
    sources = dict.fromkeys(c.statement.message.id for c in chosen)
    return Answer(text=text, sources=tuple(sources))
