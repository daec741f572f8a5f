"""A script as it was written: steps not yet played, each with its line."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from memsim.fast_dataclass import fast_init
from memsim.message import EPOCH
from memsim.scenario.document import Node
from memsim.scenario.record_kinds import Named
from memsim.scenario.script import Ability, Match


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class FactNote:
    """What a fact says, without its id."""

    line: int | None
    value: str
    replaces: str | None = None
    private: bool = False


Facts = tuple[Named[FactNote], ...]


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """Someone speaks: the user, or the assistant without tools."""

    line: int | None
    role: Literal["user", "assistant"]
    text: str
    facts: Facts = ()
    speaker: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filler:
    """Generated talk."""

    line: int | None
    turns: int
    domain: str | None = None
    words: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call and its result.

    Attributes:
        arguments: canonical JSON.
        lines, characters: how large generated text makes the result; 0 leaves it as it is.
        depth: where `result` stands in the generated text: 0 first, 1 last.
    """

    line: int | None
    name: str
    arguments: str = "{}"
    result: str = ""
    lines: int = 0
    characters: int = 0
    depth: float = 0.5
    domain: str | None = None
    error: bool = False
    facts: Facts = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UseTools:
    """Calls made at once."""

    line: int | None
    value: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSession:
    """Another conversation begins, or an earlier one goes on."""

    line: int | None
    id: str | None = None
    principal: str | None = None
    after: timedelta | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Nothing is said for a while."""

    line: int | None
    value: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Facts are shown to someone, or no longer."""

    line: int | None
    owner: str
    viewer: str
    facts: tuple[str, ...]
    revoked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """Someone asks for facts to be erased."""

    line: int | None
    facts: tuple[str, ...]
    who: str | None = None
    say: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """The process stops and comes back."""

    line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHere:
    """Probes are due at this very point."""

    line: int | None
    value: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """Steps that come again, `$i` standing for the count from 1.

    Attributes:
        turns: as nodes, since `$i` may make other names and texts of them each time.
    """

    line: int | None
    times: int
    turns: tuple[Node, ...]


PlainStep = Say | Filler | UseTools | OpenSession | Gap | Share | Forgetting | Restart | AskHere
ScriptStep = PlainStep | Repeat


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """When a probe is asked: after a turn, after a fact and some turns more, or at the end."""

    line: int | None
    turn: int | None = None
    fact: str | None = None
    turns: int = 0


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeNote:
    """A probe as it was written."""

    line: int | None
    ask: str
    expect: tuple[str, ...]
    after: After | None = None
    forbid: tuple[str, ...] = ()
    ability: Ability | None = None
    match: Match | None = None
    tolerance: float = 0.0
    choices: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    derived: bool = False
    asker: str | None = None
    judge: bool | None = None
    labels: tuple[Named[str], ...] = ()


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A whole script as it was written."""

    line: int | None
    memsim: int
    name: str
    turns: tuple[ScriptStep, ...]
    about: str = ""
    seed: int = 0
    start: datetime = EPOCH
    budget: int | None = None
    domain: str = "smalltalk"
    tags: tuple[str, ...] = ()
    principals: tuple[str, ...] = ("user",)
    pace: timedelta = field(default=timedelta(minutes=1))
    probes: tuple[Named[ProbeNote], ...] = ()
    expect: tuple[Named[str], ...] = ()
