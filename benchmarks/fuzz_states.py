"""Fuzz the saved states of every built-in strategy, value by value."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from memsim.errors import MemsimError
from memsim.message import said
from memsim.testing import Case, CaseTurn, world_of
from tests.doubles.damage import mutated_value

Target = Callable[[random.Random], None]

BUILT_IN = (
    *("full_context", "no_memory", "oracle", "sliding_window", "rolling_summary", "bm25"),
    *("vector", "hybrid", "layered", "cogtrix", "agenticx", "agentscope", "aegis", "prx"),
)
_ASKED_EACH = 0.3
"""Share of the states that were loaded which then have to answer a question."""


class ChangedError(Exception):
    """A state was refused, and is not the one it was."""


def _turn(n: int) -> CaseTurn:
    heard = said("user", f"My order {n} is A-{7 * n}, not B.", id=f"m{n}", principal="ana")
    reply = said("assistant", "Noted.", id=f"r{n}", principal="ana")
    return CaseTurn(
        number=n, who="ana", session="s1", time=heard.time, heard=(heard,), reply=(reply,)
    )


def strategy(ref: str) -> Callable[[Path, ExitStack], Target]:
    """A strategy's saved state; what was refused must leave the state as it was."""

    def made(_folder: Path, closing: ExitStack) -> Target:
        world = world_of(ref, Case(events=tuple(map(_turn, range(1, 6))), budget=60))
        closing.callback(world.close)
        world.play(world.case.events)
        whole = world.saved()
        world.memory.load(json.loads(whole))

        def target(chance: random.Random) -> None:
            try:
                world.memory.load(mutated_value(chance, json.loads(whole)))
            except MemsimError as error:
                # What was refused changed nothing, so that there is nothing to put back.
                if world.saved() != whole:
                    world.memory.load(json.loads(whole))
                    raise ChangedError(str(error)) from error
                raise
            except BaseException:
                world.memory.load(json.loads(whole))
                raise
            try:
                world.saved()
                if chance.random() < _ASKED_EACH:
                    world.context_text(world.query("What is my order 3?", "ana"))
            finally:
                world.memory.load(json.loads(whole))

        return target

    return made


STATES: dict[str, Callable[[Path, ExitStack], Target]] = {
    f"state of {ref}": strategy(ref) for ref in BUILT_IN
}
"""Makes each target in a folder of its own."""
