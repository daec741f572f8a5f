"""Generated cases: everything that a check needs, drawn before it begins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from memsim.message import EPOCH, Message

Behaviour = Literal[
    "good",
    "empty",
    "blank",
    "refusal",
    "garbage",
    "truncated",
    "cut",
    "longer",
    "slow",
    "raising",
]
"""What the model does when it is asked for a summary or for facts."""

BAD: tuple[Behaviour, ...] = ("empty", "blank", "refusal", "garbage", "truncated", "cut", "longer")
"""Behaviours whose text is no summary."""

TINY_BUDGETS = (1, 3, 6, 11, 17, 26, 38)
"""Budgets into which hardly a message fits."""

TokenizerName = Literal["chars/4", "bytes/3"]
"""What tokens are counted with: characters divided by four, or bytes of UTF-8 divided by three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTurn:
    """One turn of a conversation.

    Attributes:
        reply: what it says, and its tool traffic; before each assistant's message it is sent a
            context.
    """

    number: int
    who: str
    session: str
    time: datetime
    heard: tuple[Message, ...] = ()
    reply: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseElapse:
    """Time passes in which nobody speaks."""

    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseForget:
    """A request to erase messages, the asker's own or not."""

    who: str
    sources: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseGrant:
    """A grant of messages to a viewer, or its revocation."""

    owner: str
    viewer: str
    sources: tuple[str, ...] = ()
    revoked: bool = False


CaseEvent = CaseTurn | CaseElapse | CaseForget | CaseGrant


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A conversation, with the budget and the model behaviour of the memory.

    Attributes:
        pins: ids of messages that must stay byte for byte, for parts that know of pins.
        tail: so many latest messages must stay, for parts that are told how many.
        good_first: so many turns pass before the model misbehaves.
        tokenizer: what the tokens of contexts are counted with.
    """

    events: tuple[CaseEvent, ...] = ()
    budget: int = 1024
    behaviour: Behaviour = "good"
    pins: tuple[str, ...] = ()
    tail: int = 2
    apart: bool = True
    questions: tuple[str, ...] = ("Where is the order?",)
    good_first: int = 0
    tokenizer: TokenizerName = "chars/4"

    @property
    def turns(self) -> tuple[CaseTurn, ...]:
        """The turns alone."""
        return tuple(event for event in self.events if isinstance(event, CaseTurn))

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, in order."""
        return tuple(m for turn in self.turns for m in (*turn.heard, *turn.reply))

    @property
    def principals(self) -> tuple[str, ...]:
        """Who speaks, in the order of their first turns."""
        return tuple(dict.fromkeys(turn.who for turn in self.turns))

    @property
    def now(self) -> datetime:
        """The last instant."""
        moments = (e.time if isinstance(e, CaseTurn) else e.now for e in self._timed())
        return max(moments, default=EPOCH)

    def _timed(self) -> Iterator[CaseTurn | CaseElapse]:
        return (event for event in self.events if isinstance(event, CaseTurn | CaseElapse))


LedgerStep = Literal["claim", "mark", "release", "evict", "compact", "crash", "agree", "wait"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerOp:
    """One step of an injector.

    Attributes:
        step: claim: ask to inject and put the item into the context; mark: say so; crash: between
            the two of them the injector dies; compact: the context loses the item; wait: time
            passes.
        after: where the injector dies: before the item stands in the context, or after.
    """

    step: LedgerStep
    who: str = "ana"
    session: str = "s1"
    item: str = "skill"
    after: bool = False
    minutes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerCase:
    """A schedule for an injection ledger."""

    ops: tuple[LedgerOp, ...] = ()
    ttl: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelfEntry:
    """One entry of a store, its age counted back from now."""

    owner: str
    key: str
    text: str = "A note."
    category: str = "conversation"
    layer: str = "episodic"
    age: timedelta = timedelta(0)
    pinned: bool = False
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelfCase:
    """The content of a store, and the time at which it is cleaned.

    Attributes:
        store: memory, sqlite or markdown.
        fails: which writing call of the store fails once; 0 for none.
    """

    entries: tuple[ShelfEntry, ...] = ()
    store: str = "memory"
    now: datetime = EPOCH
    fails: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCase:
    """A state in a file, and the damage to the file.

    Attributes:
        state: JSON text.
        other: what is saved after it.
        damage: truncated, flipped, zeroed, emptied, newer or foreign.
        place: where in the file, in thousandths of its length.
        operation: at which statement of the database the process ends while `other` is saved.
    """

    state: str = "{}"
    other: str = "[]"
    damage: str = "truncated"
    place: int = 500
    operation: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCase:
    """A run of a scenario with and without fillers.

    Attributes:
        stop: after so many cases, and one, the run is stopped.
        lost: so many bytes of what it wrote last are lost.
    """

    seed: int = 0
    filler: int = 1
    stop: int = 0
    lost: int = 0
    jobs: int = 1


AnyCase = Case | LedgerCase | ShelfCase | FileCase | RunCase
