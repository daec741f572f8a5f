"""The other side of an `is`: of `my dog is called Pepper`, what the question leaves over."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memsim.models.lexicon import CORRECTING, PRONOUNS, STOP
from memsim.models.text import stem, words

if TYPE_CHECKING:
    from memsim.models.question import Question

SPAN_WORDS: Final = 12
"""Words up to which a side is an answer of its own."""

SUBJECT_WORDS: Final = 5
"""Words up to which what stands before the `is` is one."""

_COPULA: Final = re.compile(
    r"\s(?:is|are|was|were|will\sbe)(?:\s(?:called|named|now|currently|actually|set\sto))*\s"
    r"|(?<=\w)(?:'s|\u2019s)\s(?:called|named)\s|\s(?:called|named)\s|\s?[:=]\s"
)
_CLAUSE: Final = re.compile(
    r",?\s(?:and|but|so)\s(?:he|she|it|they|i|we|his|her|its|their|my|our|you)\b.*|;.*"
    r"|\s(?:because|although)\s.*|,\s(?:which|who|but|so)\s.*|\s[-\u2013\u2014(]\s?.*",
    re.IGNORECASE | re.DOTALL,
)
_PASSING: Final = re.compile(
    r"[\s,]+(?:now|currently|anymore|already|too|these\sdays|at\sthe\smoment|right\snow)$",
    re.IGNORECASE,
)
_FIELD: Final = re.compile(
    r"\"([^\"]{1,40})\"\s?:\s?(?:\"([^\"]{1,200})\"|(-?\d[\d.]*|true|false|null)\b)"
)
_EDGES: Final = " .!,;:\"'\u201c\u201d"


def corrects(text: str) -> bool:
    """Whether a sentence sets one thing against another, so that a part of it would mislead."""
    return not CORRECTING.isdisjoint(words(text))


def other_side(question: Question, text: str) -> str | None:
    """What a sentence says of what is asked, or of what it says that; else None."""
    field = _field(question, text)
    match = _COPULA.search(text)
    if field is not None or match is None:
        return field
    left, right = text[: match.start()], text[match.end() :]
    before = question.found_in(left) & question.full
    after = question.found_in(right) & question.full
    if before and not after and question.head in {"", *before}:
        return _whole(right)
    spoken = match.group().strip() not in {":", "="}
    if after and not before and question.head in {"", *after} and spoken:
        return _subject(left)
    return None


def without_passing(text: str) -> str:
    """A part of a sentence without the `now` or `too` that ends it."""
    return _PASSING.sub("", text)


def _field(question: Question, text: str) -> str | None:
    for name, quoted, plain in _FIELD.findall(text):
        if question.head and question.head in map(stem, words(name.replace("_", " "))):
            return str(quoted or plain)
    return None


def _whole(side: str) -> str | None:
    bare = without_passing(_CLAUSE.sub("", side).strip(_EDGES)).strip(_EDGES)
    said = words(bare)
    return bare if 0 < len(said) <= SPAN_WORDS and not STOP.issuperset(said) else None


def _subject(side: str) -> str | None:
    bare = _whole(side)
    said = words(bare or "")
    return bare if len(said) <= SUBJECT_WORDS and PRONOUNS.isdisjoint(said) else None
