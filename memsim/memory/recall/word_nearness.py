"""The best messages once more, by how near their words are to those of the question.

Whoever asks for `activities` finds a message about `pottery` neither by its words nor by its
meaning as a whole. So each word of the question is compared with every word of a message, and the
nearest counts (as in ColBERT: Khattab and Zaharia, 2020). Each word of the question weighs as much
as it is rare, squared. All this only adds to the relevance of what was found.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from memsim.language.lexicon import STOP
from memsim.language.text import plain_terms
from memsim.memory.index import as_hits
from memsim.memory.recall.ranking import QuestionCues, zscore

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from memsim.memory.index import Hit
    from memsim.memory.index.forms import Scores
    from memsim.memory.options import RecallPolicy
    from memsim.memory.recall.timeline import MessageFacts
    from memsim.models import Vectors

COMPARED = 64
"""Best messages that are compared word by word."""

SEVERAL = 1.6
"""How much more the nearest words count where a question asks for several things: it names what
they have in common, and each message names one of them."""

SAME = 0.99
"""Cosine from which two words are one."""

_SEVERAL = re.compile(
    r"\b(?:what|which|how many)(?: \w+){0,2} \w+[^s'\W]s\b(?! (?:the|a|an)\b)"
    r"|\b(?:what|which) (?:kind|sort|type)s? of\b|\bwhere (?:has|have)\b"
    r"|\bin common\b|\b(?:all|both)\b",
    re.IGNORECASE,
)
_FORM = frozenset({"kind", "kinds", "sort", "sorts", "type", "types", "much", "many"})
"""Words that say how something is asked for, and not what."""


def with_near_words(
    question: str,
    hits: Sequence[Hit],
    texts: Mapping[str, str],
    *,
    about: Callable[[str], MessageFacts | None],
    embed: Callable[[Sequence[str]], Vectors],
    cues: QuestionCues,
    policy: RecallPolicy,
) -> list[Hit]:
    """Rank hits anew by how near their words are to those of the question.

    Args:
        question: what is asked.
        hits: best first. No more than `COMPARED` are compared.
        texts: what the hits say, by their ids. A hit without a text keeps its score.
        about: what is known of a hit.
        embed: vectors of words, of unit length, shape (words, dimension).
        cues: who the question names.
        policy: `near` says what the nearest words count.

    Returns:
        All hits, best first. No score is lower than before.

    Raises:
        ModelError: the embedder failed.
    """
    known = {h.id: facts for h in hits[:COMPARED] if (facts := about(h.id)) and h.id in texts}
    names = {facts.principal for facts in known.values()}
    left_out = STOP.union(_FORM, *map(plain_terms, names))
    asked = _matter(question, left_out)
    said = {i: words for i in known if (words := _matter(texts[i], left_out))}
    if not asked or len(said) < 2 or hits[0].score <= 0:
        return list(hits)
    nearness = _nearness(asked, list(said.values()), embed).tolist()
    gain = policy.near * hits[0].score * (SEVERAL if _SEVERAL.search(question) else 1.0)
    gains: dict[str, float] = {}
    for source, above in zip(said, zscore(nearness), strict=True):
        facts = known[source]
        length = 1 + facts.tokens / policy.halving if policy.halving else 1.0
        weight = policy.named if cues.asks_for(facts) else 1.0
        gains[source] = max(0.0, above) * gain * weight / length
    places = {hit.id: place for place, hit in enumerate(hits)}
    ranked = as_hits([(hit.id, hit.score + gains.get(hit.id, 0.0)) for hit in hits])
    ranked.sort(key=lambda hit: (-hit.score, places[hit.id]))
    return ranked


def _matter(text: str, left_out: Collection[str]) -> list[str]:
    """The words of a text that say what it is about, each once."""
    words = (word.removesuffix("'s") for word in plain_terms(text))
    return [word for word in dict.fromkeys(words) if len(word) > 1 and word not in left_out]


def _nearness(
    asked: Sequence[str], said: Sequence[Sequence[str]], embed: Callable[[Sequence[str]], Vectors]
) -> Scores:
    """How near each text comes to what is asked, 0 to 1."""
    import numpy as np

    from memsim.memory.index.postings import DIGITS, idf

    rows = {word: row for row, word in enumerate(dict.fromkeys(chain(asked, *said)))}
    vectors = embed([*rows]).astype(np.float64)
    columns = np.array([rows[word] for word in chain(*said)])
    starts = np.cumsum([0, *map(len, said)])[:-1]
    found = np.zeros(len(said))
    weights = 0.0
    # Unlike a product of matrices, this gives the same on every machine.
    cosines = np.einsum("ij,kj->ik", vectors[: len(asked)], vectors)
    for row in np.maximum(cosines, 0.0):
        nearest = np.maximum.reduceat(row[columns], starts)
        weight = idf(len(said), int((nearest >= SAME).sum())) ** 2
        found += weight * nearest
        weights += weight
    return np.round(found / weights, DIGITS)
