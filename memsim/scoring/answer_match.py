"""Finds an expected text in an answer: by its words, in any order, or as a sequence.

By words (`tokens`), an answer is right when it holds at least `ENOUGH` of the different content
words of the expected text, all of its numbers, dates and identifiers among them, says yes where
that says yes and no where it says no, and is no longer than `length_limit` allows. Without the
limit, answers that mention everything would be right about everything.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from memsim.language.lexicon import MONTHS
from memsim.scoring.answer_text import STOP, AnswerWords, content, fold, places, read_words, stem
from memsim.scoring.polarity import NEGATORS, denied, is_negative

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence


ENOUGH = 0.6
"""Share of an expected text's content words that an answer must hold."""

LONGEST = 40
"""Content words that any answer may have."""

LONGEST_RATIO = 8
"""Content words that an answer may have for each of the expected text's."""


class AnswerMatch(NamedTuple):
    """How an answer compares with one expected text: `share` of it was found."""

    right: bool
    share: float
    detail: str = ""


def length_limit(expected: Iterable[str]) -> int:
    """Content words that an answer to any of these may have."""
    return max([LONGEST, *(LONGEST_RATIO * len(content(read_words(text))) for text in expected)])


def too_long(answer: str, expected: Iterable[str]) -> bool:
    """Whether an answer is so long that what it holds proves nothing."""
    words = read_words(answer)
    return sum(token not in STOP for token in words.tokens) > length_limit(expected)


def match_words(expected: str, answer: str) -> AnswerMatch:
    """Compare by content words, in any order; the answer's length is not looked at."""
    gold, given = read_words(expected), read_words(answer)
    wanted = content(gold)
    if not wanted:
        return AnswerMatch(right=False, share=0.0, detail="nothing is expected")
    hidden = _hidden(gold, given)
    held = holdings(given, hidden)
    found = frozenset(w for w in wanted if _holds(held, w)) | _joined_found(gold, held)
    share = sum(w in found for w in wanted) / len(wanted)
    detail = _contradiction(gold, given, found) or _denial(wanted, given, hidden, held)
    return AnswerMatch(right=share >= ENOUGH and not detail, share=share, detail=detail)


def match_sequence(expected: str, answer: str) -> AnswerMatch:
    """Look for the expected words one after the other, where the answer does not deny them."""
    gold, given = read_words(expected), read_words(answer)
    hidden = _hidden(gold, given)
    right = any(start not in hidden for start, _ in occurrences(gold, given))
    return AnswerMatch(right=right, share=float(right))


def occurrences(needle: AnswerWords, haystack: AnswerWords) -> list[tuple[int, int]]:
    """Where the words of one text stand in another, as (start, end); never inside other words."""
    size = len(needle.stems)
    return [(start, start + size) for start in places(needle.stems, haystack.stems)]


@lru_cache(maxsize=1 << 16)
def everything_in(text: str) -> frozenset[str]:
    """All that a text can be said to hold."""
    return holdings(read_words(text), ())


def holdings(words: AnswerWords, hidden: Container[int]) -> frozenset[str]:
    """What words hold: their stems, what dates imply, and names written apart (`phase 2`)."""
    held: set[str] = set()
    last = ""
    for place, token in enumerate(words.tokens):
        if place in hidden:
            last = ""
            continue
        held.add(words.stems[place])
        if token[0].isdigit():
            if last.isalpha() and last not in STOP and len(last) > 1:
                held.add(last + token)
            held.update(_implied(token))
        elif token.startswith("--"):
            held.update(_implied(token))
        last = token
    return frozenset(held)


def is_exact(token: str) -> bool:
    """Whether a word is a number, a date or an identifier, and so right or wrong as a whole."""
    return any(character.isdigit() for character in token)


def holds_all(held: frozenset[str], wanted: Iterable[str]) -> bool:
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


def _holds(held: frozenset[str], wanted: str) -> bool:
    if wanted in held:
        return True
    if not _is_date(wanted):
        return False
    if wanted.startswith("--"):
        return f"md:{wanted[2:]}" in held
    return f"--{wanted[5:]}" in held


def _hidden(gold: AnswerWords, given: AnswerWords) -> frozenset[int]:
    # A negative word of the expected text itself, were it only in a title, denies nothing.
    return denied(given) if NEGATORS.isdisjoint(gold.tokens) else frozenset()


def _denial(
    wanted: Sequence[str], given: AnswerWords, hidden: frozenset[int], held: frozenset[str]
) -> str:
    """The answer denies words of the expected text alone, and gives them nowhere else."""
    said = {given.stems[i] for i in hidden if given.tokens[i] not in STOP}
    denies = bool(said) and said.issubset(wanted) and said.isdisjoint(held)
    return "denies it" if denies else ""


def _joined_found(gold: AnswerWords, held: frozenset[str]) -> frozenset[str]:
    found: set[str] = set()
    for i in range(len(gold.tokens) - 1):
        left, right = gold.tokens[i], gold.tokens[i + 1]
        if left.isalpha() and right.isdecimal() and left + right in held:
            found.update(gold.stems[i : i + 2])
    return frozenset(found)


def _contradiction(gold: AnswerWords, given: AnswerWords, found: frozenset[str]) -> str:
    missing = [t for t in gold.tokens if is_exact(t) and stem(t) not in found]
    if missing and (missing != ["1"] or any(is_exact(t) for t in given.tokens)):
        return f"{missing[0]} is missing"
    gold_reply, reply = _reply(gold.tokens), _reply(given.tokens)
    if gold_reply and reply and gold_reply != reply:
        return f"says {reply}"
    if is_negative(gold.tokens) and not is_negative(given.tokens):
        return "does not deny it"
    return ""


def _reply(tokens: Sequence[str]) -> str:
    first = next(iter(tokens), "")
    return {"yes": "yes", "yeah": "yes", "yep": "yes", "no": "no", "nope": "no"}.get(first, "")


# Compares numbers, dates and choices by what they mean and not by how they are written.


MOST_VALUES = 4
"""Different numbers or dates that an answer may offer; one that offers more has named none."""

_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "bn": 1e9}
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)(k|m|bn?)?")
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")


def match_number(expected: str, answer: str, *, tolerance: float, asked: str = "") -> AnswerMatch:
    """Compare as numbers.

    Args:
        expected: a text with one number.
        answer: may say more; numbers of the question do not count unless they are the expected one.
        tolerance: allowed difference, as a share of the expected number.
        asked: the question.
    """
    wanted = _numbers(read_words(expected), ())
    if not wanted:
        return AnswerMatch(right=False, share=0.0, detail=f"{expected!r} is no number")
    given = read_words(answer)
    found = _numbers(given, denied(given))
    close = [n for n in found if abs(n - wanted[0]) <= tolerance * abs(wanted[0])]
    others = set(found) - set(_numbers(read_words(asked), ()))
    if len(others - set(close)) + 1 > MOST_VALUES:
        return AnswerMatch(right=False, share=0.0, detail=f"offers {len(others)} numbers")
    return AnswerMatch(right=bool(close), share=float(bool(close)))


def _numbers(words: AnswerWords, hidden: frozenset[int] | tuple[()]) -> list[float]:
    found = []
    for place, token in enumerate(words.tokens):
        match = _NUMBER.fullmatch(token)
        if match and place not in hidden and len(token) <= 20:
            found.append(float(match.group(1)) * _SCALES.get(match.group(2) or "", 1.0))
    return found


@dataclass(frozen=True, slots=True)
class Days:
    """The days that a date means: one, a month, a year, or one in any year."""

    first: date
    last: date
    any_year: bool = False

    @property
    def length(self) -> int:
        """How many days."""
        return (self.last - self.first).days + 1


def match_date(expected: str, answer: str, *, tolerance: float) -> AnswerMatch:
    """Compare as dates.

    An answer is right when it lies within the expected day, month or year, `tolerance` days to
    either side allowed. A year where a day is expected is not an answer; a day without its year is.
    """
    wanted = days_of(expected)
    if not wanted:
        return AnswerMatch(right=False, share=0.0, detail=f"{expected!r} is no date")
    given = read_words(answer)
    found = list(dict.fromkeys(_days(given, denied(given))))
    if len(found) > MOST_VALUES:
        return AnswerMatch(right=False, share=0.0, detail=f"offers {len(found)} dates")
    spare = timedelta(days=tolerance)
    right = any(_lies_in(f, w, spare) for f in found for w in wanted)
    return AnswerMatch(right=right, share=float(right))


def days_of(text: str) -> list[Days]:
    """The dates in a text; one that can be read two ways counts as both."""
    return list(_days(read_words(text), ()))


def _days(words: AnswerWords, hidden: frozenset[int] | tuple[()]) -> Iterator[Days]:
    for place, token in enumerate(words.tokens):
        if place in hidden:
            continue
        for reading in _readings(token):
            try:
                yield _spanned(*reading)
            except ValueError:
                continue


def _readings(token: str) -> Iterator[tuple[int, int, int]]:
    parts = token.lstrip("-").replace("/", "-").split("-")
    if not all(p.isdecimal() for p in parts):
        return
    numbers = [int(p) for p in parts]
    if "/" in token and len(numbers) == 3:
        first, second, year = numbers
        yield year, first, second
        yield year, second, first
    elif token.startswith("--") and len(numbers) == 2:
        yield 0, numbers[0], numbers[1]
    elif len(numbers) == 3 and len(parts[0]) == 4:
        yield numbers[0], numbers[1], numbers[2]
    elif len(numbers) == 2 and len(parts[0]) == 4:
        yield numbers[0], numbers[1], 0
    elif _YEAR.fullmatch(token):
        yield numbers[0], 0, 0


def _spanned(year: int, month: int, day: int) -> Days:
    if not month:
        return Days(date(year, 1, 1), date(year, 12, 31))
    if not day:
        return Days(date(year, month, 1), date(year, month, monthrange(year, month)[1]))
    # A leap year stands for any year, so that 29 February exists in it.
    one = date(year or 2000, month, day)
    return Days(one, one, any_year=not year)


def _lies_in(given: Days, wanted: Days, spare: timedelta) -> bool:
    if wanted.any_year or given.any_year:
        if not (given.length == wanted.length == 1):
            return False
        years = range(-1, 2)
        base = given.first.replace(year=2000)
        return any(abs(base - _in_year(wanted.first, 2000 + y)) <= spare for y in years)
    if given.length > wanted.length:
        return False
    return wanted.first - spare <= given.first and given.last <= wanted.last + spare


def _in_year(day: date, year: int) -> date:
    try:
        return day.replace(year=year)
    except ValueError:
        return day.replace(year=year, day=28)


def match_choice(expected: str, answer: str, choices: Sequence[str]) -> AnswerMatch:
    """Compare as one of several options, given by its words, its letter or its number."""
    picked = _picked(answer, choices)
    wanted = read_words(expected).stems
    right = len(picked) == 1 and read_words(choices[picked[0]]).stems == wanted
    detail = f"picks {len(picked)} options" if len(picked) > 1 else ""
    return AnswerMatch(right=right, share=float(right), detail=detail)


_LETTER = re.compile(r"\W*(?:(?:the\s+)?(?:option|answer|choice)(?:\s+is)?\W*)?([a-z]|\d{1,2})\W*")


def _picked(answer: str, choices: Sequence[str]) -> list[int]:
    given = read_words(answer)
    gone = denied(given)
    spans = {
        n: [s for s in occurrences(read_words(choice), given) if s[0] not in gone]
        for n, choice in enumerate(choices)
    }
    everything = [span for found in spans.values() for span in found]
    picked = [n for n, found in spans.items() if any(not _inside(s, everything) for s in found)]
    if picked:
        return picked
    letter = _LETTER.fullmatch(fold(answer)) or re.match(
        r"\W*([a-z]|\d{1,2})\s*[).:]\s", fold(answer)
    )
    if letter:
        name = letter.group(1)
        place = int(name) - 1 if name.isdecimal() else ord(name) - ord("a")
        return [place] if 0 <= place < len(choices) else []
    return []


def _inside(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    return any(s[0] <= span[0] and span[1] <= s[1] and s != span for s in spans)
