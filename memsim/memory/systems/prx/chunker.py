"""PRX's chunker: markdown by headings, paragraphs and lines; sizes in bytes, quirks included."""

from __future__ import annotations

from typing import NamedTuple

from memsim.memory.systems.prx.lines import lines_of

BYTES_PER_TOKEN = 4
_HEADINGS = ("# ", "## ", "### ")


class Piece(NamedTuple):
    """A chunk of a document."""

    number: int
    heading: str | None
    content: str


def chunks(text: str, tokens: int) -> list[Piece]:
    """The pieces of a markdown text.

    Paragraphs of a section that is too long carry its heading; the lines of a paragraph that is too
    long do not, and the heading is left standing alone before and after them.

    Args:
        text: the document.
        tokens: of a piece at most, four bytes each.
    """
    most = BYTES_PER_TOKEN * tokens
    found: list[tuple[str | None, str]] = []
    for heading, body in _sections(text):
        whole = f"{heading}\n{body}" if heading else body
        parts = [whole] if _size(whole) <= most else _parted(heading, body, most)
        found += [(heading, part.strip()) for part in parts if part.strip()]
    return [Piece(index, heading, content) for index, (heading, content) in enumerate(found)]


def _sections(text: str) -> list[tuple[str | None, str]]:
    sections: list[tuple[str | None, list[str]]] = [(None, [])]
    for line in lines_of(text):
        if line.startswith(_HEADINGS):
            sections.append((line.strip(), []))
        else:
            sections[-1][1].append(line + "\n")
    return [(heading, "".join(lines)) for heading, lines in sections]


def _parted(heading: str | None, body: str, most: int) -> list[str]:
    start = f"{heading}\n" if heading else ""
    parts: list[str] = []
    buffer = start
    for paragraph in _paragraphs(body):
        if _size(buffer) + _size(paragraph) > most and buffer.strip():
            parts.append(buffer)
            buffer = start
        if _size(paragraph) > most:
            if buffer.strip():
                parts.append(buffer)
                buffer = start
            parts += _packed(paragraph, most)
        else:
            buffer += paragraph + "\n"
    return [*parts, buffer]


def _paragraphs(body: str) -> list[str]:
    paragraphs, lines = [], []
    for line in lines_of(body):
        if line.strip():
            lines.append(line + "\n")
        elif lines:
            paragraphs.append("".join(lines))
            lines = []
    return [*paragraphs, "".join(lines)] if lines else paragraphs


def _packed(paragraph: str, most: int) -> list[str]:
    parts, buffer = [], ""
    for line in (said + "\n" for said in lines_of(paragraph)):
        if buffer and _size(buffer) + _size(line) > most:
            parts.append(buffer)
            buffer = ""
        buffer += line
    return [*parts, buffer]


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
