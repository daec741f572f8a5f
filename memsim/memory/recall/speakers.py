"""Whose words a question asks for: the asker's own, the assistant's, or those of a named person.

`What did you recommend?` wants what the assistant said, `What did I tell you?` what a user said,
and `What did Ana promise?` what Ana said, not what she was answered. `Did I say so, or did you?`
asks for both, and so prefers neither.
"""

from __future__ import annotations

import re
from typing import Final

from memsim.language.speech_verbs import REPLYING, SAYING
from memsim.language.text import fold

_SAYING: Final = "|".join((*SAYING, *REPLYING))
_SAID: Final = "|".join((*SAYING.values(), *REPLYING.values()))
_WORDS: Final = "suggestion|recommendation|proposal|advice|promise|offer|reply|answer|words"
_ADVERBS: Final = r"(?:(?:ever|also|once|first|originally|initially|already|just)\s)?"
_SPEAKS: Final = re.compile(
    rf"\b(?:did|have|has|had)\s(?P<asked>the\sassistant|[^\W\d_]+)\s{_ADVERBS}"
    rf"(?:{_SAYING}|{_SAID})\b"
    rf"|\b(?P<told>the\sassistant|i|you)\s{_ADVERBS}(?:{_SAID})\b"
    rf"|\b(?P<whose>your|my|assistant's)\s(?:\w+\s)?(?:{_WORDS})s?\b"
)
_BOTH: Final = re.compile(r"\bor\s(?:did\s|was\sit\s|is\sit\s)?(?:i|you|me|the\sassistant)\b")
_ROLES: Final = {
    **dict.fromkeys(("i", "my"), "user"),
    **dict.fromkeys(("you", "your", "the assistant", "assistant's"), "assistant"),
}


def asked_speaker(question: str) -> str:
    """The role whose words a question asks for, or a folded name; empty if it is about nobody's."""
    folded = fold(question)
    words = {m["asked"] or m["told"] or m["whose"] for m in _SPEAKS.finditer(folded)}
    found = {_ROLES.get(word, word) for word in words}
    return found.pop() if len(found) == 1 and not _BOTH.search(folded) else ""
