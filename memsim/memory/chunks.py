"""Markdown in pieces that a search can find: by heading, of bounded length, with ids that last."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from memsim.language.graphemes import boundary
from memsim.memory.conversation import digest_of

LENGTH = 1_600
"""Characters of a chunk at most, unless told otherwise."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_END = re.compile(r"\r\n|\r|\n")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a document.

    Attributes:
        id: the same for as long as the piece stands under these headings in this file, wherever.
        file: the name that the document was given.
        headings: those that it stands under, the outermost first.
        line: the line that it begins in, counted from 1.
        text: without the blank lines around it.
    """

    id: str
    file: str
    headings: tuple[str, ...]
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    line: int
    headings: tuple[str, ...] = ()
    levels: tuple[int, ...] = (0,)
    """Of the headings, after the document's own."""
    paragraphs: list[list[str]] = field(default_factory=list)
    """Lines with their ends; blank ones belong to what they follow."""


def chunk(file: str, text: str, length: int = LENGTH) -> list[Chunk]:
    """The pieces of a Markdown document, in its order; together they are all of it but blank lines.

    A piece never spans a heading (`#` to `######`; what stands in a block of code is none). What is
    longer than allowed is split between paragraphs, else between lines, else within a line, but
    never within a character as readers see it. Of two pieces that are equal, the second has another
    id than the first.

    Args:
        file: the name of the document.
        text: all of it; a byte order mark at its beginning is left out.
        length: characters of a piece at most. A single character that is made of more stays whole.

    Raises:
        ValueError: the length is not positive.
    """
    if length < 1:
        raise ValueError("a chunk has to have a length")
    sections = _sections(text.removeprefix("\ufeff"))
    seen: dict[tuple[tuple[str, ...], str], int] = {}
    found: list[Chunk] = []
    for section, after in zip(sections, [*sections[1:], None], strict=True):
        if after is not None and after.levels[-1] > section.levels[-1] and _is_bare(section):
            continue  # what stands under it names it
        for line, piece in _pieces(section, length):
            which = section.headings, piece
            seen[which] = seen.get(which, 0) + 1
            found.append(
                Chunk(
                    id=digest_of(file, *section.headings, piece, str(seen[which])),
                    file=file,
                    headings=section.headings,
                    line=line,
                    text=piece,
                )
            )
    return found


def _sections(text: str) -> list[_Section]:
    sections = [_Section(line=1)]
    fence, blank = "", True
    for number, line in enumerate(_LINE.findall(text), 1):
        inside, fence = fence, _fence_after(fence, line.rstrip("\r\n"))
        heading = None if inside or fence else _HEADING.match(line.rstrip("\r\n"))
        if heading is not None:
            sections.append(_opened(heading, sections[-1], number))
        paragraphs = sections[-1].paragraphs
        if not paragraphs or (blank and not inside and line.strip()):
            paragraphs.append([])
        paragraphs[-1].append(line)
        blank = not line.strip()
    return sections


def _fence_after(fence: str, line: str) -> str:
    """The fence that is open after a line: its characters, empty for none."""
    match = _FENCE.match(line)
    if not fence:
        return match[1] if match else ""
    closes = match is not None and match[1].startswith(fence) and not match[2].strip()
    return "" if closes else fence


def _opened(heading: re.Match[str], before: _Section, line: int) -> _Section:
    level, name = len(heading[1]), (heading[2] or "").strip()
    above = sum(other < level for other in before.levels)
    return _Section(
        line=line,
        headings=(*before.headings[: above - 1], name),
        levels=(*before.levels[:above], level),
    )


def _is_bare(section: _Section) -> bool:
    lines = [line for paragraph in section.paragraphs for line in paragraph]
    return not any(line.strip() for line in lines[len(section.headings[:1]) :])


def _pieces(section: _Section, length: int) -> Iterator[tuple[int, str]]:
    """The pieces of a section without the blank lines around them, each with its line."""
    line = section.line
    for piece in _packed(_units(section, length), length):
        text = piece.lstrip("\r\n")
        if text.strip():
            yield line + _ends(piece[: len(piece) - len(text)]), text.rstrip()
        line += _ends(piece)


def _packed(units: Iterator[str], length: int) -> Iterator[str]:
    piece = ""
    for unit in units:
        if piece and len(piece) + len(unit) > length:
            yield piece
            piece = ""
        piece += unit
    yield piece


def _units(section: _Section, length: int) -> Iterator[str]:
    """Paragraphs as far as they are short enough, else lines, else parts of lines."""
    for paragraph in section.paragraphs:
        if sum(map(len, paragraph)) <= length:
            yield "".join(paragraph)
            continue
        for line in paragraph:
            rest = line
            while len(rest) > length:
                at = boundary(rest, length) or boundary(rest, length, later=True)
                yield rest[:at]
                rest = rest[at:]
            yield rest


def _ends(text: str) -> int:
    return len(_END.findall(text))
