"""Recordings of provider answers: recorded once, replayed afterwards.

One file holds the calls of one case as canonical JSON lines: a header, the beginning of every
message that was sent, and one line per call. A call is found by the repeat of the case and by a
hash of everything that the provider receives. So recordings do not depend on the order of calls or
the number of processes.

The same question within one case gets the same answer: a memory whose `context` calls a model stays
pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memsim.errors import LocatedError

if TYPE_CHECKING:
    from memsim.models import Task
    from memsim.models.live import FailureKind, ProviderAnswer


RecordMode = Literal["none", "new", "rewrite", "live"]
"""How recordings are used.

`none` replays and never asks; `new` asks for missing answers; `rewrite` asks for all answers again;
`live` asks and records nothing.
"""

FORMAT = 1
LARGEST = 16 << 20
"""Maximum number of bytes of a file: a larger case does not belong in a repository."""

BEGINNING = 80
"""Number of characters of a message that are stored, to show differences; the hash covers all."""


class CassetteError(LocatedError):
    """A recording cannot be read or written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A message that was sent, as far as it is stored.

    Attributes:
        beginning: its first characters, without credentials.
        length: number of its characters.
    """

    role: str
    beginning: str
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFailure:
    """A call that the provider refused, and would refuse again."""

    kind: FailureKind
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One call and its result.

    Attributes:
        key: the hash of everything that the provider received.
        repeat: the repeat of the case.
        settings: everything except the messages.
        messages: the hash of each message.
    """

    key: str
    repeat: int
    task: Task
    settings: Mapping[str, object]
    messages: tuple[str, ...]
    outcome: ProviderAnswer | RecordedFailure
