"""AgenticX's own embedding, `hashing-v1/hashing-64d`: words into 64 buckets, and no meaning."""

from __future__ import annotations

import hashlib
import math
import re

DIMENSIONS = 64
MOST_SHORT = 4
CJK = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]{2,8}")
_ASCII = re.compile(r"[A-Za-z0-9]")

Vector = tuple[float, ...]
Sparse = tuple[tuple[int, float], ...]


def embedded(text: str, *, cjk: bool = False) -> Vector:
    """A unit vector for a text, or zeros.

    Args:
        text: words parted by blanks; a Chinese sentence is one of them.
        cjk: runs of Chinese characters are words as well (0.6).
    """
    words = text.lower().split()
    if cjk:
        known = set(words)
        words += [t for t in search_terms(text) if CJK.search(t) and t not in known]
    sums = [0.0] * DIMENSIONS
    for word in words:
        digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
        sums[digest[0] % DIMENSIONS] += -1.0 if digest[1] % 2 else 1.0
    norm = math.sqrt(sum(x * x for x in sums))
    return tuple(x / norm for x in sums) if norm else tuple(sums)


def sparse(vector: Vector) -> Sparse:
    """A vector by its dimensions that are not 0, which are few."""
    return tuple((place, value) for place, value in enumerate(vector) if value)


def cosine(one: Vector, other: Sparse) -> float:
    """How alike two unit vectors are; 0 where either is zeros."""
    return sum(one[place] * value for place, value in other)


def search_terms(text: str) -> list[str]:
    """What a substring search looks for, longest first (0.6)."""
    text = text.strip()
    words = [w.lower() for w in text.split() if len(w) >= 2 and _ASCII.search(w)]
    found = [*words, *_RUN.findall(text)]
    if len(text) <= MOST_SHORT:
        found += CJK.findall(text)
    return sorted(dict.fromkeys(found), key=len, reverse=True)
