"""Instructions that hold from now on, and stated preferences: they stand in contexts they apply to.

`Always give sizes in inches when I ask about shelves` applies where a question is about shelves,
`From now on, answer in Danish` to every question, and `I prefer trains to flights` where trains or
flights matter. Such a message answers no question, so its rank says little of whether it applies.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final

from memsim.language.text import index_terms, sentences
from memsim.memory.index import Hit

APPLIES = 0.4
"""Share of the terms of its matter that a question must hold for an instruction to apply."""

MOST = 4
"""Standing messages of one context at most."""

ROOM = 5
"""Standing messages may take one part in so many of the room for what is recalled."""

_NO_ORDER: Final = (
    r"(?!\s(?:a|an|the|so|too|very|good|great|nice|fun|here|there|mind|been|had|heard|seen|knew|thought"
    r"|said|\w+ed)\b)"
)
_INSTRUCTS: Final = re.compile(
    r"^\W{0,3}(?:(?:please|and|also|ok(?:ay)?|hey|hi)[,! ]{1,3}){0,3}"
    rf"(?:(?:always|never){_NO_ORDER}|from now on|going forward|in future|whenever|each time"
    r"|every time)\b"
    r"|\b(?:always|never|make sure to|remember to)\b[^.?!]{0,120}"
    r"\bwhen(?:ever)? i (?:ask|mention|talk)"
    r"|\bfrom now on\b",
    re.IGNORECASE,
)
_TELLS_OF_CHANGE: Final = re.compile(
    r"(?:^|[,;:]\s|\b(?:so|and|but|because|since)\s)"
    r"(?:i|we|he|she|(?:they|it|my|our|his|her|their)\b(?![^.?!]*\b(?:should|must)\b))\b"
    r"(?![^.?!]*\byou\b)[^.?!,;:]*\bfrom now on\b",
    re.IGNORECASE,
)
"""What somebody does from now on, and wants nobody else to do."""
_SPEAKER: Final = re.compile(r"^[^:\n]{1,40}:\s")
_CONDITION: Final = re.compile(
    r"\b(?:when(?:ever)?|if|each time|every time)\s(?:i|we)\s"
    r"(?:ask|mention|talk|write|speak|want to know)\b(?:\s(?:you|for|about|of|on))*",
    re.IGNORECASE,
)
_PREFERS: Final = re.compile(
    r"\bi(?:'d| would)?(?: really| much)? (?:prefer|rather)\b|\bmy preference\b"
    r"|\bi(?:'d| would) (?:like|love) to keep\b|\bi (?:don't|do not) (?:like|want)\b"
    r"|\bi (?:like|want) (?:my|it|things|to keep)\b",
    re.IGNORECASE,
)


def instructs(text: str) -> bool:
    """Whether a text, with its speaker or without, instructs for more than once."""
    return any(map(_orders, sentences(_SPEAKER.sub("", text, count=1))))


def is_standing(text: str) -> bool:
    """Whether a text instructs for more than once, or states what somebody prefers."""
    return any(_orders(s) or _PREFERS.search(s) is not None for s in sentences(text))


def _orders(sentence: str) -> bool:
    return bool(_INSTRUCTS.search(sentence)) and not _TELLS_OF_CHANGE.search(sentence)


def standing_matter(text: str) -> frozenset[str] | None:
    """The terms of what an instruction or a preference is about; None where a text is neither.

    They are empty for an instruction without a condition, which applies to every question.
    """
    for sentence in sentences(text):
        if _orders(sentence):
            condition = _CONDITION.search(sentence)
            about = sentence[condition.end() :] if condition else ""
            return frozenset(index_terms(about))
        preference = _PREFERS.search(sentence)
        if preference is not None:
            return frozenset(index_terms(sentence[preference.end() :])) or None
    return None


class StandingMessages:
    """Standing messages by the terms of what they are about, so that few are looked at."""

    __slots__ = ("_always", "_names", "_places", "_sizes", "_with")

    def __init__(self) -> None:
        # A place is larger than that of any message before; those of a term may be of no message.
        self._places: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._sizes = array("i")
        self._with: dict[str, array[int]] = {}
        self._always: dict[int, None] = {}

    def add(self, name: str, matter: Collection[str]) -> None:
        """Take in a message that was said after the others, and that is about these terms."""
        place = self._places[name] = len(self._sizes)
        self._names[place] = name
        self._sizes.append(len(matter))
        if not matter:
            self._always[place] = None
        for term in matter:
            self._with.setdefault(term, array("i")).append(place)

    def remove(self, name: str) -> None:
        """Take a message out; one that is not there changes nothing."""
        place = self._places.pop(name, None)
        if place is not None:
            del self._names[place]
            self._always.pop(place, None)

    def applying(self, question: str) -> dict[str, bool]:
        """Those that apply to a question, the most specific and latest first.

        Each says whether it has a condition: it is about something.
        """
        places = self._with
        held = Counter(chain.from_iterable(places.get(t, ()) for t in {*index_terms(question)}))
        shared = {p: n for p, n in held.items() if n >= APPLIES * self._sizes[p]}
        shared |= dict.fromkeys(self._always, 0)
        order = sorted(shared.keys() & self._names.keys(), key=lambda p: (-shared[p], -p))
        return {self._names[place]: self._sizes[place] > 0 for place in order}


def within_room(
    found: Iterable[str],
    tokens: Callable[[str], int],
    room: int,
    *,
    read: Callable[[Sequence[str]], Iterable[str]],
) -> list[str]:
    """The first of the standing messages that are there and fit into their part of the room.

    `read` tells which of some are there. Thousands may apply, and no more are read than may stand.
    """
    left, chosen, others = room // ROOM, list[str](), iter(found)
    wanted = MOST
    while len(chosen) < MOST and (some := _fitting(others, tokens, left, wanted)):
        there = [*read(some)]
        for source in there:
            if len(chosen) < MOST and tokens(source) <= left:
                chosen.append(source)
                left -= tokens(source)
        # Where none is there, as many more may be gone.
        wanted = MOST - len(chosen) if there else 2 * wanted
    return chosen


def _fitting(
    found: Iterator[str], tokens: Callable[[str], int], room: int, count: int
) -> list[str]:
    """The next of these that fit into a room, each for itself."""
    return [*islice((source for source in found if tokens(source) <= room), count)]


def raised(hits: Sequence[Hit], standing: Sequence[str], *, after: int) -> list[Hit]:
    """A ranking with standing messages right after the best few, unless they are among these.

    They are no answer, so none stands before the best; and they are quoted whatever their rank.
    """
    best = [*hits[:after]]
    there = {hit.id for hit in best}
    score = best[-1].score if best else 0.0
    moved = {source: Hit(source, score) for source in standing if source not in there}
    return [*best, *moved.values(), *(hit for hit in hits[after:] if hit.id not in moved)]
