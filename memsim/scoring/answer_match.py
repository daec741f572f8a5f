"""Find an expected text in an answer: by its words in any order, or as a sequence.

By words (`tokens`), an answer is right when

* it holds more than half of the expected text's words by weight (`answer_overlap`), or less in one
  of the ways that `_is_enough` names;
* all numbers and identifiers of the expected text are among them, and each of its dates, told in
  any way (`answer_dates`);
* it says yes or no where the expected text does;
* it is no longer than `length_limit` allows. An answer that mentions everything would otherwise
  be right about everything.

A word of another language than English is also given by a form of it: `Ankara'da` gives Ankara. In
scripts without spaces, a name is given by its characters in a row.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from memsim.language.lexicon import ASKING, MONTHS
from memsim.language.word_forms import is_foreign_form_of, is_form_of
from memsim.scoring.answer_dates import ToldDate, told_dates
from memsim.scoring.answer_overlap import (
    GivenWords,
    WordPart,
    own_words,
    parts_of,
    root_of,
    roots_of,
)
from memsim.scoring.answer_text import (
    STOP,
    AnswerWords,
    content,
    holds_run,
    is_unspaced,
    places,
    read_words,
    stem,
    unspaced_runs,
)
from memsim.scoring.polarity import denied, has_negator, is_negative, reply_of, verdict_of

ENOUGH = 0.51
"""Share of an expected text's words by weight with which an answer is right in any case."""

ENOUGH_OF_FORMS = 0.6
"""The same in other languages than English, whose words are found in many forms."""

HALF, THIRD, QUARTER, LITTLE = 0.5, 0.33, 0.25, 0.15
"""Shares that are enough in other ways, or that must be exceeded."""

MOST, TELLING = 0.75, 2
"""Share of a part that counts as the part; telling words that are no coincidence."""

_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")

LONGEST = 40
"""Content words that any answer may have."""

LONGEST_RATIO = 8
"""Content words that an answer may have for each of the expected text's."""

CHARACTERS_OF_WORD = 2
"""Characters of a script without spaces that count as one word of an answer."""

MOST_VALUES = 4
"""Different numbers or dates that an answer may offer; one that offers more has named none."""


class Holdings(NamedTuple):
    """What words hold.

    Attributes:
        stems: their stems, what dates imply, and names written apart (`phase 2`).
        written: words that may have an ending, and rows of characters without spaces.
        unsure: whether they may be English.
    """

    stems: frozenset[str]
    written: tuple[str, ...] = ()
    unsure: bool = False


class AnswerMatch(NamedTuple):
    """How an answer compares with one expected text: `share` of it was found."""

    right: bool
    share: float
    detail: str = ""


def length_limit(expected: Iterable[str], *, every: bool = False) -> int:
    """Content words that an answer to any of these may have; or one to every one of them."""
    each = [LONGEST_RATIO * len(content(read_words(text))) for text in expected]
    return LONGEST + sum(each) if every and len(each) > 1 else max([LONGEST, *each])


def too_long(answer: str, expected: Iterable[str], *, every: bool = False) -> bool:
    """Whether an answer is too long to count as a match."""
    words = read_words(answer)
    characters = sum(map(is_unspaced, words.tokens)) if words.inflected else 0
    counted = sum(token not in STOP for token in words.tokens) - characters
    return counted + characters // CHARACTERS_OF_WORD > length_limit(expected, every=every)


def leading_sentences(answer: str, limit: int) -> str:
    """The first sentences of an answer with no more content words together than the limit."""
    kept: list[str] = []
    for sentence in _SENTENCES.split(answer):
        limit -= sum(token not in STOP for token in read_words(sentence).tokens)
        if limit < 0:
            break
        kept.append(sentence)
    return "\n".join(kept)


def match_words(expected: str, answer: str, asked: str = "") -> AnswerMatch:
    """Compare by content words in any order, without regard to the answer's length.

    Args:
        expected: the right answer.
        answer: what was answered.
        asked: the question, which tells what an answer adds to it; or empty.
    """
    gold, given, question = read_words(expected), read_words(answer), read_words(asked)
    if not gold.tokens:
        return AnswerMatch(right=False, share=0.0, detail="nothing is expected")
    foreign = bool(gold.inflected) and not gold.unsure
    hidden = _hidden(gold, given, question)
    held = holdings(given, hidden)
    dates = told_dates(gold)
    missed = _missed_dates(dates, given, hidden)
    places = _content_places(gold, dates)
    parts = _foreign_part(gold, places) if foreign else parts_of(gold, places)
    found = _found(gold, parts, held)
    known = GivenWords(given, hidden, found=found, english=not foreign)
    total = sum(part.total for part in parts) + len(dates)
    share = (sum(map(known.mass, parts)) + len(dates) - len(missed)) / total
    absent = [gold.tokens[told.end - 1] for told in missed]
    absent += [t for n in places if is_exact(t := gold.tokens[n]) and root_of(t) not in found]
    detail = _contradiction(gold, given, absent) or _denial(gold, given, hidden, held)
    if question.tokens and question.tokens[0] in ASKING:
        share, detail = _by_verdict(gold, given, share, detail)
    enough = share >= (ENOUGH_OF_FORMS if foreign else ENOUGH)
    if asked and not (enough or detail or foreign):
        enough = _is_enough(parts, known, share) or _is_short_form(gold, answer, asked, share)
    return AnswerMatch(right=enough and not detail, share=share, detail=detail)


def _foreign_part(gold: AnswerWords, places: Iterable[int]) -> list[WordPart]:
    """The content words of another language, where a row of characters may be one."""
    dates = {gold.stems[n] for n in set(range(len(gold.stems))).difference(places)}
    roots = tuple(stem_ for stem_ in content(gold) if stem_ not in dates)
    return [WordPart(roots, (1.0,) * len(roots))] if roots else []


def _found(gold: AnswerWords, parts: Iterable[WordPart], held: Holdings) -> frozenset[str]:
    joined = _joined_found(gold, held)
    written = {root_of(token): token for token in gold.tokens}
    return frozenset(
        root
        for part in parts
        for root in part.roots
        if stem(written.get(root, root)) in joined
        or _holds(held, stem(written.get(root, root)), written.get(root))
    )


def _by_verdict(
    gold: AnswerWords, given: AnswerWords, share: float, detail: str
) -> tuple[float, str]:
    """Of a question for yes or no, the verdict is the answer, and its reasons are not needed."""
    wanted, said = verdict_of(gold), verdict_of(given)
    if not (wanted and said):
        return share, detail
    if wanted != said:
        return share, detail or f"says {said}"
    return max(share, ENOUGH), detail


def _is_enough(parts: Sequence[WordPart], known: GivenWords, share: float) -> bool:
    """A quarter with two telling words in it, or a third with most of one part of several."""
    if share >= QUARTER and sum(map(known.telling, parts)) >= TELLING:
        return True
    return share >= THIRD and len(parts) > 1 and max(map(known.share, parts)) >= MOST


def _is_short_form(gold: AnswerWords, answer: str, asked: str, share: float) -> bool:
    """Most of what one sentence adds to the question is in the expected text."""
    if share < LITTLE:
        return False
    wanted, apart = GivenWords(gold), roots_of(read_words(asked))
    first = _SENTENCES.split(answer, maxsplit=1)[0]
    own = own_words(read_words(first), apart)
    return own.total > 0 and wanted.share(own) > HALF


def _missed_dates(
    dates: Sequence[ToldDate], given: AnswerWords, hidden: Container[int]
) -> list[ToldDate]:
    if not dates:
        return []
    offered = [d for told in told_dates(given) if told.end - 1 not in hidden for d in told.readings]
    return [
        told
        for told in dates
        if not any(days.within(wanted) for days in offered for wanted in told.readings)
    ]


def _content_places(gold: AnswerWords, dates: Sequence[ToldDate]) -> list[int]:
    told = {place for found in dates for place in range(found.start, found.end)}
    rest = [place for place in range(len(gold.tokens)) if place not in told]
    kept = [place for place in rest if gold.tokens[place] not in STOP]
    return kept if kept or dates else rest


def match_sequence(expected: str, answer: str) -> AnswerMatch:
    """Look for the expected words one after the other, where the answer does not deny them."""
    gold, given = read_words(expected), read_words(answer)
    hidden = _hidden(gold, given)
    right = any(start not in hidden for start, _ in occurrences(gold, given))
    return AnswerMatch(right=right, share=float(right))


def occurrences(needle: AnswerWords, haystack: AnswerWords) -> list[tuple[int, int]]:
    """Where the words of one text stand in another, as (start, end); never inside other words."""
    size = len(needle.stems)
    starts = places(needle.stems, haystack.stems)
    if haystack.inflected and size:
        last = len(haystack.stems) - size
        starts += [n for n in range(last + 1) if n not in starts and _says_at(needle, haystack, n)]
        starts.sort()
    return [(start, start + size) for start in starts]


def _says_at(needle: AnswerWords, haystack: AnswerWords, start: int) -> bool:
    """Whether words stand at a place of a text, some of them as other forms."""
    is_form = is_foreign_form_of if haystack.unsure else is_form_of
    return all(
        wanted == haystack.stems[place]
        or (place in haystack.inflected and is_form(token, haystack.tokens[place]))
        for place, (wanted, token) in enumerate(
            zip(needle.stems, needle.tokens, strict=True), start
        )
    )


@lru_cache(maxsize=1 << 16)
def everything_in(text: str) -> Holdings:
    """Everything that a text holds, for `holds_all`."""
    return holdings(read_words(text), ())


def holdings(words: AnswerWords, hidden: Container[int]) -> Holdings:
    """What words hold besides those at hidden places."""
    forms = [words.tokens[n] for n in sorted(words.inflected) if n not in hidden]
    spaced = [form for form in forms if not is_unspaced(form)]
    written = (*spaced, *unspaced_runs(words, hidden)) if forms else ()
    return Holdings(_stems_of(words, hidden), tuple(dict.fromkeys(written)), words.unsure)


def _stems_of(words: AnswerWords, hidden: Container[int]) -> frozenset[str]:
    held: set[str] = set()
    last = ""
    for place, token in enumerate(words.tokens):
        if place in hidden:
            last = ""
            continue
        held.add(words.stems[place])
        if token in _TIMES:
            held.add(_TIMES[token])
        if token[0].isdigit():
            if last.isalpha() and last not in STOP and len(last) > 1:
                held.add(last + token)
            held.update(_implied(token))
        elif token.startswith("--"):
            held.update(_implied(token))
        last = token
    return frozenset(held)


_TIMES = {"once": "1", "twice": "2", "thrice": "3"}


def is_exact(token: str) -> bool:
    """Whether a word is a number, a date or an identifier, and so right or wrong as a whole."""
    return any(character.isdigit() for character in token)


def holds_all(held: Holdings, wanted: Iterable[str]) -> bool:
    """Whether all of these stems are held."""
    return all(_holds(held, w) for w in wanted)


def _implied(token: str) -> Iterator[str]:
    if _is_date(token):
        year, month, day = token.split("-") if token[0] != "-" else ("", token[2:4], token[5:7])
        yield f"md:{month}-{day}"
        if year:
            yield f"{year}-{month}"
            yield year
        yield stem(MONTHS[int(month) - 1])
    elif len(token) == 7 and token[4] == "-":
        yield token[:4]
        yield stem(MONTHS[int(token[5:]) - 1])


def _is_date(token: str) -> bool:
    return (len(token) == 10 and token[4] == token[7] == "-") or token.startswith("--")


def _holds(held: Holdings, wanted: str, token: str | None = None) -> bool:
    if wanted in held.stems:
        return True
    if not _is_date(wanted):
        return bool(held.written) and _holds_form(held, token or wanted)
    if wanted.startswith("--"):
        return f"md:{wanted[2:]}" in held.stems
    return f"--{wanted[5:]}" in held.stems


def _holds_form(held: Holdings, wanted: str) -> bool:
    if is_unspaced(wanted):
        return any(holds_run(word, wanted) for word in held.written)
    is_form = is_foreign_form_of if held.unsure else is_form_of
    return any(is_form(wanted, word) for word in held.written)


def _hidden(gold: AnswerWords, given: AnswerWords, *asked: AnswerWords) -> frozenset[int]:
    # A negative word of the expected text itself, were it only in a title, denies nothing; nor does
    # one that the question uses.
    own = any(map(has_negator, (gold, *asked)))
    return frozenset() if own else denied(given)


def _denial(gold: AnswerWords, given: AnswerWords, hidden: frozenset[int], held: Holdings) -> str:
    """The answer denies words of the expected text alone, and gives them nowhere else."""
    said = {given.stems[i] for i in hidden if given.tokens[i] not in STOP}
    denies = bool(said) and said.issubset(content(gold)) and said.isdisjoint(held.stems)
    return "denies it" if denies else ""


def _joined_found(gold: AnswerWords, held: Holdings) -> frozenset[str]:
    found: set[str] = set()
    for i in range(len(gold.tokens) - 1):
        left, right = gold.tokens[i], gold.tokens[i + 1]
        if left.isalpha() and right.isdecimal() and left + right in held.stems:
            found.update(gold.stems[i : i + 2])
    return frozenset(found)


def _contradiction(gold: AnswerWords, given: AnswerWords, missed: Sequence[str]) -> str:
    if missed and (set(missed) != {"1"} or any(is_exact(t) for t in given.tokens)):
        return f"{missed[0]} is missing"
    gold_reply, reply = reply_of(gold), reply_of(given)
    if gold_reply and reply and gold_reply != reply:
        return f"says {reply}"
    if is_negative(gold, _main_end(gold)) and not is_negative(given):
        return "does not deny it"
    return ""


def _main_end(words: AnswerWords) -> int:
    """The end of the first half of the content words: a denial after it is not of the whole."""
    places = [n for n, token in enumerate(words.tokens) if token not in STOP]
    return places[(len(places) - 1) // 2] + 1 if places else len(words.tokens)
