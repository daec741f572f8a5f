"""Take the words of politeness off a question: they say nothing of its matter."""

from __future__ import annotations

import re
from typing import Final

_OPENING: Final = re.compile(
    r"^\s*(?:(?:(?:i'm\s|i\sam\s)?(?:so\s|very\s)?sorry\s(?:to|for)"
    r"\s(?:bother|disturb|interrupt|ask)(?:ing)?(?:\syou)?(?:\sagain)?"
    r"|hey|hi|hello|good\s(?:morning|afternoon|evening)|sorry|excuse\sme|pardon\sme|please"
    r"|i\shope\s(?:you\sare|you're|you\sdo|all\sis)\s(?:well|fine|good)"
    r"|(?:just\s)?(?:a\s|one\s)?quick\squestion|just\scurious|if\si\smay(?:\sask)?"
    r"|(?:just\s)?one\smore\s(?:thing|question))"
    r"(?:\s(?:there|again))?[\s,:;.!?\u2026-]+(?:but\s)?)+",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(
    r"^\s*(?:(?:can|could|would|will)\syou\s(?:please|kindly)\s(?:tell|remind|show)\s(?:me|us)"
    r"|please\s(?:tell|remind|show)\s(?:me|us))(?:\sagain)?[\s,:-]+",
    re.IGNORECASE,
)
_CLOSING: Final = re.compile(
    r"(?:[\s,.!?\u2026-]+(?:please|(?:many\s)?thanks|thank\syou|cheers|take\scare|bye"
    r"|(?:kind|best)\sregards|i\sappreciate\sit|no\srush"
    r"|have\sa\s(?:very\s)?(?:nice|good|great|lovely|wonderful)\s(?:day|evening|week(?:end)?|time|one))"
    r"(?:\s(?:a\slot|a\smillion|so\smuch|very\smuch|in\sadvance|again))?)+[\s,.!?\u2026]*$",
    re.IGNORECASE,
)
_LONGEST: Final = 160
"""Characters at either end that are searched, so that a megabyte of full stops is no work."""


def without_courtesy(question: str) -> str:
    """A question without greetings, apologies and thanks; itself where nothing else is left.

    A mark that stood before the thanks stays.
    """
    head, rest = question[:_LONGEST], question[_LONGEST:]
    head = _ASKING.sub("", _OPENING.sub("", head))
    bare = head + rest
    closing = _CLOSING.search(bare[-_LONGEST:])
    if closing is not None:
        start = len(bare) - len(bare[-_LONGEST:]) + closing.start()
        mark = bare[start] if bare[start] in "?.!\u2026" else ""
        bare = bare[:start] + mark
    return bare if any(c.isalnum() for c in bare) else question
