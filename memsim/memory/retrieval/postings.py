"""Where each term stands: lists that grow at their end and are read as arrays."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memsim.memory.retrieval.forms import Numbers, Scores

    Counts = NDArray[np.intc]

Norm = tuple[float, float]
"""How lengths hold texts back: `floor + slope * length`."""


_ONCE = frozenset({1})

_LENGTHS = np.arange(512.0)
"""Lengths that most texts have."""


class Postings:
    """The numbers of what holds one term, ascending, with how often and in how long a text.

    Args:
        term: the term.

    Attributes:
        documents: how many documents hold it; more than there are numbers, where documents that
            are alike have one number.
        longest: no text that holds it is longer, in terms.
    """

    __slots__ = ("_least", "_lengths", "_numbers", "_times", "documents", "longest", "term")

    def __init__(self, term: str) -> None:
        self.term = term
        self.documents = 0
        self.longest = 0
        self._numbers = array("q")  # as numpy indexes by, without a copy
        self._times = array("i")
        self._lengths = array("i")
        # The shortest length at which the term stands so many times: all that a bound needs.
        self._least: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def append(self, number: int, times: int, length: int) -> None:
        """Take in a number that is larger than any before."""
        self._numbers.append(number)
        self._times.append(times)
        self._lengths.append(length)
        self.longest = max(self.longest, length)
        least = self._least.get(times)
        if least is None or length < least:
            self._least[times] = length

    def extend(self, numbers: Numbers, times: Counts, lengths: Counts) -> None:
        """Take in many numbers, ascending and larger than any before."""
        self._numbers.frombytes(numbers.astype(np.int64).tobytes())
        self._times.frombytes(times.astype(np.intc).tobytes())
        self._lengths.frombytes(lengths.astype(np.intc).tobytes())
        self.longest = max(self.longest, int(lengths.max(initial=0)))
        for often in np.unique(times).tolist():
            least = int(lengths[times == often].min())
            self._least[often] = min(least, self._least.get(often, least))

    def remove(self, number: int) -> None:
        """Take a number out. The upper bound stays what it was, which is still a bound."""
        at = bisect_left(self._numbers, number)
        for column in (self._numbers, self._times, self._lengths):
            del column[at]

    # An array cannot grow while a view of it exists, so views live no longer than one query.
    @property
    def numbers(self) -> Numbers:
        """The numbers."""
        return np.frombuffer(self._numbers, np.int64)

    @property
    def times(self) -> Counts:
        """How often the term stands in each."""
        return np.frombuffer(self._times, np.intc)

    @property
    def lengths(self) -> Counts:
        """How many terms each has in all."""
        return np.frombuffer(self._lengths, np.intc)

    @property
    def single(self) -> bool:
        """Whether the term stands no more than once anywhere."""
        return self._least.keys() == _ONCE

    def alike(self, other: Postings) -> bool:
        """Whether both terms stand in the same texts, each as often as the other."""
        return (
            self.documents == other.documents
            and self._numbers == other._numbers
            and self._times == other._times
        )

    def most(self, norm: Norm) -> float:
        """The largest value that `times / (times + norm)` has anywhere."""
        floor, slope = norm
        return max(t / (floor + slope * n + t) for t, n in self._least.items())


class QueryTerm:
    """A query's term: where it stands, and what it adds to a score.

    Args:
        postings: where it stands.
        weight: what it would add to a text that says nothing else.
        norm: how lengths hold texts back.

    Attributes:
        most: the most that it adds to any score.
    """

    __slots__ = ("_norm", "_postings", "_weight", "most")

    def __init__(self, postings: Postings, weight: float, norm: Norm) -> None:
        self._postings = postings
        self._weight = weight
        self._norm = norm
        self.most = weight * postings.most(norm)

    def __len__(self) -> int:
        return len(self._postings)

    def lift(self, numbers: Numbers, scores: Scores) -> None:
        """Add to the scores of those that hold the term."""
        held = self._postings.numbers
        places = held.searchsorted(numbers)
        places[places == len(held)] = 0
        (hits,) = (held[places] == numbers).nonzero()
        if len(hits):
            at = places[hits]
            times, lengths = self._postings.times[at], self._postings.lengths[at]
            scores[hits] += saturated(self._weight, times, lengths, self._norm)

    @property
    def numbers(self) -> Numbers:
        """All that hold the term."""
        return self._postings.numbers

    def scores(self, divisors: Scores) -> Scores:
        """What the term adds to each of those that hold it, in their order.

        Args:
            divisors: as they are told by `divisors`.
        """
        held = self._postings
        lengths = held.lengths
        if held.longest >= len(divisors):
            return saturated(self._weight, held.times, lengths, self._norm)
        # Most terms stand once, and lengths are few: each is divided by once.
        found: Scores = (self._weight / divisors).take(lengths)
        if not held.single:
            times = held.times
            (more,) = (times > 1).nonzero()
            found[more] = saturated(self._weight, times[more], lengths[more], self._norm)
        return found

    def divisors(self) -> Scores:
        """What the weight of a term that stands once is divided by, by the length of the text."""
        floor, slope = self._norm
        found: Scores = floor + slope * _LENGTHS + 1
        return found

    @staticmethod
    def read(terms: list[QueryTerm]) -> tuple[Numbers, Scores]:
        """All that hold one of a query's terms, once for each, with what it adds."""
        lists = [t._postings for t in terms]  # noqa: SLF001 - its own class
        norm = terms[0]._norm  # noqa: SLF001 - as above
        sizes = [len(p) for p in lists]
        weights = np.repeat([t._weight for t in terms], sizes)  # noqa: SLF001 - as above
        numbers = np.concatenate([p.numbers for p in lists])
        lengths = np.concatenate([p.lengths for p in lists])
        times: Counts | int = 1
        if not all(p.single for p in lists):
            times = np.concatenate([p.times for p in lists])
        return numbers, saturated(weights, times, lengths, norm)


def query_terms(weighted: list[tuple[Postings, float]], norm: Norm) -> list[QueryTerm]:
    """A query's terms; those that always stand together, as words of one phrase, are read as one.

    Args:
        weighted: where each stands and what it weighs, the rarest first.
        norm: how lengths hold texts back.
    """
    joined: list[tuple[Postings, float]] = []
    for held, weight in weighted:
        if joined and joined[-1][0].alike(held):
            joined[-1] = (held, joined[-1][1] + weight)
        else:
            joined.append((held, weight))
    return [QueryTerm(held, weight, norm) for held, weight in joined]


def saturated(weight: float | Scores, times: Counts | int, lengths: Counts, norm: Norm) -> Scores:
    """What a term adds to each score: its weight, less for long texts, never all of it."""
    floor, slope = norm
    found: Scores = np.multiply(weight, times) / (floor + slope * lengths + times)
    return found
