"""Documents that a ranker cannot tell apart, scored once.

Long conversations repeat themselves: thanks, greetings, the same question every week. Messages that
are the same to a ranker are one *form* with many members, and its index holds forms.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from memsim.memory.index import Hit
from memsim.memory.index.id_places import IdPlaces

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Scores = NDArray[np.float64]

K = TypeVar("K", bound="Hashable")

_NO_PLACES: Numbers = np.empty(0, np.int64)
_NO_SCORES: Scores = np.empty(0)


class FormChange(NamedTuple, Generic[K]):
    """What became of a form."""

    form: int
    key: K
    turned: bool


class DocumentForms(Generic[K]):
    """Which documents there are, in order of arrival, and which of them are alike.

    A document's place is its number in that order, from 0. Forms are numbered from 0 as they come
    up; one whose last member leaves is gone for good.
    """

    def __init__(self) -> None:
        self._number: dict[K, int] = {}
        self._keys: list[K | None] = []
        self._members: dict[int, array[int]] = {}
        """The places of the members of a form, ascending, where it has more than one."""
        self._first = array("q")
        self._place = IdPlaces()
        self._ids: list[str | None] = []
        """The id at each place; None where `_place` knows it."""
        self._form = array("q")

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, source: object) -> bool:
        return source in self._place

    @property
    def numbered(self) -> int:
        """How many numbers have been given to forms so far."""
        return len(self._keys)

    @property
    def placed(self) -> int:
        """How many places have been given to documents so far."""
        return len(self._ids)

    def place(self, source: str) -> int:
        """A document's place. Raises `KeyError` if it is not there."""
        return self._place[source]

    def of(self, places: Numbers) -> Numbers:
        """The forms of the documents at these places."""
        return np.frombuffer(self._form, np.int64)[places]

    def add(self, source: str, key: K) -> FormChange[K]:
        """Take a document in, and tell its form. Raises `ValueError` if the id is there already."""
        if source in self._place:
            raise ValueError(f"{source!r} is indexed already")
        place = len(self._ids)
        self._ids.append(source)
        for packed in self._place.add(source, place):
            self._ids[packed] = None
        self._form.append(0)
        return self._join(place, key)

    def remove(self, source: str) -> FormChange[K]:
        """Take a document out, and tell the form that it had.

        Raises `KeyError` if it is not there.
        """
        place = self._place.pop(source)
        self._ids[place] = ""
        return self._leave(place)

    def move(self, place: int, key: K) -> tuple[FormChange[K], FormChange[K]]:
        """Give the document at a place another key: the form that it had, and the one it has."""
        return self._leave(place), self._join(place, key)

    def key(self, place: int) -> K:
        """The key of the document at a place."""
        key = self._keys[self._form[place]]
        assert key is not None  # noqa: S101 - a form with a member has a key
        return key

    def best(
        self,
        forms: Numbers,
        scores: Scores,
        k: int,
        apart: tuple[Numbers, Scores] | None = None,
    ) -> list[Hit]:
        """The best `k` documents, best first, ties to the earlier.

        `forms` have members, each once. `apart` are the places of documents that score more than
        their form, each once, and what they score.
        """
        places, own = apart or (_NO_PLACES, _NO_SCORES)
        kept = _top(own, places, k)
        alone = zip((-own[kept]).tolist(), places[kept].tolist(), strict=True)
        firsts = np.frombuffer(self._first, np.int64)[forms]
        kept = _top(scores, firsts, k)
        kept = kept[np.lexsort((firsts[kept], -scores[kept]))]
        found = self._members_of(forms[kept].tolist(), (-scores[kept]).tolist(), k, places)
        best = sorted((*alone, *found))[:k]
        # A named tuple's own ways to make one cost twice as much.
        new = tuple.__new__
        names = self._names([place for _, place in best])
        return [new(Hit, (name, -score)) for name, (score, _) in zip(names, best, strict=True)]

    def _members_of(
        self, forms: list[int], scores: list[float], k: int, without: Numbers
    ) -> list[tuple[float, int]]:
        """Negative scores and places of the best members of forms that are sorted by both."""
        skipped = frozenset(without.tolist())
        found: list[tuple[float, int]] = []
        wanted, last = k, None
        for form, score in zip(forms, scores, strict=True):
            if score != last:
                wanted, last = k - len(found), score
                if wanted <= 0:
                    break
            room = wanted
            for place in self._members.get(form) or self._first[form : form + 1]:
                if place not in skipped:
                    found.append((score, place))
                    room -= 1
                    if not room:
                        break
        return found

    def all(self, scores: Scores, apart: tuple[Numbers, Scores] | None = None) -> list[Hit]:
        """Every document, best first, ties to the earlier."""
        places = np.fromiter(self._place.places(), np.int64, len(self._place))
        by_place = scores[np.frombuffer(self._form, np.int64)] if len(self._form) else scores
        if apart is not None:
            by_place[apart[0]] = apart[1]
        found = by_place[places]
        order = np.argsort(-found, kind="stable")
        names = self._names(places[order].tolist())
        return [
            Hit(source, score) for source, score in zip(names, found[order].tolist(), strict=True)
        ]

    def _names(self, places: list[int]) -> list[str]:
        ids, name = self._ids, self._place.name
        return [name(p) if (known := ids[p]) is None else known for p in places]

    def _join(self, place: int, key: K) -> FormChange[K]:
        form = self._number.get(key)
        new = form is None
        if form is None:
            form = self._number[key] = len(self._keys)
            self._keys.append(key)
            self._first.append(place)
        else:
            members = self._members.get(form)
            if members is None:
                members = self._members[form] = self._first[form : form + 1]
            insort(members, place)
            self._first[form] = members[0]
        self._form[place] = form
        return FormChange(form, key, new)

    def _leave(self, place: int) -> FormChange[K]:
        form, key = self._form[place], self.key(place)
        members = self._members.get(form)
        if members is None:
            del self._number[key]
            self._keys[form] = None
            return FormChange(form, key, turned=True)
        del members[bisect_left(members, place)]
        self._first[form] = members[0]
        if len(members) == 1:
            del self._members[form]
        return FormChange(form, key, turned=False)


def _top(scores: Scores, firsts: Numbers, k: int) -> NDArray[np.intp]:
    """Where the best `k` are, ties to the smaller of `firsts`."""
    if len(scores) <= k:
        return np.arange(len(scores))
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    (better,) = (scores > least).nonzero()
    (tied,) = (scores == least).nonzero()
    room = k - len(better)
    if len(tied) > room:
        last = np.partition(firsts[tied], room - 1)[room - 1]
        tied = tied[firsts[tied] <= last]
    return np.concatenate((better, tied))
