"""The best of an index for a query, exactly, without reading what cannot matter.

MaxScore (Turtle and Flood, 1995): terms are read rarest first, and as soon as the frequent ones
that are left could not lift what was not found yet among the best, they are only looked up for what
was found.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from memsim.memory.retrieval.postings import QueryTerm

if TYPE_CHECKING:
    from memsim.memory.retrieval.forms import Numbers, Scores

FIRST_READ = 32_768
"""Postings that are read at once before the first look at whether more need be read."""

TOGETHER = 2048
"""Postings that cost less to read all together than term by term."""

TRIED = 3
"""Times as many candidates as are wanted are counted to the end, to learn what the best score."""

SAMPLE = 2048
"""Scores of which a sample's best are near enough to the best of all."""

_SLACK = 1 + 1e-9
"""Bounds are rounded up by this, so that rounding never costs anything its place."""


class Tally:
    """Sums of scores by number; only what is touched is ever cleared, whatever else there is."""

    def __init__(self) -> None:
        self._sums = np.zeros(1024)
        self._marks = np.zeros(1024, np.int64)

    def reserve(self, count: int) -> None:
        """Make room for numbers below this."""
        if count > len(self._sums):
            self._sums = np.zeros(2 * count)
            self._marks = np.zeros(2 * count, np.int64)

    def add(self, numbers: Numbers, scores: Scores) -> None:
        """Add scores, in this order; a number may come more than once."""
        np.add.at(self._sums, numbers, scores)

    def distinct(self, numbers: Numbers) -> Numbers:
        """The numbers, each once."""
        order = np.arange(len(numbers))
        self._marks[numbers] = order
        once: Numbers = numbers[self._marks[numbers] == order]
        return once

    def sums(self, numbers: Numbers) -> Scores:
        """The sums of these numbers."""
        return self._sums[numbers]

    def clear(self, lists: list[Numbers]) -> None:
        """Forget the sums of these numbers."""
        for numbers in lists:
            self._sums[numbers] = 0.0


def best_numbers(
    terms: list[QueryTerm], k: int, tally: Tally, wanted: Numbers
) -> tuple[Numbers, Scores, Scores]:
    """Numbers with their scores, the best `k` and all that tie with these among them.

    Args:
        terms: the query's terms, rarest first.
        k: how many are looked for, at least one.
        tally: has room for every number.
        wanted: numbers whose scores are asked for, whatever they are.

    Returns:
        The numbers, their scores, and the scores of the wanted ones.
    """
    if not terms:
        return np.empty(0, np.int64), np.empty(0), np.zeros(len(wanted))
    rest = [*accumulate((t.most for t in reversed(terms)), initial=0.0)][::-1]
    rest = [bound * _SLACK for bound in rest]
    lists, least = _collect(terms, rest, k, tally)
    found = _promising(lists, rest, k, tally, least)
    numbers = np.concatenate((found, wanted))
    scores = tally.sums(numbers)
    tally.clear(lists)
    for term in terms[len(lists) :]:
        term.lift(numbers, scores)
    return found, scores[: len(found)], scores[len(found) :]


def all_sums(terms: list[QueryTerm], tally: Tally) -> tuple[Numbers, Scores]:
    """Everything that holds one of the terms, with its score; meant for lists that are short."""
    if not terms:
        return np.empty(0, np.int64), np.empty(0)
    numbers, scores = QueryTerm.read(terms)
    if len(terms) == 1:
        return numbers, scores
    tally.add(numbers, scores)
    found = tally.distinct(numbers)
    sums = tally.sums(found)
    tally.clear([found])
    return found, sums


def _sum_up(terms: list[QueryTerm], divisors: Scores, tally: Tally) -> list[Numbers]:
    """Add what the terms say to the tally; what holds each of them."""
    lists = [t.numbers for t in terms]
    if sum(map(len, lists)) <= TOGETHER:
        tally.add(*QueryTerm.read(terms))
        return lists
    for numbers, term in zip(lists, terms, strict=True):
        tally.add(numbers, term.scores(divisors))
    return lists


def _collect(
    terms: list[QueryTerm], rest: list[float], k: int, tally: Tally
) -> tuple[list[Numbers], float]:
    """Sum up the rarer terms: what holds each; and a score k have."""
    divisors = terms[0].divisors()
    lists: list[Numbers] = []
    ahead, least = FIRST_READ, -math.inf
    while len(lists) < len(terms) and rest[len(lists)] >= least:
        read = len(lists)
        stop = _as_far_as(terms, read, ahead)
        while stop - read > 1 and rest[stop - 1] < least:
            stop -= 1
        lists += _sum_up(terms[read:stop], divisors, tally)
        ahead *= 2
        if stop < len(terms):
            least = max(least, _least(np.concatenate(lists), terms, stop, k, tally))
    return lists, least


def _promising(
    lists: list[Numbers], rest: list[float], k: int, tally: Tally, least: float
) -> Numbers:
    """Of what was summed up, all that may score the least or more, each once.

    A list whose terms and the rarer ones could not make up for the others is not looked at.
    """
    missing = rest[len(lists)]
    found: list[Numbers] = []
    for place, numbers in enumerate(lists):
        if rest[place] < least:
            break
        sums = tally.sums(numbers)
        least = max(least, _some_kth(sums, k))
        found.append(numbers[sums >= (least - missing) / _SLACK])
    return tally.distinct(np.concatenate(found) if len(found) > 1 else found[0])


def _as_far_as(terms: list[QueryTerm], start: int, limit: int) -> int:
    stop, read = start + 1, len(terms[start])
    while stop < len(terms) and read + len(terms[stop]) <= limit:
        read += len(terms[stop])
        stop += 1
    return stop


def _least(seen: Numbers, terms: list[QueryTerm], read: int, k: int, tally: Tally) -> float:
    """A score that at least k have, known from counting the most promising ones to the end."""
    sums = tally.sums(seen)
    found = tally.distinct(seen[sums >= _some_kth(sums, TRIED * k * read)])[: TRIED * k]
    scores = tally.sums(found)
    for term in terms[read:]:
        term.lift(found, scores)
    return _kth(scores, k)


def _kth(scores: Scores, k: int) -> float:
    """The k-th best score; minus infinity where there are fewer."""
    if len(scores) < k or not k:
        return -math.inf
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


def _some_kth(scores: Scores, k: int) -> float:
    """A score that at least k have, and nearly the best such; of many only a sample is read."""
    step = len(scores) // (SAMPLE + k)
    return _kth(scores[:: step + 1], k)
