"""Answer a question from a context, and from nothing else.

The reader finds sentences that share the question's words, and weighs the words by their rarity in
the context. It answers with the newest of the best sentences, or with a date, number or name if the
sentence holds exactly one. If the context does not mention the subject, it says that it does not
know.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from memsim.fast_dataclass import fast_init
from memsim.language.dates import DateMention, day_text, elapsed, mentions, resolve
from memsim.language.lexicon import COLOURS, CONTINUING, KIN, NEGATIVE, RESCHEDULING, STOP, UPDATING
from memsim.language.numbers import Number, numbers
from memsim.language.slips import respelled
from memsim.language.text import content, fold, stem, words
from memsim.models import IDK
from memsim.models.offline.candidates import Candidate, Ranking
from memsim.models.offline.day_events import day_events
from memsim.models.offline.ended_items import without_ended
from memsim.models.offline.linked_statements import linked_statements
from memsim.models.offline.origin import first_holder, origin_matter, speaker_name
from memsim.models.offline.other_values import belongs_elsewhere
from memsim.models.offline.question import (
    CODES,
    KNOWN_STEMS,
    ParsedQuestion,
    bare_question,
    parse_question,
    subjects,
)
from memsim.models.offline.statements import (
    corrects,
    names_among,
    other_side,
    speaker,
    statements,
    unmentioned,
    without_passing,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memsim.models import Request
    from memsim.models.offline.question import AnswerKind
    from memsim.models.offline.statements import Sentence, Statement


# Values in a sentence that answer a kind of question: a date, a number, a colour, a name.


STRICT: Final = frozenset({"when", "number", "duration", "often", "colour", "name"})
"""Kinds of answers that need a value of that kind."""

NAME_WORDS: Final = 3
"""Maximum number of words of a sentence that may be only a name."""

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
_EVENT: Final = re.compile(r"\b(?:did|was|were)\b")
_WHEN: Final = re.compile(r"\bwhen\b")
_JOIN: Final = re.compile(r"[\s,]*(?:at|on|the|of|-|\u2013)?\s*")
_TAIL: Final = re.compile(r"\s?(?:%|[A-Z]{3}\b|[^\W\d_]+(?:-[^\W\d_]+)?)")
_CURRENCY: Final = re.compile(r"(?:[$\u20ac\u00a3\u00a5]|\b(?:EUR|USD|GBP|NOK|CHF|CAD|AUD|INR)\s)$")
_PRICED: Final = re.compile(
    r"\b(?:how\smuch|what\s(?:do|does|did|will|would))\s(?:.{1,60}\s)?"
    r"(?:costs?|earns?|earned|owes?|owed)\b"
    r"|\b(?:what|how\smuch)\s(?:is|was)\s(?:.{1,60}\s)?(?:price|salary|rent)\b"
)
_PRICE: Final = re.compile(
    r"[$\u20ac\u00a3\u00a5%]|(?<![\w-])\d[\d.,]*[km]?(?![\w-])"
    r"|\b(?:euros?|dollars?|pounds?|cents?|crowns?|kroner|francs?|yen|hundred|thousand|million"
    r"|percent|free|nothing)\b",
    re.IGNORECASE,
)
_AGED: Final = re.compile(r"\bhow\sold\b")
_AGE: Final = re.compile(
    r"\b(?:old|years?|months?|weeks?|ages?|aged|birthday|turn(?:s|ed|ing)?|born)\b", re.IGNORECASE
)
_IS: Final = re.compile(
    r"\b(?:is|am|are|was)\s(?:(?:only|just|already|nearly|almost|now)\s)?$", re.IGNORECASE
)
_UNIT: Final = re.compile(r"\bhow\smany\s(day|week|month|year)s")
_SHADES: Final = frozenset({"dark", "light", "bright", "pale", "deep"})
_CALLED: Final = re.compile(
    r"\b(?:called|named|nicknamed|nickname|name\sis|name's|names\sare|call\s(?:it|him|her|them))\b",
    re.IGNORECASE,
)
_TITLE: Final = re.compile(r"[\"\u201c\u00ab][^\"\u201d\u00bb]{2,80}[\"\u201d\u00bb]")
_CODE: Final = re.compile(r"\d|\b[A-Z]{3,}\b")
_LEADING: Final = re.compile(r"\W*([A-Z][\w'-]*)")


def fits(question: ParsedQuestion, sentence: Sentence) -> bool:
    """Whether a sentence holds a value of the requested kind."""
    if question.titled and not _TITLE.search(sentence.text):
        return False
    if question.coded and question.kind == "open" and not _CODE.search(sentence.text):
        return False
    test = _TESTS.get(question.kind)
    return test is None or test(question, sentence)


def span(question: ParsedQuestion, candidate: Candidate, now: date | None) -> str | None:
    """The part of a fitting sentence that answers by itself.

    Returns:
        The part, or a value computed from it; None if only the whole sentence answers.
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


def _value(question: ParsedQuestion, text: str) -> str | None:
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


def _is_named(question: ParsedQuestion, sentence: Sentence) -> bool:
    if not sentence.names <= {*question.names, "i"} or _CALLED.search(sentence.text):
        return True
    first = _LEADING.match(sentence.text)
    leads = first is not None and fold(first[1]) not in STOP
    alone = len(words(sentence.text)) <= NAME_WORDS
    return leads and (alone or other_side(question, sentence.text) is not None)


def _is_dated(question: ParsedQuestion, sentence: Sentence) -> bool:
    return bool(_asked_for(question, mentions(sentence.text)))


def _asked_for(question: ParsedQuestion, found: Sequence[DateMention]) -> list[DateMention]:
    times = [m for m in found if m.kind == "clock"]
    if _CLOCK.search(question.folded):
        return times
    days = [m for m in found if m.kind != "clock"]
    return days or (times if _WHEN.search(question.folded) else [])


def _dates(question: ParsedQuestion, text: str, said: date | None) -> str | None:
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


def _label(mention: DateMention, said: date | None) -> str:
    meant = resolve(mention, said)
    return meant.label if meant else mention.text


def _with_clock(text: str, wanted: list[DateMention], found: tuple[DateMention, ...]) -> str:
    first, last = wanted[0], wanted[-1]
    clocks = [m for m in found if m.kind == "clock"]
    start = min([first.start, *(m.start for m in clocks if _near(text, m, first))])
    end = max([last.end, *(m.end for m in clocks if _near(text, last, m))])
    return text[start:end]


def _near(text: str, a: DateMention, b: DateMention) -> bool:
    return a.end <= b.start and _JOIN.fullmatch(text, a.end, b.start) is not None


def _elapsed(
    question: ParsedQuestion, text: str, said: date | None, now: date | None
) -> str | None:
    meant = [period for m in mentions(text) if (period := resolve(m, said))]
    since = meant[0].first if meant else said
    if since is None or now is None or since > now:
        return None
    unit = _UNIT.search(question.folded)
    return elapsed(since, now, unit[1] if unit else "")


def _is_counted(question: ParsedQuestion, sentence: Sentence) -> bool:
    if _PRICED.search(question.folded) and not _PRICE.search(sentence.text):
        return False
    if _AGED.search(question.folded) and not _is_age(sentence.text):
        return False
    return bool(_counts(sentence.text)) or any(c.isdigit() for c in sentence.text)


def _is_age(text: str) -> bool:
    return bool(_AGE.search(text)) or any(_IS.search(text[: n.start]) for n in _counts(text))


def _counts(text: str) -> list[Number]:
    dated = [(m.start, m.end) for m in mentions(text) if not m.relative]
    return [n for n in numbers(text) if not any(s <= n.start < e for s, e in dated)]


def _number(question: ParsedQuestion, text: str) -> str | None:
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


def _is_placed(_question: ParsedQuestion, sentence: Sentence) -> bool:
    return bool(sentence.names or _PLACE.search(sentence.text))


def _is_someone(_question: ParsedQuestion, sentence: Sentence) -> bool:
    return bool(sentence.names) or not KIN.isdisjoint(words(sentence.text))


_TESTS: Final[dict[AnswerKind, Callable[[ParsedQuestion, Sentence], bool]]] = {
    "when": _is_dated,
    "number": _is_counted,
    "duration": lambda _, sentence: bool(_DURATION.search(sentence.text)),
    "often": lambda _, sentence: bool(_OFTEN.search(sentence.text)),
    "colour": lambda _, sentence: not COLOURS.isdisjoint(words(sentence.text)),
    "name": _is_named,
    "who": _is_someone,
    "where": _is_placed,
}


ANSWER_WORDS = 40
"""Maximum number of words of an answer."""

LIST_WORDS = 400
"""The same where everything of a kind is asked for."""

LEAD = 8
"""Number of words kept before the first matching word, when a long sentence is shortened."""

CONSIDERED, LISTED_OF = 16, 64
"""Number of best sentences in which the answer is searched, and in which a list is."""

NEEDED = (0.9, 0.55, 0.45, 0.38, 0.3)
"""Share of the question that must be found, by its number of full content words."""

SHORT_CONTEXT, LONG_CONTEXT, LONG = 0.2, 0.9, 16
"""Factors of that share: in a context of a few lines, where chance matches are rare, and of many.

A context of so many lines is long. What a memory brought up for a question was chosen from
hundreds, so that chance matches are as frequent in it as there.
"""

OWN, OF_ANOTHER = 0.05, 0.5
"""The first of these factors where the person in question speaks, and where somebody else does.

Who is asked about is the one who tells of themselves, often in other words. What another says in
the same words is mostly about that other.
"""

FIRM, AHEAD, FEW = 0.8, 0.05, 4
"""Least factor where another entry scores within `AHEAD` of the best, or a value is wanted.

Any sentence with a name or a number in it would do for such a question. It does not hold in a
context of so few entries.
"""

VALUES: Final = frozenset({"who", "number", "name"})
"""Kinds of answers of which most contexts hold some."""

STANDS_OUT, FAINT = 2.0, 0.62
"""A sentence that scores so many times what any other entry does needs that part of the share."""

LISTED = 0.5
"""Share of the best score from which a sentence tells a part of a list."""

CLOSE = 0.85
"""Share of the best score from which another entry is quoted as well, while there is room."""

FITTING, SAME, UPDATED, ALL = 0.7, 0.9, 0.7, 0.99
"""Shares of the best score from which another sentence may replace the best one.

It may replace it because it holds a value of the requested kind, says the same of a later day, or
announces a change. The last is the share of the question that a sentence must hold to be quoted
alone, unless it is of the person in question, whose name is then no word to be found.
"""


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderAnswer:
    """The reader's answer, and the ids of the messages it is based on."""

    text: str
    sources: tuple[str, ...] = ()


UNKNOWN = ReaderAnswer(text=IDK)


def read_answer(request: Request) -> ReaderAnswer:
    """Answer the request's question from its messages."""
    matter = origin_matter(request.question)
    return (_origin(request, matter) if matter else None) or _content_answer(request)


def _origin(request: Request, matter: str) -> ReaderAnswer | None:
    ranking = _ranking(replace(request, question=matter))
    ranked = ranking.best()
    if not _is_known(ranking, ranked):
        return UNKNOWN
    found = first_holder(ranked)
    if found is None:
        return None
    asker = speaker("user", request.asker or "user")
    return _answer([found], speaker_name(found.statement, asker, request.asker))


def _led_to(ranking: Ranking, today: date | None) -> ReaderAnswer | None:
    """What names or a day lead to, where no statement has the words of the question."""
    if chain := linked_statements(ranking):
        return _answer(chain, _cropped(chain[-1]))
    if events := day_events(ranking, today):
        return _answer(events, _joined(events))
    return None


def _content_answer(request: Request) -> ReaderAnswer:
    ranking = _ranking(request)
    question = ranking.question
    today = request.now.date() if request.now else None
    if (led := _led_to(ranking, today)) is not None:
        return led
    ranked = _of_matter(question, ranking.best())
    if not _is_known(ranking, ranked):
        return UNKNOWN
    considered = LISTED_OF if question.listed else CONSIDERED
    fitting = without_ended(question, _fitting(question, ranking, ranked[:considered]))
    if not fitting:
        return _undated(question, ranked[0])
    best = _current(question, ranked, _newest(question, fitting))
    if question.kind == "yesno":
        return _answer([best], _verdict(best))
    alone = span(question, best, today)
    if alone is not None and not question.many:
        return _answer([best], alone)
    return _quoted(question, ranking, best, fitting)


def _of_matter(question: ParsedQuestion, ranked: Sequence[Candidate]) -> list[Candidate]:
    """The candidates without values of others, and without what only adds to these."""
    others = {
        (c.statement.order, c.place) for c in ranked if belongs_elsewhere(question, c.sentence)
    }
    if not others:
        return [*ranked]
    beside = set() if question.kind == "name" else {order for order, _ in others}
    return [
        c
        for c in ranked
        if (c.statement.order, c.place) not in others
        and (c.matched or c.statement.order not in beside)
    ]


def _ranking(request: Request) -> Ranking:
    now = request.now.date() if request.now else None
    found = statements(request.messages, request.asker)
    asked = _as_said(bare_question(request.question), found)
    roots = frozenset(map(stem, words(asked)))
    named = names_among(roots, found) | unmentioned(subjects(asked), found)
    question = parse_question(asked, named)
    periods = [meant for m in question.dates if (meant := resolve(m, now))]
    asker = speaker("user", request.asker) if request.asker else ""
    return Ranking(question, found, asker, periods)


def _as_said(question: str, found: Sequence[Statement]) -> str:
    """A question with its misspelt words as the context has them."""
    said = frozenset[str]().union(*(s.entry.stems for s in found), (s.who for s in found))

    def choose(word: str, meant: Sequence[str]) -> str | None:
        root = stem(word)
        if root in said or root in KNOWN_STEMS:
            return None
        return next((other for other in meant if stem(other) in said), None)

    return respelled(question, choose)


def _is_known(ranking: Ranking, ranked: Sequence[Candidate]) -> bool:
    return bool(ranked) and (_enough(ranking, ranked) or _stands_out(ranking, ranked))


def _enough(ranking: Ranking, ranked: Sequence[Candidate]) -> bool:
    best = ranked[0]
    needed = NEEDED[min(ranking.full, len(NEEDED) - 1)]
    size = len(ranking.found)
    spread = min(1.0, max(0.0, math.log(max(size, 1) / FEW) / math.log(LONG / FEW)))
    short = _short_context(ranking, best)
    share = short + (LONG_CONTEXT - short) * spread
    unsure = ranking.question.kind in VALUES or best.score < _others(ranked) + AHEAD
    if unsure and size > FEW:
        share = max(share, FIRM)
    return best.coverage >= needed * share


def _short_context(ranking: Ranking, best: Candidate) -> float:
    if ranking.of_speaker(best):
        return OWN
    return OF_ANOTHER if ranking.of_another(best) else SHORT_CONTEXT


def _stands_out(ranking: Ranking, ranked: Sequence[Candidate]) -> bool:
    # Chance matches are many and alike: what is far better than the rest is none.
    best = ranked[0]
    needed = NEEDED[min(ranking.full, len(NEEDED) - 1)]
    return best.score >= STANDS_OUT * _others(ranked) and best.coverage >= FAINT * needed


def _others(ranked: Sequence[Candidate]) -> float:
    """The best score of another entry than the best one's."""
    order = ranked[0].statement.order
    return max((c.score for c in ranked if c.statement.order != order), default=0.0)


def _fitting(
    question: ParsedQuestion, ranking: Ranking, top: Sequence[Candidate]
) -> list[Candidate]:
    least = top[0].score * (LISTED if question.listed else FITTING)
    found = [c for c in top if c.score >= least and fits(question, c.sentence)]
    if question.kind in STRICT:
        return [c for c in found if ranking.touches(c)]
    if found:
        return found
    return [c for c in top if c.score >= least and not (question.coded and _codeless(c))]


def _codeless(candidate: Candidate) -> bool:
    # A purchase is no order number; a number may be a word if the sentence names one.
    text = candidate.sentence.text
    return bool(candidate.matched) and not numbers(text) and CODES.isdisjoint(words(text))


def _undated(question: ParsedQuestion, best: Candidate) -> ReaderAnswer:
    # An event without a date happened on the day of its message.
    day = best.statement.day
    past = not {"did", "was", "were", "has", "have", "had"}.isdisjoint(words(question.folded))
    if question.kind == "when" and past and day is not None:
        return _answer([best], day_text(day))
    return UNKNOWN


def _newest(question: ParsedQuestion, fitting: Sequence[Candidate]) -> Candidate:
    best = fitting[0]
    if _asks_event(question):
        # What somebody did is not replaced by what is said later, as what is so is.
        return best
    rivals = [c for c in fitting if _same_attribute(question, best, c)]
    pick = min if question.past else max
    return pick(rivals, key=_age)


def _current(question: ParsedQuestion, ranked: Sequence[Candidate], best: Candidate) -> Candidate:
    """The best candidate, or what the context says has replaced it."""
    if question.past or best.statement.entry.replaced is None:
        return best
    full = {root for root in best.matched if question.weights.get(root, 0) >= 1}
    found = (
        c
        for c in ranked[:CONSIDERED]
        if c.statement.order > best.statement.order and _replaces(c, best)
        if full & c.matched and fits(question, c.sentence)
    )
    return next(found, best)


def _asks_event(question: ParsedQuestion) -> bool:
    return not question.past and _EVENT.search(question.folded) is not None


def _same_attribute(question: ParsedQuestion, best: Candidate, other: Candidate) -> bool:
    if other is best:
        return True
    full = {root for root in best.matched if question.weights.get(root, 0) >= 1}
    if full and full <= other.matched and other.score >= SAME * best.score:
        return True
    near = bool(full & other.matched) and other.score >= UPDATED * best.score
    return near and (_updates(other) or _replaces(other, best))


def _replaces(new: Candidate, old: Candidate) -> bool:
    """Whether the context says that an entry was replaced on the day of the other."""
    replaced = old.statement.entry.replaced
    return replaced is not None and new.statement.day == replaced


def _updates(candidate: Candidate) -> bool:
    return not UPDATING.isdisjoint(words(candidate.sentence.text))


def _age(candidate: Candidate) -> tuple[bool, date, bool, int, int]:
    statement = candidate.statement
    day = statement.day
    original = not statement.message.composed
    return (day is not None, day or date.min, original, statement.order, -candidate.place)


def _verdict(best: Candidate) -> str:
    denied = not NEGATIVE.isdisjoint(words(best.sentence.text))
    return f"{'No' if denied else 'Yes'}: {_cropped(best, ANSWER_WORDS - 1)}"


def _quoted(
    question: ParsedQuestion, ranking: Ranking, best: Candidate, fitting: Sequence[Candidate]
) -> ReaderAnswer:
    chosen = [best]
    room = (LIST_WORDS if question.listed else ANSWER_WORDS) - _length(best)
    more = _also(question, best, fitting)
    beside = ranking.beside(best)
    if ranking.own(best) >= ALL and not (question.many or ranking.of_speaker(best)):
        beside = [c for c in beside if _continues(best, c)]
    for candidate in [*more, *beside]:
        length = _length(candidate)
        if length <= room and all(c.sentence.text != candidate.sentence.text for c in chosen):
            chosen.append(candidate)
            room -= length
    chosen.sort(key=lambda c: (c.statement.order, c.place))
    return _answer(chosen, " ".join(_cropped(c) for c in chosen))


def _continues(best: Candidate, other: Candidate) -> bool:
    opening = words(other.sentence.text)[:1]
    return other.place > best.place and not CONTINUING.isdisjoint(opening)


def _also(
    question: ParsedQuestion, best: Candidate, fitting: Sequence[Candidate]
) -> list[Candidate]:
    """Other entries to quote: all of several things, else those that are nearly as good."""
    if question.many:
        replaced = _updates(best) and not question.listed
        return [] if replaced else list(_elsewhere(best, fitting))
    if question.kind not in {"open", "who", "where"} or question.coded:
        return []
    return [
        c
        for c in _elsewhere(best, fitting)
        if c.score >= CLOSE * best.score
        and not _updates(c)
        and not _replaces(best, c)
        and (_asks_event(question) or not _same_attribute(question, fitting[0], c))
    ]


def _elsewhere(best: Candidate, fitting: Sequence[Candidate]) -> Iterable[Candidate]:
    seen = {best.statement.order}
    for candidate in fitting:
        if candidate.statement.order not in seen:
            seen.add(candidate.statement.order)
            yield candidate


def _length(candidate: Candidate) -> int:
    return min(ANSWER_WORDS, len(candidate.sentence.text.split()))


def _joined(chosen: Sequence[Candidate]) -> str:
    return " ".join(map(_cropped, dict.fromkeys(chosen)))


def _cropped(candidate: Candidate, limit: int = ANSWER_WORDS) -> str:
    text = candidate.sentence.text
    found = text.split()
    if len(found) <= limit:
        return text
    met = (n for n, word in enumerate(found) if not candidate.matched.isdisjoint(content(word)))
    start = min(max(0, next(met, 0) - LEAD), len(found) - limit)
    return " ".join(found[start : start + limit])


def _answer(chosen: Sequence[Candidate], text: str) -> ReaderAnswer:
    sources = dict.fromkeys(c.statement.message.id for c in chosen)
    return ReaderAnswer(text=text, sources=tuple(sources))
