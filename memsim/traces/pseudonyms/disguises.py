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
        self._grams: dict[str, tuple[str, int]] = {}
        self._lengths: dict[str, tuple[int, ...]] = {}
        for written in values:
            plain = normalise(written)
            if len(plain) < LEAST or plain in self._lengths:
                continue
            self._lengths[plain] = tuple(map(len, map(normalise, _split(written))))
            for at in range(len(plain) - LEAST + 1):
                self._grams.setdefault(plain[at : at + LEAST], (plain, at))

    def hits(self, text: str) -> Iterator[DisguiseHit]:
        """Where a text says a value, in disguise or in part, without overlaps."""
        reading = NormalText(text)
        plain, at = reading.plain, 0
        grams = self._grams
        while at <= len(plain) - LEAST:
            known = grams.get(plain[at : at + LEAST])
            if known is None:
                at += 1
                continue
            value, offset = known
            size = LEAST
            while value[offset : offset + size + 1] == plain[at : at + size + 1] and (
                size < len(value) - offset
            ):
                size += 1
            places = tuple(reading.origin(place) for place in range(at, at + size))
            hit = DisguiseHit(places, value, offset)
            if self._is_said(text, hit):
                yield hit
                at += size
            else:
                at += 1

    def encoded(self, text: str) -> Iterator[tuple[int, int]]:
        """The shortest pieces of a text that say a value when they are decoded."""
        for start in range(0, len(text), _BLOCK):
            block = text[start : start + _BLOCK + (_BLOCK >> 2)]
            if self._within(block):
                first, last = _narrowed(block, self._within)
                yield start + first, start + last

    def _within(self, text: str) -> bool:
        return any(next(self.hits(view.text), None) for view in views(text))

    def _is_said(self, text: str, hit: DisguiseHit) -> bool:
        first, end = hit.places[0], hit.end
        if _joins(text, first - 1, first) or _joins(text, end - 1, end):
            return False
        runs = _runs(text, hit.places)
        whole = len(hit.places) == len(hit.value)
        if not hit.value.isalpha():
            return True
        if whole and runs == self._lengths[hit.value]:
            return True
        if len(runs) > 1 and max(runs) > 1:
            return False
        return whole or hit.value[hit.offset :][: len(hit.places)].lower() not in self._ordinary


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
