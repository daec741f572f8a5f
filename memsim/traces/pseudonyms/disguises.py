"""Find known names and values in disguise, in parts, and encoded.

A name counts as a whole: `to bias` does not say `Tobias`, and `T o b i a s` does.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import NamedTuple

from memsim.canary.decode import views
from memsim.canary.normalise import NormalText, normalise

LEAST = 6
"""Letters and digits in a row by which something is recognised."""

_BLOCK = 1 << 14
_HIDDEN = frozenset({"Mn", "Me", "Cf"})


class DisguiseHit(NamedTuple):
    """What was found: places in the text, the value in its normal form, and from which symbol."""

    places: tuple[int, ...]
    value: str
    offset: int

    @property
    def end(self) -> int:
        """The place after the last one."""
        return self.places[-1] + 1


class Disguises:
    """Everything that is searched for.

    Args:
        values: names and values as they are written.
        ordinary: folded words that are no part of a name.
    """

    def __init__(self, values: Iterator[str], ordinary: AbstractSet[str]) -> None:
        self._ordinary = ordinary
        self._grams: dict[str, list[tuple[str, int]]] = {}
        self._lengths: dict[str, tuple[int, ...]] = {}
        for written in values:
            plain = normalise(written)
            if len(plain) < LEAST or plain in self._lengths:
                continue
            self._lengths[plain] = tuple(map(len, map(normalise, _split(written))))
            for at in range(len(plain) - LEAST + 1):
                self._grams.setdefault(plain[at : at + LEAST], []).append((plain, at))

    def hits(self, text: str) -> Iterator[DisguiseHit]:
        """Where a text says a value, in disguise or in part, without overlaps."""
        reading = NormalText(text)
        at = 0
        while at <= len(reading.plain) - LEAST:
            hit = next(self._hits_from(text, reading, at), None)
            if hit is not None:
                yield hit
            at += 1 if hit is None else len(hit.places)

    def _hits_from(self, text: str, reading: NormalText, at: int) -> Iterator[DisguiseHit]:
        """What is said from a place of the normal form on, the longest first."""
        found: list[DisguiseHit] = []
        for value, offset in self._grams.get(reading.plain[at : at + LEAST], ()):
            size = LEAST + _shared(value[offset + LEAST :], reading.plain[at + LEAST :])
            places = tuple(reading.origin(place) for place in range(at, at + size))
            found.append(DisguiseHit(places, value, offset))
        found.sort(key=lambda hit: -len(hit.places))
        return (hit for hit in found if self._is_said(text, hit))

    def encoded(self, text: str) -> Iterator[tuple[int, int]]:
        """The shortest pieces of a text that say a value when they are decoded."""
        for start in range(0, len(text), _BLOCK):
            block = text[start : start + _BLOCK + (_BLOCK >> 2)]
            if self._within(block):
                first, last = _narrowed(block, self._within)
                yield start + first, start + last

    def _within(self, text: str) -> bool:
        # What is not encoded is found by `hits`. Here a cut may have made a part of a word.
        decoded = (view.text for view in views(text) if view.text != text)
        return any(next(self.hits(each), None) for each in decoded)

    def _is_said(self, text: str, hit: DisguiseHit) -> bool:
        first, end = hit.places[0], hit.end
        if _joins(text, first - 1, first) or _joins(text, end - 1, end):
            return False
        runs = _runs(text, hit.places)
        whole = len(hit.places) == len(hit.value)
        part = hit.value[hit.offset :][: len(hit.places)]
        is_ordinary = part.lower() in self._ordinary
        if not hit.value.isalpha():
            return not is_ordinary
        if whole and runs == self._lengths[hit.value]:
            # A word that is mostly written small is a name only with a capital.
            return not (is_ordinary and text[first].islower())
        if len(runs) > 1 and max(runs) > 1:
            return False
        return whole or not is_ordinary


def _shared(one: str, other: str) -> int:
    """The number of symbols with which both begin."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


def _split(written: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in written).split()


def _joins(text: str, one: int, other: int) -> bool:
    """Whether two characters stand together as letters or digits of one word."""
    if one < 0 or other >= len(text):
        return False
    return text[one].isalnum() and text[other].isalnum()


def _runs(text: str, places: tuple[int, ...]) -> tuple[int, ...]:
    runs = [1]
    for one, other in pairwise(places):
        between = text[one + 1 : other]
        if all(unicodedata.category(c) in _HIDDEN for c in between):
            runs[-1] += 1
        else:
            runs.append(1)
    return tuple(runs)


def _narrowed(text: str, says: Callable[[str], bool]) -> tuple[int, int]:
    """The end and then the beginning of the piece, each by halves."""
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if says(text[:middle]) else (middle, high)
    end, low = high, 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if says(text[middle:end]) else (low, middle)
    return low, end
