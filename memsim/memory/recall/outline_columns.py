"""Outlines of messages in columns: what a long memory knows of each takes a few bytes."""

from __future__ import annotations

from array import array
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from memsim.memory.index.name_table import NameTable
from memsim.memory.index.source_column import SourceColumn
from memsim.message import EPOCH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime


class MessageOutline(NamedTuple):
    """What recall has to know of the entry of a message, without its words.

    All but the tokens and the order follows from the entry; see `read_outline`. `asked` are its
    terms where it asks for something, with blanks between. `matter` is what a standing message is
    about in the same form, None for any other. `repeated` is its `repeat_digest`. `question` says
    whether it has a question mark.
    """

    owner: str
    source: str
    session: str
    created: datetime
    role: str
    turn: int
    tokens: int
    question: bool
    asked: str
    standing: bool
    matter: str | None
    repeated: bytes | None


class MessageOutlines(NamedTuple):
    """The outlines of several messages: the fields of `MessageOutline`, each of all of them.

    Two are as the file has them. `created` are microseconds since `EPOCH`, and `repeated` are the
    digits of digests.
    """

    owner: Sequence[str]
    source: Sequence[str]
    session: Sequence[str]
    created: Sequence[int]
    role: Sequence[str]
    turn: Sequence[int]
    tokens: Sequence[int]
    question: Sequence[bool]
    asked: Sequence[str]
    standing: Sequence[bool]
    matter: Sequence[str | None]
    repeated: Sequence[str | None]

    def outlines(self) -> Iterator[MessageOutline]:
        """Each by itself."""
        for row in zip(*self, strict=True):
            said = MessageOutline(*row)
            yield said._replace(
                created=moment_at(row[3]),
                repeated=None if row[-1] is None else bytes.fromhex(row[-1]),
            )


def microseconds(moment: datetime) -> int:
    """A moment as columns have it."""
    return (moment - EPOCH) // _MICROSECOND


def moment_at(passed: int) -> datetime:
    """The moment that `microseconds` gave."""
    return EPOCH + timedelta(microseconds=passed)


_QUESTION, _STANDING, _REPEATED = 1, 2, 4
_MICROSECOND = timedelta(microseconds=1)
_DIGEST = 8
"""Bytes of `repeated`."""


class OutlineColumns:
    """Outlines by number; numbers are given by who puts them in, without gaps."""

    def __init__(self) -> None:
        self._names = NameTable()
        self._owner, self._session, self._role = array("i"), array("i"), array("i")
        self._source = SourceColumn()
        self._created, self._turn, self._tokens = array("q"), array("q"), array("q")
        self._flags = bytearray()
        self._digest = array("Q")
        self._asked: dict[int, str] = {}
        self._matter: dict[int, str] = {}

    def put(self, number: int, said: MessageOutline) -> None:
        """Take an outline in, under a number that none has."""
        if number == len(self._flags):
            self._extend()
        self._owner[number] = self._names.add(said.owner)
        self._session[number] = self._names.add(said.session)
        self._role[number] = self._names.add(said.role)
        self._source[number] = said.source
        self._created[number] = microseconds(said.created)
        self._turn[number], self._tokens[number] = said.turn, said.tokens
        flags = _QUESTION * said.question | _STANDING * said.standing
        if said.repeated is not None:
            flags |= _REPEATED
            self._digest[number] = int.from_bytes(said.repeated, "big")
        self._flags[number] = flags
        if said.asked:
            self._asked[number] = said.asked
        if said.matter is not None:
            self._matter[number] = said.matter

    def put_all(self, numbers: Sequence[int], said: MessageOutlines) -> None:
        """Take outlines in, in their order, under numbers that none has."""
        start, count = len(self._flags), len(said.source)
        if numbers != range(start, start + count):
            for number, outline in zip(numbers, said.outlines(), strict=True):
                self.put(number, outline)
            return
        for column, names in (
            (self._owner, said.owner),
            (self._session, said.session),
            (self._role, said.role),
        ):
            column.extend(self._names.add_all(names))
        self._source.extend(said.source)
        self._created.extend(said.created)
        self._turn.extend(said.turn)
        self._tokens.extend(said.tokens)
        self._digest.extend([0 if hexed is None else int(hexed, 16) for hexed in said.repeated])
        marks = zip(said.question, said.standing, said.repeated, strict=True)
        self._flags.extend(
            [_QUESTION * q | _STANDING * s | _REPEATED * (r is not None) for q, s, r in marks]
        )
        self._asked.update((n, asked) for n, asked in enumerate(said.asked, start) if asked)
        self._matter.update((n, m) for n, m in enumerate(said.matter, start) if m is not None)

    def remove(self, number: int) -> None:
        """Take one out."""
        self._source[number] = ""
        self._digest[number] = self._flags[number] = 0
        self._asked.pop(number, None)
        self._matter.pop(number, None)

    def __getitem__(self, number: int) -> MessageOutline:
        return MessageOutline(
            owner=self.owner(number),
            source=self._source[number],
            session=self.session(number),
            created=self.created(number),
            role=self.role(number),
            turn=self._turn[number],
            tokens=self.tokens(number),
            question=bool(self._flags[number] & _QUESTION),
            asked=self.asked(number),
            standing=self.standing(number),
            matter=self._matter.get(number),
            repeated=self.repeated(number),
        )

    def facts(self, number: int) -> tuple[int, int, str, str, str, bool]:
        """Tokens, creation in microseconds, owner, role, terms asked for, and whether it stands."""
        names = self._names
        return (
            self._tokens[number],
            self._created[number],
            names[self._owner[number]],
            names[self._role[number]],
            self._asked.get(number, ""),
            bool(self._flags[number] & _STANDING),
        )

    def created(self, number: int) -> datetime:
        """When it was said."""
        return moment_at(self._created[number])

    def tokens(self, number: int) -> int:
        """How many tokens it has."""
        return self._tokens[number]

    def asked(self, number: int) -> str:
        """Its terms where it asks for something."""
        return self._asked.get(number, "")

    def standing(self, number: int) -> bool:
        """Whether it is a standing message."""
        return bool(self._flags[number] & _STANDING)

    def owner(self, number: int) -> str:
        """Who said it."""
        return self._names[self._owner[number]]

    def by(self, owner: str, numbers: Sequence[int]) -> Sequence[int]:
        """Those of some numbers that an owner said, in their order."""
        import numpy as np

        name = self._names.get(owner)
        if name is None:
            return []
        among = np.array(numbers, np.intc)
        said = np.frombuffer(self._owner, np.intc)[among] == name
        found: list[int] = among[said].tolist()
        return found

    def whose(self, number: int) -> tuple[str, str, str]:
        """Owner, message and conversation."""
        return self.owner(number), self._source[number], self.session(number)

    def source(self, number: int) -> str:
        """The id of the message."""
        return self._source[number]

    def session(self, number: int) -> str:
        """Its conversation."""
        return self._names[self._session[number]]

    def role(self, number: int) -> str:
        """The role of who said it."""
        return self._names[self._role[number]]

    def repeated(self, number: int) -> bytes | None:
        """Its `repeat_digest`."""
        if not self._flags[number] & _REPEATED:
            return None
        return self._digest[number].to_bytes(_DIGEST, "big")

    def _extend(self) -> None:
        for column in (self._owner, self._session, self._role):
            column.append(0)
        for column in (self._created, self._turn, self._tokens, self._digest):
            column.append(0)
        self._source.append("")
        self._flags.append(0)
