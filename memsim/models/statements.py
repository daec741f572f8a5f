"""Messages read as statements: who said which sentence, and when.

A composed message may hold many remembered lines. The reader understands the line forms that
strategies write, each part optional: `- [2023-05-08] Caroline: text`, with a time after the date,
and round brackets for square ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from memsim.frozen import quickly_made
from memsim.models.heads import ROLES, Head, is_label, read_head
from memsim.models.lexicon import ASKING, FIRST_PERSON, SECOND_PERSON, STOP, WH
from memsim.models.text import fold, sentences, stem, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memsim.message import Message

ENTRY_LINES = 12
"""Lines without a name of their own that are read together, as one utterance or one record."""

_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'\u2019-]*")
_CALL = re.compile(
    r"(?:^(?i:(?:hey|hi|hello|thanks|thank you|wow|woah|whoa|yeah|yep|yes|no|nope|oh|ok|okay|sorry"
    r"|sure|congrats|well|aw+|haha|hmm|great|cool|nice|good (?:morning|evening|job|luck)|bye"
    r"|see you)[\s,!]+){0,2}|,\s)"
    r"(?P<name>[A-Z][a-z]{1,20})(?:(?=[,!]\s)|(?=[!.?\u2026]*$))"
)
ROLE_STEMS = frozenset(stem(role) for role in ROLES)
"""Speakers that are no persons, as `Statement.who` writes them."""

_REQUEST = re.compile(
    r"(?:(?:and|so|but|please|also|hey|ok|okay|well|now)[\s,]+){0,3}"
    r"(?:(?:what|when|where|which|who|whom|whose|why|how)(?:'s|'re|(?:\s\w+){0,3}?\s"
    r"(?:is|are|was|were|am|do|does|did|can|could|will|would|should|has|have|had))\b"
    r"|(?:remind|tell|show|give)\s(?:me|us)\s(?!to\b|that\b)"
    r"|(?:can|could|would|will|do|did|does|have|are|is|should)\s(?:you|we|i)\b)"
)
_UNSURE = re.compile(
    r"\b(?:I|we)(?:\sreally|\sstill)?\s(?:don['\u2019]t|do\snot|didn['\u2019]t)\s"
    r"(?:know|remember|recall|have\s(?:that|any|this))\b"
    r"|\b(?:you|they)\s(?:haven['\u2019]t|have\snot|never|didn['\u2019]t|did\snot)\s(?:yet\s)?"
    r"(?:told|tell|mention|said|say|share)"
    r"|\bno\s(?:information|record|mention)\b",
    re.IGNORECASE,
)
_FILLERS = frozenset({"and", "so", "but", "please", "also", "hey", "ok", "okay", "well", "now"})


@quickly_made
@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence and what recognising it needs."""

    text: str
    stems: frozenset[str]
    names: frozenset[str]
    first: bool
    second: bool
    question: bool


@quickly_made
@dataclass(frozen=True, slots=True)
class Entry:
    """What somebody said at one time: a message, or one remembered line of a composed message."""

    who: str
    day: date | None
    sentences: tuple[Sentence, ...]
    stems: frozenset[str]
    asked: frozenset[str]
    """Stems of its questions, which the next entry may answer."""


class Statement(NamedTuple):
    """An entry where it stands in a context."""

    entry: Entry
    message: Message
    order: int
    who: str
    day: date | None


def statements(messages: Sequence[Message], asker: str = "") -> list[Statement]:
    """The entries of the messages in context order, each with its speaker and day."""
    found: list[Statement] = []
    people: frozenset[str] | None = None
    for message in messages:
        if message.composed:
            people = _people(messages, asker) if people is None else people
            who: str = message.role
            day: date | None = None
            said = entries(message.text, composed=True, people=people)
        else:
            who, day = speaker(message.role, message.principal), message.time.date()
            said = entries(message.text)
        for entry in said:
            at = len(found)
            found.append(Statement(entry, message, at, entry.who or who, entry.day or day))
    return found


def _people(messages: Iterable[Message], asker: str) -> frozenset[str]:
    names = {m.principal for m in messages if not m.composed}
    return frozenset(map(fold, names | {asker}))


@lru_cache(maxsize=1 << 10)
def speaker(role: str, principal: str) -> str:
    """Who says a message: its principal where that is a name, else its role; as a stem."""
    name = fold(principal)
    return stem(name if name and name not in ROLES and role not in {"system", "tool"} else role)


@lru_cache(maxsize=1 << 13)
def entries(
    text: str, *, composed: bool = False, people: frozenset[str] = frozenset()
) -> tuple[Entry, ...]:
    """The entries of a message's text, in order.

    Args:
        text: the message's text.
        composed: whether a strategy wrote it, so that its lines may begin with who said them.
        people: who else speaks in the context, folded.
    """
    return tuple(_entry(*block) for block in _blocks(text, _Heads(text, composed, people)))


class _Heads:
    """Which lines of a text begin something that somebody said.

    Where a strategy dates its lines, a line without a date goes on with what the line before it
    said, unless it begins with a name that is known.
    """

    def __init__(self, text: str, composed: bool, people: frozenset[str]) -> None:  # noqa: FBT001
        self._composed = composed
        self._people = people | ROLES
        heads = map(read_head, text.splitlines()) if composed else ()
        self._dated = any(head.day for head in heads)

    def split(self, line: str) -> tuple[str, str, date | None]:
        """A line without its head, then the speaker and the day."""
        head = read_head(line)
        if self._composed and head.who and self._speaks(head):
            return line[head.after_who :], head.who, head.day
        return line[head.after_day :], "", head.day

    def _speaks(self, head: Head) -> bool:
        if is_label(head.who):
            return False
        return bool(head.day) or not self._dated or fold(head.who) in self._people


def _blocks(text: str, heads: _Heads) -> Iterator[tuple[str, date | None, tuple[str, ...]]]:
    who, day = "", None
    block: list[str] = []
    for line in text.splitlines():
        said, its_who, its_day = heads.split(line)
        begins = bool(its_who or its_day)
        if block and (begins or len(block) >= ENTRY_LINES or not line.strip()):
            yield who, day, tuple(block)
            block = []
        if begins:
            who, day = its_who, its_day
        if said.strip():
            block.append(said)
    if block:
        yield who, day, tuple(block)


@lru_cache(maxsize=1 << 15)
def _entry(who: str, day: date | None, lines: tuple[str, ...]) -> Entry:
    found = tuple(sentence(text) for line in lines for text in sentences(line))
    stems: frozenset[str] = frozenset().union(*(s.stems for s in found))
    asked: frozenset[str] = frozenset().union(*(s.stems for s in found if s.question))
    return Entry(stem(fold(who)), day, found, stems, asked)


@lru_cache(maxsize=1 << 15)
def sentence(text: str) -> Sentence:
    """A sentence with what recognising it needs."""
    spoken = words(text)
    first = not FIRST_PERSON.isdisjoint(spoken)
    second = not SECOND_PERSON.isdisjoint(spoken)
    stems = frozenset(stem(word) for word in spoken if word not in STOP)
    called = _called(text)
    if called and len(spoken) > 1:
        stems -= called
    names = frozenset(stem(fold(name)) for name in _NAME.findall(text))
    return Sentence(text, stems, names, first, second, asks(text, spoken))


def _called(text: str) -> frozenset[str]:
    # Whoever is called by name is spoken to, not spoken of.
    found = {match["name"] for match in _CALL.finditer(text)}
    return frozenset(stem(fold(name)) for name in found)


def asks(text: str, spoken: list[str]) -> bool:
    """Whether a sentence asks, requests or admits not to know instead of stating something."""
    if _UNSURE.search(text):
        return True
    if text.rstrip("\"')\u201d ").endswith(("?", "\uff1f", "\u061f")):
        return True
    if not spoken:
        return False
    if _REQUEST.match(fold(text[:120])):
        return not text.endswith("!")
    opening = next((w for w in spoken if w not in _FILLERS), "")
    return opening in ASKING and len(spoken) > 2 and spoken[0] == opening and opening not in WH
