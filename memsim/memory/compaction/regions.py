"""Which stretches of a history to condense into one message each, as designs choose them.

Each is a function of the history and of what may be taken from it, and gives places in ascending
order, oldest stretch first. A stretch never holds a part of a group.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memsim.memory.compaction.keeping import Plan
    from memsim.memory.compaction.shape import History
    from memsim.message import Message

    Region = tuple[int, ...]
    Select = Callable[[History, Plan], list[Region]]


def oldest(_history: History, planned: Plan) -> list[Region]:
    """All that may be taken, as one stretch."""
    return [planned.taken] if planned.taken else []


def tool_runs(more_than: int = 6) -> Select:
    """Stretches of more than so many messages that only call tools and answer these calls."""

    def select(history: History, planned: Plan) -> list[Region]:
        units = planned.units()
        runs = groupby(units, key=lambda unit: all(_is_tool(history[p]) for p in unit))
        found = [tuple(p for unit in run for p in unit) for is_tool, run in runs if is_tool]
        return [run for stretch in found for run in _unbroken(stretch) if len(run) > more_than]

    return select


def large(over: int = 5 * 1024) -> Select:
    """Each message of its own, no tool's, that has more than so many characters."""

    def select(history: History, planned: Plan) -> list[Region]:
        alone = (unit for unit in planned.units() if len(unit) == 1)
        return [unit for unit in alone if len(history[unit[0]].text) > over]

    return select


def earlier_rounds(history: History, planned: Plan) -> list[Region]:
    """What follows each user's message up to the last word before the next, where it is more."""
    users = [p for p, m in enumerate(history) if m.role == "user"]
    rounds = pairwise(users)
    return _whole((range(first + 1, after) for first, after in rounds), planned, least=2)


def current_round(history: History, planned: Plan) -> list[Region]:
    """What follows the latest user's message."""
    users = [p for p, m in enumerate(history) if m.role == "user"]
    after = users[-1] + 1 if users else 0
    return _whole([range(after, len(history))], planned, least=1)


def whole_only(regions: Iterable[Region], planned: Plan) -> Iterator[Region]:
    """The stretches that can be taken: of each group all that is not held, or nothing."""
    unit_of = {place: unit for unit in planned.units() for place in unit}
    for region in regions:
        members = frozenset(region)
        if region and all(p in unit_of and members.issuperset(unit_of[p]) for p in region):
            yield region


def _whole(stretches: Iterable[range], planned: Plan, least: int) -> list[Region]:
    units = planned.units()
    found: list[Region] = []
    at = 0
    for stretch in stretches:
        places: list[int] = []
        while at < len(units) and units[at][0] < stretch.start:
            at += 1
        while at < len(units) and units[at][-1] < stretch.stop:
            places.extend(units[at])
            at += 1
        if len(places) >= least:
            found.append(tuple(places))
    return found


def _unbroken(places: Sequence[int]) -> list[Region]:
    runs = groupby(enumerate(places), key=lambda pair: pair[1] - pair[0])
    return [tuple(place for _, place in run) for _, run in runs]


def _is_tool(message: Message) -> bool:
    return message.role == "tool" or bool(message.calls or message.results)
