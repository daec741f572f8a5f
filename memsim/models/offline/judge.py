"""Judge by rules whether an answer states the expected one, and parse the verdict of any judge.

A verdict is one JSON object and nothing else: `{"verdict": "right"}` or `{"verdict": "wrong"}`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from memsim.language.dates import DateMention, mentions, resolve
from memsim.language.lexicon import NEGATIVE
from memsim.language.numbers import Number, numbers
from memsim.language.text import content, fold, sentences, stem, words
from memsim.models import IDK

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from memsim.models import Request

ENOUGH = 0.6
"""Share of the expected content words that an answer must contain."""

_WORDS = {"right": True, "wrong": False}
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)\n?\s*```", re.DOTALL)
_LONGEST = 1_000
_VERDICT = re.compile(r"^\W*(yes|no)\b(?=\s*(?:[:,.;!]|$))", re.IGNORECASE)
_NO_ANSWER = (
    "don't know",
    "do not know",
    "not mentioned",
    "no information",
    "not available",
    "cannot say",
)


def judge(request: Request) -> str:
    """The verdict on an answer: right if it states an expected answer and no outdated one."""
    wanted = request.expected.splitlines() or [""]
    old = [
        o for o in request.outdated.splitlines() if not any(states_expected(w, o) for w in wanted)
    ]
    right = any(states_expected(request.given, text) for text in wanted)
    return write_verdict(
        right=right and not any(states_expected(request.given, text) for text in old)
    )


def write_verdict(*, right: bool) -> str:
    """A verdict in the format of every judge."""
    return json.dumps({"verdict": "right" if right else "wrong"})


def read_verdict(text: str) -> bool | None:
    """Whether a judge said `right`; None if the verdict is unclear.

    Only the one object is a verdict: another key or word, a repeated key, or a remark before or
    after it makes it invalid. A Markdown fence around it is allowed.
    """
    said = text.strip()
    if len(said) > _LONGEST:
        return None
    if fenced := _FENCE.fullmatch(said):
        said = fenced[1].strip()
    try:
        pairs = json.loads(said, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        return None
    if not (isinstance(pairs, tuple) and len(pairs) == 1 and pairs[0][0] == "verdict"):
        return None
    word = pairs[0][1]
    return _WORDS.get(word) if isinstance(word, str) else None


def states_expected(given: str, expected: str) -> bool:
    """Whether an answer states the expected one: its words, numbers and dates, and no denial."""
    if abstains(expected) or abstains(given):
        return abstains(expected) == abstains(given)
    if not _exact(expected) <= _exact(given):
        return False
    wanted = _content(expected)
    if not wanted:
        return bool(_exact(expected)) or fold(expected).strip(" .!") in fold(given)
    held = wanted & _content(given)
    return len(held) >= ENOUGH * len(wanted) and _denied(given, wanted) == _denied(expected, wanted)


def abstains(answer: str) -> bool:
    """Whether an answer says that it does not know."""
    folded = fold(answer)
    return not folded.strip() or answer.strip() == IDK or any(said in folded for said in _NO_ANSWER)


def _content(text: str) -> frozenset[str]:
    bare = _without(_without(text, mentions(text)), numbers(_without(text, mentions(text))))
    return frozenset(content(bare))


def _exact(text: str) -> frozenset[object]:
    # Numbers, dates and yes or no must match exactly.
    verdict = {match[1].lower() for match in _VERDICT.finditer(text)}
    found = {n.value for n in numbers(_without(text, mentions(text)))}
    return frozenset(verdict | found | _dates(text))


def _without(text: str, found: Sequence[DateMention | Number]) -> str:
    kept, start = [], 0
    for part in found:
        kept.append(text[start : part.start])
        start = part.end
    return " ".join((*kept, text[start:]))


def _dates(text: str) -> set[tuple[date, date] | str]:
    found: set[tuple[date, date] | str] = set()
    for mention in mentions(text):
        meant = resolve(mention, None)
        found.add((meant.first, meant.last) if meant else fold(mention.text))
    return found


def _denied(text: str, wanted: frozenset[str]) -> bool:
    # Only the clause about the matter counts: `not Bergen, Oslo` does not deny Oslo.
    for sentence in sentences(text):
        for clause in sentence.replace(";", ",").split(","):
            spoken = words(clause)
            about = not wanted.isdisjoint(map(stem, spoken))
            if about and not NEGATIVE.isdisjoint(spoken):
                return True
    return False
