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

from memsim.models.lexicon import ASKING, FIRST_PERSON, SECOND_PERSON, STOP, WH
from memsim.models.text import fold, sentences, stem, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memsim.message import Message

ENTRY_LINES = 12
"""Lines without a name of their own that are read together, as one utterance or one record."""

_HEAD = re.compile(
    r"\s{0,40}(?:[-*\u2022>]\s{1,4}|#{1,6}\s|\d{1,3}[.)]\s)?"
    r"(?:[\[(]?(?P<date>[12]\d{3}-[01]\d-[0-3]\d)"
    r"(?:[T ,]{1,2}\d\d:\d\d(?::\d\d)?(?:\s?UTC|Z)?)?[\])]?[:,]?\s{0,4})?"
    r"(?:(?P<who>[^\W\d_][\w'.\-]{0,30}(?:\s[A-Z][\w'.\-]{0,30}){0,2}):\s{1,4})?"
)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'\u2019-]*")
_CALL = re.compile(
    r"(?:^(?i:(?:hey|hi|hello|thanks|thank you|wow|woah|whoa|yeah|yep|yes|no|nope|oh|ok|okay|sorry"
    r"|sure|congrats|well|aw+|haha|hmm|great|cool|nice|good (?:morning|evening|job|luck)|bye"
    r"|see you)[\s,!]+){0,2}|,\s)"
    r"(?P<name>[A-Z][a-z]{1,20})(?:(?=[,!]\s)|(?=[!.?\u2026]*$))"
)
_ROLES = frozenset({"user", "assistant", "system", "tool", "memory", "human", "ai", "agent"})
ROLE_STEMS = frozenset(stem(role) for role in _ROLES)
"""Speakers that are no persons, as `Statement.who` writes them."""

_REQUEST = re.compile(
    r"(?:(?:and|so|but|please|also|hey|ok|okay|well|now)[\s,]+){0,3}"
    r"(?:(?:what|when|where|which|who|whom|whose|why|how)(?:'s|'re|\s)"
    r"|(?:remind|tell|show|give)\s(?:me|us)\s(?!to\b|that\b)"
    r"|(?:can|could|would|will|do|did|does|have|are|is|should)\s(?:you|we|i)\b)"
)
_UNSURE = re.compile(
    r"\b(?:I|we)(?:\sreally|\sstill)?\s(?:don['\u2019]t|do\snot|didn['\u2019]t)\s(?:know|remember|recall|have\s(?:that|any|this))\b"
    r"|\b(?:you|they)\s(?:have\s?n['o\u2019]t?t?|never|didn['\u2019]t|did\snot)\s?(?:yet\s)?(?:told?|mention|said|say|share)"
    r"|\bno\s(?:information|record|mention)\b",
    re.IGNORECASE,
)
_FILLERS = frozenset({"and", "so", "but", "please", "also", "hey", "ok", "okay", "well", "now"})


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence and what recognising it needs."""

    text: str
    stems: frozenset[str]
    names: frozenset[str]
    first: bool
    second: bool
    question: bool


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


def statements(messages: Iterable[Message]) -> list[Statement]:
    """The entries of the messages in context order, each with its speaker and day."""
    found: list[Statement] = []
    for message in messages:
        composed = message.composed
        who = speaker(message.role, "" if composed else message.principal)
        day = None if composed else message.time.date()
        for entry in entries(message.text, composed=composed):
            at = len(found)
            found.append(Statement(entry, message, at, entry.who or who, entry.day or day))
    return found


@lru_cache(maxsize=1 << 10)
def speaker(role: str, principal: str) -> str:
    """Who says a message: its principal where that is a name, else its role; as a stem."""
    name = fold(principal)
    return stem(name if name and name not in _ROLES and role not in {"system", "tool"} else role)


@lru_cache(maxsize=1 << 13)
def entries(text: str, *, composed: bool = False) -> tuple[Entry, ...]:
    """The entries of a message's text, in order.

    Args:
        text: the message's text.
        composed: whether a strategy wrote it, so that any `name:` that begins a line is a speaker;
            in an original text, such as a tool's record, only a capitalised one is.
    """
    return tuple(_entry(block, composed=composed) for block in _blocks(text, composed=composed))


def _blocks(text: str, *, composed: bool) -> Iterator[tuple[str, ...]]:
    block: list[str] = []
    for line in text.splitlines():
        if block and (len(block) >= ENTRY_LINES or not line.strip() or _heads(line, composed)):
            yield tuple(block)
            block = []
        if line.strip():
            block.append(line)
    if block:
        yield tuple(block)


def _heads(line: str, composed: bool) -> bool:  # noqa: FBT001 - private
    _, who, day = split_head(line, composed=composed)
    return bool(who or day)


@lru_cache(maxsize=1 << 15)
def _entry(lines: tuple[str, ...], *, composed: bool) -> Entry:
    found: list[Sentence] = []
    who, day = "", None
    for place, line in enumerate(lines):
        head = split_head(line, composed=composed) if place == 0 else (line, "", None)
        said, its_who, its_day = head
        who, day = who or its_who, day or its_day
        found.extend(map(sentence, sentences(said)))
    stems: frozenset[str] = frozenset().union(*(s.stems for s in found))
    asked: frozenset[str] = frozenset().union(*(s.stems for s in found if s.question))
    return Entry(stem(fold(who)), day, tuple(found), stems, asked)


def split_head(line: str, *, composed: bool) -> tuple[str, str, date | None]:
    """A line without its date and speaker, then these; nothing and None where there are none."""
    head = _HEAD.match(line)
    if head is None or not (head["date"] or head["who"]):
        return line, "", None
    who = head["who"] or ""
    if who and not _is_speaker(who, composed=composed):
        # `Deadline: Friday` is a statement, not somebody called Deadline; all of it is kept.
        return line[head.start("who") :], "", _day(head["date"])
    return line[head.end() :], who, _day(head["date"])


def _is_speaker(who: str, *, composed: bool) -> bool:
    folded = who.lower()
    return folded in _ROLES or ((composed or who[0].isupper()) and folded not in _LABELS)


_LABELS = frozenset(
    [
        "address",
        "answer",
        "budget",
        "change",
        "constraint",
        "date",
        "deadline",
        "decision",
        "fact",
        "goal",
        "identity",
        "important",
        "kind",
        "name",
        "note",
        "notes",
        "number",
        "order",
        "phone",
        "plan",
        "preference",
        "price",
        "priority",
        "question",
        "reminder",
        "requirement",
        "result",
        "rule",
        "status",
        "subject",
        "summary",
        "task",
        "team",
        "time",
        "title",
        "todo",
        "total",
        "topic",
        "type",
        "update",
        "user_id",
        "version",
        "warning",
    ]
)


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


@lru_cache(maxsize=1 << 15)
def sentence(text: str) -> Sentence:
    """A sentence with what recognising it needs."""
    spoken = words(text)
    first = not FIRST_PERSON.isdisjoint(spoken)
    second = not SECOND_PERSON.isdisjoint(spoken)
    stems = frozenset(stem(word) for word in spoken if word not in STOP)
    called = _called(text)
    if called and stems != called:
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
