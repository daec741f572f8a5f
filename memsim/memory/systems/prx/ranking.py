"""Scores as PRX reckons them, in 32 bits: cosines, and two rankings made one."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import NamedTuple

Ranked = tuple[int, float]
"""The number of a row, and its score."""

_TINY = 1.1920929e-07


class Merged(NamedTuple):
    """A row in two rankings.

    Attributes:
        vector: its cosine; None where it was not among the nearest.
        keyword: its keyword score as a share of the best; None where it has none of the words.
    """

    number: int
    vector: float | None
    keyword: float | None
    score: float


def f32(number: float) -> float:
    """A number as 32 bits hold it."""
    return float(struct.unpack("<f", struct.pack("<f", number))[0])


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two vectors, from 0 to 1; 0 where there is none."""
    if len(one) != len(other) or not one:
        return 0.0
    norms = math.sqrt(sum(a * a for a in one)) * math.sqrt(sum(b * b for b in other))
    if not norms or not math.isfinite(norms):
        return 0.0
    return f32(min(1.0, max(0.0, sum(a * b for a, b in zip(one, other, strict=True)) / norms)))


def merge(
    vector: Sequence[Ranked],
    keyword: Sequence[Ranked],
    *,
    weights: tuple[float, float] = (0.7, 0.3),
    limit: int,
) -> list[Merged]:
    """The best of both rankings by weighted sum; those that tie stay as they came.

    Args:
        vector: rows with cosines.
        keyword: rows with keyword scores, which count as shares of the best.
        weights: of a cosine and of such a share.
        limit: how many are wanted.
    """
    best = max((f32(score) for _, score in keyword), default=0.0)
    best = best if best >= _TINY else 1.0
    near = {number: f32(score) for number, score in vector}
    words = {number: f32(f32(score) / best) for number, score in keyword}
    of_vector, of_keyword = map(f32, weights)
    merged = [
        Merged(
            number,
            near.get(number),
            words.get(number),
            f32(f32(of_vector * near.get(number, 0.0)) + f32(of_keyword * words.get(number, 0.0))),
        )
        for number in dict.fromkeys((*near, *words))
    ]
    return sorted(merged, key=lambda m: -m.score)[:limit]
