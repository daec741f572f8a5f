"""Play cases side by side in one process, and on a disk that is full for a while."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from memsim.testing.check_cases import Case
from memsim.testing.relays import Restarts, relayed
from memsim.testing.views import View, found_messages, view_of
from memsim.testing.worlds import Subject, World


def side_by_side(subject: Subject, cases: Sequence[Case]) -> tuple[list[World], list[View]]:
    """Play cases, an event of each in turn; their worlds, and what they show."""
    worlds = [World(_restarting(subject, case), case) for case in cases]
    for number, events in enumerate(zip_longest(*(case.events for case in cases))):
        for world, event in zip(worlds, events, strict=True):
            if event is not None and not world.over:
                world.play((event,))
                _ask(world, number)
    return worlds, [view_of(world, ordered=True) for world in worlds]


def _restarting(subject: Subject, case: Case) -> Subject:
    """The subject, in every second case restarted half-way: what is read then is shown later."""
    if "save" not in subject.claims.has or len(case.messages) % 2:
        return subject
    return relayed(subject, Restarts, after=max(1, len(case.turns) // 2))


def _ask(world: World, number: int) -> None:
    """Ask now and then what is asked at the end, so that a context that was kept for long shows."""
    if number % 3 == 1 and not world.over:
        for who in world.case.principals:
            world.ask(world.case.questions[0], who)


def found_on_disk(
    subject: Subject, case: Case, limit: Callable[[bool], object] = lambda _: None
) -> list[str]:
    """Ids of the messages that are found, or of all of them where an error was raised.

    Args:
        subject: the strategy.
        case: what is played.
        limit: lets every write fail, or work again; called around each event.
    """
    world = World(subject, case)
    third = max(1, len(case.events) // 3)
    for number, event in enumerate(case.events):
        limit(third <= number < 2 * third)
        world.play((event,))
        limit(False)  # noqa: FBT003 - whether the disk is full
    found = [m.id for m in case.messages] if world.over else sorted(found_messages(world, case))
    world.close()
    return found
