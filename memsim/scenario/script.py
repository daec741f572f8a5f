"""The records of a script: what a scenario holds, and the events that it plays out as.

However a scenario was written (YAML, Python, a dataset), replay sees only `Scenario.events`: an
iterator, so that a script of a hundred thousand turns is never held in memory at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from memsim.fast_dataclass import fast_init

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.message import Message
    from memsim.strategy import Forget, SentContext

Ability = Literal[
    "recall",
    "multi-session",
    "temporal",
    "update",
    "preference",
    "abstain",
    "instruction",
    "conflict",
    "attribution",
    "order",
    "tool-result",
    "open-domain",
    "reuse",
]
ABILITIES: tuple[Ability, ...] = get_args(Ability)

Match = str
"""Name of a probe type: `match_NAME.py` in `memsim/scoring/probe_types` compares the answers."""

_TYPES = Path(__file__).parents[1] / "scoring" / "probe_types"
_FIRST = ("tokens", "exact", "any", "all", "number", "date", "choice", "locomo", "context")
_FOUND = {path.stem.removeprefix("match_") for path in _TYPES.glob("match_*.py")}
MATCHES: tuple[Match, ...] = (*_FIRST, *sorted(_FOUND.difference(_FIRST)))

IN_CONTEXT: Match = "context"
"""The probe type of which the context is searched, and nobody asked for an answer."""

UNKNOWN = "unknown"
"""Value of `expect` for a question whose answer was never said."""


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something that the script plants.

    Attributes:
        id: its name; a later fact with the same id, or that `replaces` it, supersedes it.
        replaces: id of the fact that it supersedes; None for a new one.
        private: only its principal, and whoever was granted it, may see it.
        no_store: it was said with the request not to remember it.
        statement: the value is a sentence, and counts as stated where it stands in other words.
        contradicts: id of the fact that it is a false version of; it was said as something that is
            not so. None for what is so.
        kind: what it is, in a dataset's own word; empty for none.
    """

    id: str
    value: str
    source: str
    principal: str
    turn: int
    time: datetime
    session: str
    replaces: str | None = None
    private: bool = False
    no_store: bool = False
    statement: bool = False
    contradicts: str | None = None
    kind: str = ""


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A question put to the memory at a point of the script.

    Attributes:
        expect: the right answers, any of which will do; for `match` `all`, every one is needed.
            Empty when unanswerable.
        forbid: values that must not be given as the answer: superseded ones and other people's.
        unanswerable: the right answer is to say that it is not known.
        evidence: ids of the messages that hold the answer, when the script names messages and not
            facts.
        excluded: why evidence recall is not scored for it; empty when it is.
        tolerance: `number`: allowed relative difference; `date`: allowed days.
        choices: `choice`: the options shown, of which `expect` is one.
        judge: whether a judge, where a run has one, is asked about the answer; None where the
            script leaves it to the run.
        labels: slices of a dataset, such as {"category": "temporal"}.
    """

    id: str
    ask: str
    principal: str = "user"
    expect: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    unanswerable: bool = False
    ability: Ability = "recall"
    match: Match = "tokens"
    tolerance: float = 0.0
    choices: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    excluded: str = ""
    judge: bool | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    line: int | None = None


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One exchange.

    Attributes:
        reply: what the model says, with its tool calls and their results; empty when nobody asks
            the model, as in a recorded conversation between people, and then no context is built
            for the turn.
        sent: what the agent itself sent, where the turn was recorded.
    """

    number: int
    session: str
    principal: str
    time: datetime
    heard: tuple[Message, ...]
    reply: tuple[Message, ...] = ()
    facts: tuple[Fact, ...] = ()
    sent: SentContext | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ElapseEvent:
    """Virtual time has jumped to `now` (between turns, or between sessions)."""

    now: datetime


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A probe is due, after turn `turn`.

    Attributes:
        apart: asked in a turn of its own, for which the messages of `turn` are earlier ones.
        sent: what a recorded agent sent next.
    """

    probe: Probe
    turn: int
    session: str
    time: datetime
    apart: bool = False
    sent: SentContext | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetEvent:
    """Someone asks for facts to be erased.

    Attributes:
        facts: ids of the facts that must be gone.
    """

    request: Forget
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantEvent:
    """A principal lets another see facts of theirs; `revoked` takes it back.

    Attributes:
        everything: not some facts, but all that the owner says, before and since.
    """

    owner: str
    viewer: str
    facts: tuple[str, ...] = ()
    revoked: bool = False
    everything: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartEvent:
    """The process stops and comes back: the strategy is saved, made anew and loaded."""


ScriptEvent = Turn | ElapseEvent | Ask | ForgetEvent | GrantEvent | RestartEvent


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A script, ready to be played.

    Attributes:
        path: the file or folder it came from, as the user named it; `<python>` when built in code.
        play: makes the events for a seed; called once for each case.
        budget: tokens, when the script sets them; None leaves it to the command.
        expect: metric name to bound, such as {"recall": ">= 0.80"}.
        fingerprint: sha256 of what the script says.
        dataset: name of the dataset it belongs to; empty for scenarios. Means over a dataset are
            clustered by scenario.
        recorded: the content of its conversation files, if the script plays nothing else.
    """

    name: str
    path: Path | str
    play: Callable[[int], Iterator[ScriptEvent]]
    turns: int
    probes: tuple[Probe, ...]
    about: str = ""
    principals: tuple[str, ...] = ("user",)
    budget: int | None = None
    expect: Mapping[str, str] = field(default_factory=dict)
    expect_lines: Mapping[str, int] = field(default_factory=dict)
    fingerprint: str = ""
    dataset: str = ""
    tags: tuple[str, ...] = ()
    recorded: tuple[bytes, ...] = field(default=(), repr=False)

    def events(self, seed: int) -> Iterator[ScriptEvent]:
        """The script's events in order.

        The same seed gives the same events, message ids included.
        """
        return self.play(seed)
