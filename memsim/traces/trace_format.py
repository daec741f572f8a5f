"""What a format is, and what its reader gets: the values of a file, and counts of the losses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from memsim.errors import ScenarioError
from memsim.traces.json_values import json_values
from memsim.traces.records import TraceConversation

MOST_PROBLEMS = 1_000
"""Problems that are kept; of more, only their number."""

_MOST_REASONS = 40
"""Reasons that are told apart: many of them name what a stranger wrote."""


@dataclass(slots=True)
class ImportCounts:
    """What came of files: every message that is not imported is counted with its reason.

    Attributes:
        dropped: messages that are not imported, by reason.
        left_out: parts of imported messages that are not text, by kind.
        adjusted: imported messages that were changed, by reason.
        problems: places of files that could not be read, in order.
        more_problems: how many there were beyond `MOST_PROBLEMS`.
    """

    dropped: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    adjusted: Counter[str] = field(default_factory=Counter)
    problems: list[ScenarioError] = field(default_factory=list)
    more_problems: int = 0

    def refuse(self, problem: ScenarioError) -> None:
        """Add a place that could not be read."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        else:
            self.more_problems += 1

    def drop(self, reason: str, messages: int = 1) -> None:
        """Count messages that are not imported."""
        if messages:
            self.dropped[_reason(reason, self.dropped)] += messages

    def leave_out(self, kind: str) -> None:
        """Count something beside messages that is not imported."""
        self.left_out[_reason(kind, self.left_out)] += 1


def _reason(said: str, known: Counter[str]) -> str:
    told = said if said.isprintable() else ascii(said)[1:-1]
    return told if told in known or len(known) < _MOST_REASONS else "other reasons"


@dataclass(frozen=True, slots=True)
class TraceSource:
    """One file, or one member of an archive.

    Attributes:
        name: the file as the user named it, with the member behind an exclamation mark.
        open: opens it to read bytes.
    """

    name: str
    open: Callable[[], BinaryIO]
    counts: ImportCounts = field(default_factory=ImportCounts)
    is_member: bool = False

    def values(self) -> Iterator[tuple[int, Any]]:
        """Its JSON values in order, each with its line; what cannot be read becomes a problem."""
        try:
            stream = self.open()
        except (ScenarioError, OSError) as error:
            said = error.message if isinstance(error, ScenarioError) else error.strerror
            self.counts.refuse(ScenarioError(f"{said}", path=self.name))
            return
        with stream:
            yield from json_values(stream, self.name, self.counts.refuse)

    def drop(self, reason: str, messages: int = 1) -> None:
        """Count messages that are not imported."""
        self.counts.drop(reason, messages)

    def leave_out(self, kind: str) -> None:
        """Count a part of a message that is no text."""
        self.counts.leave_out(kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFormat:
    """A format of recorded conversations.

    Attributes:
        name: as in `--format`.
        version: raised when a change reads the same file in another way.
        about: what writes it.
        recognise: whether the first values of a file are of this format.
        read: the conversations of a source.
    """

    name: str
    version: int
    about: str
    recognise: Callable[[Sequence[Any]], bool]
    read: Callable[[TraceSource], Iterator[TraceConversation]]
