"""Undoes encodings, one inside another, within bounds on size and time.

What is decoded is read twice: as text where it is legible, and as bytes where something compressed
begins. Work grows with the length of the text and not with what it unpacks to.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from memsim.canary.codecs import CODECS

DEPTH = 2
"""Encodings that are undone one inside another."""
CHUNK, OVERLAP = 1 << 20, 1 << 14
"""Characters decoded at a time, and how many of them again with the next."""
INFLATED = 8 << 20
"""Bytes, at most, that what is compressed in a chunk may come to in all."""
PIECE = 1 << 20
"""Bytes, at most, of one compressed piece."""
LEAST = 12
"""Characters below which no view can hold a token."""

_LEGIBLE = re.compile(
    rb"(?:[\x00\t\n\r -~]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}"
    rb"|[\xf0-\xf4][\x80-\xbf]{3}){%d,}+" % LEAST
)
_COMPRESSED = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")
_FEED = 1 << 14
_EITHER = 32 + zlib.MAX_WBITS
"""Tells zlib to expect a gzip or a zlib header."""


class DecodedText(NamedTuple):
    """One way to read a text.

    Attributes:
        via: the encodings that were undone, the outermost first.
        text: what came out; illegible stretches are left out.
    """

    via: tuple[str, ...]
    text: str


def views(text: str) -> Iterator[DecodedText]:
    """Every decoded view of a text, to the depth of two encodings.

    Args:
        text: of any length; an encoded copy that crosses a megabyte mark is sure to be found only
            if it is shorter than 16,384 characters.
    """
    for start in range(0, max(len(text) - OVERLAP, 1), CHUNK - OVERLAP):
        chunk = text[start : start + CHUNK]
        yield from _expand(chunk, as_bytes(chunk), (), _Inflater())


def as_text(data: bytes) -> str:
    """Bytes as text from which the same bytes can be had again."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """The bytes that `as_text` was given, or else the text in UTF-8, lone surrogates and all."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


class _Inflater:
    """Opens what is compressed until its bound is reached."""

    def __init__(self) -> None:
        self._left = INFLATED

    def open(self, data: bytes) -> Iterator[bytes]:
        """Every piece that opens, to its end or to where it is damaged."""
        for match in _COMPRESSED.finditer(data):
            if not self._left:
                return
            piece = _inflate(data, match.start(), min(PIECE, self._left))
            self._left -= len(piece)
            if piece:
                yield piece


def _inflate(data: bytes, start: int, most: int) -> bytes:
    opener = zlib.decompressobj(_EITHER)
    opened = bytearray()
    for at in range(start, len(data), _FEED):
        try:
            opened += opener.decompress(data[at : at + _FEED], most - len(opened))
        except zlib.error:
            break
        if opener.eof or len(opened) >= most:
            break
    return bytes(opened)


def _expand(
    text: str, raw: bytes, via: tuple[str, ...], inflater: _Inflater
) -> Iterator[DecodedText]:
    for name, decoded in _decoded(text, raw, inflater):
        if isinstance(decoded, bytes):
            data, view = decoded, _legible(decoded)
        else:
            data, view = b"", decoded
        within = (*via, name)
        if len(view) >= LEAST:
            yield DecodedText(within, view)
        if len(within) < DEPTH and (len(view) >= LEAST or data):
            yield from _expand(view, data, within, inflater)


def _decoded(text: str, raw: bytes, inflater: _Inflater) -> Iterator[tuple[str, str | bytes]]:
    for piece in inflater.open(raw):
        yield "compressed", piece
    for name, codec in CODECS:
        for decoded in codec(text):
            yield name, decoded


def _legible(data: bytes) -> str:
    return b"\n".join(_LEGIBLE.findall(data)).decode("utf-8", "surrogateescape")
