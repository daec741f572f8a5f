"""Read what stands in bytes: as text, compressed, encoded, and in databases and archives.

A memory that erased a text may still keep a packed copy of it. Only runs that look encoded are
decoded, so that whole folders can be searched often.
"""

from __future__ import annotations

import bz2
import io
import json
import lzma
import re
import sqlite3
import zipfile
import zlib
from base64 import a85decode, b85decode
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import lru_cache
from itertools import chain

from memsim.canary import codecs

DEPTH = 4
"""Layers of packing that are opened, such as a database, base64 in it, and gzip in that."""
LARGEST = 1 << 20
"""Bytes that a compressed piece is opened to."""
PIECES = 4096
"""Pieces that are opened in one file."""
LEAST = 12
"""Bytes below which nothing can hold a secret."""

_RUN = re.compile(rb"[\x20-\x7e\t\r\n]{12,}")
_WIDE = (
    ("utf-16-le", re.compile(rb"(?:[\x20-\x7e]\x00){12,}")),
    ("utf-32-le", re.compile(rb"(?:[\x20-\x7e]\x00{3}){12,}")),
)
_PACKED = re.compile(
    rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]|BZh[1-9]1AY&SY|\xfd7zXZ\x00|PK\x03\x04"
    rb"|\x5d\x00\x00[\x00-\xff]{2}\xff{8}|(?:[\x20-\x7e]\x00(?:\x00\x00)?){12}"
)
_SQLITE = b"SQLite format 3\x00"
_DIGITS = re.compile(r"[A-Za-z0-9+/_=-]{16,}")
_DENSE = re.compile(r"[0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]{18,}")
_ASCII_85 = re.compile(r"(?:<~)?[!-uz]{18,}(?:~>)?")
_SPECIAL = re.compile(r"[!#$%&'()*+;<=>?@\\^`|~]")
_SPECIALS = 3
"""Signs of a run in base 85, which ids and compact JSON do not have."""
_QUOTED = re.compile(r'"(?:[^"\\]|\\.){15,}+"')
_BITS = re.compile(r"(?:[01]{8}\s?){12,}")
_NUMBER = re.compile(r"[0-9]+")
_NUMBERS = re.compile(r"(?:[0-9]{1,3}[ ,;]\s{0,3}){12,}[0-9]{1,3}")
_SPACED = re.compile(r"\S[ \t]+\S")
_ROT13 = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm",
)


def readable_text(data: bytes) -> str:
    """Readable text of a file: all of a text file, and runs of letters of a binary file.

    Numbers as a program keeps them look like letters now and then; a run as long as a token does
    not come about by chance.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "\n".join(run.decode("ascii") for run in _RUN.findall(data))


def packed_texts(data: bytes) -> Iterator[str]:
    """Every text that can be unpacked from bytes; not the text that they are themselves."""
    opened = {data}
    waiting = [(data, 0)]
    while waiting and len(opened) < PIECES:
        packed, depth = waiting.pop()
        text = readable_text(packed)
        yield text[::-1]
        yield text.translate(_ROT13)
        pieces = _unpacked(packed, text)
        # Whole files may be turned round; what is in them is only read so.
        turned = () if depth else (_streams(packed[::-1]), _decoded(text[::-1]))
        for piece in chain(pieces, *turned):
            if len(piece) < LEAST or piece in opened:
                continue
            legible = readable_text(piece)
            if len(legible) < LEAST and not (_PACKED.search(piece) or any(_tried(_raw, piece))):
                continue  # what is no encoding decodes to noise
            opened.add(piece)
            yield legible
            if depth + 1 < DEPTH:
                waiting.append((piece, depth + 1))


def _unpacked(data: bytes, text: str) -> Iterator[bytes]:
    if data.startswith(_SQLITE):
        yield from _cells(data)
    if data.startswith(b"PK\x03\x04"):
        yield from _members(data)
    yield from _streams(data)
    for name, wide in _WIDE:
        if runs := wide.findall(data):
            yield b"\n".join(run.decode(name).encode() for run in runs)
    for replaced in _replaced(text):
        yield from _both(replaced)
    yield from _decoded(text)


def _both(text: str) -> Iterator[bytes]:
    """A text as bytes; also where each letter stands for a byte."""
    yield text.encode("utf-8", "surrogatepass")
    with suppress(UnicodeEncodeError):
        yield text.encode("latin-1")


def _replaced(text: str) -> Iterator[str]:
    """Encodings that write each letter in another way, where there are signs of one."""
    if "\\" in text:
        yield from codecs.escapes(text)
    if "%" in text:
        yield from codecs.percent(text)
    if "&" in text:
        yield from codecs.entities(text)
    if "=" in text:
        yield from codecs.quoted_printable(text)


def _cells(data: bytes) -> Iterator[bytes]:
    """The blobs and texts of a database, also of one whose log is elsewhere."""
    # A copy of a database that is written with a log opens only as one that is not.
    blobs: list[bytes] = []
    whole = data[:18] + b"\x01\x01" + data[20:]
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.text_factory = bytes
        try:
            opened.deserialize(whole)
            names = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        except (sqlite3.Error, AttributeError, OverflowError, MemoryError):
            return
        for (name,) in names:
            quoted = name.decode(errors="replace").replace('"', '""')
            texts: list[bytes] = []
            try:
                for row in opened.execute(f'SELECT * FROM "{quoted}"'):  # noqa: S608 - quoted
                    for cell in row:
                        if isinstance(cell, bytes):
                            (texts if cell.isascii() else blobs).append(cell)
            except sqlite3.Error:
                continue
            yield b"\n".join(texts)
    yield from blobs


def _members(data: bytes) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                if member.file_size <= LARGEST:
                    yield archive.read(member)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error, EOFError, OSError):
        return


_Open = Callable[[bytes], bytes]


def _inflate(data: bytes) -> bytes:
    return zlib.decompressobj(32 + zlib.MAX_WBITS).decompress(data, LARGEST)


def _raw(data: bytes) -> bytes:
    opener = zlib.decompressobj(-zlib.MAX_WBITS)
    opened = opener.decompress(data.lstrip(b"\x00"), LARGEST)  # digits may begin before it
    return opened if opener.eof else b""


_STREAMS: tuple[tuple[re.Pattern[bytes], _Open], ...] = (
    (re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]"), _inflate),
    (re.compile(rb"BZh[1-9]1AY&SY"), lambda data: bz2.BZ2Decompressor().decompress(data, LARGEST)),
    (
        re.compile(rb"\xfd7zXZ\x00|\x5d\x00\x00[\x00-\xff]{2}\xff{8}"),
        lambda data: lzma.LZMADecompressor().decompress(data, LARGEST),
    ),
)


def _streams(data: bytes) -> Iterator[bytes]:
    """Whatever is compressed, wherever in the bytes it begins."""
    for magic, opener in _STREAMS:
        for found in magic.finditer(data):
            yield from _tried(opener, data[found.start() :])
    yield from _tried(_raw, data)


def _tried(opener: _Open, data: bytes) -> Iterator[bytes]:
    try:
        yield opener(data)
    except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, MemoryError):
        return


def _decoded(text: str) -> Iterator[bytes]:
    """Packed digits: base 2, 10, 16, 32, 64 and 85, of runs that no words have."""
    if runs := _BITS.findall(text):
        yield from codecs.binary("\n".join(runs))
    for numbers in _NUMBERS.findall(text):
        yield bytes(number for number in map(int, _NUMBER.findall(numbers)) if number < 256)
    if runs := _DIGITS.findall(text):
        together = "\n".join(runs)
        for codec in (codecs.base64, codecs.base32, codecs.hexadecimal):
            yield from codec(together)
    for run in dict.fromkeys((*_DENSE.findall(text), *_ASCII_85.findall(text))):
        yield from _base85(run)
    for quoted in _QUOTED.findall(text):
        if "\\" in quoted or not _SPACED.search(quoted):
            yield from _string(quoted)
    if not _SPACED.search(text):
        yield from _base85("".join(text.split()))


def _string(quoted: str) -> Iterator[bytes]:
    """What a string of JSON holds, where it is no plain text."""
    try:
        held = str(json.loads(quoted, strict=False))
    except ValueError:
        return
    if "\\" in quoted:
        yield from _both(held)
    if not _SPACED.search(held):
        yield from _base85("".join(held.split()))


@lru_cache(maxsize=4096)
def _base85(run: str) -> tuple[bytes, ...]:
    if len(_SPECIAL.findall(run)) < _SPECIALS:
        return ()
    framed = run.startswith("<~")
    found = []
    for decode in (b85decode, lambda text: a85decode(text, adobe=framed)):
        with suppress(ValueError):
            found.append(decode(run))
    return tuple(found)
