"""Replace names and values in texts, the same by the same, and find what is left of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise

from memsim.canary.normalise import normalise
from memsim.language.text import fold
from memsim.traces.pseudonyms.disguises import DisguiseHit, Disguises
from memsim.traces.pseudonyms.identities import RUN, Identities, camel
from memsim.traces.pseudonyms.stand_ins import StandIns, bare
from memsim.traces.pseudonyms.value_forms import exact_values, parts, telling_digits

_DIGITS = re.compile(r"(?<!\d)\d{4,}(?!\d)")
_ESCAPES = "nrtbf"
_NEAR = 80
_REMEMBERED = 10_000
_ROUNDS = 200


class Pseudonyms:
    """Stand-ins for what some conversations name.

    Args:
        identities: what is replaced.
        key: at least 32 bytes; the same key makes the same stand-ins.
        tokens: counts tokens of a text.
    """

    def __init__(self, identities: Identities, key: bytes, tokens: Callable[[str], int]) -> None:
        self.identities = identities
        avoid = identities.words | {bare(value) for value in identities.values}
        self._make = StandIns(key, avoid, tokens)
        self._wide = sorted(identities.wide, key=len, reverse=True)
        self._values = {bare(value) for value in identities.values}
        self._digits: dict[str, str] = {}
        for value in identities.values:
            plain, made = bare(value), bare(self._make.exact(value))
            for start, end in telling_digits(value):
                self._digits.setdefault(plain[start:end], made[start:end])
        known = chain(identities.names, identities.whole, identities.values)
        self._disguises = Disguises(known, identities.ordinary)
        self._seen: dict[str, str] = {}
        self._symbols: dict[str, str] = {}
        for written in chain(identities.names, identities.whole, identities.values):
            self._symbols.setdefault(normalise(written), normalise(self._plain(written)))

    def texts(self, texts: Sequence[str]) -> list[str]:
        """The texts of a conversation in order; what begins in one may end in the next."""
        made = list(texts)
        for at in range(len(made) - 1):
            made[at], made[at + 1] = self._across(made[at], made[at + 1])
        made = [*map(self._legible, made)]
        # Decoding many texts at once takes a fraction of the time.
        if next(self._disguises.encoded("\n".join(made)), None):
            made = [*map(self._decoded, made)]
            made = self._decoded("\0\n".join(made)).split("\0\n")
        return made

    def text(self, text: str) -> str:
        """A text without the names and values."""
        if text not in self._seen:
            if len(self._seen) > _REMEMBERED:
                self._seen.clear()
            self._seen[text] = self._decoded(self._legible(text))
        return self._seen[text]

    def _legible(self, text: str) -> str:
        made = self._plain(text)
        for _ in range(_ROUNDS):
            hit = next(self._disguises.hits(made), None)
            if hit is None:
                break
            made = self._undisguised(made, hit)
        return made

    def _decoded(self, text: str) -> str:
        for _ in range(_ROUNDS):
            piece = next(self._disguises.encoded(text), None)
            if piece is None:
                break
            start, end = piece
            text = text[:start] + self._make.exact(text[start:end]) + text[end:]
        return text

    def residue(self, texts: Iterable[str]) -> Iterator[str]:
        """What is left of names and values: the place in the order of the texts, and how."""
        seen: list[str] = []
        for number, text in enumerate(texts):
            seen.append(text)
            if any(self._is_name(run) for run in RUN.findall(text)):
                yield f"a name in text {number + 1}"
            elif any(bare(text[v.start : v.end]) in self._values for v in exact_values(text)):
                yield f"a value in text {number + 1}"
            elif next(self._disguises.hits(text), None):
                yield f"a disguised value in text {number + 1}"
        for number, (one, other) in enumerate(pairwise(seen)):
            if self._across(one, other) != (one, other):
                yield f"a value over texts {number + 1} and {number + 2}"
        if next(self._disguises.encoded("\n".join(seen)), None):
            yield "an encoded value"

    def _plain(self, text: str) -> str:
        made: list[str] = []
        at = 0
        for value in exact_values(text):
            written = text[value.start : value.end]
            made.append(self._words(text[at : value.start]))
            made.append(self._parts(written) if value.parted else self._make.exact(written))
            at = value.end
        return "".join(made) + self._words(text[at:])

    def _parts(self, written: str) -> str:
        made = written
        for start, end in parts(written):
            part = written[start:end]
            word = self._word(part)
            made = made[:start] + (word if word != part else self._make.exact(part)) + made[end:]
        return made if len(made) == len(written) else self._make.exact(written)

    def _words(self, text: str) -> str:
        for name in self._wide:
            if name in text:
                text = text.replace(name, self._make.name(name, fold(name)))
        made = RUN.sub(lambda run: self._word(run.group()), text)
        if not self._digits:
            return made
        return _DIGITS.sub(lambda run: self._digits.get(run.group(), run.group()), made)

    def _word(self, run: str) -> str:
        """A run of letters with the names in it replaced: also `Anas`, `AnaSmith`, `nAna`."""
        if self._is_name(run):
            return self._make.name(run, fold(run))
        if run[-1] in "sS" and self._is_name(run[:-1]):
            return self._word(run[:-1]) + run[-1]
        pieces = camel(run)
        if len(pieces) > 1:
            return "".join(map(self._word, pieces))
        if run[0] in _ESCAPES and self._is_name(run[1:]):
            return run[0] + self._word(run[1:])
        return run

    def _is_name(self, run: str) -> bool:
        folded = fold(run)
        if folded not in self.identities.names:
            return False
        return folded not in self.identities.ordinary or run[0].isupper()

    def _undisguised(self, text: str, hit: DisguiseHit) -> str:
        made = list(text)
        symbols = self._symbols.get(hit.value, "")
        if len(symbols) != len(hit.value):
            symbols = normalise(self._make.exact(hit.value))
        for place, symbol in zip(hit.places, symbols[hit.offset :], strict=False):
            made[place] = symbol.lower() if text[place].islower() else symbol
        return "".join(made)

    def _across(self, one: str, other: str) -> tuple[str, str]:
        tail, head = one[-_NEAR:], other[:_NEAR]
        joined = tail + head
        for hit in self._disguises.hits(joined):
            if hit.places[0] < len(tail) < hit.end and len(hit.places) == len(hit.value):
                made = self._undisguised(joined, hit)
                return one[: len(one) - len(tail)] + made[: len(tail)], made[len(tail) :] + other[
                    len(head) :
                ]
        return one, other
