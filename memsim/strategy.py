"""What is under test: the one class that a user subclasses, and what it is given and asked."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from memsim.context import ContextBuilder
from memsim.errors import StrategyError
from memsim.fast_dataclass import fast_init

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from memsim.clock import Clock
    from memsim.context import Context
    from memsim.message import Message
    from memsim.models import Embedder, Model, ToolSpec
    from memsim.tokens import TokenCounter

_T = TypeVar("_T")

Control = Literal["floor", "ceiling", "evidence"]
JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]
State = dict[str, JSON]
"""What `save` returns: JSON values only."""

Retention = Mapping[str, tuple[timedelta, timedelta | None]]
"""By category: for how long it is served, and when it is erased; None for never."""


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a context is asked for.

    Attributes:
        text: the question, or the user's message.
        budget: tokens that the context may use.
        turn: the turn in which it is asked.
        evidence: ids of the messages that hold the answer; empty but for strategies whose `control`
            is `evidence`.
    """

    text: str
    principal: str
    session: str
    time: datetime
    turn: int
    budget: int
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    """A request to erase.

    Attributes:
        principal: who asks; only what is theirs may go.
        text: what to forget, in words.
        sources: ids of the messages meant, when the script names them.
    """

    principal: str
    text: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetOutcome:
    """What a strategy did about it.

    Attributes:
        supported: false when the strategy cannot forget at all.
        removed: ids of the messages that it removed.
    """

    supported: bool = False
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A principal lets another see what comes from some messages, or takes that back.

    Attributes:
        owner: whose messages.
        viewer: who may see them from now on.
        sources: ids of the messages.
        revoked: the owner takes it back; what was made from the messages is meant as well.
        everything: not some messages, but all that the owner says, before and since.
    """

    owner: str
    viewer: str
    sources: tuple[str, ...] = ()
    revoked: bool = False
    everything: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """A place where stored text can be seen.

    Attributes:
        tier: window, summary, store, index, offload, audit, log, export or another word of the
            strategy's own.
        sources: ids of the original messages that stand there.
        text: what stands there; empty where only ids are kept.
    """

    tier: str
    sources: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where one original message is, as the strategy itself can tell.

    Attributes:
        tier: as in `Surface`.
        rank: place in the ranking for the query, from 1; None where nothing was ranked.
        detail: one phrase, such as `rank 14, k 8`.
    """

    tier: str
    rank: int | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that a strategy did of its own accord, for the trace.

    Attributes:
        kind: compaction, dropped, stored, denied, archived, purged or another word of the
            strategy's own.
        sources: ids of the messages it happened to.
        before, after: tokens before and after, where that makes sense.
        detail: one phrase.
    """

    kind: str
    sources: tuple[str, ...] = ()
    before: int | None = None
    after: int | None = None
    detail: str = ""


@dataclass(slots=True, kw_only=True)
class Environment:
    """Everything that a strategy may use; there is no other clock, chance, model or disk.

    Attributes:
        clock: virtual time.
        model: the language model; its calls are metered.
        counter: token counts.
        embed: makes the embedder on first use, since it may be slow to load.
        random: seeded for the case.
        folder: makes the case's private folder on first use and returns it.
        budget: tokens that a context may use in this case.
        services: addresses of servers, by name.
        log: takes events for the trace.
    """

    clock: Clock
    model: Model
    counter: TokenCounter
    embed: Callable[[], Embedder]
    folder: Callable[[], Path]
    budget: int
    random: random.Random = field(default_factory=lambda: random.Random(0))
    services: Mapping[str, str] = field(default_factory=dict)
    log: Callable[[Event], None] = lambda _event: None

    @property
    def build(self) -> ContextBuilder:
        """Makes sections and contexts for this case."""
        return ContextBuilder(self.counter)


class Strategy(ABC):
    """A memory under test. Only `context` must be written.

    Replay calls, for each turn of a conversation: `observe` for each message that was said before
        the model speaks,
    `context` for what the model would be sent, `delivered` with that very context, `observe` for
    the model's reply and its tool traffic, then `end_turn`. `elapse` is called when virtual time
    has jumped. Probes call `context` alone, so
    that must change nothing that can be seen later: a strategy that compacts computes the
        compaction in `context`,
    keeps it in `self.memo`, and adopts it in `delivered`.

    Attributes:
        control: set on strategies that mark a floor or a ceiling; they are shown greyed, and never
            gated.
        inspectable: false for black boxes, whose insides are then reported as `not inspectable`.
        parameters: a dataclass of `memsim`, or of the same file, whose fields are the parameters of
            the strategy; None where the arguments of `__init__` are.
    """

    control: ClassVar[Control | None] = None
    inspectable: ClassVar[bool] = True
    parameters: ClassVar[type | None] = None

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.memo = Memo()

    def observe(self, message: Message) -> None:  # noqa: B027 - a memory may keep nothing
        """Write path: a message was said."""

    @abstractmethod
    def context(self, query: Query) -> Context:
        """Read path: what the model would be sent, without the query itself. Pure."""

    def delivered(self, context: Context) -> None:  # noqa: B027 - most have nothing to adopt
        """That context was really sent."""

    def end_turn(self) -> None:  # noqa: B027 - most have nothing to do
        """The reply has been observed: summarise, extract, record."""

    def elapse(self, now: datetime) -> None:  # noqa: B027 - most do not age
        """Virtual time has passed."""

    def retention(self, wanted: Retention | None = None) -> Retention:
        """For how long what is said and stored is there; empty where nothing ever expires.

        `conversation` is what is said, any other word what a tool stores as that category. What was
        written at `t` is served until just before `t` and the term, and from then on no more.

        Args:
            wanted: what an operator asks for; a strategy whose terms can be set holds to it from
                now on, any other tells its own.
        """
        return {}

    def tools(self, principal: str) -> Sequence[ToolSpec]:
        """What an agent may call on behalf of a principal.

        With a question only those are offered that `reads` marks: they change nothing.
        """
        return ()

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        """Run one of `tools` with JSON arguments and return its text.

        On whose behalf is never an argument. An answer that begins with `Error` counts as a
        refusal; so does whatever is raised on arguments that the tool's schema does not allow.

        Args:
            name: of the tool.
            arguments: as a model wrote them: they need not be JSON, nor keep to the schema.
            principal: on whose behalf.

        Raises:
            StrategyError: there is no such tool.
        """
        message = f"no tool is called {name!r}"
        raise StrategyError(message)

    def forget(self, request: Forget) -> ForgetOutcome:
        """Erase on request."""
        return ForgetOutcome()

    def grant(self, grant: Grant) -> None:  # noqa: B027 - most keep everybody's alike
        """A principal lets another see something of theirs, or takes that back."""

    def surfaces(self, viewer: str | None = None) -> Iterable[Surface]:
        """Every tier that holds text, as `viewer` may see it; None sees all."""
        return ()

    def locate(self, source: str, query: Query) -> Location | None:
        """Where an original message is, and why the query did not bring it up; None if nowhere.

        The default looks through `surfaces`.
        """
        for surface in self.surfaces():
            if source in surface.sources:
                return Location(tier=surface.tier)
        return None

    def save(self) -> State:
        """The whole state as JSON values."""
        message = f"{type(self).__name__} cannot be saved: it does not implement save and load"
        raise StrategyError(message)

    def load(self, state: State) -> None:
        """Take over a saved state in place of the present one."""
        message = f"{type(self).__name__} cannot be loaded: it does not implement save and load"
        raise StrategyError(message)

    def close(self) -> None:  # noqa: B027 - most hold nothing open
        """Release files and connections."""


class Memo:
    """Results of the pure read path, kept for as long as their revision of the history lasts."""

    def __init__(self) -> None:
        self._revision: Hashable = None
        self._results: dict[Hashable, object] = {}

    def get(self, revision: Hashable, key: Hashable, compute: Callable[[], _T]) -> _T:
        """The result for a key at a revision of the history, computed at most once."""
        if revision != self._revision:
            self._revision, self._results = revision, {}
        if key not in self._results:
            self._results[key] = compute()
        return self._results[key]  # type: ignore[return-value]
