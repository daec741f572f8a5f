"""What is known of each message that was said: its place, length, speaker and successor.

A conversation's order says nothing of any other conversation.
"""

from __future__ import annotations

import hashlib
import math
import re
from array import array
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memsim.language.text import index_terms
from memsim.memory.entry import ROLE
from memsim.memory.index.entry_numbers import EntryNumbers
from memsim.memory.index.message_numbers import MessageNumbers
from memsim.memory.recall.instructions import (
    StandingMessages,
    is_standing,
    standing_matter,
)
from memsim.memory.recall.made_columns import MadeColumns
from memsim.memory.recall.outline_columns import (
    MessageOutline,
    OutlineColumns,
    microseconds,
    moment_at,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence
    from datetime import datetime
    from typing import Literal

    Scaling = Literal["zscore", "minmax"]
    Beside = Callable[[str], Iterable[tuple[str, float]]]
    """The messages around one, each with its share of what is lent, as `Talk.beside` gives them."""
    from collections.abc import Collection, Iterator, Mapping

    from memsim.memory.entry import Entry
    from memsim.memory.layers.entry_outline import EntryOutline
    from memsim.memory.permissions import Where
    from memsim.memory.recall.outline_columns import MessageOutlines


class MessageFacts(NamedTuple):
    """What recall has to know of a message beside its scores.

    A question takes hundreds of them, and a tuple is made in a third of the time of a dataclass.

    A larger `order` is later, and settles ties for the earlier. `created` is in microseconds since
    `EPOCH`: few questions need the time that it stands for. `role` is empty where nobody said
    it. `successor` is the id of what took its place; None while it is in force. `amended` are ids
    of what changed a part of it, and `stale` are ids of what says that a part does not hold any
    more. `asked` are its terms where it asks for something, which make it
    no answer to the same question. `standing` is true of an instruction that holds from now on,
    and of a stated preference.
    """

    order: int
    tokens: int
    created: int | None = None
    principal: str = ""
    role: str = ""
    successor: str | None = None
    amended: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    asked: frozenset[str] = frozenset()
    standing: bool = False

    @property
    def time(self) -> datetime | None:
        """When it was said."""
        return None if self.created is None else moment_at(self.created)


# What tells that somebody said the same on the same day before, without the words themselves.


LEAST = 24
"""Characters below which the same words may mean something else: two times `yes` may be two
answers."""


def repeat_digest(principal: str, time: datetime, text: str) -> bytes | None:
    """What two messages have in common that say the same, byte for byte; 8 bytes.

    Returns None for what is too short to be the same.
    """
    if len(text) < LEAST:
        return None
    whole = "\0".join((time.date().isoformat(), str(len(principal)), principal, text))
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=8).digest()


# Telling a question from an answer: whoever has asked the same before has not answered it.


_MARKS = ("?", "\uff1f", "\u061f")
_ASKS = re.compile(
    r"(?:(?:and|but|so|ok(?:ay)?|please|hey|hi|sorry|again)[,! ]+)*"
    r"(?:(?:can|could|would|will) you )?(?:please )?"
    r"(?:what|where|when|who|whom|whose|which|why|how|tell|remind|show|list)\b",
    re.IGNORECASE,
)
FAMILIAR = 4
"""Of so many terms of a question, one may be missing in another that asks the same."""


def question_terms(text: str) -> frozenset[str]:
    """The terms of a text that asks for something; none where it states something."""
    said = text.strip()
    if said.endswith(_MARKS) or _ASKS.match(said):
        return frozenset(index_terms(said))
    return frozenset()


def asks_the_same(before: frozenset[str], terms: Collection[str]) -> bool:
    """Whether what was asked before is in the words of a question, but for one in four."""
    return bool(before) and len(before.difference(terms)) * FAMILIAR <= len(before)


# Who stands beside whom in a conversation: an answer often holds none of its question's words.


FADE = 150.0
"""Tokens between two messages at which one lends the other little more than a third."""

REACH = 4
"""Messages to either side that are lent anything."""

REMEMBERED = 1 << 12

DESCRIBED = 1 << 9
"""Messages whose facts are kept as they were told: those of a question or two. The others are
told anew of their columns. What is kept for longer is looked at in each full garbage collection,
and brings the next one nearer."""

NeighbourShares = tuple[tuple[str, float], ...]
"""Ids of the messages around one, each with the share that it is lent, up to 2."""


class _Lines:
    """The messages of one conversation, in columns.

    A moment is a number, the same for equal moments; 0 for none.
    """

    def __init__(self, session: str) -> None:
        self.session = session
        self.numbers, self.tokens, self.turns = array("i"), array("q"), array("q")
        self.moments = array("i")
        self.asks = bytearray()

    def append(self, number: int, tokens: int, turn: int, moment: int, *, asks: bool) -> None:
        """Put a message behind the others."""
        self.numbers.append(number)
        self.tokens.append(tokens)
        self.turns.append(turn)
        self.moments.append(moment)
        self.asks.append(asks)

    def remove(self, place: int) -> None:
        """Take a message out; the others move up."""
        for column in (self.numbers, self.tokens, self.turns, self.moments, self.asks):
            del column[place]


class _Moments:
    """Numbers for moments, from 1 on; equal ones that are near each other have the same."""

    def __init__(self) -> None:
        self._last = 0
        self._known: dict[Hashable, int] = {}
        self._before: dict[Hashable, int] = {}

    def number(self, moment: Hashable) -> int:
        """The number of a moment; 0 for None."""
        if moment is None:
            return 0
        found = self._known.get(moment) or self._before.get(moment)
        if found is None:
            found = self._last = self._last + 1
        if moment not in self._known:
            if len(self._known) >= REMEMBERED:
                self._before, self._known = self._known, {}
            self._known[moment] = found
        return found


WHOLE = 2.0
"""Share that a part of an utterance is lent by another: with half for neighbours, all of it."""


class Neighbours:
    """Messages in the order in which they were said, by session.

    What a message is lent depends on what stands between: hold one talk for all that the same
    readers may see.

    Args:
        fade: as `FADE`.
        numbers: the numbers of the messages, where somebody else gives and takes them.
    """

    def __init__(self, fade: float = FADE, numbers: EntryNumbers | None = None) -> None:
        if not fade > 0:
            raise ValueError(f"fade is {fade}: above 0")
        self._fade = fade
        self._numbers = EntryNumbers() if numbers is None else numbers
        self._lines: dict[int, _Lines] = {}
        self._line_of: dict[str, int] = {}
        self._begun = 0
        self._moments = _Moments()
        # By the number of a message: its line, and how many messages stand before it there.
        self._line, self._at = array("i"), array("i")
        self._known: dict[int, NeighbourShares] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, source: object) -> bool:
        return source in self._numbers

    def add(
        self,
        source: str,
        text: str,
        *,
        session: str,
        tokens: int,
        turn: int,
        moment: Hashable = None,
    ) -> None:
        """Take in what was said last in its session.

        `turn` is the exchange that it belongs to; what answers a message has the same. Messages
        one after the other of the same `moment` are parts of one utterance. Raises `ValueError` if
        the id is there already.
        """
        if source in self._numbers:
            raise ValueError(f"{source!r} is there already")
        self.append(self._numbers.add(source), session, tokens, turn, "?" in text, moment)

    def append(
        self,
        number: int,
        session: str,
        tokens: int,
        turn: int,
        asks: bool,  # noqa: FBT001 - as above
        moment: Hashable,
    ) -> None:
        """As `add`, by the number of what has a question mark where it `asks`."""
        line = self._of(session)
        lines, same = self._lines[line], self._moments.number(moment)
        length = len(lines.numbers)
        if self._known:
            for at in self._reached(lines, range(length - 1, -1, -1), same):
                self._known.pop(lines.numbers[at], None)
        self._reserve(number)
        self._line[number], self._at[number] = line, length
        lines.append(number, tokens, turn, same, asks=asks)

    def extend(
        self, session: str, numbers: Sequence[int], said: MessageOutlines, places: Sequence[int]
    ) -> None:
        """As `append`, of several messages of a session, whose outlines stand at these places."""
        line = self._of(session)
        lines = self._lines[line]
        self._known.clear()
        owner, role, turn, created = said.owner, said.role, said.turn, said.created
        moments = [
            (owner[n], turn[n], created[n]) if turn[n] and role[n] == "user" else None
            for n in places
        ]
        self._reserve(max(numbers))
        for at, number in enumerate(numbers, len(lines.numbers)):
            self._line[number], self._at[number] = line, at
        lines.numbers.extend(numbers)
        lines.tokens.extend([said.tokens[n] for n in places])
        lines.turns.extend([turn[n] for n in places])
        lines.moments.extend([self._moments.number(moment) for moment in moments])
        lines.asks.extend([said.question[n] for n in places])

    def remove(self, source: str) -> bool:
        """Take a message out, as if it had never been said; false when it was not there."""
        number = self._numbers.get(source)
        if number is None:
            return False
        self.take_out(number)
        self._numbers.pop(source)
        return True

    def take_out(self, number: int) -> None:
        """As `remove`, by the number of a message, which whoever gave it takes away."""
        line, place = self._line[number], self._at[number]
        lines = self._lines[line]
        lines.remove(place)
        for at in range(place, len(lines.numbers)):
            self._at[lines.numbers[at]] = at
        if not lines.numbers:
            del self._lines[line], self._line_of[lines.session]
        self._known.clear()

    def beside(self, source: str) -> NeighbourShares:
        """The messages around one that are lent some of its relevance; empty for an unknown id.

        A share is 1 next to it and fades with the tokens in between; what follows a question is
        lent twice as much, and what a reply answers is lent all, however long the reply is.
        """
        number = self._numbers.get(source)
        if number is None:
            return ()
        found = self._known.get(number)
        if found is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            found = self._known[number] = self._lend(
                self._lines[self._line[number]], self._at[number]
            )
        return found

    def place(self, source: str) -> tuple[str, int] | None:
        """A message's session, and how many messages come before it there; None if unknown."""
        number = self._numbers.get(source)
        if number is None:
            return None
        return self._lines[self._line[number]].session, self._at[number]

    def answered_by(self, source: str) -> str | None:
        """What was said right after a message in the same exchange; None where nothing was."""
        number = self._numbers.get(source)
        if number is None:
            return None
        lines, place = self._lines[self._line[number]], self._at[number]
        if place + 1 == len(lines.numbers) or lines.turns[place + 1] != lines.turns[place]:
            return None
        return self._numbers.name(lines.numbers[place + 1])

    def said_in(self, session: str) -> Sequence[int]:
        """The numbers of the messages of a session, in their order; to be read at once."""
        line = self._line_of.get(session)
        return array("i") if line is None else self._lines[line].numbers

    def everything(self) -> Iterator[int]:
        """The numbers of all messages, session by session."""
        return chain.from_iterable(lines.numbers for lines in self._lines.values())

    def _of(self, session: str) -> int:
        """The line of a session, which is begun where there is none."""
        line = self._line_of.get(session)
        if line is None:
            line = self._line_of[session] = self._begun
            self._lines[line] = _Lines(session)
            self._begun += 1
        return line

    def _reserve(self, number: int) -> None:
        more = number + 1 - len(self._line)
        if more > 0:
            self._line.extend([0] * more)
            self._at.extend([0] * more)

    def _lend(self, lines: _Lines, place: int) -> NeighbourShares:
        numbers, tokens, moment = lines.numbers, lines.tokens, lines.moments[place]
        before = self._reached(lines, range(place - 1, -1, -1), moment)
        after = self._reached(lines, range(place + 1, len(numbers)), moment)
        lent = {}
        for way in (before, after):
            between = tokens[place] / 2
            for at in way:
                same = moment and lines.moments[at] == moment
                share = math.exp(-(between + tokens[at] / 2) / self._fade)
                lent[at] = WHOLE if same else share
                between += tokens[at]
        replies = (at for at in after if not moment or lines.moments[at] != moment)
        answer = next(replies, None) if lines.asks[place] else None
        if answer is not None:
            lent[answer] *= 2
        if place and lines.turns[place - 1] == lines.turns[place]:
            lent[place - 1] = max(1.0, lent[place - 1])
        name = self._numbers.expected
        return tuple((name(numbers[at]), share) for at, share in lent.items())

    @staticmethod
    def _reached(lines: _Lines, way: range, moment: int) -> list[int]:
        """Places on a way that are near enough: an utterance counts once, with all its parts."""
        found: list[int] = []
        left = REACH
        for at in way:
            this = lines.moments[at]
            part = this and this == moment
            if not part:
                if not left:
                    break
                left -= 1
            moment = this
            found.append(at)
        return found


def read_outline(entry: Entry, *, tokens: int, turn: int) -> MessageOutline:
    """The outline of an entry of a message; its first source is the message."""
    text = entry.text.removeprefix(f"{entry.owner}: ")
    role = dict(entry.attributes).get(ROLE, "")
    standing = role == "user" and is_standing(text)
    matter = standing_matter(text) if standing else None
    return MessageOutline(
        owner=entry.owner,
        source=entry.sources[0],
        session=entry.session,
        created=entry.created,
        role=role,
        turn=turn,
        tokens=tokens,
        question="?" in entry.text,
        asked=" ".join(sorted(question_terms(text))),
        standing=standing,
        matter=None if matter is None else " ".join(sorted(matter)),
        repeated=repeat_digest(entry.owner, entry.created, text),
    )


class _Change(NamedTuple):
    """What took the place of a message, or of a part of it."""

    successor: str | None = None
    amended: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


_UNCHANGED = _Change()


_NOTHING: frozenset[str] = frozenset()


class TimelineSource(Protocol):
    """Brings what a timeline does not know yet; each method does nothing where all is known."""

    def owners(self, names: Iterable[str]) -> None:
        """Bring all of these owners, before anything of theirs is looked up or changed."""

    def session(self, name: str) -> None:
        """Bring all that was said in a conversation."""

    def admitted(self, where: Where) -> None:
        """Bring the owners of all that a search may find."""

    def everything(self) -> None:
        """Bring all that there is."""


def _alike(values: Sequence[str]) -> Iterable[tuple[str, Sequence[int]]]:
    """Each value once, with the places where it stands."""
    if len({*values}) == 1:
        return [(values[0], range(len(values)))]
    found: dict[str, list[int]] = {}
    for place, value in enumerate(values):
        found.setdefault(value, []).append(place)
    return found.items()


class Timeline:
    """The entries of messages by conversation, in the order in which they were said.

    Messages of two principals may have one id: each is known by who said it as well. With a
    `source`, owners are brought when they are first asked for.
    """

    def __init__(self) -> None:
        self.source_of_rest: TimelineSource | None = None
        self.clear()

    def need(self, owners: Iterable[str]) -> None:
        """Know all of these owners, before anything of theirs is looked up by entry or changed."""
        if self.source_of_rest is not None:
            self.source_of_rest.owners(owners)

    def need_admitted(self, where: Where) -> None:
        """Know the owners of all that a search may find."""
        if self.source_of_rest is not None:
            self.source_of_rest.admitted(where)

    def _need_session(self, name: str) -> None:
        if self.source_of_rest is not None:
            self.source_of_rest.session(name)

    def clear(self) -> None:
        """Forget all of it."""
        # Of many messages, few are asked about at a time. So what is kept of each stands in
        # columns by number, which take little, and at which the garbage collector does not look.
        self._ids = EntryNumbers()
        self._talk = Neighbours(numbers=self._ids)
        self._said = OutlineColumns()
        self._order = array("q")
        self._summed = bytearray()
        """Of each message, whether it stands in an episode."""
        self._changed: dict[int, _Change] = {}
        self._known: dict[str, MessageFacts] = {}
        self._of: dict[str, MessageNumbers] = {}
        self._speakers: dict[str, Counter[str]] = {}
        self._made = MadeColumns()
        self._episodes: dict[str, tuple[str, str]] = {}
        self._standing: dict[str, StandingMessages] = {}
        self._count = 0

    def __contains__(self, entry: object) -> bool:
        return entry in self._ids

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, entry: Entry, *, tokens: int, turn: int, order: int | None = None) -> None:
        """A message was said, or a passage of one; what is known already stays as it is.

        The first source of `entry` is the message; `turn` is as for `Neighbours.add`. `order` is
        given for what was said before what is known of others; otherwise nothing is later.
        """
        if entry.id not in self._ids:
            self.take(entry.id, read_outline(entry, tokens=tokens, turn=turn), order)

    def take(self, name: str, said: MessageOutline, order: int | None = None) -> None:
        """As `add`, of the id and the outline of an entry."""
        if name in self._ids:
            return
        owner, session = said.owner, said.session
        number = self._ids.add(name)
        place = self._count if order is None else order
        self._said.put(number, said)
        self._place([number], [place])
        if said.matter is not None:
            self._stand(name, owner, said.matter)
        self._numbers_of(owner).add(said.source, number)
        self._speakers.setdefault(session, Counter())[owner] += 1
        moment = None
        if said.role == "user" and said.turn:
            moment = (owner, said.turn, microseconds(said.created))
        self._talk.append(number, session, said.tokens, said.turn, said.question, moment)
        self._count = max(self._count, place) + 1

    def take_all(self, names: Sequence[str], said: MessageOutlines, orders: Sequence[int]) -> None:
        """As `take`, of several that come in the order in which they were said."""
        if not names:
            return
        if not self._ids.is_new(names) or len({*names}) < len(names):
            for name, outline, order in zip(names, said.outlines(), orders, strict=True):
                self.take(name, outline, order)
            return
        numbers = self._ids.extend(names)
        self._said.put_all(numbers, said)
        self._place(numbers, orders)
        for name, owner, matter in zip(names, said.owner, said.matter, strict=True):
            if matter is not None:
                self._stand(name, owner, matter)
        self._join_talk(numbers, said)
        self._count = max(self._count, *orders) + 1

    def _stand(self, name: str, owner: str, matter: str) -> None:
        """Note what a standing message is about."""
        held = self._standing.get(owner)
        if held is None:
            held = self._standing[owner] = StandingMessages()
        held.add(name, matter.split())

    def _place(self, numbers: Sequence[int], orders: Sequence[int]) -> None:
        """Note when messages were said that stand in no episode."""
        more = [0] * (max(numbers) + 1 - len(self._order))
        self._order.extend(more)
        self._summed.extend(more)
        for number, order in zip(numbers, orders, strict=True):
            self._order[number], self._summed[number] = order, False

    def _join_talk(self, numbers: Sequence[int], said: MessageOutlines) -> None:
        """Put messages behind the others of their owners and of their conversations."""
        for owner, places in _alike(said.owner):
            sources = [said.source[n] for n in places]
            self._numbers_of(owner).extend(sources, [numbers[n] for n in places])
        for session, places in _alike(said.session):
            self._speakers.setdefault(session, Counter()).update(said.owner[n] for n in places)
            self._talk.extend(session, [numbers[n] for n in places], said, places)

    def _numbers_of(self, owner: str) -> MessageNumbers:
        found = self._of.get(owner)
        if found is None:
            found = self._of[owner] = MessageNumbers()
        return found

    def begin_after(self, order: int) -> None:
        """Give what is said from now on a later place than this one."""
        self._count = max(self._count, order + 1)

    def made(self, entry: Entry | EntryOutline) -> None:
        """Something was made of what was said in a conversation: a fact, or an episode."""
        if entry.session:
            self._made.made(entry.id, entry.session)
        if entry.layer == "episodic":
            self._episodes[entry.id] = entry.owner, entry.session
            for source in entry.sources:
                for number in self._numbers(entry.owner, source):
                    if self._said.session(number) == entry.session:
                        self._summed[number] = True

    def made_all(self, facts: Sequence[str], sessions: Sequence[str]) -> None:
        """As `made`, of several facts, each of one of these conversations."""
        of = {fact: session for fact, session in zip(facts, sessions, strict=True) if session}
        self._made.made_all([*of], [*of.values()])

    def remove(self, entries: Iterable[str]) -> None:
        """Forget messages, and what was made; neighbours then stand beside each other.

        The messages of an episode that is forgotten wait for another.
        """
        reopened: set[tuple[str, str]] = set()
        gone: dict[str, list[str]] = {}
        for entry in entries:
            number = self._ids.get(entry)
            if number is None:
                self._made.remove(entry)
            elif not self._drop(entry, number):
                gone.setdefault(self._said.owner(number), []).append(self._said.source(number))
            if number is not None:
                self._said.remove(number)
                self._ids.pop(entry)
            if entry in self._episodes:
                reopened.add(self._episodes.pop(entry))
        for owner, sources in gone.items():
            # The id of a message that is gone may be that of another one.
            self._made.free(owner, sources)
        for owner, session in reopened:
            for number in self._said.by(owner, self._talk.said_in(session)):
                self._summed[number] = False

    def _drop(self, entry: str, number: int) -> bool:
        """Forget a message that is known no more; whether other entries of it are."""
        owner, source, session = self._said.whose(number)
        self._changed.pop(number, None)
        self._known.pop(entry, None)
        self._talk.take_out(number)
        if owner in self._standing:
            self._standing[owner].remove(entry)
        speakers = self._speakers[session]
        speakers[owner] -= 1
        if not speakers[owner]:
            del speakers[owner]
        return self._of[owner].remove(source, number)

    def waiting(self, owner: str, session: str) -> Iterator[str]:
        """Ids of the entries of an owner's messages that stand in no episode yet, oldest first."""
        self.need([owner])
        said = self._said.by(owner, self._talk.said_in(session))
        return self._ids.names(number for number in said if not self._summed[number])

    def succeed(self, owner: str, source: str, successor: str | None) -> None:
        """Note that all that a message stated has been superseded by what another states."""
        heir = next(iter(self._entries(owner, successor)), None) if successor else None
        for number in self._numbers(owner, source):
            self._change(number, self._changed.get(number, _UNCHANGED)._replace(successor=heir))

    def amend(
        self, owner: str, source: str, changes: Sequence[str], stale: Sequence[str] = ()
    ) -> None:
        """Note which messages changed a part of what a message stated, or say that it is stale."""
        heirs, ends = (
            tuple(i for message in said for i in self._entries(owner, message)[:1])
            for said in (changes, stale)
        )
        for number in self._numbers(owner, source):
            before = self._changed.get(number, _UNCHANGED)
            self._change(number, before._replace(amended=heirs, stale=ends))

    def _change(self, number: int, change: _Change) -> None:
        if change != self._changed.get(number, _UNCHANGED):
            self._changed[number] = change
            self._known.pop(self._ids.name(number), None)

    def state(self, fact: str, owner: str, source: str | None) -> None:
        """Note which message states a fact; None where that is gone, or has other words."""
        self._made.state(fact, owner, source)

    def state_all(self, owner: str, stated: Mapping[str, str]) -> None:
        """As `state`, of several facts of an owner, each with its message."""
        self._made.state_all(owner, stated)

    def stated_in(self, facts: Collection[str]) -> dict[str, str | None]:
        """The entry of the message that states each fact; None where none holds all of it."""
        found: dict[str, str | None] = {}
        self._made.expect(facts)
        for fact in facts:
            stated = self._made.stated(fact)
            numbers = self._numbers(*stated) if stated else ()
            found[fact] = self._ids.expected(numbers[0]) if len(numbers) == 1 else None
        return found

    def applying(self, owner: str, question: str) -> dict[str, bool]:
        """Entries of standing messages in force that apply; see `StandingMessages`."""
        self.need([owner])
        held = self._standing.get(owner)
        found = {} if held is None else held.applying(question)
        self._ids.expect(found)
        return {i: to for i, to in found.items() if self._change_of(i).successor is None}

    def _change_of(self, entry: str) -> _Change:
        return self._changed.get(self._ids[entry], _UNCHANGED)

    def entries(self, owner: str, source: str) -> list[str]:
        """Ids of the entries that hold an owner's message; none where it is not known."""
        self.need([owner])
        return self._entries(owner, source)

    def _entries(self, owner: str, source: str) -> list[str]:
        return [*self._ids.names(self._numbers(owner, source))]

    def _numbers(self, owner: str, source: str) -> Sequence[int]:
        of = self._of.get(owner)
        return () if of is None else of[source]

    def is_taken(self, session: str, source: str) -> bool:
        """Whether a message of a conversation has this id, whoever said it."""
        self._need_session(session)
        return any(
            self._said.session(number) == session
            for owner in self._speakers.get(session, ())
            for number in self._numbers(owner, source)
        )

    def expect(self, entries: Collection[str]) -> None:
        """Look entries up together that a question will ask for."""
        self._ids.expect(entries)
        # Else what is known would be dropped in the midst of the question.
        self._known.clear()

    def orders(self, entries: Iterable[str]) -> dict[str, int]:
        """Which came first of entries, by their numbers; -1 for one that holds no message."""
        number, order = self._ids.get, self._order
        return {i: -1 if (n := number(i)) is None else order[n] for i in entries}

    def sources(self, entries: Iterable[str]) -> dict[str, str | None]:
        """The id of the message that each entry holds; None where it holds none."""
        return {i: self.source(i) for i in entries}

    def source(self, entry: str) -> str | None:
        """The id of the message that an entry holds; None where it holds none."""
        number = self._ids.get(entry)
        return None if number is None else self._said.source(number)

    def words(self, entry: str) -> bytes | None:
        """The `repeat_digest` of the message that an entry holds; None if there is none."""
        number = self._ids.get(entry)
        return None if number is None else self._said.repeated(number)

    def session(self, entry: str) -> str | None:
        """The conversation of the message that an entry holds; None where it holds none."""
        number = self._ids.get(entry)
        return None if number is None else self._said.session(number)

    def summed_up(self, entry: str) -> str | None:
        """The conversation that an episode is the summary of; None for another entry."""
        found = self._episodes.get(entry)
        return None if found is None else found[1]

    def about(self, entry: str) -> MessageFacts | None:
        """What is known of the message that an entry holds; None where it holds none."""
        found = self._known.get(entry)
        if found is None and (number := self._ids.get(entry)) is not None:
            if len(self._known) >= DESCRIBED:
                self._known.clear()
            found = self._known[entry] = self._facts_of(number)
        return found

    def _facts_of(self, number: int) -> MessageFacts:
        tokens, created, principal, role, asked, standing = self._said.facts(number)
        return MessageFacts(
            self._order[number],
            tokens,
            created,
            principal,
            role,
            *self._changed.get(number, _UNCHANGED),
            frozenset(asked.split()) if asked else _NOTHING,
            standing,
        )

    def beside(self, entry: str) -> NeighbourShares:
        """The messages around one, each with the share of its relevance that it is lent."""
        return self._talk.beside(entry)

    def place(self, entry: str) -> tuple[str, int] | None:
        """A message's conversation, and how many come before it there; None where it holds none."""
        return self._talk.place(entry)

    def reply(self, entry: str) -> str | None:
        """The entry of the assistant's reply right after a user's message; None without one."""
        after = self._talk.answered_by(entry)
        if after is None or self._role(entry) == "assistant":
            return None
        return after if self._role(after) == "assistant" else None

    def _role(self, entry: str) -> str | None:
        number = self._ids.get(entry)
        return None if number is None else self._said.role(number)

    def of(self, session: str) -> list[str]:
        """Ids of the entries of a conversation: of messages, then of what was made of them."""
        self._need_session(session)
        return [*self._ids.names(self._talk.said_in(session)), *self._made.of(session)]

    def order(self) -> list[str]:
        """Ids of the entries of messages, in the order in which they were said."""
        if self.source_of_rest is not None:
            self.source_of_rest.everything()
        return [*self._ids.names(sorted(self._talk.everything(), key=self._order.__getitem__))]
