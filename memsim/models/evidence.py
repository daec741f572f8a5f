"""What in a sentence would answer a kind of question: a date, a number, a colour, the other side of an `is`."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from memsim.models.dates import Mention, elapsed, mentions, resolve
from memsim.models.lexicon import COLOURS, CORRECTING, KIN, RESCHEDULING, STOP
from memsim.models.numbers import Number, numbers
from memsim.models.text import fold, stem, words

if TYPE_CHECKING:
    from datetime import date

    from memsim.models.question import Question
    from memsim.models.ranking import Candidate
    from memsim.models.statements import Sentence

STRICT = frozenset({"when", "number", "duration", "often", "colour", "name"})
"""Kinds that nothing but a value of their own answers."""

SPAN_WORDS = 12
"""Words up to which the other side of an `is` is an answer of its own."""

_DURATION = re.compile(
    r"\b(?:\d+(?:\.\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|few|couple\sof|"
    r"several|half\san?)[\s-](?:\w+\s)?(?:second|minute|hour|day|night|week|month|year|decade)s?\b(?:\sand\sa\shalf)?"
    r"|\bsince\s(?:\w+\s){0,2}?(?:\d{4}|childhood|college|school)\b|\bfor\s(?:years|ages|months|weeks)\b",
    re.IGNORECASE,
)
_OFTEN = re.compile(
    r"\b(?:once|twice|every|each|daily|weekly|monthly|yearly|annually|times|always|never|often|usually|sometimes|rarely"
    r"|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:in|at|to|from|near|on|inside|under|behind|by|outside)\s", re.IGNORECASE)
_CLOCK = re.compile(r"\bwhat\stime\b|\bwhich\shour\b")
_JOIN = re.compile(r"[\s,]*(?:at|on|the|of|-|\u2013)?\s*")
_TAIL = re.compile(r"\s?(?:%|[A-Z]{3}\b|[^\W\d_]+(?:-[^\W\d_]+)?)")
_COPULA = re.compile(
    r"\s(?:is|are|was|were|will\sbe|is\snow|are\snow)(?:\s(?:called|named|now|currently|actually|set\sto))*\s|"
    r"(?<=\w)(?:'s|\u2019s)\s(?:called|named)\s|\s(?:called|named)\s|\s?[:=]\s"
)
_CLAUSE = re.compile(
    r",?\s(?:and|but|so)\s(?:he|she|it|they|i|we|his|her|its|their|my|our|you)\b.*|;.*|\s(?:because|although)\s.*"
    r"|,\s(?:which|who|but|so)\s.*|\s[-\u2013\u2014(]\s?.*",
    re.IGNORECASE | re.DOTALL,
)
_PASSING = re.compile(
    r"[\s,]+(?:now|currently|anymore|already|too|these\sdays|at\sthe\smoment|right\snow)$",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"\"([^\"]{1,40})\"\s?:\s?(?:\"([^\"]{1,200})\"|(-?\d[\d.]*|true|false|null)\b)"
)
_EDGES = " .!,;:\"'\u201c\u201d"
_CALLED = re.compile(
    r"\b(?:called|named|nicknamed|nickname|name\sis|name's|names\sare|call\s(?:it|him|her|them))\b",
    re.IGNORECASE,
)
_LEADING = re.compile(r"\W*([A-Z][\w'-]*)")
_PRONOUNS = frozenset(
    [
        "it",
        "that",
        "this",
        "he",
        "she",
        "they",
        "there",
        "here",
        "what",
        "these",
        "those",
        "who",
        "i",
        "we",
        "you",
        "one",
        "everything",
        "all",
    ]
)


def fits(question: Question, sentence: Sentence) -> bool:
    """Whether a sentence holds something of the kind that is asked for."""
    text = sentence.text
    match question.kind:
        case "when":
            return any(_asked_for(question, m) for m in mentions(text))
        case "number":
            return bool(_counts(text)) or any(c.isdigit() for c in text)
        case "duration":
            return bool(_DURATION.search(text))
        case "often":
            return bool(_OFTEN.search(text))
        case "colour":
            return not COLOURS.isdisjoint(words(text))
        case "name":
            return _named(question, sentence)
        case "who":
            return bool(sentence.names) or not KIN.isdisjoint(words(text))
        case "where":
            return bool(sentence.names or _PLACE.search(text))
        case _:
            return True


def span(question: Question, candidate: Candidate, now: date | None) -> str | None:
    """The part of a fitting sentence that answers by itself.

    Args:
        question: what is asked.
        candidate: the sentence.
        now: the day on which it is asked.

    Returns:
        The part, or what follows from it; None where only the whole sentence will do.
    """
    text = candidate.sentence.text
    match question.kind:
        case "when":
            return _dates(question, text, candidate.statement.day)
        case "number":
            return _number(question, text)
        case "elapsed":
            return _elapsed(question, text, candidate.statement.day, now)
        case "duration":
            found = [m.group() for m in _DURATION.finditer(text)]
            return found[0] if len(found) == 1 else None
        case "colour":
            return _colour(text)
        case "open" | "who" | "name":
            return None if _corrects(text) else _other_side(question, text)
        case _:
            return None


def _named(question: Question, sentence: Sentence) -> bool:
    if not sentence.names <= set(question.names) or _CALLED.search(sentence.text):
        return True
    first = _LEADING.match(sentence.text)
    return (
        first is not None
        and fold(first.group(1)) not in STOP
        and _other_side(question, sentence.text) is not None
    )


def _corrects(text: str) -> bool:
    return not CORRECTING.isdisjoint(words(text))


def _asked_for(question: Question, mention: Mention) -> bool:
    return (mention.kind == "clock") == bool(_CLOCK.search(question.folded))


def _dates(question: Question, text: str, said: date | None) -> str | None:
    found = mentions(text)
    wanted = [m for m in found if _asked_for(question, m)]
    if len(wanted) == 2 and not RESCHEDULING.isdisjoint(words(text)):
        wanted = wanted[:1] if question.past else wanted[1:]
    if not wanted or _apart(text, wanted):
        return None
    if any(m.relative for m in wanted):
        return " ".join(_label(m, said) for m in wanted)
    first, last = wanted[0], wanted[-1]
    after = next((m for m in found if m.start > last.end and _near(text, last, m)), None)
    before = next((m for m in found if m.end < first.start and _near(text, m, first)), None)
    clocks = [m for m in (before, after) if m and m.kind == "clock"]
    start = min([first.start, *(m.start for m in clocks)])
    end = max([last.end, *(m.end for m in clocks)])
    return _bare_month(text[start:end], wanted)


def _bare_month(text: str, wanted: list[Mention]) -> str:
    if len(wanted) == 1 and wanted[0].kind in {"month", "year"} and text == wanted[0].text:
        return text.rsplit(maxsplit=1)[-1]
    return text


def _label(mention: Mention, said: date | None) -> str:
    meant = resolve(mention, said)
    return meant.label if meant else mention.text


def _elapsed(question: Question, text: str, said: date | None, now: date | None) -> str | None:
    meant = [period for m in mentions(text) if (period := resolve(m, said))]
    since = meant[0].first if meant else said
    if since is None or now is None or since > now:
        return None
    unit = re.search(r"\bhow\smany\s(day|week|month|year)s", question.folded)
    return elapsed(since, now, unit[1] if unit else "")


def _apart(text: str, found: list[Mention]) -> bool:
    return any(not _near(text, a, b) for a, b in pairwise(found))


def _near(text: str, a: Mention, b: Mention) -> bool:
    return _JOIN.fullmatch(text, a.end, b.start) is not None


def _counts(text: str) -> list[Number]:
    dated = [(m.start, m.end) for m in mentions(text) if not m.relative]
    return [n for n in numbers(text) if not any(s <= n.start < e for s, e in dated)]


def _number(question: Question, text: str) -> str | None:
    if _corrects(text):
        return None
    found = _counts(text)
    shown = [_with_unit(text, n) for n in found]
    counted = [s for s in shown if question.counted and question.counted in map(stem, words(s))]
    if len(counted) == 1:
        return counted[0]
    return shown[0] if len(shown) == 1 else None


def _with_unit(text: str, number: Number) -> str:
    start, end = number.start, number.end
    before = text[max(0, start - 4) : start]
    if before.endswith(("$", "\u20ac", "\u00a3", "\u00a5")):
        start -= 1
    elif re.search(r"\b(?:EUR|USD|GBP|NOK|CHF|CAD|AUD|JPY|INR)\s$", before):
        start -= 4
    for _ in range(2):
        match = _TAIL.match(text, end)
        if match is None or fold(match.group().strip()) in STOP:
            break
        end = match.end()
    return _PASSING.sub("", text[start:end])


def _colour(text: str) -> str | None:
    found = list(re.finditer(r"[^\W_]+", text))
    places = [n for n, m in enumerate(found) if fold(m.group()) in COLOURS]
    if len(places) != 1 or _corrects(text):
        return None
    n = places[0]
    shade = n > 0 and fold(found[n - 1].group()) in {"dark", "light", "bright", "pale", "deep"}
    return text[found[n - shade].start() : found[n].end()]


def _other_side(question: Question, text: str) -> str | None:
    field = _field(question, text)
    if field is not None:
        return field
    match = _COPULA.search(text)
    if match is None:
        return None
    left, right = text[: match.start()], text[match.end() :]
    asked = {root for root, weight in question.weights.items() if weight >= 1}
    before, after = question.found_in(left) & asked, question.found_in(right) & asked
    if before and not after and question.head in {"", *before}:
        return _answer(right)
    spoken = match.group().strip() not in {":", "="}
    if after and not before and question.head in {"", *after} and spoken:
        return _answer(left, subject=True)
    return None


def _field(question: Question, text: str) -> str | None:
    for name, quoted, plain in _FIELD.findall(text):
        if question.head and question.head in map(stem, words(name.replace("_", " "))):
            return str(quoted or plain)
    return None


def _answer(side: str, *, subject: bool = False) -> str | None:
    bare = _PASSING.sub("", _CLAUSE.sub("", side).strip(_EDGES)).strip(_EDGES)
    said = words(bare)
    if not 0 < len(said) <= SPAN_WORDS or not set(said) - STOP:
        return None
    if subject and (len(said) > 5 or not _PRONOUNS.isdisjoint(said)):
        return None
    return bare
