"""Measure the memory that a strategy holds."""

from __future__ import annotations

import gc
import sqlite3
import sys
import weakref
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.strategy import Strategy

# A connection notes every cursor weakly, and clears that list only now and then.
_STOPS = (
    *(ModuleType, type, FunctionType, BuiltinFunctionType),
    *(weakref.ReferenceType, sqlite3.Connection),
)


def bytes_of(memory: Strategy, shared: Iterable[object] = ()) -> int:
    """Bytes of everything that a strategy holds, without what it was given to work with.

    Args:
        memory: in this process.
        shared: more that does not belong to it.
    """
    env = memory.env
    given = (env, env.clock, env.model, env.counter, env.random, env.services, env.log, env.embed)
    seen = {id(one) for one in (*given, env.folder, *shared)}
    waiting: list[object] = [memory]
    total = 0
    while waiting:
        held = waiting.pop()
        if id(held) in seen or isinstance(held, _STOPS):
            continue
        seen.add(id(held))
        total += sys.getsizeof(held, 0)
        if isinstance(held, MethodType):
            held = held.__self__
            waiting.append(held)
            continue
        waiting.extend(gc.get_referents(held))
    return total
