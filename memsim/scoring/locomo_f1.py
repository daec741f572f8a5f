"""LoCoMo's own token F1, for comparison with published figures; ours is `match_words`."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import Stemmer

from memsim.scoring.polarity import abstains

CATEGORIES = ("multi-hop", "temporal", "open-domain", "single-hop", "adversarial")
"""Its categories 1 to 5, by name."""

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the|and)\b")
_stemmer = Stemmer.Stemmer("porter")
_stemmer.maxCacheSize = 0


def locomo_f1(category: str, expected: Sequence[str], answer: str) -> float:
    """The benchmark's score of an answer.

    Args:
        category: one of `CATEGORIES`: multi-hop averages over the gold answer's parts, open-domain
            reads the gold answer to its first semicolon, adversarial is right when the answer says
            that it does not know.
        expected: the gold answers, of which the best counts; not read for adversarial.
        answer: what was answered.
    """
    if category == "adversarial":
        return float(abstains(answer))
    return max((_against(category, gold, answer) for gold in expected), default=0.0)


def token_f1(gold: str, answer: str) -> float:
    """F1 of the two texts' stems, each counted as often as it occurs; 0 when they share none."""
    wanted, given = _stems(gold), _stems(answer)
    shared = (wanted & given).total()
    if not shared:
        return 0.0
    precision, recall = shared / given.total(), shared / wanted.total()
    return 2 * precision * recall / (precision + recall)


def _against(category: str, gold: str, answer: str) -> float:
    if category == "multi-hop":
        parts, given = gold.split(","), answer.split(",")
        return sum(max(token_f1(p, g) for g in given) for p in parts) / len(parts)
    if category == "open-domain":
        gold = gold.split(";", 1)[0]
    return token_f1(gold, answer)


@lru_cache(maxsize=1 << 12)
def _stems(text: str) -> Counter[str]:
    bare = _ARTICLES.sub(" ", text.replace(",", "").lower().translate(_PUNCTUATION))
    return Counter(map(_stemmer.stemWord, bare.split()))
