"""`layered` on SQLite, asked in few turns only, and what its turns take.

A million contexts take hours. In most turns this strategy is told what was said, and gives the
context of the last turn in which it was asked. Probes ask it always. For the last turns of each
step it writes a row: turns so far, milliseconds of processor time of a turn that was told, of one
that was asked and of its context alone, and megabytes of the process. The first asked turns of a
step are in no mean: they read what was written since the step before.
"""

from __future__ import annotations

import time
from pathlib import Path

import memsim
from benchmarks._growing import resident
from memsim.discovery.loader import load_strategy

Layered = load_strategy("layered")
FIRST = 50
"""Asked turns at the start of a step that are in no mean."""


class LayeredAskedSeldom(Layered, memsim.Strategy):  # type: ignore[misc, valid-type]
    """A whole memory that is asked in the last turns of each step."""

    parameters = None

    def __init__(
        self, env: memsim.Environment, *, rows: str, step: int = 20_000, asked: int = 300
    ) -> None:
        """See the module.

        Args:
            env: as for any strategy.
            rows: a file for the rows.
            step: turns from row to row.
            asked: turns at the end of a step in which it is asked; fewer than the step.

        Raises:
            ValueError: `asked` is not between `FIRST + 1` and `step - 1`.
        """
        if not FIRST < asked < step:
            raise ValueError(f"asked is {asked}: from {FIRST + 1} to {step - 1}")
        super().__init__(env, store="sqlite")
        self._rows, self._step, self._told_turns = Path(rows), step, step - asked
        self._turns = 0
        self._said = ""
        self._last: memsim.Context | None = None
        self._is_new = False
        self._began = time.process_time()
        self._told = self._contexts = 0.0

    def observe(self, message: memsim.Message) -> None:
        if message.role == "user":
            self._said = message.text
        super().observe(message)

    def context(self, query: memsim.Query) -> memsim.Context:
        if query.text != self._said:  # a probe
            return super().context(query)
        self._is_new = self._last is None or self._turns % self._step >= self._told_turns
        if self._last is None or self._is_new:
            began = time.process_time()
            self._last = super().context(query)
            self._contexts += time.process_time() - began
        return self._last

    def delivered(self, context: memsim.Context) -> None:
        if self._is_new:
            super().delivered(context)

    def end_turn(self) -> None:
        super().end_turn()
        self._turns += 1
        now = time.process_time()
        turn = self._turns % self._step
        if turn == self._told_turns:
            self._told = (now - self._began) / self._told_turns
        elif turn == self._told_turns + FIRST:
            self._began, self._contexts = now, 0.0
        elif not turn:
            asked = self._step - self._told_turns - FIRST
            took = (self._told, (now - self._began) / asked, self._contexts / asked)
            row = (self._turns, *(seconds * 1e3 for seconds in took), resident() / 2**20)
            with self._rows.open("a", encoding="utf-8") as file:
                file.write(" ".join(f"{value:.3f}" for value in row) + "\n")
            self._began = time.process_time()
