"""Number the entries of a memory by their ids, in little memory.

An id of 32 hexadecimal digits takes 30 bytes here, and more than 200 in a dictionary. The latest
ids have a dictionary. Those before them stand in columns, ascending, and are searched there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memsim.memory.index.id_halves import IdHalves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LATEST: Final = 20_000
"""Ids that have a dictionary before they are put into columns."""

ASKED: Final = 4_096
"""Ids in the columns that stay in a dictionary once they were asked for."""

_DIGEST: Final = 16
"""Bytes of an id."""

_NOTHING: Final = bytes(_DIGEST)


class EntryNumbers:
    """Numbers by id and ids by number, from 0.

    Args:
        again: whether the number of an id that was taken out goes to the next id.
    """

    def __init__(self, *, again: bool = True) -> None:
        self._again = again
        self._latest: dict[str, int] = {}
        self._asked: dict[str, int] = {}
        self._digests = bytearray()
        self._others: dict[int, str] = {}
        """Ids of any other form."""
        self._packed = IdHalves()
        self._free: list[int] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __getitem__(self, name: str) -> int:
        number = self.get(name)
        if number is None:
            raise KeyError(name)
        return number

    @property
    def given(self) -> int:
        """One more than the greatest number that was ever given."""
        return len(self._digests) // _DIGEST

    def get(self, name: str) -> int | None:
        """The number of an id; None where it has none."""
        found = self._latest.get(name)
        if found is None and len(self._packed):
            found = self._asked.get(name)
            if found is None and (at := self._find(name)) is not None:
                _, found = at
                self._remember(name, found)
        return found

    def expect(self, names: Iterable[str]) -> None:
        """Look ids up together that will be asked for: that takes less than one by one."""
        if not len(self._packed):
            return
        unknown = {name for name in names if name not in self._latest and name not in self._asked}
        joined = _joined([*unknown])
        if not joined:
            return
        import numpy as np

        asked = np.frombuffer(joined, ">u8").reshape(-1, 2)
        _, numbers = self._packed.find(asked[:, 1].astype(np.uint64))
        # Of two with the same last half, the second is found by `get`.
        same = np.frombuffer(self._digests, ">u8").reshape(-1, 2)[numbers] == asked
        there = same.all(axis=1).tolist()
        if len(self._asked) + len(unknown) > ASKED:
            self._asked.clear()
        told = zip(unknown, numbers.tolist(), there, strict=True)
        self._asked.update((name, number) for name, number, is_there in told if is_there)

    def name(self, number: int) -> str:
        """The id of a number that is given."""
        if number in self._others:
            return self._others[number]
        return self._digests[number * _DIGEST : (number + 1) * _DIGEST].hex()

    def expected(self, number: int) -> str:
        """As `name`, of an id whose number will be asked for."""
        found = self.name(number)
        if len(self._packed) and found not in self._latest:
            self._remember(found, number)
        return found

    def _remember(self, name: str, number: int) -> None:
        if len(self._asked) >= ASKED:
            self._asked.clear()
        self._asked[name] = number

    def names(self, numbers: Iterable[int]) -> Iterator[str]:
        """The ids of numbers that are given."""
        return map(self.name, numbers)

    def add(self, name: str) -> int:
        """Give a new id a number."""
        if self._free:
            number = self._free.pop()
        else:
            number = self.given
            self._digests.extend(_NOTHING)
        self._latest[name] = number
        self._count += 1
        if is_digest(name):
            self._digests[number * _DIGEST : (number + 1) * _DIGEST] = bytes.fromhex(name)
        else:
            self._others[number] = name
        if len(self._latest) - len(self._others) > LATEST:
            self._pack()
        return number

    def extend(self, names: Sequence[str]) -> Sequence[int]:
        """Give new ids numbers."""
        joined = _joined(names)
        if self._free or joined is None:
            return [self.add(name) for name in names]
        given = range(self.given, self.given + len(names))
        self._digests.extend(joined)
        self._latest.update(zip(names, given, strict=True))
        self._count += len(names)
        if len(self._latest) - len(self._others) > LATEST:
            self._pack()
        return given

    def numbered(self, names: Sequence[str]) -> Sequence[int]:
        """The numbers of ids, of which none is twice there; who has none is given one."""
        if len(names) > 1 and self.is_new(names):
            return self.extend(names)
        numbers = map(self.get, names)
        return [
            self.add(name) if number is None else number
            for name, number in zip(names, numbers, strict=True)
        ]

    def is_new(self, names: Sequence[str]) -> bool:
        """Whether none of these ids has a number."""
        if not self._latest.keys().isdisjoint(names):
            return False
        if not len(self._packed):
            return True
        joined = _joined(names)
        if joined is not None:
            import numpy as np

            asked = np.frombuffer(joined, ">u8").reshape(-1, 2)
            there, _ = self._packed.find(asked[:, 1].astype(np.uint64))
            if not there.any():
                return True
        return not any(name in self for name in names)

    def pop(self, name: str) -> int | None:
        """Take an id out, and tell its number; None where it has none."""
        number = self._latest.pop(name, None)
        if number is None:
            at = self._find(name)
            if at is None:
                return None
            number = self._packed.take(at[0])
            self._asked.pop(name, None)
        self._others.pop(number, None)
        self._digests[number * _DIGEST : (number + 1) * _DIGEST] = _NOTHING
        self._count -= 1
        if self._again:
            self._free.append(number)
        return number

    def _find(self, name: str) -> tuple[int, int] | None:
        """Where an id stands in the columns, and its number."""
        if len(name) != 2 * _DIGEST:
            return None
        try:
            half = int(name[_DIGEST:], 16)
        except ValueError:
            return None
        found = self._packed.numbers(half)
        return next(((at, number) for at, number in found if self.name(number) == name), None)

    def _pack(self) -> None:
        """Put the latest ids into the columns."""
        import numpy as np

        new = np.array([n for n in self._latest.values() if n not in self._others], np.intc)
        # A view of what grows must not be kept.
        halves = np.frombuffer(self._digests, ">u8").reshape(-1, 2)[new, 1].astype(np.uint64)
        self._packed.merge(halves, new)
        self._latest = {name: number for number, name in self._others.items()}


def is_digest(name: str) -> bool:
    """Whether a name has the form of an entry's id: 32 hexadecimal digits."""
    if len(name) != 2 * _DIGEST:
        return False
    try:
        return bytes.fromhex(name).hex() == name
    except ValueError:
        return False


def _joined(names: Sequence[str]) -> bytes | None:
    """Ids of 32 hexadecimal digits as bytes; None where one has another form."""
    if any(len(name) != 2 * _DIGEST for name in names):
        return None
    together = "".join(names)
    try:
        joined = bytes.fromhex(together)
    except ValueError:
        return None
    return joined if joined.hex() == together else None
