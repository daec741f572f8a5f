"""Reads what is written without a space: plain words, contractions, compounds and identifiers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memsim.models.lexicon import MONTHS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SHORT = {
    **{month[:3]: month for month in MONTHS if month not in {"march", "may"}},
    "sept": "september",
    "tue": "tuesday",
    "tues": "tuesday",
    "thu": "thursday",
    "thur": "thursday",
    "thurs": "thursday",
    "fri": "friday",
}
_DIGIT = re.compile(r"\d")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_CONTRACTED = re.compile(r"n't$|'(?:s|re|ve|ll|d|m)?$")


def read_word(chunk: str) -> Sequence[str]:
    """The comparable words of a run of letters, digits and the marks between them."""
    if chunk.isalpha() and chunk.isascii():
        return _whole(chunk)
    if "@" in chunk:
        return (chunk,)
    if _DIGIT.search(chunk) or any(c.isdigit() for c in chunk):
        return tuple(_identifiers(chunk))
    if "'" in chunk:
        chunk, negated = _expand(chunk)
    else:
        negated = ()
    if re.fullmatch(r"[^\W_](?:\.[^\W_])+", chunk):
        return (chunk.replace(".", ""),)
    parts = (word for part in re.split(r"[-._/:&+]", chunk) for word in _narrow(part))
    return (*(w for part in parts for w in _whole(part)), *negated)


def _whole(word: str) -> Sequence[str]:
    if word == "cannot":
        return ("can", "not")
    return (_SHORT.get(word, word),)


def _expand(chunk: str) -> tuple[str, tuple[str, ...]]:
    if chunk.endswith("n't"):
        stump = {"wo": "will", "ca": "can", "sha": "shall"}.get(chunk[:-3], chunk[:-3])
        return stump, ("not",)
    return _CONTRACTED.sub("", chunk).replace("'", ""), ()


def _narrow(part: str) -> Iterator[str]:
    # Scripts without spaces are read character by character, so that a name is found in its
    # sentence.
    run = ""
    for character in part:
        if _WIDE.match(character):
            if run:
                yield run
            yield character
            run = ""
        else:
            run += character
    if run:
        yield run


_PIECE = re.compile(r"[-_/:&+'.@]|[^-_/:&+'.@]+")


def _identifiers(chunk: str) -> Iterator[str]:
    """Parts what only stands side by side (`24-hour`, `3-4`), keeps names (`A-17`) together."""
    pieces = _PIECE.findall(chunk)
    current = pieces[0]
    for joiner, piece in zip(pieces[1::2], pieces[2::2], strict=False):
        glue = _glue(current, joiner, piece, alone=len(pieces) == 3)
        if glue is None:
            yield from _piece(current)
            current = piece
        else:
            current += glue + piece
    yield from _piece(current)


def _glue(left: str, joiner: str, right: str, *, alone: bool) -> str | None:
    digits = left[-1].isdigit(), right[0].isdigit()
    if joiner == "." or (joiner in "/:" and all(digits)):
        return joiner
    if joiner == "'":
        return None if right == "s" else ""
    if joiner not in "-_" or not any(digits):
        return None
    if all(digits):
        return None if alone and _is_range(left, right) else ""
    word, longest = (left, 5) if digits[1] else (right, 2)
    return "" if len(word) <= longest or any(c.isdigit() for c in word) else None


def _is_range(left: str, right: str) -> bool:
    numeric = left.isdecimal() and right.isdecimal()
    return numeric and (len(left) == len(right) or max(len(left), len(right)) <= 2)


_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")


def _piece(piece: str) -> Iterator[str]:
    if ordinal := _ORDINAL.fullmatch(piece):
        yield ordinal.group(1)
    elif re.fullmatch(r"\d+\.\d+", piece):
        yield shorten(piece)
    elif re.fullmatch(r"\d:\d\d", piece):
        yield f"0{piece}"
    elif piece != "s":
        yield from _narrow(piece)


def shorten(number: str) -> str:
    """A number without decimals that say nothing, so that `1250.00` is `1250`."""
    whole, _, decimals = number.partition(".")
    return whole if not decimals.strip("0") else number
