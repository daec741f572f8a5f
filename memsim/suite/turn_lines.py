"""Encode the turns of a case as they are played, and keep little else of them.

A line waits until the next turn, because the last one of a case is given what the memory wrote.
Of a long case, all but the latest lines are kept as compressed blocks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import TypeVar

from memsim.adapters.black_box import FOREIGN, notes_in
from memsim.scoring.metric import Line, TurnTotals
from memsim.scoring.metrics import turn_totals
from memsim.scoring.trace_records import turn_record
from memsim.suite.cases import BLOCK, pack, unpack
from memsim.trace import TurnRecord

_Totals = TypeVar("_Totals", bound=TurnTotals)


class TurnLines:
    """The lines of `turns.jsonl` of one case.

    Args:
        case: its id.
        repeat: its repeat.
        encode: writes a line.

    Attributes:
        count: turns so far.
        notes: those that the strategy logged, each once.
        foreign: whether the strategy said that texts of its contexts are of a foreign memory.
        error: why a turn could not be written; None if all could.
    """

    def __init__(
        self, case: str, repeat: int, encode: Callable[[Mapping[str, object]], bytes]
    ) -> None:
        self.count = 0
        self.notes: dict[str, None] = {}
        self.foreign = False
        self.error: TypeError | ValueError | None = None
        self._of = case, repeat
        self._encode = encode
        self._totals = turn_totals()
        self._last: dict[str, object] | None = None
        self._lines: list[bytes] = []
        self._size = 0
        self._packed: list[bytes] = []

    def keep(self, turn: TurnRecord) -> None:
        """Take the record of a turn."""
        self._write()
        self.count += 1
        self.notes.update(dict.fromkeys(notes_in(turn.events)))
        self.foreign = self.foreign or any(event.kind == FOREIGN for event in turn.events)
        self._last = turn_record(turn, *self._of)

    def end(self, **last: object) -> None:
        """Write the last turn, with what it alone has."""
        if self._last is not None:
            self._last |= last
        self._write()

    @property
    def packed(self) -> tuple[bytes, ...]:
        """Compressed blocks of lines; `rest` follows them."""
        return tuple(self._packed)

    @property
    def rest(self) -> bytes:
        """The latest lines, which are not compressed."""
        return b"".join(self._lines)

    def totals(self, kind: type[_Totals]) -> _Totals | None:
        """The totals of a kind over all turns; None where no metric has named it."""
        return self._totals.get(kind)  # type: ignore[return-value]

    def __iter__(self) -> Iterator[Line]:
        for block in chain(map(unpack, self._packed), [self.rest]):
            yield from map(json.loads, block.splitlines())

    def _write(self) -> None:
        record, self._last = self._last, None
        if record is None or self.error is not None:
            return
        for totals in self._totals.values():
            totals.add(record)
        try:
            line = self._encode(record)
        except (TypeError, ValueError) as error:
            self.error = error
            return
        self._lines.append(line)
        self._size += len(line)
        if self._size >= BLOCK:
            self._packed.append(pack(self.rest))
            self._lines.clear()
            self._size = 0
