"""Memories that are broken on purpose, each as a real one was: they prove that the meter works."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.strategy import Environment, Strategy

HONEST = "memsim.testing.doubles.honest:Honest"
"""The reference that every double breaks one method of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Double:
    """One broken memory.

    Attributes:
        name: a few words.
        path: its class, as `module:Class`; imported when it is made.
        caught_on: the channels that it breaks, and has to be caught on.
        may: channels that it breaks too, but on which few attempts need not show it.
        thread: where the real one was told of; empty for what is nobody's.
    """

    name: str
    path: str
    caught_on: frozenset[str]
    may: frozenset[str] = frozenset()
    thread: str = ""

    @property
    def make(self) -> Callable[[Environment], Strategy]:
        """Makes it from an environment."""
        return load(self.path)


def load(path: str) -> Callable[[Environment], Strategy]:
    """The class of that name, as `module:Class`."""
    module, _, name = path.partition(":")
    made: Callable[[Environment], Strategy] = getattr(importlib.import_module(module), name)
    return made


def _double(name: str, where: str, *caught_on: str, thread: str = "", may: str = "") -> Double:
    """`where` is a module beside this one and its class."""
    return Double(
        name=name,
        path=f"{__name__}.{where}",
        caught_on=frozenset(caught_on),
        may=frozenset(may.split()),
        thread=thread,
    )


DOUBLES: tuple[Double, ...] = ()
"""Every double there is, by the channel that it is first of all for."""
