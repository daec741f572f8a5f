"""Tells on standard error how far a run has come: one live line, a line per case, or nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import click

from memsim.cli.printable import printable
from memsim.cli.terminal import Terminal
from memsim.report import numbers

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

ProgressChoice = Literal["auto", "plain", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One finished case.

    Attributes:
        id: the case.
        result: such as `recall .91`, or why there is none.
        seconds: how long it took.
        failed: it broke a bound or could not be scored.
    """

    id: str
    result: str
    seconds: float
    failed: bool = False


class Progress(Protocol):
    """Takes finished cases."""

    def advance(self, step: Step) -> None:
        """A case is finished."""


class _Silent:
    def advance(self, step: Step) -> None:
        """Say nothing."""


class _Plain:
    def __init__(self, done: int, total: int, failed_mark: str) -> None:
        self._done = done
        self._total = total
        self._failed = failed_mark

    def advance(self, step: Step) -> None:
        self._done += 1
        mark = self._failed if step.failed else " "
        place = f"[{self._done:>{len(str(self._total))}}/{self._total}]"
        said = (
            f"{place} {mark} {printable(step.id)}  {step.result}  {numbers.seconds(step.seconds)}"
        )
        with suppress(BrokenPipeError):
            click.echo(said, err=True)


class _Live:
    def __init__(self, bar: RichProgress, task: TaskID) -> None:
        self._bar = bar
        self._task = task
        self._failed = 0

    def advance(self, step: Step) -> None:
        self._failed += step.failed
        failed = f"{self._failed} failed" if self._failed else ""
        self._bar.update(self._task, advance=1, failed=failed)


@contextmanager
def showing(
    choice: ProgressChoice, terminal: Terminal, *, done: int, total: int
) -> Iterator[Progress]:
    """Progress over the cases of a run.

    Args:
        choice: `auto` is a live line on a terminal and a line per case elsewhere.
        terminal: where to.
        done: cases that an earlier try has finished.
        total: cases of the plan.
    """
    if choice == "none":
        yield _Silent()
    elif choice == "plain" or not terminal.live:
        yield _Plain(done, total, terminal.marks.failed)
    else:
        with _live(terminal, done=done, total=total) as live:
            yield live


@contextmanager
def _live(terminal: Terminal, *, done: int, total: int) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, no_color=not terminal.color, highlight=False)
    bar = Progress(
        TextColumn("  "),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[red]{task.fields[failed]}"),
        console=console,
        transient=True,
        refresh_per_second=8,
    )
    with bar:
        yield _Live(bar, bar.add_task("", total=total, completed=done, failed=""))


class Stopwatch:
    """Seconds since it was made, for people; no result depends on them."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.perf_counter() - self._start
