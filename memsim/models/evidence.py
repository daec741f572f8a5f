"""What in a sentence would answer a kind of question: a date, a number, a colour, a name."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from memsim.models.dates import Mention, elapsed, mentions, resolve
from memsim.models.lexicon import COLOURS, KIN, RESCHEDULING, STOP
from memsim.models.numbers import Number, numbers
from memsim.models.sides import corrects, other_side, without_passing
from memsim.models.text import fold, stem, words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from memsim.models.forms import Kind
    from memsim.models.question import Question
    from memsim.models.ranking import Candidate
    from memsim.models.statements import Sentence

STRICT: Final = frozenset({"when", "number", "duration", "often", "colour", "name"})
"""Kinds that nothing but a value of their own answers."""

NAME_WORDS: Final = 2
"""Words of a sentence that may be nothing but a name."""

_DURATION: Final = re.compile(
    r"\b(?:\d+(?:\.\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty"
    r"|thirty|few|couple\sof|several|half\san?)[\s-](?:\w+\s)?"
    r"(?:second|minute|hour|day|night|week|month|year|decade)s?\b(?:\sand\sa\shalf)?"
    r"|\bsince\s(?:\w+\s){0,2}?(?:\d{4}|childhood|college|school)\b"
    r"|\bfor\s(?:years|ages|months|weeks)\b",
    re.IGNORECASE,
)
_OFTEN: Final = re.compile(
    r"\b(?:once|twice|every|each|daily|weekly|monthly|yearly|annually|times|always|never|often"
    r"|usually|sometimes|rarely|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(
    r"\b(?:in|at|to|from|near|on|inside|under|behind|by|outside)\s", re.IGNORECASE
)
_CLOCK: Final = re.compile(r"\b(?:what|which)\s(?:time|hour)\b")
_WHEN: Final = re.compile(r"\bwhen\b")
_JOIN: Final = re.compile(r"[\s,]*(?:at|on|the|of|-|\u2013)?\s*")
_TAIL: Final = re.compile(r"\s?(?:%|[A-Z]{3}\b|[^\W\d_]+(?:-[^\W\d_]+)?)")
_CURRENCY: Final = re.compile(r"(?:[$\u20ac\u00a3\u00a5]|\b(?:EUR|USD|GBP|NOK|CHF|CAD|AUD|INR)\s)$")
_UNIT: Final = re.compile(r"\bhow\smany\s(day|week|month|year)s")
_SHADES: Final = frozenset({"dark", "light", "bright", "pale", "deep"})
_CALLED: Final = re.compile(
    r"\b(?:called|named|nicknamed|nickname|name\sis|name's|names\sare|call\s(?:it|him|her|them))\b",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"\d|\b[A-Z]{3,}\b")
_LEADING: Final = re.compile(r"\W*([A-Z][\w'-]*)")


def fits(question: Question, sentence: Sentence) -> bool:
    """Whether a sentence holds something of the kind that is asked for."""
    if question.coded and question.kind == "open" and not _CODE.search(sentence.text):
        return False
    test = _TESTS.get(question.kind)
    return test is None or test(question, sentence)


def span(question: Question, candidate: Candidate, now: date | None) -> str | None:
    """The part of a fitting sentence that answers by itself.

    Args:
        question: what is asked.
        candidate: the sentence.
        now: the day on which it is asked.

    Returns:
        The part, or what follows from it; None where only the whole sentence will do.
    """
    text, said = candidate.sentence.text, candidate.statement.day
    match question.kind:
        case "when":
            return _dates(question, text, said)
        case "elapsed":
            return _elapsed(question, text, said, now)
        case "number" | "colour" | "open" | "who" | "name" if corrects(text):
            return None
        case "open" | "who" | "name":
            return other_side(question, text)
        case _:
            return _value(question, text)


def _value(question: Question, text: str) -> str | None:
    match question.kind:
        case "number":
            return _number(question, text)
        case "colour":
            return _colour(text)
        case "duration":
            found = [m.group() for m in _DURATION.finditer(text)]
            return found[0] if len(found) == 1 else None
        case _:
            return None


def _is_named(question: Question, sentence: Sentence) -> bool:
    if not sentence.names <= set(question.names) or _CALLED.search(sentence.text):
        return True
    first = _LEADING.match(sentence.text)
    leads = first is not None and fold(first[1]) not in STOP
    alone = len(sentence.stems) <= NAME_WORDS
    return leads and (alone or other_side(question, sentence.text) is not None)


def _is_dated(question: Question, sentence: Sentence) -> bool:
    return bool(_asked_for(question, mentions(sentence.text)))


def _asked_for(question: Question, found: Sequence[Mention]) -> list[Mention]:
    times = [m for m in found if m.kind == "clock"]
    if _CLOCK.search(question.folded):
        return times
    days = [m for m in found if m.kind != "clock"]
    return days or (times if _WHEN.search(question.folded) else [])


def _dates(question: Question, text: str, said: date | None) -> str | None:
    found = mentions(text)
    wanted = _asked_for(question, found)
    if len(wanted) == 2 and not RESCHEDULING.isdisjoint(words(text)):
        wanted = wanted[:1] if question.past else wanted[1:]
    if not wanted or not all(_near(text, a, b) for a, b in pairwise(wanted)):
        return None
    if any(m.relative for m in wanted):
        return " ".join(_label(m, said) for m in wanted)
    if len(wanted) == 1 and wanted[0].kind in {"month", "year"}:
        return wanted[0].text.split()[-1]
    return _with_clock(text, wanted, found)


def _label(mention: Mention, said: date | None) -> str:
    meant = resolve(mention, said)
    return meant.label if meant else mention.text


def _with_clock(text: str, wanted: list[Mention], found: tuple[Mention, ...]) -> str:
    first, last = wanted[0], wanted[-1]
    clocks = [m for m in found if m.kind == "clock"]
    start = min([first.start, *(m.start for m in clocks if _near(text, m, first))])
    end = max([last.end, *(m.end for m in clocks if _near(text, last, m))])
    return text[start:end]


def _near(text: str, a: Mention, b: Mention) -> bool:
    return a.end <= b.start and _JOIN.fullmatch(text, a.end, b.start) is not None


def _elapsed(question: Question, text: str, said: date | None, now: date | None) -> str | None:
    meant = [period for m in mentions(text) if (period := resolve(m, said))]
    since = meant[0].first if meant else said
    if since is None or now is None or since > now:
        return None
    unit = _UNIT.search(question.folded)
    return elapsed(since, now, unit[1] if unit else "")


def _is_counted(_question: Question, sentence: Sentence) -> bool:
    return bool(_counts(sentence.text)) or any(c.isdigit() for c in sentence.text)


def _counts(text: str) -> list[Number]:
    dated = [(m.start, m.end) for m in mentions(text) if not m.relative]
    return [n for n in numbers(text) if not any(s <= n.start < e for s, e in dated)]


def _number(question: Question, text: str) -> str | None:
    shown = [_with_unit(text, n) for n in _counts(text)]
    counted = [s for s in shown if question.counted and question.counted in map(stem, words(s))]
    if len(counted) == 1:
        return counted[0]
    return shown[0] if len(shown) == 1 else None


def _with_unit(text: str, number: Number) -> str:
    lead = max(0, number.start - 5)
    currency = _CURRENCY.search(text[lead : number.start])
    start = lead + currency.start() if currency else number.start
    end = number.end
    for _ in range(2):
        match = _TAIL.match(text, end)
        if match is None or fold(match.group().strip()) in STOP:
            break
        end = match.end()
    return without_passing(text[start:end])


def _colour(text: str) -> str | None:
    found = list(re.finditer(r"[^\W_]+", text))
    places = [n for n, m in enumerate(found) if fold(m.group()) in COLOURS]
    if len(places) != 1:
        return None
    at = places[0]
    shaded = at > 0 and fold(found[at - 1].group()) in _SHADES
    return text[found[at - shaded].start() : found[at].end()]


def _is_placed(_question: Question, sentence: Sentence) -> bool:
    return bool(sentence.names or _PLACE.search(sentence.text))


def _is_someone(_question: Question, sentence: Sentence) -> bool:
    return bool(sentence.names) or not KIN.isdisjoint(words(sentence.text))


_TESTS: Final[dict[Kind, Callable[[Question, Sentence], bool]]] = {
    "when": _is_dated,
    "number": _is_counted,
    "duration": lambda _, sentence: bool(_DURATION.search(sentence.text)),
    "often": lambda _, sentence: bool(_OFTEN.search(sentence.text)),
    "colour": lambda _, sentence: not COLOURS.isdisjoint(words(sentence.text)),
    "name": _is_named,
    "who": _is_someone,
    "where": _is_placed,
}
