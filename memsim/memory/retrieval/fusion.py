"""Several rankings made into one; pure functions, ties to the message that was said earlier."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from memsim.memory.retrieval import Hit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Order = Callable[[str], int]
    """When a message was said: larger is later."""

    Scaling = Callable[[Sequence[float]], list[float]]

K = 60
"""The constant of reciprocal rank fusion, as its authors have it (Cormack and others, 2009)."""


def reciprocal_ranks(
    rankings: Sequence[Sequence[Hit]],
    order: Order,
    *,
    weights: Sequence[float] | None = None,
    k: int = K,
) -> list[Hit]:
    """Each message scores `weight / (k + rank)` for each ranking that it is in, from rank 1.

    Args:
        rankings: best first.
        order: settles ties.
        weights: what each ranking counts; 1 each by default.
        k: how much the first ranks are held back.
    """
    sums: dict[str, float] = {}
    for ranking, weight in zip(rankings, _weights(weights, rankings), strict=True):
        for rank, hit in enumerate(ranking, 1):
            sums[hit.id] = sums.get(hit.id, 0.0) + weight / (k + rank)
    return sorted_hits(sums, order)


def weighted_scores(
    rankings: Sequence[Sequence[Hit]],
    order: Order,
    *,
    weights: Sequence[float] | None = None,
    scaling: Literal["minmax", "zscore"] = "minmax",
) -> list[Hit]:
    """Each message scores the weighted sum of its scaled scores.

    A message that a ranking does not hold counts there as the worst that it does hold.

    Args:
        rankings: best first.
        order: settles ties.
        weights: what each ranking counts; 1 each by default.
        scaling: to 0..1 by smallest and largest, or by mean and standard deviation.
    """
    scale = minmax if scaling == "minmax" else zscore
    sums = dict.fromkeys((hit.id for ranking in rankings for hit in ranking), 0.0)
    for ranking, weight in zip(rankings, _weights(weights, rankings), strict=True):
        if not ranking:
            continue
        scaled = scale([hit.score for hit in ranking])
        worst = min(scaled)
        held = {hit.id: score for hit, score in zip(ranking, scaled, strict=True)}
        for source in sums:
            sums[source] += weight * held.get(source, worst)
    return sorted_hits(sums, order)


def minmax(scores: Sequence[float]) -> list[float]:
    """Scores scaled so that the smallest is 0 and the largest 1; all 1 where they are equal."""
    low, high = min(scores), max(scores)
    if high == low:
        return [1.0] * len(scores)
    return [(s - low) / (high - low) for s in scores]


def zscore(scores: Sequence[float]) -> list[float]:
    """Scores as standard deviations from their mean; all 0 where they are equal."""
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((s - mean) ** 2 for s in scores) / len(scores))
    if deviation == 0:
        return [0.0] * len(scores)
    return [(s - mean) / deviation for s in scores]


def with_neighbours(
    hits: Iterable[Hit],
    neighbours: Callable[[str], Iterable[str]],
    order: Order,
    *,
    share: float = 0.5,
) -> list[Hit]:
    """Each message also scores a share of what the messages beside it score.

    An answer often holds none of the words of the question that stands before it.

    Args:
        hits: a ranking.
        neighbours: the messages said just before and after one.
        order: settles ties.
        share: of a neighbour's score.
    """
    own = {hit.id: hit.score for hit in hits}
    sums = dict(own)
    for source, score in own.items():
        for beside in neighbours(source):
            sums[beside] = sums.get(beside, 0.0) + share * score
    return sorted_hits(sums, order)


def sorted_hits(scores: Mapping[str, float], order: Order) -> list[Hit]:
    """Scores as a ranking, best first, ties to the earlier."""
    hits = [Hit(source, score) for source, score in scores.items()]
    hits.sort(key=lambda hit: (-hit.score, order(hit.id)))
    return hits


def _weights(weights: Sequence[float] | None, rankings: Sequence[object]) -> Sequence[float]:
    return [1.0] * len(rankings) if weights is None else weights
