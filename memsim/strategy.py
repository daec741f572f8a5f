"""The class that every memory under test subclasses, and the records that it is given."""

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
    from memsim.message import Message, TokenCounter
    from memsim.models import Embedder, Model, ToolSpec

_T = TypeVar("_T")

Control = Literal["floor", "ceiling", "evidence", "recorded"]
JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]
State = dict[str, JSON]
"""The result of `save`: JSON values only."""

Retention = Mapping[str, tuple[timedelta, timedelta | None]]
"""By category: how long an entry is served, and when it is erased; None for never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentContext:
    """What the agent of a recorded conversation really sent its model in one turn.

    Attributes:
        system: its instructions.
        summary: the text that stood for messages before `since`.
        recalled: what its own memory returned: each text, with the messages that it quotes.
        since: the earliest message of the session that was still sent; empty for none.
    """

    system: str = ""
    summary: str = ""
    recalled: tuple[tuple[str, tuple[str, ...]], ...] = ()
    since: str = ""


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The question for which a context is requested.

    Attributes:
        text: the question, or the user's message.
        budget: tokens that the context may use.
        turn: the turn of the question.
        evidence: ids of the messages that hold the answer; only for strategies whose `control` is
            `evidence`.
        sent: what the recorded agent sent; only for strategies whose `control` is `recorded`.
    """

    text: str
    principal: str
    session: str
    time: datetime
    turn: int
    budget: int
    evidence: tuple[str, ...] = ()
    sent: SentContext | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    """A request to erase messages.

    Attributes:
        principal: who asks; only this principal's messages may be erased.
        text: what to forget, in words.
        sources: ids of the messages, if the script names them.
    """

    principal: str
    text: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetOutcome:
    """The result of a forget request.

    Attributes:
        supported: false if the strategy cannot forget at all.
        removed: ids of the messages that it removed.
    """

    supported: bool = False
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A principal lets another see something of some messages, or revokes that.

    Attributes:
        owner: the owner of the messages.
        viewer: who may see them from now on.
        sources: ids of the messages.
        revoked: the owner revokes the grant, also for everything derived from the messages.
        everything: the grant covers all messages of the owner, past and future.
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
        tier: window, summary, store, index, offload, audit, log, export or the strategy's own word.
        sources: ids of the original messages in it.
        text: its text; empty if only ids are kept.
        live: false for what is kept only as history, such as a fact that was superseded.
    """

    tier: str
    sources: tuple[str, ...] = ()
    text: str = ""
    live: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where one original message is, as the strategy reports it.

    Attributes:
        tier: as in `Surface`.
        rank: rank for the query, from 1; None without a ranking.
        detail: one phrase, such as `rank 14, k 8`.
    """

    tier: str
    rank: int | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that a strategy did, for the trace.

    Attributes:
        kind: compaction, dropped, stored, denied, archived, purged or the strategy's own word.
        sources: ids of the messages that it happened to.
        before, after: tokens before and after, if that makes sense.
        detail: one phrase.
    """

    kind: str
    sources: tuple[str, ...] = ()
    before: int | None = None
    after: int | None = None
    detail: str = ""


@dataclass(slots=True, kw_only=True)
class Environment:
    """Everything that a strategy may use: no other clock, random source, model or disk is allowed.

    Attributes:
        clock: virtual time.
        model: the language model; its calls are metered.
        counter: token counts.
        embed: loads the embedder on first use, because loading can be slow.
        random: seeded for the case.
        folder: creates the case's private folder on first use and returns it.
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
    """A memory under test. Only `context` must be implemented.

    For each turn of a conversation, replay calls `observe` for each message before the model's
    reply. Then it calls `context`, `delivered` with that context, `observe` for the reply and its
    tool messages, and `end_turn`. It calls `elapse` when virtual time has jumped.

    Probes call only `context`, so `context` must not change anything observable. A strategy that
    compacts computes the compaction in `context`, keeps it in `self.memo`, and adopts it in
    `delivered`.

    Attributes:
        control: set by strategies that are a lower or upper bound; they are shown in grey and never
            gated.
        inspectable: false for black boxes, whose content is reported as `not inspectable`.
        parameters: a dataclass of `memsim`, or of the same file, whose fields are the parameters of
            the strategy; None if the arguments of `__init__` are the parameters.
        hosts: names or addresses of servers that the strategy needs. `memsim check` and leakage are
            invalid where it talks to others.
    """

    control: ClassVar[Control | None] = None
    inspectable: ClassVar[bool] = True
    parameters: ClassVar[type | None] = None
    hosts: ClassVar[tuple[str, ...]] = ()

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.memo = Memo()

    def observe(self, message: Message) -> None:  # noqa: B027 - optional: a memory may store nothing
        """Store a message that was said; once, though a retry may bring it again by the same id."""

    @abstractmethod
    def context(self, query: Query) -> Context:
        """Build what the model is sent, without the query itself; must change nothing."""

    def delivered(self, context: Context) -> None:  # noqa: B027 - optional
        """Adopt the effects of a context that was really sent."""

    def end_turn(self) -> None:  # noqa: B027 - optional
        """Summarise, extract or record after the reply was observed.

        A retry may call it again, with nothing said in between: that changes nothing.
        """

    def elapse(self, now: datetime) -> None:  # noqa: B027 - optional
        """React to virtual time that has passed."""

    def retention(self, wanted: Retention | None = None) -> Retention:
        """How long messages and entries are kept; empty if nothing expires.

        The key `conversation` stands for messages, and every other key for entries that a tool
        stored in that category. An entry that was written at `t` is served until just before `t`
        plus its term.

        Args:
            wanted: the terms that an operator asks for. A strategy with configurable terms adopts
                them; any other returns its own.
        """
        return {}

    def tools(self, principal: str) -> Sequence[ToolSpec]:
        """The tools that an agent may call on behalf of a principal.

        During a question, only tools marked with `reads` are offered, because they change nothing.
        """
        return ()

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        """Run one of `tools` with JSON arguments and return its text.

        The principal is never an argument of the tool. An answer that begins with `Error` counts as
        a refusal. An exception on arguments that the tool's schema forbids counts as one too.

        Args:
            name: the tool's name.
            arguments: as a model wrote them; they may be invalid JSON or violate the schema.
            principal: on whose behalf.

        Raises:
            StrategyError: there is no such tool.
        """
        message = f"unknown tool {name!r}"
        raise StrategyError(message)

    def forget(self, request: Forget) -> ForgetOutcome:
        """Erase on request."""
        return ForgetOutcome()

    def grant(self, grant: Grant) -> None:  # noqa: B027 - optional
        """Let another principal see something, or revoke that."""

    def surfaces(self, viewer: str | None = None) -> Iterable[Surface]:
        """Every tier that holds text, as `viewer` may see it; None sees all.

        Without it, nobody can say where a fact is that left the context.
        """
        return ()

    def locate(self, source: str, query: Query) -> Location | None:
        """Where an original message is, and why the query did not recall it; None if nowhere.

        The default searches `surfaces`: as the asker sees them, if the class says `isolates`.
        """
        viewer = query.principal if getattr(self, "isolates", False) else None
        for surface in self.surfaces(viewer):
            if source in surface.sources:
                return Location(tier=surface.tier)
        return None

    def save(self) -> State:
        """The whole state as JSON values."""
        message = f"{type(self).__name__} cannot be saved: it does not implement save and load"
        raise StrategyError(message)

    def load(self, state: State) -> None:
        """Replace the present state by a saved one, all of it.

        Raises:
            StateError: a part is missing, unknown or damaged; the present state stays.
        """
        message = f"{type(self).__name__} cannot be loaded: it does not implement save and load"
        raise StrategyError(message)

    def restart(self) -> bool:
        """Restart, if the state lives outside of the process; else it is saved, made and loaded.

        Returns:
            Whether it did; False by default.
        """
        return False

    def close(self) -> None:  # noqa: B027 - optional
        """Release files and connections."""


def reports_stores(strategy: Strategy) -> bool:
    """Whether a strategy tells what it holds outside of its contexts."""
    kind = type(strategy)
    own = kind.surfaces is not Strategy.surfaces or kind.locate is not Strategy.locate
    return kind.inspectable and own


class Memo:
    """Results of the pure read path, kept as long as the history has the same revision."""

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
