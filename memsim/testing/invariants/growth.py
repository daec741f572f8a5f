"""Growth: what is not said costs nothing, and what a memory has let go it holds no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from memsim.message import EPOCH, said
from memsim.strategy_process.host_process import StrategyProxy
from memsim.testing.check_cases import CaseTurn
from memsim.testing.footprint import bytes_of
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.invariants.characters import counted
from memsim.testing.relays import Relay
from memsim.testing.views import WIDE, shown
from memsim.testing.worlds import Trial, World, embedder

SILENT = 60
"""Rounds of calls in which nothing is said."""
LENGTHS = (60, 120, 240)
"""Turns after which a long conversation is measured."""


def bytes_held(world: World) -> int:
    """Bytes of everything that a strategy holds, without what it was given to work with."""
    memory = world.memory.inner if isinstance(world.memory, Relay) else world.memory
    if isinstance(memory, StrategyProxy):
        held: int = memory.probe("held")
        return held
    # The embedder belongs to all worlds, and keeps what it embedded.
    return bytes_of(memory, (embedder(),) if embedder.cache_info().currsize else ())


@holds(31, "silent calls: held(M after n) = held(M after 2n)")
def silence_costs_nothing(trial: Trial) -> int:
    """Calls in which nothing new is said do not make a memory hold more.

    The same question, the end of a turn and the same message come again and again. Fails, for
    example, where every context that was sent is added to a list.

    To mend it, replace what you keep for each call, or limit how much of it there is.
    """
    if not trial.one_of(25, 5):
        return 0
    world = trial.played(replace(trial.case, behaviour="good"))
    if world.over:
        return 0
    sizes = []
    for rounds in (SILENT // 2, SILENT, SILENT):
        for _ in range(rounds):
            _silence(world)
        sizes.append(bytes_held(world))
    if world.over:
        return 0
    # A counter may need a few bytes more; a list needs eight for each round at least.
    if sizes[2] - sizes[1] > SILENT * 6 and sizes[1] - sizes[0] > SILENT * 6:
        grown = sizes[2] - sizes[1]
        raise Violation(f"{SILENT} rounds of calls that say nothing make it hold {grown:,} bytes")
    return SILENT


def _silence(world: World) -> None:
    case = world.case
    query = world.query(case.questions[0], case.principals[-1])
    shown(world, query)
    query = replace(query, budget=WIDE)
    context = world.memory.context(query)
    world.memory.delivered(context)
    world.memory.end_turn()
    world.memory.elapse(world.clock.now())
    world.memory.tools(case.principals[0])
    world.memory.locate("m1", query)


@dataclass(frozen=True, slots=True)
class _Length:
    """Figures of a conversation after some turns."""

    turns: int
    held: int
    surfaces: int
    saved: int
    request: int
    work: int


@holds(31, "surfaces(2n) = surfaces(n) => held(2n) <= 1.3 held(n), save likewise")
def what_is_gone_is_not_held(trial: Trial) -> int:
    """A memory whose surfaces hold no more than before holds no more, and saves no more.

    Fails, for example, where a window shows its latest messages, and keeps all of them in a list.

    To mend it, remove a message from every list and index when it leaves the window.
    """
    if not _is_long(trial) or not trial.subject.claims.has & {"surfaces", "save"}:
        return 0
    _, before, after = _lengths(trial)
    if "surfaces" in trial.subject.claims.has and after.surfaces > 1.2 * before.surfaces + 200:
        return 0
    if "surfaces" not in trial.subject.claims.has and trial.subject.claims.tail is None:
        return 0
    for name, one, two in (
        ("holds", before.held, after.held),
        ("saves", before.saved, after.saved),
    ):
        if two > 1.3 * one + 4_000:
            raise Violation(
                f"after {before.turns} turns it {name} {one:,} bytes, after {after.turns} {two:,},"
                " and shows no more"
            )
    return 1


@holds(31, "largest request and work of a question at 2n <= 2.5 those at n")
def turns_cost_the_same(trial: Trial) -> int:
    """A late turn sends a model no more than an early one, and a question's work grows no faster.

    Fails, for example, where every summary is made of the whole conversation once more.

    To mend it, give the model the summary and what came since, and index what you search.
    """
    if not _is_long(trial):
        return 0
    _, before, after = _lengths(trial)
    if after.request > 1.6 * before.request + 400:
        raise Violation(
            f"after {before.turns} turns a model is sent {before.request:,} characters at once,"
            f" after {after.turns} {after.request:,}"
        )
    if after.work > 2.6 * before.work + 4_000:
        raise Violation(
            f"after {before.turns} turns a question takes {before.work:,} calls of functions,"
            f" after {after.turns} {after.work:,}"
        )
    return 1


def _is_long(trial: Trial) -> bool:
    return trial.one_of(50, 6)


_LAST: list[tuple[object, tuple[_Length, ...]]] = []


def _lengths(trial: Trial) -> tuple[_Length, ...]:
    # Two invariants look at the same long conversation.
    if not _LAST or _LAST[0][0] != (trial.subject.ref, trial.case):
        _LAST[:] = [((trial.subject.ref, trial.case), tuple(_measured(trial)))]
    return _LAST[0][1]


def _measured(trial: Trial) -> Iterator[_Length]:
    world = trial.world(replace(trial.case, behaviour="good", budget=400, events=()))
    done = 0
    for turns in LENGTHS:
        asked = len(world.model.requests)
        world.play([_turn(n) for n in range(done + 1, turns + 1)])
        done = turns
        yield _figures(world, turns, asked)


def _figures(world: World, turns: int, asked: int) -> _Length:
    has = world.subject.claims.has
    written = (
        sum(len(m.text) for m in request.messages) + len(request.previous)
        for request in world.model.requests[asked:]
    )
    query = replace(world.query("Where is parcel 1000007?", "ana", session="ana-1"), turn=turns)
    query = replace(query, time=world.clock.now())
    surfaces = [*world.memory.surfaces()] if "surfaces" in has else []
    return _Length(
        turns=turns,
        work=counted(lambda: shown(world, query)),
        request=max(written, default=0),
        surfaces=sum(len(s.text) + 8 * len(s.sources) + 8 for s in surfaces),
        held=bytes_held(world),
        saved=len(world.saved()) if "save" in has else 0,
    )


def _turn(n: int) -> CaseTurn:
    time = EPOCH + timedelta(minutes=n)
    given = {"principal": "ana", "session": "ana-1", "turn": n, "time": time}
    text = f"Parcel {1_000_000 + n} went to Oslo and cost {9_000_000 - n} euros."
    heard = said("user", text, id=f"m{2 * n}", **given)  # type: ignore[arg-type]
    reply = said("assistant", "Noted, ana.", id=f"m{2 * n + 1}", **given)  # type: ignore[arg-type]
    return CaseTurn(
        number=n,
        who="ana",
        session="ana-1",
        time=time,
        heard=(heard,),
        reply=(reply,) if n % 6 == 0 else (),
    )
