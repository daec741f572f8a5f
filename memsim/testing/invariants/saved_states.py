"""Saved states that are damaged: each is refused, or read whole, and never in part."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from memsim.errors import MemsimError
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.views import difference, view_of
from memsim.testing.worlds import Trial

MOST = 8
"""Damages that are tried in one case."""

_CUT = "is cut"
_WRONG: dict[type, Any] = {list: {}, dict: [], str: 7, int: "x", float: "x", bool: "x"}


@holds(54, "load(damaged) raises StateError, or save(load(damaged)) = damaged", "save")
def states_are_read_whole(trial: Trial) -> int:
    """A damaged state is refused, or read with all that is in it; nothing of it is left out.

    Fails, for example, where a state that lacks a list is read as one whose list is empty, or the
    messages before a damaged one are kept.

    To mend it, check the whole state before anything is replaced, and raise `StateError` where a
    part is missing, unknown or of another type.
    """
    if not trial.one_of(4, 1) or trial.main.over:
        return 0
    world = trial.played()
    good = world.saved()
    before = view_of(world)
    seen = 0
    step = trial.case.budget % 7 + 1
    for told, text in islice(_damaged(good), 0, MOST * step, step):
        seen += 1
        try:
            world.memory.load(json.loads(text))
        except MemsimError:
            left = difference(before, view_of(world))
            if left:
                raise Violation(f"{told}: it is refused, and has changed {left}") from None
            continue
        # With the name of another embedder, all is embedded anew, and the same is shown.
        anew = told.endswith(_CUT) and not difference(before[:-1], view_of(world)[:-1])
        if world.saved() != text and not anew:
            raise Violation(f"{told}: it is loaded without a word, and not as a whole")
        world.memory.load(json.loads(good))
    return seen


def _damaged(text: str) -> Iterator[tuple[str, str]]:
    """Copies of a state, each with one damage, the simplest places first."""
    for place in sorted(_places(json.loads(text)), key=len):
        for told, change in _changes(place[-1], _at(json.loads(text), place)):
            state = json.loads(text)
            holder, key = _at(state, place[:-1]), place[-1]
            if change is None:
                del holder[key]
            else:
                holder[key] = change[0]
            if state != json.loads(text):
                where = "/".join(str(part) for part in place)
                yield f"a state whose {where} {told}", json.dumps(state, sort_keys=True)


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401
    inside: list[tuple[Any, Any]] = [*value.items()] if isinstance(value, dict) else []
    inside += enumerate(value[:2]) if isinstance(value, list) else ()
    for key, held in inside:
        yield (*place, key)
        yield from _places(held, (*place, key))


def _at(value: Any, place: tuple[Any, ...]) -> Any:  # noqa: ANN401 - any JSON value
    for part in place:
        value = value[part]
    return value


def _changes(key: Any, value: Any) -> Iterator[tuple[str, tuple[Any] | None]]:  # noqa: ANN401
    yield "is missing", None
    yield "is null", (None,)
    yield "is of another type", (_WRONG.get(type(value), 7),)
    if isinstance(value, list) and value:
        yield "holds a number", ([*value, 7],)
    if isinstance(value, str) and value:
        yield _CUT, (value[: len(value) // 2],)
    if isinstance(value, int) and "version" in str(key):
        yield "is that of a newer format", (value + 1,)
        yield "is that of an older format", (value - 1,)
