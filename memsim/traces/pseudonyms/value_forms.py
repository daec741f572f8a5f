"""Find values that stand for somebody by their form: credentials, links, addresses, identifiers.

Dates, times, years, amounts and numbers with units are none: who they are about, they do not tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memsim.canary.secrets import scan
from memsim.language.anchors import CALENDAR_WORDS
from memsim.language.text import fold
from memsim.traces.pseudonyms.stand_ins import is_iban

_WORD = "[A-Z][^\\W\\d_]{1,30}"
_STREET = (
    r"Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Place|Square|Terrace"
)
_VALUE = re.compile(
    r"(?P<url>\b(?:https?://|www\.)[^\s<>\"'\\)\]}]{1,2000})"
    r"|(?P<email>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})"
    r"|(?P<time>\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[0-9:.]{0,16}(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\b\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?\b)"
    r"|(?P<uuid>\b[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b)"
    r"|(?P<iban>\b[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b)"
    r"|(?P<card>\b\d{4}(?P<gap>[ -]?)\d{4}(?P=gap)\d{4}(?P=gap)\d{1,7}\b)"
    r"|(?P<ip>\b(?:\d{1,3}\.){3}\d{1,3}\b|\b(?:[0-9A-Fa-f]{1,4}::?){3,7}[0-9A-Fa-f]{1,4}\b)"
    r"|(?P<phone>(?<![\w.])(?:\+\d{1,3}(?:[ ().\-/]{0,2}\d{1,5}){2,6}"
    r"|\(\d{2,5}\)[ -]?\d{3,4}[ -]?\d{3,5}|\d{3}[-. ]\d{3}[-. ]\d{4}|\d{3}-\d{2}-\d{4}|\d{3}-\d{4}"
    r"|0\d{2,4}[ /-]\d{5,9})(?!\w))"
    rf"|(?P<address>\b\d{{1,5}}[a-z]? (?:{_WORD} ){{1,3}}(?=(?:{_STREET})\b)"
    r"|\b[A-ZÄÖÜ][a-zäöüß-]{2,40}(?:straße|strasse|gasse|allee|platz) \d{1,4}[a-z]?\b)"
    r"|(?P<identifier>(?<![^\W_])(?!(?<=\\)u[0-9a-fA-F]{4})[^\W_]{1,200}(?:[-_./:#]{1,2}[^\W_]{1,200}){0,16})"
)
_PLAIN = re.compile(
    r"\d{1,9}[a-zA-Zº°ª%]{1,3}"  # 5th, 10km
    r"|\d{1,6}(?:[-/][A-Za-z]{1,24})+"  # 5-year-old
    r"|[a-z]{2,12}-(?:19|20)\d\d"  # mid-2022
    r"|(?:19|20)\d\d(?:0[1-9]|1[012])(?:0[1-9]|[12]\d|3[01])(?:[Tt]\d{2,6}[Zz]?)?"
)
_DAY = re.compile(
    r"\d{1,2}(?:st|nd|rd|th)?[-./]?([^\W\d_]{3,12})|([^\W\d_]{3,12})[-./]?\d{1,2}(?:st|nd|rd|th)?"
)
_RUN = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----([^-]{1,20000})-----END [A-Z ]{0,40}KEY"
)
_OPEN = {"http", "https", "www"}
_LEAST = 4
_FEWEST_DIGITS = 8


class ExactValue(NamedTuple):
    """A value in a text; `parted` where each part of it stands for something, as in a link."""

    start: int
    end: int
    parted: bool


def exact_values(text: str) -> Iterator[ExactValue]:
    """The values of a text in order, without overlaps."""
    taken = [(s.start, s.end) for s in scan(text)]
    taken += [(m.start(1), m.end(1)) for m in _KEY.finditer(text)]
    taken.sort()
    at = 0
    for start, end in taken:
        if start >= at:
            yield from _formed(text, at, start)
            yield ExactValue(start, end, parted=False)
            at = end
    yield from _formed(text, at, len(text))


def _formed(text: str, start: int, end: int) -> Iterator[ExactValue]:
    for match in _VALUE.finditer(text, start, end):
        kind, written = match.lastgroup, match.group()
        if kind == "time" or (kind == "iban" and not is_iban(written.replace(" ", ""))):
            continue
        if kind == "identifier" and not _is_identifier(written):
            continue
        last = match.end() - (len(written) - len(written.rstrip(".,;:!? ")))
        yield ExactValue(match.start(), last, parted=kind in {"url", "email", "address"})


def _is_day(written: str) -> bool:
    """Whether a run is a day with its month, such as `6October` or `Oct6th`."""
    day = _DAY.fullmatch(fold(written))
    return day is not None and (day[1] or day[2]) in CALENDAR_WORDS


def _is_identifier(written: str) -> bool:
    if _is_day(written):
        return False
    symbols = [c for c in written if c.isalnum()]
    digits = sum(map(str.isdigit, symbols))
    if digits == len(symbols):
        return written.isdigit() and digits >= _FEWEST_DIGITS and not _PLAIN.fullmatch(written)
    return len(symbols) >= _LEAST and digits > 0 and not _PLAIN.fullmatch(written)


def parts(written: str) -> Iterator[tuple[int, int]]:
    """Where the parts of a link or address stand that tell something."""
    runs = [*_RUN.finditer(written)]
    host = written.find("/", written.find("//") + 2 if "//" in written else 0)
    named = [run for run in runs if "." in written and (host < 0 or run.end() <= host)]
    ending = named[-1].start() if named else -1
    for run in runs:
        if run.group().lower() not in _OPEN and run.start() != ending:
            yield run.span()


def telling_digits(written: str) -> Iterator[tuple[int, int]]:
    """Where runs of digits stand that can be said alone, as places among letters and digits."""
    at = 0
    for run in re.finditer(r"[^\W\d_]+|\d+", written):
        size = len(run.group())
        if run.group().isdigit() and size >= _LEAST and not _YEAR.fullmatch(run.group()):
            yield at, at + size
        at += size
