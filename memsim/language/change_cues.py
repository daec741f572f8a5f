"""Find the words by which a sentence says that something has changed."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memsim.language.lexicon import EARLIER, FIRST_PERSON, LIGHT, MONTHS, STOP, WEEKDAYS
from memsim.language.numbers import word_value
from memsim.language.text import content, fold, stem, words

LIGHT_STEMS: Final = frozenset(map(stem, LIGHT))
"""Stems that hardly tell what a sentence is about."""

FEWEST_WORDS: Final = 3
"""Words of a sentence that can announce a change, at least."""

_PART: Final = (
    r"(?:changed|moved|renamed|switched|swapped|rescheduled|postponed|raised|lowered|increased"
    r"|reduced|cut|updated|corrected|replaced|cancelled|canceled|delayed|pushed|shifted|brought"
    r"|upgraded|downgraded|transferred)\b"
)
_VERB: Final = (
    r"(?:change|move|rename|switch|swap|reschedule|postpone|raise|lower|increase|reduce|cut"
    r"|update|correct|replace|cancel|push|shift)\b"
)
_WHEN: Final = (
    r"(?:now|today|tomorrow|tonight|next\s\w+|this\s\w+"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
)
_OPENING: Final = r"^(?:(?:and|please|so|then|no|hm|ok|okay|well|oh|but)[,\s]\s?){0,3}"
_ENDED: Final = r"(?:sold|left|quit|stopped|dropped|gave\sup|given\sup)\b"
_WHO: Final = (
    r"\b(?:i|we|they|it|that|(?:will|must|should|to)\sbe|was|were|been|got|has|have|had|'ve|\w+'s)"
)
_CUES: Final = (
    r"\bnow\b(?=\s*(?:[.,;!)\u2014]|$|and\b|instead|on\b|rather))",
    r"(?:^|[.,;]\s)(?:and\s|so\s|but\s)?now\s(?:i|we|my|our|the|it|he|she|they)\b",
    r"(?:\bis|\bare|'s|'re|\bam|'m|\bi|\bwe|\bit|\bhe|\bshe|\bthey|\bwill|'ll)\snow\b",
    rf"\b(?:from|as\sof|starting|effective)\s{_WHEN}(?:\son(?:wards)?)?",
    r"\bgoing\sforward\b|\bthese\sdays\b|\binstead\b|\brather\sthan\b|\bin\splace\sof\b",
    r"\bno\s(?:longer|more)\b|\bany\s?more\b|\bused\sto\sbe\b|\bnot\s\w+\sany\s?longer\b",
    rf"{_WHO}\s(?:(?:just|had|have|has|now|been|finally|all)\s){{0,3}}{_PART}",
    rf"\b(?:had|have|has|want|need|like|decided)\sto\s{_VERB}",
    rf"{_OPENING}{_VERB}|{_OPENING}(?:make\s(?:it|that|the|my|our)|set\s(?:it|the|my|our))\b",
    r"\bcorrection\b|\breconsidered\b|\brethink\b|\brethought\b|\bscratch\sthat\b",
    r"\bon\ssecond\sthought|\bchange\sof\s(?:plan|mind|heart)|\bminds?\sabout\b",
    r"\bafter\sall\b|\bin\sthe\send\b|\bthought\sabout\sit\b|\bslept\s(?:over|on)\sit\b",
    r"\bactually\b|\bupdate[:,]",
    r"\b(?:is|are|was|were|'s)\s(?:\w+\s)?too\s(?!late\b)\w+",
    r"\b(?:has|have|is)\sretired\b|\bturned\sagainst\b|\bworn\sout\b",
    r"\bwas\sstolen\b|\bfell\sthrough\b",
    rf"\b(?:i|we)(?:\s(?:have|just)|'ve){{0,2}}\s{_ENDED}",
    r"(?:^|[.;]\s)(?:and\s|so\s)?not\s(?:on|at|in|to|the|with|by)\b",
    r"\bwould\srather\shave\b|\bi\shate\b|\b(?:sick|tired)\sof\sthat\b|\bmoves\sto\b",
    r"^(?:the|my|our)\s[^.,;]{2,40}\sshould\sbe\s(?:an?|at|in|on)\b|\bshould\sbe\sat\b",
    r",\sso\s(?:it|that)\sis\b|\bcan\sgo\sto\b",
)
_CUE: Final = re.compile("|".join(_CUES), re.IGNORECASE)
_GIVEN_UP: Final = re.compile(
    r"\b(?:instead\sof|rather\sthan|in\splace\sof|turned\sagainst|\bi\shate|(?:tired|sick)\sof"
    rf"|(?:i|we)(?:\shave|\sjust|'ve){{0,2}}\s(?:cancelled|{_ENDED})"
    r"|(?:do\snot|don't)\s(?:want|need|insist\son|like)"
    r"|(?:^|[.;]\s)(?:and\s)?not\s(?:on|at|in|to|with|by))"
    r"\s(?:that|the|my|our|a|an)?\s?(?P<after>[^.,;!?]{2,60})"
    r"|(?P<before>[^.,;!?]{2,60})\s(?:(?:has|have|is)\sretired|(?:is|are|was|were)\stoo\s\w+"
    r"|is\sgone|fell\sthrough|was\sstolen)\b",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(
    r"[A-Z][\w'\u2019-]*(?=\s(?:\w{2,}(?:ed|s)|gave|left|ran|took|went|got|bought|said|sent|put"
    r"|wrote|made|has|is|was)\b(?!,))"
)
_OWNER: Final = re.compile(r"(?:^|(?<=[\w,;]\s))[A-Z][\w-]*(?='s\s[a-z])")
_NO_NAMES: Final = STOP | FIRST_PERSON | {*MONTHS, *WEEKDAYS, "today", "tomorrow", "tonight"}
_UNSURE: Final = re.compile(
    r"\b(?:i|we)\s(?:thought\sof|think\sof|wonder)\b|\b(?:maybe|perhaps|might)\b", re.IGNORECASE
)
_FORGET: Final = re.compile(r"\b(?:erase|forget|delete)\b", re.IGNORECASE)
_ENDS: Final = re.compile(
    r"\b(?:no\s(?:longer|more)|any\s?(?:more|longer))\b[^,;]*$", re.IGNORECASE
)
_HISTORY: Final = re.compile(
    r"\bhow\s(?:many\stimes|often)\b|^(?:list|name)\s.*\b(?:has|have|had|was|were)\b"
    rf"|\b(?:just\sbefore|used\sto|ever|{'|'.join(sorted(EARLIER))})\b",
    re.IGNORECASE,
)
_POINTS_BACK: Final = re.compile(r"\b(?:it|that|them|they|this|there)\b", re.IGNORECASE)
_SEVERAL: Final = re.compile(r",\s|;\s|\b(?:with|and|at|for)\b", re.IGNORECASE)


_OWNED: Final = re.compile(
    r"\b(?:my|our|his|her|their)\s(?:new\s|old\s)?(?P<what>[^\W\d_]+)", re.IGNORECASE
)


@lru_cache(maxsize=1 << 12)
def announces_change(sentence: str) -> bool:
    """Whether a sentence says that something is no longer as it was."""
    said = _straight(sentence)
    if said.rstrip().endswith("?") or len(words(said)) < FEWEST_WORDS:
        return False
    return bool(_CUE.search(said))


@lru_cache(maxsize=1 << 12)
def given_up(sentence: str) -> frozenset[str]:
    """The stems of what a sentence gives up, such as coffee in `tea instead of coffee`."""
    found = _GIVEN_UP.search(_straight(sentence))
    roots = content(found["after"] or found["before"]) if found else ()
    return frozenset(roots) - LIGHT_STEMS


def named_subject(sentence: str) -> str:
    """The name that a sentence begins with as its subject, or a name that owns something in it.

    Folded; empty where it has none.
    """
    found = None if ", so it is" in sentence else _NAMED.match(sentence) or _OWNER.search(sentence)
    name = fold(_straight(found.group())).removesuffix("'s") if found else ""
    return "" if name in _NO_NAMES or word_value(name) is not None else name


def owned(sentence: str) -> frozenset[str]:
    """The stems of what a sentence says is somebody's, as in `my diet`."""
    return frozenset(stem(fold(match["what"])) for match in _OWNED.finditer(sentence))


def is_unsure(sentence: str) -> bool:
    """Whether a sentence only considers something."""
    return bool(_UNSURE.search(sentence))


def asks_to_forget(sentence: str) -> bool:
    """Whether a sentence asks to erase something, and replaces nothing."""
    return bool(_FORGET.search(sentence))


def says_it_ended(sentence: str) -> bool:
    """Whether a sentence says that something is so no longer, and not what is so instead."""
    return bool(_ENDS.search(sentence))


def asks_history(question: str) -> bool:
    """Whether a question asks for what was so before, or for all that ever was so."""
    return bool(_HISTORY.search(question))


def points_back(sentence: str) -> bool:
    """Whether a sentence speaks of what the sentence before is about."""
    return bool(_POINTS_BACK.search(sentence))


def states_several(sentence: str) -> bool:
    """Whether a sentence may state several things, of which one can change alone."""
    parts = _SEVERAL.split(sentence)
    return sum(1 for part in parts if len(content(part)) > 1 or any(map(str.isdigit, part))) > 1


def _straight(text: str) -> str:
    return text.replace("\u2019", "'")
