"""How sure a memory may be that what it found answers a question, and is not the nearest of others.

A question about Ana finds what Ben said of himself, if nobody told the like of Ana: the words are
the same, and the person is another. So where a question names one of those who spoke, confidence is
the share of the best messages that speak of that person: their own words of `I`, others' words of
`you`, or their name. Each counts by its relevance and by the words of the question that it holds.
Where a question names nobody, confidence is a half and more: by how much of the question one
message holds, and how far the nearest meaning stands out from the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memsim.fast_dataclass import fast_init
from memsim.language.lexicon import FIRST_PERSON, SECOND_PERSON
from memsim.language.text import index_terms, plain_terms, sentences

LOOKED_AT = 5
"""Best messages that are looked at."""

_REST = 0.6
"""Weight of the pronouns of a whole message beside those of its best sentence."""

_OTHERS = 0.8
"""Weight of what others say of somebody beside what they say themselves."""

_STANDS_OUT = 0.45
"""Weight of the distance between the nearest meaning and the others."""


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMessage:
    """A message that was found: who said it, or was answered by it, and with what relevance."""

    principal: str
    role: str
    text: str
    relevance: float


def confidence(
    question: str, found: Sequence[FoundMessage], named: Sequence[str], distance: float
) -> float:
    """How sure it is that the best messages answer a question, 0 to 1.

    Args:
        question: the question.
        found: the best messages, best first.
        named: those of the people who spoke whom the question names.
        distance: how far the cosine of the nearest message is above the mean of the others.
    """
    best = found[:LOOKED_AT]
    if not best:
        return 0.0
    terms = frozenset(index_terms(question))
    if len(named) != 1:
        held = max(len(terms.intersection(index_terms(m.text))) for m in best) / max(len(terms), 1)
        return 0.5 + min(1.0, held + _STANDS_OUT * max(distance, 0.0)) / 2
    (person,) = named
    matter = terms.difference(index_terms(person)) or terms
    weights = [m.relevance * len(matter.intersection(index_terms(m.text))) for m in best]
    total = math.fsum(weights)
    if total <= 0:
        return 0.0
    told = (_speaks_of(person, m, matter) for m in best)
    return math.fsum(weight * share for weight, share in zip(weights, told, strict=True)) / total


def _speaks_of(person: str, message: FoundMessage, terms: frozenset[str]) -> float:
    """How far a message speaks of somebody, 0 to 1, by its pronouns and names."""
    parts = [frozenset(plain_terms(s)) for s in sentences(message.text)] or [frozenset()]
    told = [frozenset(index_terms(s)) for s in sentences(message.text)] or [frozenset()]
    place = max(range(len(parts)), key=lambda n: len(terms & told[n]))
    spoken = parts[place]
    first, second = (_counted(p, parts, place) for p in (FIRST_PERSON, SECOND_PERSON))
    own = (first + _REST) / (first + second + 2 * _REST)
    mine = message.principal == person
    if mine and message.role == "user":
        return own
    # The assistant says `you` to whom it speaks with, and a tool to nobody.
    meant = 1 - own if mine or message.role == "user" else 0.0
    return _OTHERS * max(meant, float(not spoken.isdisjoint(plain_terms(person))))


def _counted(pronouns: frozenset[str], parts: Sequence[frozenset[str]], place: int) -> float:
    """Pronouns of a person: in one sentence, and with less weight in all."""
    return len(pronouns & parts[place]) + _REST * sum(len(pronouns & part) for part in parts)
