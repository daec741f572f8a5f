"""Codecs in which a model can be asked to write a secret, so that a plain search misses it.

A codec returns the decoded views of a text: as text if it replaces characters, as bytes if it packs
bytes into digits. Packed views are decoded over the whole text, ignoring other characters, from
every possible start. So wrapped, spaced or quoted copies are found at the cost of a few passes in
C.
"""

from __future__ import annotations

import binascii
import html
import math
import re
import sys
from collections.abc import Callable, Iterator

Codec = Callable[[str], Iterator[str | bytes]]

_NEAR = 256
"""Number of characters kept on either side of a replacement."""


def _packing(alphabet: str, *, same: str = "", skip: str = "") -> Callable[[str], bytes]:
    """A filter for the digits of an alphabet: `same` pairs are equal, and `skip` is removed."""
    table = bytearray(range(256))
    for written, meant in zip(same[::2], same[1::2], strict=True):
        table[ord(written)] = ord(meant)
    dropped = bytes(code for code in range(256) if chr(code) not in alphabet + same[::2])
    prefixes = re.compile(skip) if skip else None

    def kept(text: str) -> bytes:
        bare = prefixes.sub("", text) if prefixes else text
        return bare.encode("ascii", "ignore").translate(table, dropped)

    return kept


_LOWER, _UPPER = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_FOLD = "".join(small + large for small, large in zip(_LOWER, _UPPER, strict=True))
_digits_64 = _packing(f"{_UPPER}{_LOWER}0123456789+/", same="-+_/")
_digits_32 = _packing(f"{_UPPER}234567", same=_FOLD)
_digits_16 = _packing("0123456789abcdef", same="AaBbCcDdEeFf", skip=r"0[xX]|\\x")
_digits_2 = _packing("01", skip=r"0[bB]")
_BASE_32 = bytes.maketrans(f"{_UPPER}234567".encode(), b"0123456789abcdefghijklmnopqrstuv")


def base64(text: str) -> Iterator[bytes]:
    """The common and the URL-safe alphabet, from four starts, with or without padding."""
    kept = _digits_64(text) + b"AAA"
    for start in range(4):
        yield binascii.a2b_base64(kept[start : len(kept) - (len(kept) - start) % 4])


def base32(text: str) -> Iterator[bytes]:
    """In either case, from eight starts."""
    yield from _from_every_bit(_digits_32(text).translate(_BASE_32), base=32, bits=5)


def hexadecimal(text: str) -> Iterator[bytes]:
    """With or without spaces, colons, `0x` and similar separators, from two starts."""
    yield from _from_every_bit(_digits_16(text), base=16, bits=4)


def binary(text: str) -> Iterator[bytes]:
    """Eight digits to a byte, from eight starts."""
    yield from _from_every_bit(_digits_2(text), base=2, bits=1)


def decimal(text: str) -> Iterator[bytes]:
    """Numbers of two or three digits, one per byte."""
    yield bytes(number for number in map(int, _NUMBER.findall(text)) if number < 256)


def percent(text: str) -> Iterator[str]:
    """As in URLs: `%36%50`."""
    return _replaced(_PERCENT, lambda run: _utf8(run.group().replace("%", "")), text)


def entities(text: str) -> Iterator[str]:
    """As in HTML: `&#54;`, `&#x36;`, `&hyphen;`."""
    return _replaced(_ENTITY, lambda entity: html.unescape(entity.group()), text)


def escapes(text: str) -> Iterator[str]:
    r"""As in source code: `\u0036`, `\u{36}`, `\x36`, `\066`, and `U+0036`."""
    return map(_paired, _replaced(_ESCAPE, _unescaped, text))


def quoted_printable(text: str) -> Iterator[str]:
    """As in mail: `=36=50`, with continued lines after `=`."""
    return _replaced(_QUOTED, lambda run: _utf8(_NOT_HEX.sub("", run.group())), text)


def words(text: str) -> Iterator[str]:
    """The spelling alphabet and the names of digits: `six papa x-ray`."""
    return _replaced(SPELLED, lambda word: _MEANT[word.group().lower().replace("-", "")], text)


def rot13(text: str) -> Iterator[str]:
    """Letters rotated by half the alphabet, and unchanged digits."""
    yield text.translate(_ROT13)


def backwards(text: str) -> Iterator[str]:
    """In reverse order."""
    yield text[::-1]


CODECS: tuple[tuple[str, Codec], ...] = (
    ("base64", base64),
    ("base32", base32),
    ("hex", hexadecimal),
    ("binary", binary),
    ("decimal", decimal),
    ("percent", percent),
    ("html", entities),
    ("escapes", escapes),
    ("quoted-printable", quoted_printable),
    ("rot13", rot13),
    ("reversed", backwards),
    ("words", words),
)


_NUMBER = re.compile(r"(?<![0-9])[0-9]{2,3}(?![0-9])")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2})++")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?")
_ESCAPE = re.compile(
    r"(?P<bytes>(?:\\x[0-9a-fA-F]{2})++)|\\(?P<octal>[0-3][0-7]{2})"
    r"|(?:\\u|\\U0000|U\+)(?P<four>[0-9a-fA-F]{4})|\\U(?P<eight>[0-9a-fA-F]{8})"
    r"|\\u\{(?P<braced>[0-9a-fA-F]{1,6})\}"
)
_QUOTED = re.compile(r"(?:=[0-9a-fA-F]{2})++|=\r?\n")
_NOT_HEX = re.compile(r"[^0-9a-fA-F]")
_ROT13 = str.maketrans(_UPPER + _LOWER, _UPPER[13:] + _UPPER[:13] + _LOWER[13:] + _LOWER[:13])
_SPELLED = (
    "alfa bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar"
    " papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu"
)
_DIGITS = "zero one two three four five six seven eight nine"
_MEANT = (
    {word: word[0].upper() for word in _SPELLED.split()}
    | {word: str(digit) for digit, word in enumerate(_DIGITS.split())}
    | {"alpha": "A", "juliet": "J", "whisky": "W", "fife": "5", "niner": "9"}
    | dict.fromkeys(("dash", "hyphen", "minus", "capital", "uppercase", "space"), "-")
)
SPELLED = re.compile(
    rf"\b(?:{'|'.join(sorted(_MEANT)).replace('xray', 'x-?ray')})\b", re.IGNORECASE | re.ASCII
)
"""A word that stands for one symbol."""


def _from_every_bit(digits: bytes, *, base: int, bits: int) -> Iterator[bytes]:
    """Decode digits of some bits to bytes, once for each possible alignment."""
    number = int(digits or b"0", base)
    for late in range(0, 8, math.gcd(bits, 8)):
        yield (number >> late).to_bytes(len(digits) * bits // 8 + 1, "big")


def _replaced(
    pattern: re.Pattern[str], meaning: Callable[[re.Match[str]], str], text: str
) -> Iterator[str]:
    """The text with each match replaced, without text far from matches; empty without matches."""
    pieces: list[str] = []
    end = 0
    for match in pattern.finditer(text):
        gap = text[end : match.start()]
        pieces.append(gap if len(gap) <= 2 * _NEAR else f"{gap[:_NEAR]}\n{gap[-_NEAR:]}")
        pieces.append(meaning(match))
        end = match.end()
    if pieces:
        yield "".join([*pieces, text[end : end + _NEAR]])


def _utf8(digits: str) -> str:
    return bytes.fromhex(digits).decode("utf-8", "surrogateescape")


def _unescaped(match: re.Match[str]) -> str:
    if match["bytes"]:
        return _utf8(match["bytes"].replace("\\x", ""))
    if match["octal"]:
        return chr(int(match["octal"], 8))
    code = int(match["four"] or match["eight"] or match["braced"], 16)
    return chr(code) if code <= sys.maxunicode else ""


def _paired(text: str) -> str:
    """Join surrogate halves, which some encoders escape separately."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
