"""Where each term stands, and the best documents for a query by Okapi BM25."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from memsim.language.text import index_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from memsim.memory.index.forms import Numbers, Scores

    Counts = NDArray[np.integer[Any]]


K1, B = 1.5, 0.75
"""The constants of BM25: how soon repeating a word stops to count, and how much long texts are held
back."""

MESSAGE_B = 0.3
"""How much stores hold long entries back: most messages are short, and a length within a few words
of the mean tells little. Recall weighs those that are long in tokens by itself."""

DIGITS = 10
"""Digits after the point that a score over several shelves keeps."""

_NONE: Numbers = np.empty(0, np.int64)


def idf(count: int, holding: int) -> float:
    """What a term is worth that `holding` of `count` documents hold."""
    return math.log(1 + (count - holding + 0.5) / (holding + 0.5))


Norm = tuple[float, float]
"""How lengths hold texts back: `floor + slope * length`."""


Columns = tuple["array[int]", "array[int]", "array[int]"]
"""Numbers, times and lengths: 8 bytes together, where no text has `LONG` terms; else 12."""

LONG = 1 << 16

_LENGTHS = np.arange(512.0)
"""Lengths that most texts have."""


class Postings:
    """The numbers of what holds one term, ascending, with how often and in how long a text.

    No text that holds it has more than `longest` terms. `documents` may exceed the numbers there
    are, where documents that are alike have one number.
    """

    __slots__ = (
        "_columns",
        "_least",
        "_often",
        "_only",
        "_shortest",
        "documents",
        "longest",
        "term",
    )

    def __init__(self, term: str) -> None:
        self.term = term
        self.documents = 0
        self.longest = 0
        # Most terms have one number, and three arrays for each would be most of an index.
        self._only = -1
        self._columns: Columns | None = None
        # The shortest length at which the term stands so many times: all that a bound needs.
        # Most terms stand equally often wherever they stand, and need no table for the others.
        self._often = 0
        self._shortest = 0
        self._least: dict[int, int] | None = None

    def __len__(self) -> int:
        return int(self._only >= 0) if self._columns is None else len(self._columns[0])

    def append(self, number: int, times: int, length: int) -> None:
        """Take in a number that is larger than any before."""
        columns = self._columns
        if columns is None and self._often:
            columns = self._open()
        if columns is None:
            self._only = number
        else:
            columns = self._wide_enough(columns, max(times, length))
            columns[0].append(number)
            columns[1].append(times)
            columns[2].append(length)
        self.longest = max(self.longest, length)
        self._bound(times, length)

    def extend(self, numbers: Numbers, times: Counts, lengths: Counts) -> None:
        """Take in many numbers, ascending and larger than any before."""
        most = max(int(times.max(initial=0)), int(lengths.max(initial=0)))
        own = self._wide_enough(self._open(), most)
        for column, new in zip(own, (numbers, times, lengths), strict=True):
            column.frombytes(new.astype(column.typecode).tobytes())
        self.longest = max(self.longest, int(lengths.max(initial=0)))
        for often in np.unique(times).tolist():
            self._bound(often, int(lengths[times == often].min()))

    def remove(self, number: int) -> None:
        """Take a number out. The upper bound stays what it was, which is still a bound."""
        columns = self._open()
        at = bisect_left(columns[0], number)
        for column in columns:
            del column[at]

    # An array cannot grow while a view of it exists, so views live no longer than one query.
    @property
    def places(self) -> NDArray[np.intc]:
        """The numbers, as they are held."""
        return np.frombuffer(self._read()[0], np.intc)

    @property
    def numbers(self) -> Numbers:
        """The numbers."""
        return self.places.astype(np.int64)

    @property
    def times(self) -> Counts:
        """How often the term stands in each."""
        times = self._read()[1]
        return np.frombuffer(times, times.typecode)

    @property
    def lengths(self) -> Counts:
        """How many terms each has in all."""
        lengths = self._read()[2]
        return np.frombuffer(lengths, lengths.typecode)

    @property
    def single(self) -> bool:
        """Whether the term stands no more than once anywhere."""
        return self._often == 1 and self._least is None

    def alike(self, other: Postings) -> bool:
        """Whether both terms stand in the same texts, each as often as the other."""
        return (
            self.documents == other.documents
            and len(self) == len(other)
            and self._read()[:2] == other._read()[:2]
        )

    def most(self, norm: Norm) -> float:
        """The largest value that `times / (times + norm)` has anywhere."""
        floor, slope = norm
        least = ((self._often, self._shortest), *(self._least or {}).items())
        return max(t / (floor + slope * n + t) for t, n in least)

    def _read(self) -> Columns:
        """Numbers, times and lengths."""
        if self._columns is not None:
            return self._columns
        if self._only < 0:
            return array("i"), array("H"), array("H")
        # Of the only one, the bound is exact.
        kind = "H" if max(self._often, self._shortest) < LONG else "i"
        return (
            array("i", (self._only,)),
            array(kind, (self._often,)),
            array(kind, (self._shortest,)),
        )

    def _open(self) -> Columns:
        """The columns, to be changed."""
        if self._columns is None:
            self._columns = self._read()
        return self._columns

    def _wide_enough(self, columns: Columns, most: int) -> Columns:
        """The columns, as such that hold times and lengths of so many."""
        if most >= LONG and columns[1].typecode == "H":
            numbers, times, lengths = columns
            self._columns = columns = (numbers, array("i", times), array("i", lengths))
        return columns

    def _bound(self, times: int, length: int) -> None:
        """Note a length at which the term stands so many times."""
        if self._often in {0, times}:
            self._shortest = min(length, self._shortest) if self._often else length
            self._often = times
            return
        if self._least is None:
            self._least = {}
        self._least[times] = min(length, self._least.get(times, length))


class QueryTerm:
    """A query's term: where it stands, and what it adds to a score."""

    __slots__ = ("_norm", "_postings", "_weight", "most")

    def __init__(self, postings: Postings, weight: float, norm: Norm) -> None:
        self._postings = postings
        self._weight = weight
        self._norm = norm
        self.most = weight * postings.most(norm)

    def __len__(self) -> int:
        return len(self._postings)

    @property
    def name(self) -> str:
        """The term itself."""
        return self._postings.term

    def lift(self, numbers: Numbers, scores: Scores) -> None:
        """Add to the scores of those that hold the term."""
        held = self._postings.places
        # Sought as they are held: to widen all that are there would take longest of all.
        places = held.searchsorted(numbers.astype(np.intc))
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
        """What the term adds to each of those that hold it, in their order."""
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
    """A query's terms; those that always stand together, as a phrase, are read as one."""
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


# The best of an index for a query, exactly, without reading what cannot matter.


FIRST_READ = 1_048_576
"""Postings that are read at once before the first look at whether more need be read. A look at
131,072 of them takes as long as reading 100,000 more, and seldom saves as many. A question about a
million sentences of real talk has 46,000."""

TOGETHER = 2048
"""Postings that cost less to read all together than term by term."""

TRIED = 3
"""Times as many candidates as are wanted are counted to the end, to learn what the best score."""

SAMPLE = 2048
"""Scores of which a sample's best are near enough to the best of all."""

_SLACK = 1 + 1e-9
"""Bounds are rounded up by this, so that rounding never costs anything its place."""


class ScoreTally:
    """Sums of scores by number; only what is touched is ever cleared, whatever else there is."""

    def __init__(self) -> None:
        self._sums = np.zeros(1024)
        self._marks = np.zeros(1024, np.int32)

    def reserve(self, count: int) -> None:
        """Make room for numbers below this."""
        if count > len(self._sums):
            room = count + count // 4
            self._sums = np.zeros(room)
            self._marks = np.zeros(room, np.int32)

    def add(self, numbers: Numbers, scores: Scores) -> None:
        """Add scores, in this order; a number may come more than once."""
        np.add.at(self._sums, numbers, scores)

    def distinct(self, numbers: Numbers) -> Numbers:
        """The numbers, each once."""
        order = np.arange(len(numbers), dtype=np.int32)
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
    terms: list[QueryTerm], k: int, tally: ScoreTally, wanted: Numbers
) -> tuple[Numbers, Scores, Scores]:
    """Numbers with their scores, the best `k` and all that tie with these among them.

    `wanted` are numbers whose scores are asked for, whatever they are; `tally` has room for every
    number. Returns the numbers, their scores, and the scores of the wanted ones.
    """
    if not terms:
        return np.empty(0, np.int64), np.empty(0), np.zeros(len(wanted))
    rest = _bounds(terms)
    lists, least = _collect(terms, rest, k, tally)
    found = _promising(lists, rest, k, tally, least)
    scores, theirs = tally.sums(found), tally.sums(wanted)
    tally.clear(lists)
    for place, term in enumerate(terms[len(lists) :], len(lists)):
        least = max(least, _kth(scores, k))
        (left,) = (scores >= (least - rest[place]) / _SLACK).nonzero()
        found, scores = found[left], scores[left]
        term.lift(found, scores)
        term.lift(wanted, theirs)
    return found, scores, theirs


def _bounds(terms: list[QueryTerm]) -> list[float]:
    """What the terms from each on may add to a score, and 0 behind the last.

    A term may have a list for each shelf, one after the other. A text is on one of them.
    """
    bounds, others, most, name = [0.0], 0.0, 0.0, ""
    for term in reversed(terms):
        if term.name != name:
            others, most, name = others + most, 0.0, term.name
        most = max(most, term.most)
        bounds.append(others + most)
    return [bound * _SLACK for bound in reversed(bounds)]


def all_sums(terms: list[QueryTerm], tally: ScoreTally) -> tuple[Numbers, Scores]:
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


def _sum_up(terms: list[QueryTerm], divisors: Scores, tally: ScoreTally) -> list[Numbers]:
    """Add what the terms say to the tally; what holds each of them."""
    lists = [t.numbers for t in terms]
    if sum(map(len, lists)) <= TOGETHER:
        tally.add(*QueryTerm.read(terms))
        return lists
    for numbers, term in zip(lists, terms, strict=True):
        tally.add(numbers, term.scores(divisors))
    return lists


def _collect(
    terms: list[QueryTerm], rest: list[float], k: int, tally: ScoreTally
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
    lists: list[Numbers], rest: list[float], k: int, tally: ScoreTally, least: float
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


def _least(seen: Numbers, terms: list[QueryTerm], read: int, k: int, tally: ScoreTally) -> float:
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


# Scores over several shelves at once, as if their entries were all that there is. Statistics are
# summed over the shelves that were admitted, so what stands on others cannot tell. Scores are
# rounded: equal texts and equal words tie whatever order sums were taken in.


class ScoredNumbers(NamedTuple):
    """Numbers of entries, each once, and their scores: the best, and all that tie with them."""

    numbers: Numbers
    scores: Scores


class ShelfWords(Protocol):
    """What stands on one shelf, by its words."""

    @property
    def entries(self) -> int: ...

    @property
    def terms(self) -> int: ...

    def postings(self, term: str) -> Postings | None:
        """Where a term stands, by number; None for nowhere."""
        ...


def best_by_words(
    text: str, shelves: Sequence[ShelfWords], k: int, tally: ScoreTally
) -> ScoredNumbers:
    """The entries of these shelves that speak of a text most.

    The order of `shelves` depends on nothing else; `tally` has room for every number on them.
    """
    count, total = sum(s.entries for s in shelves), sum(s.terms for s in shelves)
    if k <= 0 or not count:
        return ScoredNumbers(_NONE, np.empty(0))
    norm = (K1 * (1 - MESSAGE_B), K1 * MESSAGE_B * count / (total or 1))
    weighed: list[tuple[int, str, float, list[Postings]]] = []
    for term, times in Counter(index_terms(text)).items():
        lists = [p for s in shelves if (p := s.postings(term)) is not None and p.documents]
        holding = sum(p.documents for p in lists)
        if holding:
            weighed.append((holding, term, times * (K1 + 1) * idf(count, holding), lists))
    weighed.sort(key=lambda w: w[:2])
    terms = [QueryTerm(p, weight, norm) for _, _, weight, lists in weighed for p in lists]
    numbers, scores, _ = best_numbers(terms, k, tally, _NONE)
    return keep_best(numbers, np.round(scores, DIGITS), k)


def holds_words(text: str, shelves: Sequence[ShelfWords]) -> bool:
    """Whether an entry of these shelves holds a word of a text."""
    terms = dict.fromkeys(index_terms(text))
    found = (shelf.postings(term) for term in terms for shelf in shelves)
    return any(held is not None and held.documents for held in found)


def keep_best(numbers: Numbers, scores: Scores, k: int) -> ScoredNumbers:
    """The best `k`, and all that tie with the last of them."""
    if len(scores) <= k:
        return ScoredNumbers(numbers, scores)
    (kept,) = (scores >= np.partition(scores, len(scores) - k)[len(scores) - k]).nonzero()
    return ScoredNumbers(numbers[kept], scores[kept])
