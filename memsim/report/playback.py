"""Read the full contexts of a case from its records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

Line = Mapping[str, Any]

LONGEST_MESSAGE = 64 * 2**20
"""Characters of a message; a record may name a line of an earlier message any number of times."""

MOST_MESSAGES = 1 << 18
"""Messages of a section; a record may name those of the section before any number of times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybackMessage:
    """A message of a case.

    Attributes:
        quotes: numbers of the messages that stand in it, or ids of what nobody said.
        derived: the same for those it was made from.
    """

    number: int
    id: str
    role: str
    principal: str
    text: str
    quotes: tuple[int | str, ...] = ()
    derived: tuple[int | str, ...] = ()
    composed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSection:
    """A section of a context.

    Attributes:
        messages: their numbers.
        runs: the same as the record has it: numbers, and runs of the section of that layer in the
            context before.
    """

    layer: str
    tokens: int
    messages: tuple[int, ...]
    runs: tuple[int | Sequence[int], ...] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybackFrame:
    """A turn or a question, and what was sent in it.

    Attributes:
        probe: id of the question; empty for a turn.
        said: numbers of the messages said in the turn.
        facts: planted in it: id, number or id of the message, value.
    """

    turn: int
    probe: str = ""
    said: tuple[int, ...] = ()
    facts: tuple[tuple[str, int | str, str], ...] = ()
    sent: tuple[ContextSection, ...] | None = None


class Playback:
    """The records of one case, read in order.

    Attributes:
        messages: those seen so far, by number.
        full: the first turn of which no context was kept any more; None while they all were.
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        self.messages: list[PlaybackMessage] = []
        self.full: int | None = None
        self._source = lines
        self._lines: list[str] = []
        self._derived: tuple[int | str, ...] = ()
        self._last: dict[str, tuple[int, ...]] = {}

    def frames(self) -> Iterator[PlaybackFrame]:
        """Read every recorded turn and question, in order."""
        for line in self._source:
            if "full" in line:
                self.full = line["full"]
            elif "turn" in line:
                yield self._frame(line)

    def _frame(self, line: Line) -> PlaybackFrame:
        first = len(self.messages)
        for told in line.get("new", ()):
            self._hear(told)
        if not 0 <= line.get("said", 0) <= len(self.messages) - first:
            raise ValueError("a turn has more messages than are new in it")
        sent = line.get("sent")
        return PlaybackFrame(
            turn=line["turn"],
            probe=line.get("probe", ""),
            said=tuple(range(first, first + line.get("said", 0))),
            facts=tuple((name, source, value) for name, source, value in line.get("facts", ())),
            sent=None if sent is None else self._context(sent),
        )

    def _hear(self, told: Sequence[Any]) -> None:
        name, role, principal, lines, *made_from = told
        for line in lines:
            if isinstance(line, str):
                self._lines.append(line)
        text = "\n".join(self._texts(lines))
        quotes: Sequence[int | str] = ()
        if made_from:
            quotes, (same, *rest) = made_from
            self._derived = (*self._derived[:same], *rest)
        self.messages.append(
            PlaybackMessage(
                number=len(self.messages),
                id=name,
                role=role,
                principal=principal,
                text=text,
                quotes=tuple(quotes),
                derived=self._derived if made_from else (),
                composed=bool(made_from),
            )
        )

    def _texts(self, lines: Sequence[str | int]) -> Iterator[str]:
        room = LONGEST_MESSAGE
        for line in lines:
            text = line if isinstance(line, str) else self._lines[line]
            room -= len(text)
            if room < 0:
                raise ValueError(f"a message is longer than {LONGEST_MESSAGE:,} characters")
            yield text

    def _context(self, sent: Sequence[Sequence[Any]]) -> tuple[ContextSection, ...]:
        parts = tuple(
            ContextSection(
                layer=layer,
                tokens=tokens,
                messages=self._messages(layer, runs),
                runs=tuple(runs),
            )
            for layer, tokens, runs in sent
        )
        self._last = {part.layer: part.messages for part in parts}
        return parts

    def _messages(self, layer: str, runs: Sequence[int | Sequence[int]]) -> tuple[int, ...]:
        numbers = tuple(islice(self._numbers(layer, runs), MOST_MESSAGES + 1))
        if len(numbers) > MOST_MESSAGES:
            raise ValueError(f"the section {layer!a} has more than {MOST_MESSAGES:,} messages")
        if not all(0 <= number < len(self.messages) for number in numbers):
            raise ValueError(f"the section {layer!a} has messages that are not known")
        return numbers

    def _numbers(self, layer: str, runs: Sequence[int | Sequence[int]]) -> Iterator[int]:
        before = self._last.get(layer, ())
        for run in runs:
            if isinstance(run, int):
                yield run
            else:
                yield from before[run[0] : run[0] + run[1]]
