"""Find canaries in texts, even if they are disguised or encoded.

There are four tiers, and the lowest match is reported: T0 the token as it is, T1 in disguise, T2
encoded, T3 six of its twelve symbols in a row. One pass over the text finds any number of canaries.
Tokens have no vowels, so normal text offers few candidates, and each is looked up in a table.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Literal, NamedTuple

from memsim.canary.codecs import SPELLED
from memsim.canary.decode import views
from memsim.canary.mint import GRAM, KINDS, LENGTH, SYMBOLS, Canary
from memsim.canary.normalise import NormalText, normalise

# Excerpts show where a secret was found, without any secret.


AROUND = 20
"""Number of characters shown on either side."""
MARK = "[redacted]"
_WIDE = 200
_VALUES = "|".join(re.escape(value) for kind in KINDS.values() for value in kind.choices)
_TELLING = re.compile(
    rf"(?i:{_VALUES}|{SPELLED.pattern})|\w*\d\w*|\w*[A-Z]{{2}}\w*|[^\s*]{{16,}}|\b\w\b"
)
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\u00a1-\u1fff]+")

Spans = Callable[[str], Iterable[tuple[int, int]]]
"""Returns the secrets of a text as (start, end)."""


def excerpt(left: str, right: str, secrets: Spans) -> str:
    """What stands before and after a match, with every secret masked.

    Masked are everything that `secrets` finds, every value that a canary can have, and everything
    that looks like a code: words with digits or in capitals, long runs, single letters, spelled
    letters, and words that the match begins or ends in.
    """
    left, right = re.sub(r"\w+\Z", "*", left), re.sub(r"\A\w+", "*", right)
    before, after = _masked(left, secrets)[-AROUND:], _masked(right, secrets)[:AROUND]
    return f"{before}{MARK}{after}".strip()


def _masked(text: str, secrets: Spans) -> str:
    pieces, end = [], 0
    for start, stop in sorted(secrets(text)):
        pieces += [text[end:start], "*"] if start >= end else []
        end = max(end, stop)
    bare = "".join([*pieces, text[end:]])
    return _UNPRINTABLE.sub(" ", _TELLING.sub("*", bare))


Tier = Literal["T0", "T1", "T2", "T3"]

_RUN = re.compile(f"[{SYMBOLS}]{{{GRAM},}}+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryHit:
    """A canary that was found.

    Attributes:
        canary: its id.
        tier: the rule that found it.
        text: index of the text in which it begins.
        at: position in that text; for T2, 0.
        via: the decodings, outermost first; only for T2.
        around: what stands before and after it, and what finds the secrets in that.
    """

    canary: str
    tier: Tier
    text: int
    at: int
    via: tuple[str, ...]
    around: tuple[str, str, Spans] = field(compare=False, repr=False)

    @property
    def excerpt(self) -> str:
        """At most 20 characters from either side, every secret in them redacted."""
        return excerpt(*self.around)


class _Place(NamedTuple):
    """The position of a canary, or of a part of it, in a normalised text."""

    canary: int
    start: int
    end: int

    @property
    def whole(self) -> bool:
        return self.end - self.start == LENGTH


class Matcher:
    """Searches texts for canaries.

    Give it every canary of a run, and check for each hit whether its viewer may see it: a part that
    two canaries share is then no hit.

    Raises:
        ValueError: two of them have the same id.
    """

    def __init__(self, canaries: Iterable[Canary]) -> None:
        self._canaries = tuple(canaries)
        self._parts: dict[str, list[tuple[int, int]]] = {}
        if len({canary.id for canary in self._canaries}) != len(self._canaries):
            raise ValueError("two canaries have the same id")
        for number, canary in enumerate(self._canaries):
            for offset in range(LENGTH - GRAM + 1):
                part = canary.symbols[offset : offset + GRAM]
                self._parts.setdefault(part, []).append((number, offset))

    def find(self, text: str, *, decode: bool = False) -> tuple[CanaryHit, ...]:
        """Every canary in a text, each once, at its lowest tier and first position.

        Args:
            text: of any length and any characters.
            decode: also search for encoded copies; takes a hundred times as long.
        """
        return self.find_in([text], decode=decode)

    def find_in(self, texts: Sequence[str], *, decode: bool = False) -> tuple[CanaryHit, ...]:
        """Every canary in several texts that are read one after the other."""
        read = _Read(texts)
        hits = {number: self._hit(place, read) for number, place in self._first(read.plain).items()}
        found = {number for number, hit in hits.items() if hit.tier != "T3"}
        if decode and len(found) < len(self._canaries):
            hits |= self._encoded(texts, found)
        return tuple(hits[number] for number in sorted(hits))

    def _first(self, plain: str) -> dict[int, _Place]:
        """The first position of each canary, or else of a part of it."""
        whole: dict[int, _Place] = {}
        partly: dict[int, _Place] = {}
        for place in self._places(plain):
            (whole if place.whole else partly).setdefault(place.canary, place)
        return partly | whole

    def _places(self, plain: str) -> Iterator[_Place]:
        for run in _RUN.finditer(plain):
            for at in range(run.start(), run.end() - GRAM + 1):
                owners = self._parts.get(plain[at : at + GRAM], ())
                for number, offset in owners:
                    symbols = self._canaries[number].symbols
                    if not offset and plain.startswith(symbols, at):
                        yield _Place(number, at, at + LENGTH)
                    elif len(owners) == 1:
                        yield _Place(
                            number, at, at + _alike(symbols[offset:], plain[at : run.end()])
                        )

    def _hit(self, place: _Place, read: _Read) -> CanaryHit:
        canary = self._canaries[place.canary]
        start, end = read.origin(place.start), read.origin(place.end - 1) + 1
        tier: Tier = "T1" if place.whole else "T3"
        if place.whole and (exact := read.text.find(canary.token)) >= 0:
            tier, start, end = "T0", exact, exact + len(canary.token)
        number, at = read.locate(start)
        left, right = read.text[max(start - _WIDE, 0) : start], read.text[end : end + _WIDE]
        around = left, right, self._secrets
        return CanaryHit(canary=canary.id, tier=tier, text=number, at=at, via=(), around=around)

    def _encoded(self, texts: Sequence[str], found: AbstractSet[int]) -> dict[int, CanaryHit]:
        """The canaries in a decoded view that were not found before."""
        hits = self._decoded("\n".join(texts), found)
        if not hits:
            return hits
        known: dict[int, CanaryHit] = {}
        for number, text in enumerate(texts):
            alone = self._decoded(text, {*found, *known})
            known |= {canary: replace(hit, text=number) for canary, hit in alone.items()}
        return hits | known

    def _decoded(self, text: str, found: AbstractSet[int]) -> dict[int, CanaryHit]:
        hits: dict[int, CanaryHit] = {}
        for view in views(text):
            for number, place in self._first(normalise(view.text)).items():
                if place.whole and number not in found and number not in hits:
                    hit = self._hit(place, _Read([view.text]))
                    hits[number] = replace(hit, tier="T2", at=0, via=view.via)
            if len(found) + len(hits) == len(self._canaries):
                break
        return hits

    def _secrets(self, text: str) -> Iterator[tuple[int, int]]:
        reading = NormalText(text)
        for place in self._places(reading.plain):
            yield reading.origin(place.start), reading.origin(place.end - 1) + 1


def _alike(symbols: str, text: str) -> int:
    """Number of symbols at the beginning that two texts share."""
    return next(
        (at for at, (one, other) in enumerate(zip(symbols, text, strict=False)) if one != other),
        min(len(symbols), len(text)),
    )


class _Read:
    """Joined texts, original and normalised."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.text = "\n".join(texts)
        self._starts = [0, *accumulate(len(text) + 1 for text in texts)]
        self._reading = NormalText(self.text)
        self.plain = self._reading.plain
        self.origin = self._reading.origin

    def locate(self, place: int) -> tuple[int, int]:
        """The text of a position, and the position in that text."""
        number = bisect_right(self._starts, place) - 1
        return number, place - self._starts[number]
