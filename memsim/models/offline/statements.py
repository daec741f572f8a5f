"""Split messages into statements: sentences with their speaker and day.

A composed message may hold many remembered lines. The reader understands the line forms that
strategies write, each part optional: `- [2023-05-08] Caroline: text`, with a time after the date,
and round brackets for square ones. `assistant to Caroline` and `tool for Caroline` are roles.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from memsim.fast_dataclass import fast_init
from memsim.language.lexicon import (
    ASKING,
    CORRECTING,
    FIRST_PERSON,
    MONTHS,
    PRONOUNS,
    SECOND_PERSON,
    STOP,
    WEEKDAYS,
    WH,
)
from memsim.language.text import ROLES, LineHead, fold, is_label, read_head, sentences, stem, words
from memsim.language.word_forms import is_surely_foreign, light_stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memsim.message import Message
    from memsim.models.offline.question import ParsedQuestion


# In `my dog is called Pepper`, the question has one side of `is`, and the other side answers.


SPAN_WORDS: Final = 12
"""Maximum number of words of a side that is an answer by itself."""

SUBJECT_WORDS: Final = 5
"""Maximum number of words of a subject before `is`."""

_COPULA: Final = re.compile(
    r"\s(?:is|are|was|were|will\sbe)(?:\s(?:called|named|now|currently|actually|set\sto))*\s"
    r"|(?<=\w)(?:'s|\u2019s)\s(?:called|named)\s|\s(?:called|named)\s|\s?[:=]\s"
)
_CLAUSE: Final = re.compile(
    r",?\s(?:and|but|so)\s(?:he|she|it|they|i|we|his|her|its|their|my|our|you)\b.*|;.*"
    r"|\s(?:because|although)\s.*|,\s(?:which|who|but|so)\s.*|\s[-\u2013\u2014(]\s?.*",
    re.IGNORECASE | re.DOTALL,
)
_PASSING: Final = re.compile(
    r"[\s,]+(?:now|currently|anymore|already|too|these\sdays|at\sthe\smoment|right\snow)$",
    re.IGNORECASE,
)
_FIELD: Final = re.compile(
    r"\"([^\"]{1,40})\"\s?:\s?(?:\"([^\"]{1,200})\"|(-?\d[\d.]*|true|false|null)\b)"
)
_EDGES: Final = " .!,;:\"'\u201c\u201d"


def corrects(text: str) -> bool:
    """Whether a sentence contrasts two things, so that a part of it would mislead."""
    return not CORRECTING.isdisjoint(words(text))


def other_side(question: ParsedQuestion, text: str) -> str | None:
    """The part of a sentence on the other side of `is` than the question's words, or None."""
    field = _field(question, text)
    match = _COPULA.search(text)
    if field is not None or match is None or not _asks_what_it_is(question):
        return field
    left, right = text[: match.start()], text[match.end() :]
    before = question.found_in(left) & question.full
    after = question.found_in(right) & question.full
    if before and not after and question.head in {"", *before}:
        return _whole(right)
    spoken = match.group().strip() not in {":", "="}
    if after and not before and question.head in {"", *after} and spoken:
        return _subject(left)
    return None


def _asks_what_it_is(question: ParsedQuestion) -> bool:
    # `The stone is dear to me, and means luck` does not say by `is` what the stone means.
    return question.kind != "open" or question.bare or bool(question.head)


def without_passing(text: str) -> str:
    """A part of a sentence without a final `now` or `too`."""
    return _PASSING.sub("", text)


def _field(question: ParsedQuestion, text: str) -> str | None:
    for name, quoted, plain in _FIELD.findall(text):
        if question.head and question.head in map(stem, words(name.replace("_", " "))):
            return str(quoted or plain)
    return None


def _whole(side: str) -> str | None:
    bare = without_passing(_CLAUSE.sub("", side).strip(_EDGES)).strip(_EDGES)
    said = words(bare)
    return bare if 0 < len(said) <= SPAN_WORDS and not STOP.issuperset(said) else None


def _subject(side: str) -> str | None:
    bare = _whole(side)
    said = words(bare or "")
    return bare if len(said) <= SUBJECT_WORDS and PRONOUNS.isdisjoint(said) else None


ENTRY_LINES = 12
"""Number of lines without a speaker that are read together, as one utterance or record."""

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
_TAG = re.compile(
    r",\s(?:right|huh|isn['\u2019]t\s(?:it|he|she|that)|aren['\u2019]t\sthey)\?$", re.IGNORECASE
)
"""The end of a statement that asks for a yes."""
_UNSURE = re.compile(
    r"\b(?:I|we)(?:\sreally|\sstill)?\s(?:don['\u2019]t|do\snot|didn['\u2019]t)\s"
    r"(?:know|remember|recall|have\s(?:that|any|this))\b"
    r"|\b(?:you|they)\s(?:haven['\u2019]t|have\snot|never|didn['\u2019]t|did\snot)\s(?:yet\s)?"
    r"(?:told|tell|mention|said|say|share)"
    r"|\bno\s(?:information|record|mention)\b",
    re.IGNORECASE,
)
_FORGETS = re.compile(
    r"(?:(?:and|so|but|please|also|hey|ok|okay|now)[\s,]+){0,3}"
    r"(?:(?:can|could|would|will)\syou\s(?:please\s)?)?(?:forget|delete|erase)\s"
    r"(?:(?:all\s)?(?:that|what|everything|about|it|my|our|his|her|their|the))\b"
)
_STATES = re.compile(r"\s(?:is|are|was|were)\s|[:=]\s")
_TOOL_CALL = re.compile(r"[\w.-]{1,64}\(\{.*\}\)", re.DOTALL)
_FILLERS = frozenset({"and", "so", "but", "please", "also", "hey", "ok", "okay", "well", "now"})


@fast_init
@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, with its stems, numbers and other features."""

    text: str
    stems: frozenset[str]
    names: frozenset[str]
    leading: str
    """The stem of its first word, which a capital makes no name."""
    first: bool
    second: bool
    question: bool


@fast_init
@dataclass(frozen=True, slots=True)
class Utterance:
    """The words of one speaker at one time: a message, or one line of a composed message."""

    who: str
    day: date | None
    sentences: tuple[Sentence, ...]
    stems: frozenset[str]
    question_stems: frozenset[str]
    """Stems of its questions, which the next entry may answer."""
    names: frozenset[str]
    leading: frozenset[str]
    replaced: date | None = None
    """The day since which it does not hold, at least in part."""


class Statement(NamedTuple):
    """An entry at its place in a context."""

    entry: Utterance
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
            said = utterances(message.text, composed=True, people=people)
        else:
            who, day = speaker(message.role, message.principal), message.time.date()
            said = utterances(message.text)
        for entry in said:
            at = len(found)
            found.append(Statement(entry, message, at, entry.who or who, entry.day or day))
    return found


def names_among(roots: frozenset[str], found: Sequence[Statement]) -> frozenset[str]:
    """The stems that the entries use as names: speakers, and what is mostly written so.

    How the question writes them does not matter: `caroline` asks for Caroline.
    """
    count = dict.fromkeys(roots, 0)
    speakers = set()
    for statement in found:
        speakers.add(statement.who)
        entry = statement.entry
        for root in (roots & entry.stems) - entry.leading:
            count[root] -= 1
        for root in roots & entry.names:
            count[root] += 2 - (root in entry.leading)
    named = {root for root, more in count.items() if more > 0}
    return frozenset(named | (roots & speakers))


def unmentioned(roots: frozenset[str], found: Sequence[Statement]) -> frozenset[str]:
    """The stems that no entry holds, neither as a word nor as a name or its speaker's."""
    left = set(roots)
    for statement in found:
        if not left:
            break
        left -= statement.entry.stems
        left -= statement.entry.names
        left.discard(statement.who)
    return frozenset(left)


def _people(messages: Iterable[Message], asker: str) -> frozenset[str]:
    names = {m.principal for m in messages if not m.composed}
    return frozenset(map(fold, names | {asker}))


@lru_cache(maxsize=1 << 10)
def speaker(role: str, principal: str) -> str:
    """The speaker of a message as a stem: a user's name, if they have one, else the role."""
    name = fold(principal)
    return stem(name if role == "user" and name and name not in ROLES else role)


@lru_cache(maxsize=1 << 13)
def utterances(
    text: str, *, composed: bool = False, people: frozenset[str] = frozenset()
) -> tuple[Utterance, ...]:
    """The entries of a message's text, in order.

    Args:
        text: the message's text.
        composed: whether a strategy wrote it, so that its lines may begin with a speaker.
        people: other speakers in the context, folded.
    """
    return tuple(_entry(*block) for block in _blocks(text, _Heads(text, composed, people)))


class _Heads:
    """Finds the lines of a text that begin an utterance.

    If a strategy dates its lines, a line without a date continues the line before it, unless it
    begins with a known name.
    """

    def __init__(self, text: str, composed: bool, people: frozenset[str]) -> None:  # noqa: FBT001
        self._composed = composed
        self._people = people | ROLES
        heads = map(read_head, text.splitlines()) if composed else ()
        self._dated = any(head.day for head in heads)

    def split(self, line: str) -> tuple[str, str, date | None, date | None]:
        """A line without its head, then the speaker, the day, and when it was replaced."""
        head = read_head(line)
        if not (self._composed and head.who and self._speaks(head)):
            return line[head.after_day :], "", head.day, head.replaced
        said = line[head.after_who :]
        inner = read_head(said) if head.who == "memory" else None
        if inner and inner.who and self._speaks(inner):
            # A summary's lines have heads of their own.
            return said[inner.after_who :], inner.who, inner.day or head.day, head.replaced
        return said, head.who, head.day, head.replaced

    def _speaks(self, head: LineHead) -> bool:
        if is_label(head.who):
            return False
        return bool(head.day) or not self._dated or fold(head.who) in self._people


def _blocks(
    text: str, heads: _Heads
) -> Iterator[tuple[str, date | None, tuple[str, ...], date | None]]:
    who, day, replaced = "", None, None
    block: list[str] = []
    for line in text.splitlines():
        said, its_who, its_day, its_end = heads.split(line)
        begins = bool(its_who or its_day)
        if block and (begins or len(block) >= ENTRY_LINES or not line.strip()):
            yield who, day, tuple(block), replaced
            block = []
        if begins:
            who, day, replaced = its_who, its_day, its_end
        if said.strip():
            block.append(said)
    if block:
        yield who, day, tuple(block), replaced


@lru_cache(maxsize=1 << 15)
def _entry(who: str, day: date | None, lines: tuple[str, ...], replaced: date | None) -> Utterance:
    found = tuple(sentence(text) for line in lines for text in sentences(line))
    stems: frozenset[str] = frozenset().union(*(s.stems for s in found))
    asked: frozenset[str] = frozenset().union(*(s.stems for s in found if s.question))
    names: frozenset[str] = frozenset().union(*(s.names for s in found))
    leading = frozenset(s.leading for s in found)
    return Utterance(stem(fold(who)), day, found, stems, asked, names, leading, replaced)


@lru_cache(maxsize=1 << 15)
def sentence(text: str) -> Sentence:
    """Parse a sentence."""
    spoken = words(text)
    first = not FIRST_PERSON.isdisjoint(spoken)
    second = not SECOND_PERSON.isdisjoint(spoken)
    stems = frozenset(stem(word) for word in spoken if word not in STOP)
    if is_surely_foreign(text):
        stems |= {form for word in spoken for form in (word, *light_stems(word))}
    called = _called(text)
    if called and len(spoken) > 1:
        stems -= called
    named = frozenset(map(fold, _NAME.findall(text))).difference(WEEKDAYS, MONTHS)
    names = frozenset(map(stem, named))
    if _asks_to_forget(text):
        # Who asks to forget a thing names it, and does not say what it is.
        stems = frozenset()
    leading = stem(spoken[0]) if spoken else ""
    return Sentence(text, stems, names, leading, first, second, asks(text, spoken))


def _asks_to_forget(text: str) -> bool:
    return bool(_FORGETS.match(fold(text[:120]))) and not _STATES.search(text)


def _called(text: str) -> frozenset[str]:
    # A name that is called is addressed, not mentioned.
    found = {match["name"] for match in _CALL.finditer(text)}
    return frozenset(stem(fold(name)) for name in found)


def asks(text: str, spoken: list[str]) -> bool:
    """Whether a sentence asks, requests, calls a tool or admits not to know: it states nothing."""
    if _UNSURE.search(text) or _TOOL_CALL.fullmatch(text) or _asks_to_forget(text):
        return True
    if text.rstrip("\"')\u201d ").endswith(("?", "\uff1f", "\u061f")) and not _TAG.search(text):
        return True
    if not spoken:
        return False
    if _REQUEST.match(fold(text[:120])):
        return not text.endswith("!")
    opening = next((w for w in spoken if w not in _FILLERS), "")
    if opening == "do" and text.endswith((".", "!")):
        return False  # `Do your homework.`
    return opening in ASKING and len(spoken) > 2 and spoken[0] == opening and opening not in WH
