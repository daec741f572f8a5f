"""Play two worlds that differ in what others say, and find the first byte that differs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, cast

from memsim.context import SECTIONS
from memsim.leakage.tool_calls import arguments
from memsim.testing.case_search import draw_cases, simplest
from memsim.testing.check_cases import Case, CaseElapse, CaseEvent, CaseForget, CaseGrant, CaseTurn
from memsim.testing.generators import cases
from memsim.testing.invariants.isolation import WAYS, actor, observer
from memsim.testing.worlds import Subject, World

if TYPE_CHECKING:
    from memsim.testing.checks import CheckProfile
    from memsim.testing.worlds import Sight


# Everything that one principal is shown at a point, by name, and the way by which it came.


Piece = tuple[str, tuple[str, ...]]
"""A text, and the ids of the messages that it quotes or says that it was made from."""


@dataclass(frozen=True, slots=True)
class PrincipalView:
    """One view of a principal, piece by piece."""

    pieces: tuple[Piece, ...] = ()

    @property
    def data(self) -> bytes:
        """It as bytes, a line for each piece."""
        return "\n".join(text for text, _ in self.pieces).encode("utf-8", "surrogatepass")

    def at(self, byte: int) -> tuple[str, ...]:
        """Ids of the messages that the piece at a byte was made from."""
        end = 0
        for text, made_from in self.pieces:
            end += len(text.encode("utf-8", "surrogatepass")) + 1
            if byte < end:
                return made_from
        return ()


def views(world: World, who: str) -> dict[str, PrincipalView]:
    """What one principal is shown: contexts, tools' answers and tiers; errors as they come."""
    return dict(_views(world, who))


def path(
    world: World,
    who: str,
    view: str,
    made_from: Sequence[str],
    happened: Sequence[CaseEvent],
    *,
    less: bool = False,
) -> Iterator[str]:
    """The way by which something came to somebody, or was kept from them, a stop each."""
    said = {m.id: (t.number, m.principal) for t in _turns(happened) for m in (*t.heard, *t.reply)}
    foreign = {i for i in made_from if said.get(i, (0, who))[1] != who}
    for event in happened:
        if actor(event) not in {who, ""} and (not foreign or foreign & set(_ids(event))):
            yield _describe(event)
    if "summary" in view and foreign:
        first, last = (of(said[i][0] for i in foreign) for of in (min, max))
        yield "a summary of " + (f"turn {first}" if first == last else f"turns {first} to {last}")
    elif not foreign and any(
        e.kind == "compaction" for x in world.transcript.ends for e in x.events
    ):
        yield "a compaction"
    how = f"missing because of it for {who}" if less and not foreign else f"seen by {who}"
    yield f"{how} after turn {last_turn(happened)} in the {view}"


def last_turn(happened: Sequence[CaseEvent]) -> int:
    """The number of the latest turn."""
    return max((turn.number for turn in _turns(happened)), default=0)


def _views(world: World, who: str) -> Iterator[tuple[str, PrincipalView]]:
    sent = [s for s in world.transcript.sights if s.delivered and s.query.principal == who]
    if sent:
        yield from _context(sent[-1], f"context of turn {sent[-1].query.turn}")
    failed = world.transcript.failed
    yield "error", PrincipalView(((world.transcript.crashed or str(failed or ""), ()),))
    if world.over:
        return
    for text in world.case.questions:
        yield from _context(world.ask(text, who), f"context for {text!r}")
        yield from _tools(world, who, text)
    if "surfaces" in world.subject.claims.has:
        tiers = sorted((s.tier, s.sources, s.text) for s in world.memory.surfaces(who))
        for tier, found in groupby(tiers, key=lambda surface: surface[0]):
            yield f"tier {tier}", PrincipalView(tuple((text, ids) for _, ids, text in found))


def _context(sight: Sight, name: str) -> Iterator[tuple[str, PrincipalView]]:
    yield f"{name}, refused", PrincipalView(((str(sight.refused or ""), ()),))
    sections = {section.layer: section for section in sight.context.sections}
    for layer in SECTIONS:
        messages = sections[layer].messages if layer in sections else ()
        pieces = tuple(
            (f"{m.role} {m.principal}: {m.text}", (*m.verbatim, *m.derived_from)) for m in messages
        )
        yield f"{name}, {layer}", PrincipalView(pieces)
    # Order, counts, ids and ranks: whatever else a caller is given.
    yield f"{name}, as a whole", PrincipalView(((repr(sight.context.ranked()), ()),))


def _tools(world: World, who: str, text: str) -> Iterator[tuple[str, PrincipalView]]:
    offered = tuple(world.memory.tools(who))
    yield "list of tools", PrincipalView(((repr(offered), ()),))
    for tool in offered:
        if tool.reads:
            try:
                said = world.memory.call_tool(tool.name, json.dumps(arguments(tool, text)), who)
            except Exception as error:  # noqa: BLE001 - a stranger's code: what it raises is seen
                said = f"{type(error).__name__}: {error}"
            yield f"answer of {tool.name}", PrincipalView(((said, ()),))


def _describe(event: CaseEvent) -> str:
    if isinstance(event, CaseTurn):
        said = event.heard[-1].text if event.heard else "nothing"
        return f"said at turn {event.number} by {event.who}: {said[:60]!r}"
    if isinstance(event, CaseForget):
        return f"{event.who} asks to forget {', '.join(event.sources) or 'something'}"
    if isinstance(event, CaseGrant):
        verb = "takes back" if event.revoked else "shares"
        return f"{event.owner} {verb} {', '.join(event.sources) or 'all'}"
    return "time passes"


def _ids(event: CaseEvent) -> tuple[str, ...]:
    if isinstance(event, CaseTurn):
        return tuple(m.id for m in (*event.heard, *event.reply))
    return () if isinstance(event, CaseElapse) else event.sources


def _turns(happened: Sequence[CaseEvent]) -> list[CaseTurn]:
    return [event for event in happened if isinstance(event, CaseTurn)]


AROUND = 24
"""Bytes that are shown before and after the one at which two worlds part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """The first difference between two worlds.

    Attributes:
        at: number of the first byte that differs, from 0.
        left, right: the bytes around it in both worlds.
        path: how it came there, a stop each.
    """

    way: str
    who: str
    view: str
    turn: int
    at: int
    left: bytes
    right: bytes
    path: tuple[str, ...]
    case: Case


@dataclass(slots=True, kw_only=True)
class LockstepResult:
    """The result for one strategy.

    Attributes:
        informative: pairs in which whoever said something else was shown something else: without
            them nothing was there to interfere.
        why: why there is nothing to compare; empty where there is.
    """

    subject: str
    pairs: int = 0
    views: int = 0
    informative: int = 0
    parting: Divergence | None = None
    why: str = ""


def look(
    subject: Subject,
    profile: CheckProfile,
    seed: int,
    tick: Callable[[float], None] = lambda _share: None,
) -> LockstepResult:
    """Play pairs of worlds until two of them differ, or the profile ends.

    Args:
        subject: the strategy.
        profile: how many cases, and how long.
        seed: of the cases.
        tick: is told, again and again, which share is done.
    """
    found = LockstepResult(subject=subject.ref)
    source = cases(profile.steps // 3)
    for number in range(profile.examples):
        tick(number / profile.examples)
        case = draw_cases(source, seed, number)
        if observer(case) is None:
            continue
        for way in WAYS:
            pair = compared(subject, case, way)
            found.pairs += 1
            found.views += pair.views
            found.informative += pair.informative
            if pair.parting is not None:
                found.parting = _simplest(subject, case, way, profile.patience) or pair.parting
                return found
    found.why = "" if found.informative else "nobody is shown what they said themselves"
    return found


@dataclass(slots=True, kw_only=True)
class WorldPair:
    """The result of one pair of worlds."""

    views: int = 0
    informative: bool = False
    parting: Divergence | None = None


def compared(subject: Subject, case: Case, way: str) -> WorldPair:
    """Play a case and its variation side by side, and look after every step."""
    who, found = observer(case), WorldPair()
    if who is None:
        return found
    with ExitStack() as stack:
        worlds = tuple(World(subject, case) for _ in range(2))
        for world in worlds:
            stack.callback(world.close)
        happened: list[CaseEvent] = []
        for event in case.events:
            _step(worlds, event, WAYS[way](event, who, case))
            happened.append(event)
            found.parting = _parting(worlds, who, way, case, happened, found)
            if found.parting is not None or worlds[0].over:
                break
        others = [other for other in case.principals if other != who]
        found.informative = any(_own(worlds[0], o) != _own(worlds[1], o) for o in others)
    return found


def _step(worlds: Sequence[World], event: CaseEvent, other: CaseEvent | None) -> None:
    for world, one in zip(worlds, (event, other), strict=True):
        if isinstance(event, CaseTurn):
            # Time passes in both: a memory may do then what it does for nobody's turn, and a model
            # that fails from some turn on fails then, whether or not somebody speaks.
            world.model.turn = event.number
            world.play((CaseElapse(now=event.time),))
        if one is not None:
            world.play((one,))
    # A slow model takes its time, and time is everybody's.
    latest = max(world.clock.now() for world in worlds)
    for world in worlds:
        world.clock.set(latest)


def _parting(
    worlds: Sequence[World],
    who: str,
    way: str,
    case: Case,
    happened: Sequence[CaseEvent],
    pair: WorldPair,
) -> Divergence | None:
    left, right = (views(world, who) for world in worlds)
    pair.views += len(left)
    for name in dict.fromkeys((*left, *right)):
        both = [of.get(name, PrincipalView()) for of in (left, right)]
        one, other = (view.data for view in both)
        if one != other:
            at = _first(one, other)
            return Divergence(
                way=way,
                who=who,
                view=name,
                turn=last_turn(happened),
                at=at,
                left=_around(one, at),
                right=_around(other, at),
                path=tuple(_path(worlds[0], who, name, both, at, happened)),
                case=case,
            )
    return None


def _path(
    world: World,
    who: str,
    name: str,
    both: Sequence[PrincipalView],
    at: int,
    happened: Sequence[CaseEvent],
) -> Iterator[str]:
    one, other = both
    made_from = one.at(at) or other.at(at)
    less = len(one.data) < len(other.data)
    return path(world, who, name, made_from, happened, less=less)


def _first(left: bytes, right: bytes) -> int:
    pairs = zip(left, right, strict=False)
    shortest = min(len(left), len(right))
    return next((n for n, (one, other) in enumerate(pairs) if one != other), shortest)


def _around(data: bytes, at: int) -> bytes:
    return data[max(0, at - AROUND) : at + AROUND]


def _own(world: World, who: str) -> list[bytes]:
    """What somebody is shown of what they said themselves, when they ask."""
    if world.over:
        return []
    shown = views(world, who).items()
    return [v.data for name, v in shown if name.startswith(("context for", "answer", "tier"))]


def _simplest(subject: Subject, case: Case, way: str, patience: int) -> Divergence | None:
    def parts(simpler: object) -> bool:
        return compared(subject, cast("Case", simpler), way).parting is not None

    return compared(subject, cast("Case", simplest(case, parts, patience)), way).parting
