"""Persistence: what is saved comes back as it was, and what is damaged says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from memsim.errors import MemsimError
from memsim.testing.registry import Violation, holds
from memsim.testing.worlds import Trial, World


@holds(
    52,
    "persistence",
    on="strategy",
    formal="load(save(x)) = x; save(load(save(x))) = save(x), in canonical bytes",
    needs=("save",),
)
def save_and_load(trial: Trial) -> int:
    """A memory that was saved and loaded shows what it showed, and is saved as it was.

    Fails, for example, where a counter that names summaries begins at 0 again.
    """
    if trial.main.over:
        return 0
    before = trial.main.saved()
    world = loaded(trial, before)
    if world.saved() != before:
        raise Violation("saved again after loading, it is not what was saved")
    seen = 1
    for who in trial.case.principals:
        query = trial.main.query(trial.case.questions[0], who)
        seen += 1
        if trial.main.shown(query) != world.shown(query):
            raise Violation(f"after loading, {who} is shown something else")
    return seen


def loaded(trial: Trial, state: str) -> World:
    """A world of its own that has loaded a state."""
    world = trial.world()
    world.clock.set(trial.main.clock.now())
    world.memory.load(json.loads(state))
    return world


@holds(
    54,
    "persistence",
    on="strategy",
    formal="load(damaged(save(x))) raises a typed error, and x stays what it was",
    needs=("save",),
)
def corruption_is_loud(trial: Trial) -> int:
    """A damaged state is refused with a typed error, and leaves the memory as it was.

    Fails, for example, where a state without its list of messages is loaded as an empty memory, and
    then saved over the good one.
    """
    if trial.main.over:
        return 0
    world = trial.played()
    before = world.saved()
    seen = 0
    for told, state in _damaged(json.loads(before)):
        seen += 1
        try:
            world.memory.load(state)
        except MemsimError:
            if world.saved() != before:
                raise Violation(f"{told} is refused, and has changed the memory") from None
            continue
        raise Violation(f"{told} is loaded without a word")
    return seen


def _damaged(state: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "an empty state", {}
    yield "another's state", {"unknown": 1}
    for key in sorted(state)[:3]:
        if isinstance(state[key], dict | list):
            yield f"a state whose {key} is a number", {**state, key: 7}
            yield f"a state whose {key} is null", {**state, key: None}
