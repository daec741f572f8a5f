"""Which of the latest messages repeat what is to be forgotten.

Whoever asks for something to be erased usually names it: `I no longer need Dr. Vinterberg, please
forget that I went there.` The request itself must then go as well, or it keeps the secret.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from memsim.language.native_values import part_scripts
from memsim.language.scripts import plain_digits
from memsim.language.word_forms import bare, is_english, is_form_of, light_stems

# Which messages a request to erase means.


ALIKE = 0.9
"""Share of the best score from which on it is not the score that tells what is meant."""

EDGES = ".,:;!?\"'()\u3002\u3001\u060c\u061b\u061f\u0964\u0589\u00ab\u00bb\u201c\u201d\u201e"
"""Marks around a word."""

_ENDING_OF_NUMBER = re.compile(r"(?<=\d)[:'\u2019](?=[^\W\d_])")

SHORTEST_STEM = 4
"""Letters that two forms of a name must share."""


def requested_message(
    text: str, sources: Collection[str], own: Mapping[str, str]
) -> tuple[str, ...]:
    """The ids that a request means: those it names, else the one that speaks of it most."""
    if sources:
        return tuple(source for source in own if source in set(sources))
    # Not with the module, which every strategy that can forget imports: numpy takes its time.
    from memsim.memory.index.bm25 import Bm25

    index = Bm25()
    for source, words in own.items():
        if words.strip() != text.strip():
            index.add(source, words)
    hits = index.search(text, 8)
    best = closest_message(text, [(hit.score, own[hit.id]) for hit in hits])
    return () if best is None else (hits[best].id,)


def closest_message(text: str, found: Sequence[tuple[float, str]]) -> int | None:
    """Which of the messages that speak of a request it means; None where there are none.

    Of those that speak of it about as much, the one that says least beside it: who names the
    garage does not mean the garage door.
    """
    if not found:
        return None
    named = set(text.casefold().split())
    near = [n for n, (score, _) in enumerate(found) if score >= ALIKE * found[0][0]]
    return min(near, key=lambda n: len(set(found[n][1].casefold().split()) - named))


def names_any(text: str, telling: Collection[str]) -> bool:
    """Whether a text holds one of the words, as a word of its own, in any case and form.

    Forms count in other languages than English: `Budapestről` and `Budapesten` name one city.
    """
    if not _words(text).isdisjoint(telling):
        return True
    if not telling or is_english(text):
        return False
    names = [bare(word) for word in telling]
    said = _words(_ENDING_OF_NUMBER.sub(" ", text))
    return any(_one_name(bare(word), name) for word in said for name in names)


def _words(text: str) -> frozenset[str]:
    plain = text if text.isascii() else part_scripts(plain_digits(text.casefold()))
    return frozenset(w.strip(EDGES).casefold() for w in plain.split())


def _one_name(one: str, other: str) -> bool:
    if one == other or not (one.isalpha() and other.isalpha()):
        return one == other
    if is_form_of(one, other) or is_form_of(other, one):
        return True
    shared = {*light_stems(one), one} & {*light_stems(other), other}
    return any(len(stem) >= SHORTEST_STEM for stem in shared)
