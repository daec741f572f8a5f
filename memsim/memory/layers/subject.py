"""What a stated fact is about, so that a later one about the same supersedes it.

Read from the sentence by rule, and only where that is plain: `My dentist is Dr. Oyelaran` is about
`my dentist`, and so is `My new dentist's name is Dr. Bauer` . A sentence that is not plain has no
subject, and supersedes nothing: keeping two facts costs tokens, dropping a true one costs recall.
"""

from __future__ import annotations

import re

from memsim.models.heads import split_head
from memsim.models.text import fold, stem, words

MOST_WORDS = 6
"""Words of a subject at most; longer ones are told apart by chance."""

_IS = re.compile(
    r"^(?:(?:actually|now|by the way|update|correction|so|and|also|from now on)[,:]?\s+)*"
    r"(?P<about>(?:my|our|the|his|her|their|[a-z][\w-]*['\u2019]s)\s[^.,;:!?]{2,60}?)"
    r"\s(?:is|are|was|were|will be|has been|ends in|costs|starts|begins)\b",
    re.IGNORECASE,
)
_DROPPED = frozenset(
    {"new", "old", "now", "current", "name", "exact", "only", "own", "actual", "next", "other"}
)


def subject_of(line: str) -> str:
    """The subject of a fact's line; empty where it is not plain.

    Args:
        line: a sentence, perhaps with the day and the speaker before it.
    """
    said, who, _ = split_head(line)
    match = _IS.match(said.strip())
    if match is None:
        return ""
    about = [w.removesuffix("'s") for w in words(fold(match["about"]).replace("\u2019", "'"))]
    kept = [stem(w) for w in about if w not in _DROPPED]
    if len(kept) < 2 or len(kept) > MOST_WORDS:
        return ""
    return " ".join((fold(who), *kept)).strip()
