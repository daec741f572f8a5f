"""Two worlds in lockstep that differ in what others say, and the first byte that betrays it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from memsim.testing.cases import Case, Elapse, Happening, Turn
from memsim.testing.drawing import drawn
from memsim.testing.generators import cases
from memsim.testing.invariants.acl import actor, coded, observer, saying
from memsim.testing.shrinking import simplest
from memsim.testing.views import View, last_turn, path, views
from memsim.testing.worlds import Subject, World

if TYPE_CHECKING:
    from memsim.testing.checking import Profile

Change = Callable[[Happening, str, Case], Happening | None]

AROUND = 24
"""Bytes that are shown before and after the one at which two worlds part."""


def _nothing(event: Happening, who: str, _: Case) -> Happening | None:
    return event if actor(event) in {who, ""} else None


def _as_oneself(event: Happening, who: str, case: Case) -> Happening | None:
    own = [m.text for m in case.messages if m.principal == who and m.role == "user"]
    return saying(event, who, own[-1] if own else "x")


def _coded(event: Happening, who: str, _: Case) -> Happening | None:
    return coded(event, who)


WAYS: Mapping[str, Change] = {
    "others say nothing": _nothing,
    "others say what one says oneself": _as_oneself,
    "others have other codes": _coded,
}
"""What is different in the second world."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parting:
    """Where two worlds part.

    Attributes:
        way: what is different in the second world.
        who: can tell.
        view: what they were looking at.
        turn: of the case, after which they looked.
        at: number of the first byte that differs, from 0.
        left, right: the bytes around it in both worlds.
        path: how it came there, a stop each.
        case: the shortest one that was found.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What came of looking at one strategy.

    Attributes:
        pairs: of worlds that were compared.
        views: compared byte by byte.
        telling: pairs in which whoever said something else was shown something else: without
            them nothing was there to interfere.
        parting: the first that was found, made as short as it could be.
        why: why there is nothing to compare; empty where there is.
    """

    subject: str
    pairs: int = 0
    views: int = 0
    telling: int = 0
    parting: Parting | None = None
    why: str = ""


def look(subject: Subject, profile: Profile, seed: int) -> Looked:
    """Play pairs of worlds until two of them part, or the profile is through.

    Args:
        subject: what is looked at.
        profile: how many cases, of how many messages.
        seed: of the cases.
    """
    pairs = views = telling = 0
    source = cases(profile.steps // 3)
    for number in range(profile.examples):
        case = drawn(source, seed, number)
        if observer(case) is None:
            continue
        for way in WAYS:
            pair = compared(subject, case, way)
            pairs, views, telling = pairs + 1, views + pair.views, telling + pair.telling
            if pair.parting is not None:
                parting = _simplest(subject, case, way, profile.patience) or pair.parting
                return Looked(
                    subject=subject.ref, pairs=pairs, views=views, telling=telling, parting=parting
                )
    return Looked(
        subject=subject.ref,
        pairs=pairs,
        views=views,
        telling=telling,
        why="" if telling else "nobody is shown what they said themselves",
    )


@dataclass(slots=True, kw_only=True)
class Pair:
    """What came of one pair of worlds."""

    views: int = 0
    telling: bool = False
    parting: Parting | None = None


def compared(subject: Subject, case: Case, way: str) -> Pair:
    """Play a case and its variation side by side, and look after every step.

    Args:
        subject: what is looked at.
        case: with somebody whose view can be compared, or nothing is.
        way: one of `WAYS`.
    """
    who, found = observer(case), Pair()
    if who is None:
        return found
    with ExitStack() as stack:
        worlds = tuple(World(subject, case) for _ in range(2))
        for world in worlds:
            stack.callback(world.close)
        happened: list[Happening] = []
        for event in case.events:
            _step(worlds, event, WAYS[way](event, who, case))
            happened.append(event)
            found.parting = _parting(worlds, who, way, case, happened, found)
            if found.parting is not None or worlds[0].over:
                break
        others = [other for other in case.principals if other != who]
        found.telling = any(_own(worlds[0], o) != _own(worlds[1], o) for o in others)
    return found


def _step(worlds: Sequence[World], event: Happening, other: Happening | None) -> None:
    for world, one in zip(worlds, (event, other), strict=True):
        if isinstance(event, Turn):
            # Time passes in both: a memory may do then what it does for nobody's turn.
            world.play((Elapse(now=event.time),))
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
    happened: Sequence[Happening],
    pair: Pair,
) -> Parting | None:
    left, right = (views(world, who) for world in worlds)
    pair.views += len(left)
    for name in dict.fromkeys((*left, *right)):
        both = [of.get(name, View()) for of in (left, right)]
        one, other = (view.data for view in both)
        if one != other:
            at = _first(one, other)
            return Parting(
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
    world: World, who: str, name: str, both: Sequence[View], at: int, happened: Sequence[Happening]
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


def _simplest(subject: Subject, case: Case, way: str, patience: int) -> Parting | None:
    def parts(simpler: object) -> bool:
        return compared(subject, cast("Case", simpler), way).parting is not None

    return compared(subject, cast("Case", simplest(case, parts, patience)), way).parting
