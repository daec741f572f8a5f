"""Tell whether an answer gives a value as current, denies it, or calls it outdated.

`Oslo, not Bergen` gives Oslo and denies Bergen; `it used to be Bergen` calls Bergen old; `changed
from Bergen to Oslo` does so for Bergen alone. Words reach only as far as their clause does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from memsim.language.word_forms import has_english_word
from memsim.scoring.answer_text import AnswerWords, fold
from memsim.scoring.native_polarity import (
    abstains_natively,
    denied_natively,
    is_native_denial,
    says_old_natively,
)

# Recognises an answer that says that it does not know.

_NOT = r"(?: not|n't| never)"
_BE = "(?:is|was|are|were|has|have|been)"
_ADVERBS = "(?: (?:been|yet|ever|actually|explicitly|specifically|directly|currently)){0,2}"
_TELLING = (
    "(?:mention|say|said|specif|stat|provid|giv|discuss|record|disclos|shar|t[oe]l[dl]|contain"
    "|includ|indicat|describ|reveal|address|cover|list|explain|identif|clarif|confirm|talk|come up"
    r"|came up|show|hear|learn)\w*"
)
_TOLD = (
    "(?:mentioned|specified|stated|provided|given|said|discussed|recorded|known|included|clear"
    "|disclosed|talked|something|shared|told|found|present|indicated|listed|described|covered"
    "|addressed|revealed|answerable|enough|certain|possible to (?:say|tell|know|determine))"
)
_HELD = (
    "(?:information|info|mention|records?|data|evidence|indication|details?|memory|memories|answer"
    "|context|reference|knowledge|idea|clue|way (?:of|to) (?:know|tell|say))"
)
_KNOWING = "(?:know|recall|remember|find|tell|say|determine|answer)"
_VOID = "(?:unknown|unclear|unspecified|undisclosed|unstated|unanswerable|undetermined)"

_SILENCE = (
    (
        rf"\b(?:do|does|did|can|could|was|were|am|is|are|would|might|may|ca|wo){_NOT}"
        rf"(?: \w+){{0,2}}? (?:{_KNOWING}|be sure|sure|certain|aware|able to"
        rf"|have (?:\w+ ){{0,3}}?{_HELD})\b"
    ),
    rf"\bcannot (?:\w+ )?(?:{_KNOWING}|be)\b",
    rf"\b{_BE}{_NOT}{_ADVERBS} {_TOLD}\b",
    rf"^(?:it is |it's )?(?:not|never) (?:\w+ly )?{_TOLD}\b",
    rf"\b(?:do|does|did|has|have){_NOT}{_ADVERBS} {_TELLING}\b",
    rf"\b(?:you|nobody|no one|it|they|i) (?:(?:have|has|was|were) )?never (?:been )?{_TELLING}\b",
    rf"\b(?:nobody|no one) (?:has )?{_TELLING}\b",
    (
        rf"(?:^|\b(?:there|{_BE}|there's|see|find|found|contains?|provides?|gives?|with) )"
        rf"no (?:\w+ ){{0,2}}?{_HELD}\b"
    ),
    rf"\b(?:{_HELD}|that)(?: {_BE})?{_NOT} (?:currently )?available\b",
    r"\bi (?:do not|don't|did not|didn't) (?:have|see|find)\b",
    rf"\b(?:insufficient|not enough|lacks?|lacking|without) (?:\w+ ){{0,2}}?{_HELD}\b",
    rf"\bno idea\b|\bnot sure\b|\bunsure\b|\bunable to (?:{_KNOWING}|provide|confirm)\b",
    rf"\b(?:it is|it's|is|are|remains) {_VOID}\b",
    r"\bnothing (?:was|is|has been|about|on|in)\b",
    rf"^\W*(?:{_VOID}|n/?a|none given|idk|dunno|no answer|no clue|beats me)\W*$",
)
_GUESS = (
    r"^(?:(?:but|and|so|however|still|though)\W+)?(?:(?:i|we) (?:think|believe|guess|suppose"
    r"|assume|would say|would guess)|i'd (?:say|guess)|my (?:best )?guess|maybe|perhaps|possibly"
    r"|probably|likely|presumably|the answer is|(?:it|they|he|she|that) (?:is|was|are|were"
    r"|might be|may be|could be|must be)|it's|they're|he's|she's|that's)\b"
    rf"(?! (?:\w+ )?(?:not|never|possible|likely|{_VOID}))"
)
_CLAUSE = re.compile(
    r"[.;!?\n]+\s*|,\s*(?=but\b|however\b|though\b|so\b|and\s+i\b)|\s+(?=but\b|however\b)|\s+-+\s+"
)
_READ = 2_000


def _phrases(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns).replace(" ", r"\s+"))


_silent = _phrases(*_SILENCE).search
_guesses = _phrases(_GUESS).search


@lru_cache(maxsize=1 << 12)
def abstains(answer: str) -> bool:
    """Whether the answer says that it does not know, without a guess.

    `I don't know.` and `The conversation does not mention it.` abstain; `I'm not sure, but I think
    it is Oslo.` does not. Only the beginning of a very long answer is read.
    """
    read = answer[:_READ]
    return _abstains(read) or (not has_english_word(read) and abstains_natively(read))


def _abstains(answer: str) -> bool:
    clauses = [c.strip() for c in _CLAUSE.split(fold(answer)) if c.strip()]
    silent = [bool(_silent(clause)) for clause in clauses]
    if not any(silent):
        return False
    return not any(_guesses(c) for c, s in zip(clauses, silent, strict=True) if not s)


NEGATORS = frozenset(
    {
        "not",
        "never",
        "no",
        "none",
        "nothing",
        "nobody",
        "neither",
        "nor",
        "without",
        "except",
        "unlike",
    }
)
_DENIALS = frozenset({"not", "never", "no", "neither", "nor"})
_COMPARED = {"instead": "of", "rather": "than", "other": "than"}
_REACH = 5
_ENDS = frozenset({"and", "because", "since", "so", "until", "unless"})
_PRONOUNS = frozenset({"i", "you", "he", "she", "it", "we", "they", "that", "this", "there"})
_COPULAS = frozenset({"is", "was", "are", "were"})
_WRONG = frozenset({"wrong", "incorrect", "outdated", "false", "untrue", "obsolete"})
_RIGHT = frozenset({"right", "correct", "true", "anymore", "longer", "current", "valid", "it"})

_OLD_BEFORE = frozenset(
    """
    formerly former previously previous originally original initially initial earlier old older
    outdated obsolete superseded replaced replaces replacing replace left leaving past ex cancelled
    canceled
    """.split()  # noqa: SIM905 - words read best as words
)
_OLD_AFTER = frozenset(
    """
    formerly previously originally initially earlier anymore outdated obsolete superseded replaced
    ago until cancelled canceled
    """.split()  # noqa: SIM905 - words read best as words
)
_PERHAPS_OLD = frozenset({"was", "were", "had", "been", "before", "once"})
_CHANGED = frozenset({"changed", "switched", "updated", "moved", "became", "corrected"})
_CURRENT = frozenset({"now", "currently", "presently", "today", "nowadays"})


@lru_cache(maxsize=1 << 13)
def denied(words: AnswerWords) -> frozenset[int]:
    """Places of the words that the text denies."""
    return frozenset((*_denied(words), *denied_natively(words)))


def has_negator(words: AnswerWords) -> bool:
    """Whether a text has a word that may deny something."""
    return not NEGATORS.isdisjoint(words.tokens) or is_native_denial(words, len(words.tokens))


def is_negative(words: AnswerWords, end: int | None = None) -> bool:
    """Whether words before `end` say that something is not so.

    `nothing` and the like may be a mere title.
    """
    stop = len(words.tokens) if end is None else end
    return not _DENIALS.isdisjoint(words.tokens[:stop]) or is_native_denial(words, stop)


_REPLIES = {"yes": "yes", "yeah": "yes", "yep": "yes", "no": "no", "nope": "no"}
_HEDGES = frozenset({"likely", "probably", "possibly", "perhaps", "maybe", "most", "somewhat"})


def reply_of(words: AnswerWords) -> str:
    """The `yes` or `no` with which a text begins, or empty."""
    return _REPLIES.get(next(iter(words.tokens), ""), "")


def verdict_of(words: AnswerWords) -> str:
    """Whether the first clause says yes or no, as `likely no` or `it is not so`; or empty.

    `I do not know` says neither.
    """
    first = [t for t, clause in zip(words.tokens, words.clauses, strict=True) if clause == 0]
    reply = next((token for token in first if token not in _HEDGES), "")
    said = is_negative(words, len(first)) and not abstains(" ".join(first))
    return _REPLIES.get(reply) or ("no" if said else "")


def says_old(words: AnswerWords, start: int, end: int, *, loosely: bool) -> bool:
    """Whether the words from `start` to `end` are given as something of the past, or denied.

    Args:
        words: the text.
        start: place of the first word.
        end: place after the last.
        loosely: a mere past tense is enough, as it is beside the current value.
    """
    if not denied(words).isdisjoint(range(start, end)):
        return True
    before = list(_before(words, start))
    after = list(_after(words, end))
    if _moved_away(before, after) or _used_to(before) or after[-1:] == ["before"]:
        return True
    if not _OLD_BEFORE.isdisjoint(before) or not _OLD_AFTER.isdisjoint(after):
        return True
    if says_old_natively(words, start, end):
        return True
    return loosely and not _PERHAPS_OLD.isdisjoint(before)


def _before(words: AnswerWords, start: int) -> Iterator[str]:
    """The clause's words just before, nearest first, as far as nothing says `now`."""
    clause = words.clauses[start]
    for i in range(start - 1, max(-1, start - 7), -1):
        if words.clauses[i] != clause or words.tokens[i] in _CURRENT:
            return
        yield words.tokens[i]


def _after(words: AnswerWords, end: int) -> Iterator[str]:
    clause = words.clauses[end - 1]
    for i in range(end, min(len(words.tokens), end + 5)):
        if words.clauses[i] != clause or words.tokens[i] in _CURRENT:
            return
        yield words.tokens[i]


def _moved_away(before: Sequence[str], after: Sequence[str]) -> bool:
    moved = "from" in before[:2] or not _CHANGED.isdisjoint(after[:3])
    return moved and not {"to", "into"}.isdisjoint(after[:4])


def _used_to(before: Sequence[str]) -> bool:
    return any(word == "to" and before[i + 1 : i + 2] == ["used"] for i, word in enumerate(before))


def _denied(words: AnswerWords) -> Iterator[int]:
    for place, token in enumerate(words.tokens):
        if _opens(words, place):
            yield from _reach(words, place)
        elif token in _COPULAS and _denies_back(words, place):
            yield from _back(words, place)


def _opens(words: AnswerWords, place: int) -> bool:
    token = words.tokens[place]
    following = words.tokens[place + 1 : place + 2]
    if token in _COMPARED:
        return following == (_COMPARED[token],)
    if token == "no":  # noqa: S105 - a word
        return not words.foreign and not _is_reply(words, place)
    return token in NEGATORS and following not in {("only",), ("just",)}


def _is_reply(words: AnswerWords, place: int) -> bool:
    clause = words.clauses[place]
    if place and words.clauses[place - 1] == clause:
        return False
    following = words.tokens[place + 1 : place + 2]
    return not following or words.clauses[place + 1] != clause or following[0] in _PRONOUNS


def _reach(words: AnswerWords, place: int) -> Iterator[int]:
    clause = words.clauses[place]
    for i in range(place + 1, min(len(words.tokens), place + 1 + _REACH)):
        if words.clauses[i] != clause or words.tokens[i] in _ENDS:
            return
        yield i


def _denies_back(words: AnswerWords, place: int) -> bool:
    first, second = (*words.tokens[place + 1 : place + 3], "", "")[:2]
    return (
        first in _WRONG
        or (first == "not" and second in _RIGHT)
        or (first == "no" and second == "longer")
    )


def _back(words: AnswerWords, place: int) -> Iterator[int]:
    clause = words.clauses[place]
    for i in range(place - 1, max(-1, place - 1 - _REACH), -1):
        if words.clauses[i] != clause or words.tokens[i] in _ENDS:
            return
        yield i
