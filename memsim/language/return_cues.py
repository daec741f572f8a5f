"""Find the words by which a sentence says that something is again as it once was."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

from memsim.language.change_cues import LIGHT_STEMS
from memsim.language.lexicon import EARLIER
from memsim.language.text import content, stem

Return = Literal["first", "before"]
"""Where something goes back to: to what it was at first, or to what it was before the last change.
"""

_LAST: Final = frozenset({"earlier", "formerly", "previous", "previously"})
_FIRST: Final = (
    rf"\b(?:{'|'.join(sorted(EARLIER - _LAST))})\b"
    r"|\b(?:at|in|from)\s(?:the\s)?(?:very\s)?(?:start|beginning|outset)\b"
    r"|\bto\s(?:begin|start)\swith\b"
)
_WHO: Final = r"(?:it|he|she|they|we|i|you|that|this|those|things|everything)"
_AS_IT_WAS: Final = (
    rf"\b(?:as|how|where|what|who|the\sway)\s{_WHO}\s(?:(?:always|once)\s)?"
    r"(?:was|were|had|used\sto|stood|lay|sat|hung|lived)\b"
)
_OLD: Final = (
    rf"\b(?:{'|'.join(sorted(_LAST))})\b|\b(?:my|our|his|her|its|their|\w+'s|to\sthe)\sold\b"
)
_BEFORE: Final = (
    rf"{_OLD}|{_AS_IT_WAS}|\bbefore\b(?=\s*(?:[.,;:!)\u2014]|$|that\b|and\b|the\schange\b))"
)
_BACK: Final = r"\b(?:back|again|once\smore|return(?:s|ed|ing)?|restored?|never\s?mind)\b"
_UNDONE: Final = (
    rf"\b(?:undo(?:es|ne)?|undid|revert(?:s|ed)?|roll(?:s|ed)?\sback|roll(?:s|ed)?\s{_WHO}\sback)\b"
)
_APART: Final = r"[^.;!?]{0,60}?"
_RETURNS: Final = re.compile(
    rf"{_BACK}{_APART}(?:{_FIRST}|{_BEFORE})|{_UNDONE}"
    rf"|(?:{_FIRST}|{_OLD}){_APART}\b(?:again|once\smore)\b|^as\sbefore\b{_APART}\b(?:back|again)\b"
    rf"|\b(?:keep|leave|stays?|remains?)\b{_APART}{_AS_IT_WAS}",
    re.IGNORECASE,
)
_ONLY_TALK: Final = re.compile(
    r"\b(?:if|suppose|supposing|whether|would|could|never)\b"
    r"|\b(?:jok|claim|dream|pretend|imagin|rumou?r)\w*|\bas\sa\sjoke\b"
    r"|\bthought\sthat\b|\b(?:is|was)\s(?:not\strue|untrue|wrong|a\slie)\b",
    re.IGNORECASE,
)
_TO_FIRST: Final = re.compile(_FIRST, re.IGNORECASE)
_WORDS: Final = LIGHT_STEMS | frozenset(
    map(
        stem,
        (
            *EARLIER,
            *("back", "again", "once", "return", "restore", "undo", "undone", "revert", "roll"),
            *(
                "start",
                "beginning",
                "outset",
                "begin",
                "very",
                "before",
                "never",
                "mind",
                "nevermind",
            ),
            *("change", "move", "keep", "leave", "stay", "remain", "stand", "stood", "lay", "sit"),
        ),
    )
)


@lru_cache(maxsize=1 << 12)
def returns_to(sentence: str) -> Return | None:
    """Where a sentence says that something goes back to; None for one that does not say so."""
    said = sentence.replace("\u2019", "'")
    found = None if said.rstrip().endswith("?") else _RETURNS.search(said)
    if found is None:
        return None
    return "first" if _TO_FIRST.search(said, found.start()) else "before"


def returning_stems(sentence: str) -> frozenset[str]:
    """The stems of what goes back in a sentence, without the words that say that it does."""
    return frozenset(content(sentence)) - _WORDS


def is_only_talk(sentence: str) -> bool:
    """Whether a sentence supposes, denies, quotes or jokes, and so says nothing that was so."""
    return bool(_ONLY_TALK.search(sentence))
