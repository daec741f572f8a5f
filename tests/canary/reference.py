"""A matcher that is slow and plain, to hold the fast one against."""

from __future__ import annotations

import codecs
import html
import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence

from memsim.canary import Canary
from memsim.canary.normalise import LOOKALIKES
from tests.canary.encodings import WORDS

ALPHABETS = {
    1: "01",
    4: "0123456789abcdef",
    5: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    6: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
}
"""Digits that hold so many bits."""


def read(character: str) -> str:
    """One character as the capitals and digits that it reads as."""
    if 0xE0020 <= ord(character) <= 0xE007E:
        character = chr(ord(character) - 0xE0000)
    if unicodedata.category(character) == "Nd":
        return str(unicodedata.decimal(character))
    out = ""
    for part in LOOKALIKES.get(character) or unicodedata.normalize("NFKD", character):
        for upper in LOOKALIKES.get(part, part).upper():
            out += LOOKALIKES.get(upper, upper)
    return "".join(c for c in out if re.fullmatch("[0-9A-Z]", c))


def find(canaries: Sequence[Canary], texts: Sequence[str], *, decode: bool) -> dict[str, str]:
    """The tier of every canary that is found, by id."""
    joined = "\n".join(texts)
    plain = "".join(map(read, joined))
    decoded = ["".join(map(read, view)) for view in views(joined, 2)] if decode else []
    found = {}
    for canary in canaries:
        others = [parts(other) for other in canaries if other.id != canary.id]
        if canary.token in joined:
            found[canary.id] = "T0"
        elif canary.symbols in plain:
            found[canary.id] = "T1"
        elif any(canary.symbols in view for view in decoded):
            found[canary.id] = "T2"
        elif any(part in plain for part in parts(canary).difference(*others)):
            found[canary.id] = "T3"
    return found


def parts(canary: Canary) -> set[str]:
    """Every six symbols in a row of its token."""
    return {canary.symbols[at : at + 6] for at in range(7)}


def views(text: str, depth: int) -> Iterator[str]:
    """Every decoded view, to a depth; the bytes of a view are tried for compressed ones too."""
    for decoded in _decoded(text):
        view = decoded if isinstance(decoded, str) else decoded.decode("utf-8", "ignore")
        yield view
        if depth > 1:
            yield from views(view, depth - 1)
            if isinstance(decoded, bytes):
                yield from _inflated(decoded)


def _decoded(text: str) -> Iterator[str | bytes]:
    yield from _inflated(text.encode("utf-8", "ignore"))
    yield from _packed(text.replace("-", "+").replace("_", "/"), 6)
    yield from _packed(text.upper() if text.isascii() else text, 5)
    yield from _packed(re.sub(r"0[xX]|\\x", "", text).replace("A", "a").lower(), 4)
    yield from _packed(re.sub("0[bB]", "", text), 1)
    yield bytes(int(n) for n in re.findall(r"(?<!\d)\d{2,3}(?!\d)", text, re.ASCII) if int(n) < 256)
    for sign in ("%", "=", r"\\x"):
        yield re.sub(f"(?:{sign}[0-9a-fA-F]{{2}})+", _from_hex, text)
    yield html.unescape(text)
    yield re.sub(r"\\u\{?([0-9a-fA-F]{4,5}|[0-9a-fA-F]{2})\}?", _from_code, text)
    yield codecs.encode(text, "rot13")
    yield "".join(reversed(text))
    spelled = text.lower()
    for symbol, word in WORDS.items():
        spelled = re.sub(rf"\b{word.lower()}\b", symbol, spelled)
    yield spelled


def _from_hex(match: re.Match[str]) -> str:
    digits = re.sub(r"%|=|\\x", "", match.group())
    return bytes.fromhex(digits).decode("utf-8", "ignore")


def _from_code(match: re.Match[str]) -> str:
    return chr(int(match.group(1), 16))


def _packed(text: str, bits: int) -> Iterator[bytes]:
    alphabet = ALPHABETS[bits]
    stream = "".join(format(alphabet.index(c), f"0{bits}b") for c in text if c in alphabet)
    for start in range(8):
        yield bytes(int(stream[at : at + 8], 2) for at in range(start, len(stream) - 7, 8))


def _inflated(data: bytes) -> Iterator[str]:
    for start in range(len(data)):
        try:
            piece = zlib.decompressobj(47).decompress(data[start:])
        except zlib.error:
            continue
        if piece:
            yield piece.decode("utf-8", "ignore")
