"""Hold the original messages of a case, and their sessions, in little memory.

Most scripts number their messages `m1`, `m2` and so on. Their ids need no table: the number tells
the place. Of a long case, all but the latest messages are kept as compressed blocks.
"""

from __future__ import annotations

import pickle
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memsim.memory.index.id_places import id_number
from memsim.message import Message, fields_of, message_of

if TYPE_CHECKING:
    from memsim.memory.index.forms import Numbers

BLOCK = 100
"""Messages in a compressed block: few, because a memory names messages of any time together."""
PLAIN = 200
"""Blocks that are kept as they are before the first one is compressed."""
_OPENED = 80
"""Compressed blocks that are kept open after they were read."""


class MessagePlaces:
    """The places of messages in the order in which they were said, from 0."""

    __slots__ = ("_others", "_replaced", "count")

    def __init__(self) -> None:
        self.count = 0
        self._others: dict[str, int] = {}
        self._replaced: set[int] = set()

    def add(self, name: str) -> int:
        """Give a message its place; one that was said before keeps it."""
        known = self.get(name)
        if known is not None:
            return known
        place = self.count
        self.count += 1
        if name != f"m{place + 1}":
            self._others[name] = place
            self._replaced.add(place)
        return place

    def get(self, name: str) -> int | None:
        """The place of a message; None when it was not said."""
        if name in self._others:
            return self._others[name]
        place = id_number(name) - 1
        return place if 0 <= place < self.count and place not in self._replaced else None

    def names(self) -> Iterator[str]:
        """All ids, in order."""
        others = {place: name for name, place in self._others.items()}
        return (others.get(place, f"m{place + 1}") for place in range(self.count))


class MessageSessions(Mapping[str, str]):
    """The session of each original message, by id; it grows as messages are said."""

    __slots__ = ("_begins", "_changed", "_places", "_sessions")

    def __init__(self) -> None:
        self._places = MessagePlaces()
        self._begins: list[int] = []
        self._sessions: list[str] = []
        self._changed: dict[int, str] = {}

    def add(self, message: Message) -> None:
        """Note the session of a message."""
        before = self._places.count
        place = self._places.add(message.id)
        if place < before:
            self._changed[place] = message.session
        elif not self._sessions or self._sessions[-1] != message.session:
            self._begins.append(place)
            self._sessions.append(message.session)

    def __getitem__(self, name: str) -> str:
        place = self._places.get(name)
        if place is None:
            raise KeyError(name)
        if place in self._changed:
            return self._changed[place]
        return self._sessions[bisect_right(self._begins, place) - 1]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._places.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        return self._places.names()

    def __len__(self) -> int:
        return self._places.count


class OriginalMessages(Mapping[str, Message]):
    """Original messages by id, in the order in which they were said."""

    __slots__ = ("_by_turn", "_latest", "_opened", "_packed", "_places", "_plain", "_turns")

    def __init__(self) -> None:
        self._places = MessagePlaces()
        self._turns = array("q")
        self._by_turn: tuple[Numbers, Numbers] | None = None
        self._packed: list[bytes] = []
        self._plain: list[list[Message]] = []
        self._latest: dict[int, Message] = {}
        self._opened: dict[int, list[Message | tuple[Any, ...]]] = {}

    def add(self, message: Message) -> None:
        """Hold a message; one with the id of an earlier one takes its place."""
        before = self._places.count
        place = self._places.add(message.id)
        self._by_turn = None
        if place < before:
            self._latest[place] = message
            self._turns[place] = message.turn
            return
        self._turns.append(message.turn)
        if place % BLOCK == 0:
            self._plain.append([])
            if len(self._plain) > PLAIN:
                # Records of frozen classes are read ten times slower than their fields.
                packed = [fields_of(each) for each in self._plain.pop(0)]
                self._packed.append(zlib.compress(pickle.dumps(packed, -1), 1))
        self._plain[-1].append(message)

    def __getitem__(self, name: str) -> Message:
        place = self._places.get(name)
        if place is None:
            raise KeyError(name)
        return self._at(place)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._places.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        return self._places.names()

    def __len__(self) -> int:
        return self._places.count

    def in_turn(self, turn: int) -> list[Message]:
        """What was said in a turn, in order."""
        turns, places = self._sorted()
        first, last = turns.searchsorted([turn, turn + 1]).tolist()
        return [self._at(place) for place in places[first:last].tolist()]

    def turns(self) -> list[int]:
        """The turns in which something was said, ascending."""
        import numpy as np

        found: list[int] = np.unique(self._sorted()[0]).tolist()
        return found

    def _sorted(self) -> tuple[Numbers, Numbers]:
        """The turns of all messages, ascending, and the places of the messages."""
        import numpy as np

        if self._by_turn is None:
            turns = np.array(self._turns, np.int64)
            places = np.argsort(turns, kind="stable")
            self._by_turn = turns[places], places
        return self._by_turn

    def _at(self, place: int) -> Message:
        if place in self._latest:
            return self._latest[place]
        number, place = divmod(place, BLOCK)
        if number >= len(self._packed):
            return self._plain[number - len(self._packed)][place]
        block = self._block(number)
        found = block[place]
        if not isinstance(found, Message):
            found = block[place] = message_of(*found)
        return found

    def _block(self, number: int) -> list[Message | tuple[Any, ...]]:
        found = self._opened.pop(number, None)
        if found is None:
            found = pickle.loads(zlib.decompress(self._packed[number]))  # noqa: S301 - made here
            if len(self._opened) >= _OPENED:
                self._opened.pop(next(iter(self._opened)))
        self._opened[number] = found
        return found
