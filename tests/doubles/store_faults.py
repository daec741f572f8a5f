"""Memories that write down what they are told, with a known share of mistakes in their store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from memsim.context import Context
from memsim.message import Message
from memsim.strategy import Environment, Query, Strategy, Surface

Copy = Literal["exact", "near"]
_FACT = re.compile(r"My (\w+) is now ([\w-]+)\.|My (\w+) is ([\w-]+)\.")


class FactNotes(Strategy):
    """One note for each fact that is told, and notes that are wrong.

    Args:
        env: of the case.
        copies: notes that stand twice.
        copy: whether a copy has the same words or others.
        invented: notes of what nobody said.
        outdated: replaced values that stay as if in force.
        lost: facts that are not written down.
    """

    def __init__(
        self,
        env: Environment,
        copies: int = 0,
        copy: Copy = "exact",
        invented: int = 0,
        outdated: int = 0,
        lost: int = 0,
    ) -> None:
        super().__init__(env)
        self._copies, self._copy = copies, copy
        self._invented, self._outdated, self._lost = invented, outdated, lost
        self._notes: dict[str, tuple[str, str]] = {}
        self._old: list[tuple[str, str, str]] = []

    def observe(self, message: Message) -> None:
        for changed, now, told, value in _FACT.findall(message.text):
            name = changed or told
            if name in self._notes:
                self._old.append((name, *self._notes[name]))
            self._notes[name] = (now or value, message.id)

    def context(self, query: Query) -> Context:
        return Context()

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        notes = [*self._notes.items()][self._lost :]
        for name, (value, source) in notes:
            yield _note(f"The {name} of the user is {value}.", source)
        for name, (value, source) in notes[: self._copies]:
            near = f"The user's {name} is {value}."
            same = f"The {name} of the user is {value}."
            yield _note(same if self._copy == "exact" else near, source)
        for number in range(self._invented):
            yield _note(f"The yacht of the user is Zephyr-{number}.", "m1")
        for name, value, source in self._old[: self._outdated]:
            yield _note(f"The {name} of the user is {value}.", source)


def _note(text: str, source: str) -> Surface:
    return Surface(tier="store", sources=(source,), text=text)
