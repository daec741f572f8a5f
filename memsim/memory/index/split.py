"""Long texts in passages, so that the one line of a log that matters can be found and quoted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from memsim.language.graphemes import boundary
from memsim.language.text import index_terms, whole
from memsim.memory.entry import digest_of

# Markdown in pieces that a search can find: by heading, of bounded length, with ids that last.


LENGTH = 1_600
"""Characters of a chunk at most, unless told otherwise."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_END = re.compile(r"\r\n|\r|\n")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChunk:
    """A piece of a document.

    `id` is the same for as long as the piece stands under these headings in this file, wherever.
    `line` is counted from 1; `text` is without the blank lines around it.
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


def chunk(file: str, text: str, length: int = LENGTH) -> list[PageChunk]:
    """The pieces of a Markdown document, in its order; together they are all of it but blank lines.

    A piece never spans a heading (`#` to `######`; what stands in a block of code is none). What is
    longer than allowed is split between paragraphs, else between lines, else within a line, but
    never within a character as readers see it. Of two pieces that are equal, the second has another
    id than the first. A piece has at most `length` characters, but a single one that is made of
    more stays whole. A byte order mark at the beginning of the text is left out. Raises
    `ValueError` if the length is not positive.
    """
    if length < 1:
        raise ValueError("a chunk has to have a length")
    sections = _sections(text.removeprefix("\ufeff"))
    seen: dict[tuple[tuple[str, ...], str], int] = {}
    found: list[PageChunk] = []
    for section, after in zip(sections, [*sections[1:], None], strict=True):
        if after is not None and after.levels[-1] > section.levels[-1] and _is_bare(section):
            continue  # what stands under it names it
        for line, piece in _chunk_pieces(section, length):
            which = section.headings, piece
            seen[which] = seen.get(which, 0) + 1
            found.append(
                PageChunk(
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


def _chunk_pieces(section: _Section, length: int) -> Iterator[tuple[int, str]]:
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


# The part of a long text that speaks to a question.


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

    Where the text shares no word with `question`, its beginning is taken. `size` is the characters
    to try first; `fits` tells whether a part is short enough. Returns an empty text where hardly
    anything fits.
    """
    wanted = frozenset(index_terms(question))
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
        for term in index_terms(word.group())
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


SIZE = 60
"""Tokens of a passage, as far as its lines allow."""

LONG = 300
"""Tokens up to which a text is one passage."""


_LONGEST = 240
"""Characters of a word beyond which it is split between characters as readers see them."""


def passages(
    text: str, count: Callable[[str], int], *, size: int = SIZE, long: int = LONG
) -> tuple[str, ...]:
    """A text in passages of whole lines; a line that is longer is split between words.

    What tools answer stands nowhere else and is mostly beside the point: there, passages find more
    than whole texts do. What people say is better quoted whole. A passage has at least `size`
    tokens. A text of up to `long` tokens stays whole. Returns them in their order, blank lines left
    out.
    """
    if count(text) <= long:
        return (text,)
    found: list[str] = []
    held: list[str] = []
    tokens = 0
    for line in _lines(text, count, size):
        length = count(line + "\n")
        if held and tokens + length > size:
            found.append("\n".join(held))
            held, tokens = [], 0
        held.append(line)
        tokens += length
    if held:
        found.append("\n".join(held))
    return tuple(found) or (text,)


def _lines(text: str, count: Callable[[str], int], size: int) -> Iterator[str]:
    for line in text.splitlines():
        if not line.strip():
            continue
        if len(line) <= size or count(line) <= size:
            yield line
        else:
            yield from _pieces(line, count, size)


def _pieces(line: str, count: Callable[[str], int], size: int) -> Iterator[str]:
    held = ""
    for piece in _words(line):
        joined = f"{held} {piece}" if held else piece
        if held and count(joined) > size:
            yield held
            joined = piece
        held = joined
    if held:
        yield held


def _words(line: str) -> Iterator[str]:
    for word in line.split():
        while len(word) > _LONGEST:
            at = boundary(word, _LONGEST) or boundary(word, _LONGEST, later=True)
            yield word[:at]
            word = word[at:]  # noqa: PLW2901
        if word:
            yield word
