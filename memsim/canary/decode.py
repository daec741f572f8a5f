"""Decode texts, including nested encodings, within limits of size and time.

Each decoded view is searched as text if it is legible, and as bytes if compressed data begins
there. The work grows with the length of the text, not with the decompressed size.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from memsim.canary.codecs import CODECS

DEPTH = 2
"""Maximum number of nested encodings."""
CHUNK, OVERLAP = 1 << 20, 1 << 14
"""Number of characters decoded at a time, and how many of them again with the next chunk."""
INFLATED = 8 << 20
"""Maximum number of bytes to which a chunk is decompressed."""
PIECE = 1 << 20
"""Maximum number of bytes of one compressed piece."""
LEAST = 12
"""Minimum length of a view that can hold a token."""

_LEGIBLE = re.compile(
    rb"(?:[\x00\t\n\r -~]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}"
    rb"|[\xf0-\xf4][\x80-\xbf]{3}){%d,}+" % LEAST
)
_COMPRESSED = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")
_FEED = 1 << 14
_EITHER = 32 + zlib.MAX_WBITS
"""Flag of zlib for a gzip or zlib header."""


class DecodedText(NamedTuple):
    """A decoded view of a text.

    Attributes:
        via: the decodings, outermost first.
        text: the result, without illegible parts.
    """

    via: tuple[str, ...]
    text: str


def views(text: str) -> Iterator[DecodedText]:
    """Every decoded view of a text, up to two nested encodings.

    Args:
        text: of any length; an encoded copy that crosses a megabyte boundary is found for certain
            only if it is shorter than 16,384 characters.
    """
    for start in range(0, max(len(text) - OVERLAP, 1), CHUNK - OVERLAP):
        chunk = text[start : start + CHUNK]
        yield from _expand(chunk, as_bytes(chunk), (), _Inflater())


def as_text(data: bytes) -> str:
    """Bytes as text that can be converted back without loss."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """The bytes of `as_text`, or else the text in UTF-8, including lone surrogates."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


class _Inflater:
    """Decompresses up to a limit."""

    def __init__(self) -> None:
        self._left = INFLATED

    def open(self, data: bytes) -> Iterator[bytes]:
        """Every piece that can be decompressed, up to its end or first damage."""
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
