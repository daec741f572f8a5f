"""Take the words of politeness off a question: they say nothing of its matter."""

from __future__ import annotations

import re
from typing import Final

from memsim.language.lexicon import STOP

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


_ASIDE: Final = frozenset(
    """
    again all answer anything asap ask asking back chance check curious detail details directly
    doubt exactly far fast find forget forgetting forgot give going happen happy have heard help
    here hey hi hold idea info information just keep kind know knowing known lately leave let
    like line lot love made matter maybe memory mention mentioned mind minute moment need needed
    note notes now off ok okay one perhaps please possible question questions quick quickly quiz
    ready recall recalling remember remembered remembering remind said say saying second see
    share short simple sir so something soon sorry still straight stuff talk talked talking tell
    telling thank thanks thing things think thinking told trouble try trying understand useful
    want wanted well wish wonder wondered wondering word words would
    """.split()  # noqa: SIM905 - words read best as words
)
"""What people say about asking, beside stop words."""

_TELLING: Final = frozenset(
    """
    after ago before but ever except first however if instead last left never next no none not
    once only or right since than then there time until when where which while who whose why
    """.split()  # noqa: SIM905 - as above
)
"""Words that may change what is asked, however common they are."""

_ASIDE_BEFORE: Final = re.compile(r"^([^.!?:;\u2026]{1,80}?)(?:,|[.!:;\u2026]{1,3})\s{1,4}(?=\S)")
_ASIDE_BEHIND: Final = re.compile(r"(?<=\?)\s{1,4}([^?]{1,100})$")
_SPOKEN: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_ASIDES: Final = 3
"""Asides before a question that are left out at most."""


def _is_aside(clause: str) -> bool:
    """Whether a clause speaks of the asking and of nothing else."""
    spoken = [word.lower().replace("\u2019", "'") for word in _SPOKEN.findall(clause)]
    empty = all(word in _ASIDE or word in STOP for word in spoken)
    return bool(spoken) and empty and _TELLING.isdisjoint(spoken)


def _without_asides(question: str) -> str:
    tail = question[-_LONGEST:]
    behind = _ASIDE_BEHIND.search(tail)
    if behind is not None and _is_aside(behind[1]):
        question = question[: len(question) - len(tail) + behind.start()]
    for _ in range(_ASIDES):
        before = _ASIDE_BEFORE.match(question[:_LONGEST])
        if before is None or not _is_aside(before[1]):
            break
        question = question[before.end() :]
    return question


def without_courtesy(question: str) -> str:
    """A question without greetings, apologies, thanks and remarks about asking.

    It is itself where nothing else is left. A mark that stood before the thanks stays.
    """
    head, rest = question[:_LONGEST], question[_LONGEST:]
    head = _ASKING.sub("", _OPENING.sub("", head))
    bare = head + rest
    closing = _CLOSING.search(bare[-_LONGEST:])
    if closing is not None:
        start = len(bare) - len(bare[-_LONGEST:]) + closing.start()
        mark = bare[start] if bare[start] in "?.!\u2026" else ""
        bare = bare[:start] + mark
    bare = _without_asides(bare)
    return bare if any(c.isalnum() for c in bare) else question
