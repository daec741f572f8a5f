"""The part of a long text that speaks to a question."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from memsim.language.text import whole
from memsim.memory.retrieval.terms import stem

if TYPE_CHECKING:
    from collections.abc import Callable

READ = 200_000
"""Characters of a text in which the part is looked for."""

LEAST = 40
"""Characters below which a part says too little."""

MARK = "…"

_SHRINK = 0.85

# Runs without blanks are read piece by piece: some scripts have no others.
_WORD = re.compile(r"\S{1,32}")


def snippet(text: str, question: str, size: int, fits: Callable[[str], bool]) -> str:
    """The part of a text that holds most of a question's words, with marks where it was cut.

    Args:
        text: the whole text.
        question: what the part should speak to; where it shares no word, the beginning is taken.
        size: characters to try first.
        fits: whether a part is short enough.

    Returns:
        Empty where hardly anything fits.
    """
    wanted = frozenset(stem(question))
    found = [(place, term) for place, term in _terms(text) if term in wanted]
    size = min(size, len(text))
    while size >= LEAST:
        part = _cut(text, _start(found, size), size)
        if fits(part):
            return part
        size = int(size * _SHRINK)
    return ""


@lru_cache(maxsize=64)
def _terms(text: str) -> tuple[tuple[int, str], ...]:
    return tuple(
        (word.start(), term)
        for word in _WORD.finditer(text, 0, READ)
        for term in stem(word.group())
    )


def _start(found: list[tuple[int, str]], size: int) -> int:
    """Where a part of that size begins that holds most different terms, a little before them."""
    best, start, first = 0, 0, 0
    held: dict[str, int] = {}
    for place, term in found:
        held[term] = held.get(term, 0) + 1
        while place - found[first][0] > size * 3 // 4:
            gone = found[first][1]
            held[gone] -= 1
            if not held[gone]:
                del held[gone]
            first += 1
        if len(held) > best:
            best = len(held)
            spare = size - (place - found[first][0])
            start = max(0, found[first][0] - spare // 3)
    return start


def _cut(text: str, start: int, size: int) -> str:
    """So many characters from about there, whole words where there are any."""
    start = max(0, min(start, len(text) - size))
    end = start + size
    if start > 0:
        blank = text.find(" ", start, start + LEAST // 2)
        start = blank + 1 if blank >= 0 else whole(text, start)
    if end < len(text):
        blank = text.rfind(" ", end - LEAST // 2, end)
        end = blank if blank > start else whole(text, end)
    before, after = MARK if start > 0 else "", MARK if end < len(text) else ""
    return f"{before}{text[start:end].strip()}{after}"
