"""Find an expected text in an answer: by its words in any order, or as a sequence.

By words (`tokens`), an answer is right when

* it holds at least `ENOUGH` of the different content words of the expected text;
* all numbers, dates and identifiers of the expected text are among them;
* it says yes or no where the expected text does;
* it is no longer than `length_limit` allows. An answer that mentions everything would otherwise
  be right about everything.

A word of another language than English is also given by a form of it: `Ankara'da` gives Ankara. In
scripts without spaces, a name is given by its characters in a row.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from memsim.language.lexicon import MONTHS
from memsim.language.word_forms import is_foreign_form_of, is_form_of
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
from memsim.scoring.polarity import NEGATORS, denied, is_negative

ENOUGH = 0.6
"""Share of an expected text's content words that an answer must hold."""

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


def length_limit(expected: Iterable[str]) -> int:
    """Content words that an answer to any of these may have."""
    return max([LONGEST, *(LONGEST_RATIO * len(content(read_words(text))) for text in expected)])


def too_long(answer: str, expected: Iterable[str]) -> bool:
    """Whether an answer is too long to count as a match."""
    words = read_words(answer)
    characters = sum(map(is_unspaced, words.tokens)) if words.inflected else 0
    counted = sum(token not in STOP for token in words.tokens) - characters
    return counted + characters // CHARACTERS_OF_WORD > length_limit(expected)


def match_words(expected: str, answer: str) -> AnswerMatch:
    """Compare by content words in any order, without regard to the answer's length."""
    gold, given = read_words(expected), read_words(answer)
    wanted = content(gold)
    if not wanted:
        return AnswerMatch(right=False, share=0.0, detail="nothing is expected")
    hidden = _hidden(gold, given)
    held = holdings(given, hidden)
    named = dict(zip(gold.stems, gold.tokens, strict=True))
    found = frozenset(w for w in wanted if _holds(held, w, named.get(w))) | _joined_found(
        gold, held
    )
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


def _hidden(gold: AnswerWords, given: AnswerWords) -> frozenset[int]:
    # A negative word of the expected text itself, were it only in a title, denies nothing.
    return denied(given) if NEGATORS.isdisjoint(gold.tokens) else frozenset()


def _denial(
    wanted: Sequence[str], given: AnswerWords, hidden: frozenset[int], held: Holdings
) -> str:
    """The answer denies words of the expected text alone, and gives them nowhere else."""
    said = {given.stems[i] for i in hidden if given.tokens[i] not in STOP}
    denies = bool(said) and said.issubset(wanted) and said.isdisjoint(held.stems)
    return "denies it" if denies else ""


def _joined_found(gold: AnswerWords, held: Holdings) -> frozenset[str]:
    found: set[str] = set()
    for i in range(len(gold.tokens) - 1):
        left, right = gold.tokens[i], gold.tokens[i + 1]
        if left.isalpha() and right.isdecimal() and left + right in held.stems:
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
