"""`layered` on SQLite, asked in few turns only, and what its turns take.

A million contexts take hours. In most turns this strategy is told what was said, and gives the
context of the last turn in which it was asked. Probes ask it always. For the last turns of each
step it writes a row: turns so far, milliseconds of processor time of a turn that was told, of one
that was asked, of its context alone and of what asking adds, and megabytes of the process.

Asking adds the context, and what the rest of an asked turn takes longer than a told one. That is a
difference of medians: rare work that both do, such as a new index, may fall on either. The first
asked turns of a step are in no mean: they read what was written since the step before.

It may pause, so that something else can be measured in between on the same machine.
"""

from __future__ import annotations

import math
import statistics
import time
from pathlib import Path

import memsim
from benchmarks._growing import resident
from memsim.discovery.loader import load_strategy

Layered = load_strategy("layered")
FIRST = 400
"""Asked turns at the start of a step that are in no mean."""
LATEST = 1000
"""Told turns of a step, right before those that are asked, with which these are compared."""
PAUSED = "paused"
"""The strategy makes this file beside the rows when it pauses, and goes on when it is removed."""


class LayeredAskedSeldom(Layered, memsim.Strategy):  # type: ignore[misc, valid-type]
    """A whole memory that is asked in the last turns of each step."""

    parameters = None

    def __init__(
        self,
        env: memsim.Environment,
        *,
        rows: str,
        step: int = 50_000,
        asked: int = 1000,
        pause: int = 0,
    ) -> None:
        """See the module.

        Args:
            env: as for any strategy.
            rows: a file for the rows.
            step: turns from row to row.
            asked: turns at the end of a step in which it is asked; all of them, where it is the
                step. Then a row has no number for told turns and for what asking adds.
            pause: turns after which it pauses each time; 0 for never.

        Raises:
            ValueError: `asked` is not between `FIRST + 1` and `step`.
        """
        if not FIRST < asked <= step:
            raise ValueError(f"asked is {asked}: from {FIRST + 1} to {step}")
        super().__init__(env, store="sqlite")
        self._rows, self._step, self._told_turns = Path(rows), step, step - asked
        self._turns, self._pause = 0, pause
        self._said = ""
        self._last: memsim.Context | None = None
        self._is_new = False
        self._began = time.process_time()
        self._context = 0.0
        self._told: list[float] = []
        self._rest: list[float] = []
        self._contexts: list[float] = []

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
            self._context = time.process_time() - began
        return self._last

    def delivered(self, context: memsim.Context) -> None:
        if self._is_new:
            super().delivered(context)

    def end_turn(self) -> None:
        super().end_turn()
        turn = self._turns % self._step
        self._turns += 1
        now = time.process_time()
        took, self._began = now - self._began, now
        if turn < self._told_turns:
            self._told.append(took)
        elif turn >= self._told_turns + FIRST:
            self._contexts.append(self._context)
            self._rest.append(took - self._context)
        if turn == self._step - 1:
            self._write_row()
        if self._pause and self._turns % self._pause == 0:
            self._wait()

    def _write_row(self) -> None:
        context, rest = statistics.mean(self._contexts), statistics.mean(self._rest)
        told = added = math.nan
        if self._told:
            told = statistics.mean(self._told)
            longer = statistics.median(self._rest) - statistics.median(self._told[-LATEST:])
            added = context + longer
        took = (told, rest + context, context, added)
        row = (self._turns, *(seconds * 1e3 for seconds in took), resident() / 2**20)
        with self._rows.open("a", encoding="utf-8") as file:
            file.write(" ".join(f"{value:.3f}" for value in row) + "\n")
        for turns in (self._told, self._rest, self._contexts):
            turns.clear()

    def _wait(self) -> None:
        paused = self._rows.with_name(PAUSED)
        paused.touch()
        while paused.exists():
            time.sleep(0.5)
        self._began = time.process_time()
