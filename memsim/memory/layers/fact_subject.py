"""What a stated fact is about, so that a later one about the same supersedes it."""

from __future__ import annotations

import re

from memsim.language.text import fold, split_head, stem, words

MOST_WORDS = 6
"""Words of a subject at most; longer ones are told apart by chance."""

_IS = re.compile(
    r"^(?:(?:actually|now|by the way|update|correction|so|and|also|from (?:now|today) on)[,:]?\s+)*"
    r"(?P<about>(?:my|our|the|his|her|their|[a-z][\w-]*['\u2019]s)\s[^.,;:!?]{2,60}?)"
    r"\s(?:is|are|was|were|will be|has been|ends in|costs|starts|begins)\b",
    re.IGNORECASE,
)
_LEAD = r"^(?:(?:[Aa]ctually|[Nn]ow|[Ss]o|[Aa]nd|[Aa]lso|[Bb]y the way)[,:]?\s+)*"
_SELF = {
    # One lives, and works, in one place at a time; a name tells it from a way of living.
    "home": re.compile(
        _LEAD + r"(?:I|We)(?:(?:['\u2019]m|['\u2019]re| am| are)? (?:now |currently )?"
        r"(?:live|living) in|(?:['\u2019]ve| have)? (?:just |recently )?moved to) [A-Z]"
    ),
    "work": re.compile(
        _LEAD + r"(?:I|We)(?:['\u2019]m|['\u2019]re| am| are)? (?:now |currently )?"
        r"(?:work|working) (?:at|for) [A-Z]"
    ),
}
_DROPPED = frozenset(
    {"new", "old", "now", "current", "name", "exact", "only", "own", "actual", "next", "other"}
)


def subject_of(line: str) -> str:
    """The subject of a fact's line; empty where it is not plain."""
    said, who, _ = split_head(line)
    said = said.strip()
    match = _IS.match(said)
    if match is None:
        way = next((name for name, said_so in _SELF.items() if said_so.match(said)), "")
        return way and f"{fold(who)} i {way}".strip()
    about = [w.removesuffix("'s") for w in words(fold(match["about"]).replace("\u2019", "'"))]
    kept = [stem(w) for w in about if w not in _DROPPED]
    if len(kept) < (3 if kept[:1] == ["the"] else 2) or len(kept) > MOST_WORDS:
        return ""
    return " ".join((fold(who), *kept)).strip()


def told_apart(one: str, other: str) -> bool:
    """Whether two plain subjects are two things of one kind: `my desk lamp` and `my hall lamp`.

    One word more tells them apart as well: `my door date` is no later version of `my date`.
    """
    left, right = one.split(), other.split()
    alike = bool(left and right) and left[-1] == right[-1]
    return alike and {*left} != {*right}
