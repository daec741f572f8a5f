"""Recordings of what providers answered: made once, replayed for good.

One file holds the calls of one case, as canonical JSON lines: a header, the beginning of every
message that was sent, and one line a call. A call is found by a hash of all that a provider was
told and by the repeat of the case; so recordings do not depend on the order in which calls are
made, nor on how many processes make them.

What is asked twice in one case is answered alike: a memory whose `context` asks a model stays pure.
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
"""`none` replays and asks nobody; `new` asks for what is not recorded; `rewrite` asks for all of it
anew; `live` asks and records nothing."""

FORMAT = 1
LARGEST = 16 << 20
"""Bytes of one file: a case that needs more is no test to be kept in a repository."""

BEGINNING = 80
"""Characters of a message that are kept, to tell what differs; the hash knows all of it."""


class CassetteError(LocatedError):
    """A recording cannot be read, or cannot be made."""


class UnrecordedCall(BaseException):
    """A call is not recorded, and nobody may be asked.

    No strategy may take it for a failure of the model and go on without: so it is no `Exception`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A message that was sent, as far as it is kept.

    Attributes:
        beginning: its first characters, without credentials.
        length: how many characters it has.
    """

    role: str
    beginning: str
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFailure:
    """A call that was refused for what it is, and would be again."""

    kind: FailureKind
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One call and what came of it.

    Attributes:
        key: the hash of all that the provider was told.
        repeat: of the case.
        settings: all of it but the messages.
        messages: the hash of each message.
    """

    key: str
    repeat: int
    task: Task
    settings: Mapping[str, object]
    messages: tuple[str, ...]
    outcome: ProviderAnswer | RecordedFailure
