"""Values in a sentence that belong to something else than the question asks for.

`My sister Runa and her son: Emil is nine` holds an age, and not Runa's. `Ingrid signs the Spanish
form` holds a name, and of another form. Such a sentence shares most words with the question, so its
words alone cannot tell that it answers something else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memsim.language.lexicon import KIN, LANGUAGES, PETS
from memsim.language.text import fold, stem, words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memsim.models.offline.question import ParsedQuestion
    from memsim.models.offline.statements import Sentence


def _stems(listed: Iterable[str]) -> frozenset[str]:
    return frozenset(map(stem, listed))


_LANGUAGES: Final = _stems(LANGUAGES)
_LIVING: Final = _stems(KIN | PETS)
_PERSONAL: Final = re.compile(r"\b(?:first|last|family|middle|full)\sname\b|\b(?:sur|nick)name\b")
_SECRET: Final = _stems({"password", "passcode", "passphrase"})
_NUMBERED: Final = _stems({"phone", "telephone", "mobile", "fax", "account"})
_DIGITS: Final = 5
"""Least digits of the number of a phone or of an account."""

_NAMED: Final = re.compile(r"(?:(?P<before>[\w'’-]+)\s)?(?<![\w'’-])(?P<name>[A-Z][\w'’-]*)")
_PLACING: Final = frozenset({"in", "of"})
_HOW_OLD: Final = re.compile(r"how\sold\s(?:is|was)\s(?P<name>[^\W\d_]+)(?:\s(?:now|today))?\W*$")
_AGED: Final = re.compile(r"\b(?P<name>[A-Z][\w'’-]*)\s(?:is|was|turns|turned|will\sbe)\s")


def belongs_elsewhere(question: ParsedQuestion, sentence: Sentence) -> bool:
    """Whether the value in a sentence is of another person or thing than the one in question."""
    if _is_other_language(question, sentence):
        return True
    match question.kind:
        case "name":
            return not _may_be_name(question, sentence)
        case "number":
            return _is_other_age(question, sentence) or _is_no_code(question, sentence)
        case "open":
            return question.head in _SECRET and question.head not in sentence.stems
        case _:
            return False


def _is_other_language(question: ParsedQuestion, sentence: Sentence) -> bool:
    wanted = _LANGUAGES & question.weights.keys()
    held = _LANGUAGES & sentence.stems
    return bool(wanted and held) and not wanted & held


def _may_be_name(question: ParsedQuestion, sentence: Sentence) -> bool:
    """Whether a sentence holds a name that may be that of a person or pet in question."""
    living = bool(_LIVING & question.weights.keys()) or bool(_PERSONAL.search(question.folded))
    if not living or not sentence.names - set(question.names):
        return True
    for match in _NAMED.finditer(sentence.text):
        before, name = fold(match["before"] or ""), stem(fold(match["name"]))
        if name not in sentence.names or name in question.names or before in _PLACING:
            continue
        if stem(before) not in _LIVING - question.weights.keys():
            return True
    return False


def _is_other_age(question: ParsedQuestion, sentence: Sentence) -> bool:
    """Whether a sentence tells how old somebody is whom the question does not name."""
    asked = _HOW_OLD.match(question.folded)
    if asked is None or stem(asked["name"]) in _LIVING:
        return False
    found = {stem(fold(m["name"])) for m in _AGED.finditer(sentence.text)}
    return bool(found) and stem(asked["name"]) not in found


def _is_no_code(question: ParsedQuestion, sentence: Sentence) -> bool:
    """Whether the numbers of a sentence are too short for the number of a phone or an account."""
    if question.head not in _NUMBERED or "number" not in words(question.folded):
        return False
    return sum(c.isdigit() for c in sentence.text) < _DIGITS
