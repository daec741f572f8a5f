"""Recognises an answer that says that it does not know."""

from __future__ import annotations

import re
from functools import lru_cache

from memsim.scoring.normalise import fold

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
    """Whether the answer says that it does not know, and does not guess all the same.

    `I don't know.` and `The conversation does not mention it.` abstain; `I'm not sure, but I think
    it is Oslo.` does not. Only the beginning of a very long answer is read.
    """
    clauses = [c.strip() for c in _CLAUSE.split(fold(answer[:_READ])) if c.strip()]
    silent = [bool(_silent(clause)) for clause in clauses]
    if not any(silent):
        return False
    return not any(_guesses(c) for c, s in zip(clauses, silent, strict=True) if not s)
