"""How AgenticX cuts Markdown for its index: by heading, in windows of lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

PLAIN, LONG = 40, 60
"""Lines of a piece without headings, and of a section."""

_HEADING = re.compile(r"^#{1,6}\s")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of a file.

    Attributes:
        start: the first of them, from 1.
        end: the last of them.
        text: stripped; the lines are counted as they were before.
    """

    start: int
    end: int
    text: str


def pieces(text: str) -> list[Piece]:
    """The pieces of a file, in its order, without the empty ones."""
    lines = text.splitlines()
    heads = [place for place, line in enumerate(lines) if _HEADING.match(line)]
    if not heads:
        spans = [(n, min(n + PLAIN, len(lines))) for n in range(0, len(lines), PLAIN)]
    else:
        starts = heads if heads[0] == 0 else [0, *heads]
        sections = zip(starts, [*starts[1:], len(lines)], strict=True)
        spans = [span for start, end in sections for span in _cut(lines, start, end)]
    found = (Piece(a + 1, b, "\n".join(lines[a:b]).strip()) for a, b in spans)
    return [piece for piece in found if piece.text]


def _cut(lines: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONG:
        stop = start + LONG
        blank = next((n for n in range(stop - 1, start, -1) if not lines[n].strip()), stop)
        yield start, blank
        start = blank
        while start < end and not lines[start].strip():
            start += 1
    if start < end:
        yield start, end
