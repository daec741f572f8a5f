"""Show progress on standard error: the case, the rate and the time left.

On a terminal it is one line that is drawn again and again; elsewhere each finished case is a line.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import click

from memsim.cli.terminal import Terminal, printable, speaks_unicode
from memsim.report import number_format
from memsim.report.layout import cells_wide, clip

if TYPE_CHECKING:
    from rich.text import Text

    from memsim.suite.cases import CaseResult

ProgressChoice = Literal["auto", "plain", "none"]
Now = Callable[[], float]
"""Seconds of a clock that only goes forward."""

ENOUGH_CASES, ENOUGH_SECONDS = 3, 2.0
"""Finished cases, and seconds, before there is a rate and a time left."""
ENOUGH_SHARE = 0.02
"""Share of the work before there is a time left: less says nothing of the rest."""
MOST_SECONDS = 100 * 3600.0
"""A longer time left is not told: it is a guess."""
QUIET_SECONDS = 10.0
"""Where each finished case is a line: seconds after which a long case tells how far it is."""
LEAST_NAME = 16
"""Columns below which the name of a case is left out."""
BAR = 20
"""Columns of the bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressStep:
    """One finished case."""

    id: str
    result: str
    seconds: float
    failed: bool = False


def case_step(result: CaseResult, *, failed: bool) -> ProgressStep:
    """The progress line of a finished case."""
    told = "plr" if "plr" in result.metrics else "recall"
    value = result.metrics.get(told)
    text = f"{'leaked' if told == 'plr' else told} {number_format.share(value)}"
    if result.state != "scored":
        leaked = told == "plr" and value
        text = f"{text}; {result.error}" if leaked else result.error
    return ProgressStep(id=result.key, result=text, seconds=result.seconds, failed=failed)


@dataclass(slots=True, kw_only=True)
class Progress:
    """How far the cases of a run or a check are, and how fast they go.

    Attributes:
        total: cases of the plan.
        done: cases that are finished, those of an earlier, interrupted run included.
        now: the clock.
        unit: what is counted.
        playing: the cases that are being played; the latest stands last.
        part: the share of the present case that is done, where it is known.
    """

    total: int
    done: int = 0
    now: Now = time.monotonic
    unit: str = "case"
    playing: tuple[str, ...] = ()
    part: float = 0.0
    failed: int = 0
    _start: float = field(init=False)
    _before: int = field(init=False)

    def __post_init__(self) -> None:
        self._start, self._before = self.now(), self.done

    def begin(self, case: str) -> None:
        """A case is about to be played; an empty text says that none is."""
        # Another thread draws it: a tuple is replaced, and never changed.
        if case:
            self.playing = (*self.playing, case)

    def end(self, step: ProgressStep) -> None:
        """A case is finished."""
        self.playing = tuple(case for case in self.playing if case != step.id)
        self.done += 1
        self.part = 0.0
        self.failed += step.failed

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return max(0.0, self.now() - self._start)

    @property
    def rate(self) -> float | None:
        """Finished cases a second; None as long as too few are finished to tell."""
        made = self.done - self._before
        if made < ENOUGH_CASES or self.seconds < ENOUGH_SECONDS:
            return None
        return made / self.seconds

    @property
    def left(self) -> float | None:
        """Seconds until all cases are finished, at the rate so far; None where that is a guess."""
        made = self.done - self._before + self.part
        rest = self.total - self.done - self.part
        enough = made >= ENOUGH_CASES or self.part > 0
        if not enough or self.seconds < ENOUGH_SECONDS or made < ENOUGH_SHARE * (made + rest):
            return None
        left = rest * self.seconds / made
        return left if 0 <= left <= MOST_SECONDS else None

    @property
    def pace(self) -> str:
        """Rate and time left, such as `24 cases/min, about 40 s left`."""
        rate, left = self.rate, self.left
        said = [] if rate is None else [self._rate_text(rate)]
        if left is not None and self.done < self.total:
            said.append(f"about {_rounded(left)} left")
        return ", ".join(said)

    def _rate_text(self, rate: float) -> str:
        number, of = (rate, "s") if rate >= 1 else (60 * rate, "min")
        if number < 1:
            number, of = 60 * number, "h"
        digits = 0 if number >= 10 else 1
        return f"{number:.{digits}f} {self.unit}s/{of}"


def _rounded(seconds: float) -> str:
    """A time left, no more exact than it is known."""
    step = 1 if seconds < 20 else 5 if seconds < 120 else 60 if seconds < 7200 else 600
    whole = max(step, round(seconds / step) * step)
    if whole < 120:
        return f"{whole} s"
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"


def live_line(progress: Progress, width: int, *, unicode: bool) -> str:
    """The line that a terminal shows, no wider than it is.

    Args:
        progress: how far it is.
        width: columns of the terminal.
        unicode: whether it shows more than ASCII.
    """
    counted = f"{progress.done} of {progress.total}"
    parts = [counted, number_format.seconds(progress.seconds)]
    if progress.pace:
        parts.append(progress.pace)
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    room = width - 1  # a line as wide as the terminal would wrap on some
    name = _playing(progress, unicode=unicode)
    if name and cells_wide("  ".join(parts)) + LEAST_NAME + 4 > room:
        parts.pop(1)  # which case it is says more than for how long
    while len(parts) > 1 and cells_wide(f"  {'  '.join(parts)}") > room:
        parts.pop(1)
    text = "  ".join(parts)
    left = room - cells_wide(text) - 4
    if name and left >= LEAST_NAME:
        text = f"{text}  {clip(name, left)}"
    left = room - cells_wide(text) - 4
    bar = _bar(progress, min(BAR, left), unicode=unicode) if left >= BAR else ""
    return clip(f"  {bar}{text}", max(room, 0))


def _playing(progress: Progress, *, unicode: bool) -> str:
    if not progress.playing:
        return ""
    name = printable(progress.playing[-1])
    others = len(progress.playing) - 1
    name = name if unicode else name.encode("ascii", "replace").decode()
    return f"{name} +{others}" if others else name


def _bar(progress: Progress, width: int, *, unicode: bool) -> str:
    share = (progress.done + progress.part) / progress.total if progress.total else 1.0
    full = min(width, int(share * width))
    done, rest = ("━", "─") if unicode else ("#", "-")
    return f"{done * full}{rest * (width - full)}  "


@dataclass(frozen=True, slots=True)
class Watcher:
    """Receives what happens to the cases; by default it shows nothing."""

    begin: Callable[[str], None] = lambda _case: None
    end: Callable[[ProgressStep], None] = lambda _step: None
    tick: Callable[[float], None] = lambda _part: None


@contextmanager
def show_progress(
    choice: ProgressChoice,
    terminal: Terminal,
    *,
    done: int,
    total: int,
    unit: str = "case",
    now: Now = time.monotonic,
) -> Iterator[Watcher]:
    """Show progress over cases; yield what is told of each.

    Args:
        choice: `auto` is a live line on a terminal and a line per case elsewhere.
        terminal: describes standard error.
        done: number of cases that an interrupted run finished before.
        total: number of cases in the plan.
        unit: what is counted.
        now: the clock.
    """
    progress = Progress(total=total, done=done, now=now, unit=unit)
    if choice == "none":
        yield Watcher()
    elif choice == "plain" or not terminal.live:
        plain = _PlainLines(progress, terminal.marks.failed)
        yield Watcher(progress.begin, plain.end, plain.tick)
    else:
        with _live(progress, terminal):
            yield Watcher(progress.begin, progress.end, lambda part: _set_part(progress, part))


def _set_part(progress: Progress, part: float) -> None:
    progress.part = part


class _PlainLines:
    """A line for each finished case, and now and then one of a long case."""

    def __init__(self, progress: Progress, failed: str) -> None:
        self._progress = progress
        self._failed = failed
        self._said = progress.now()

    def end(self, step: ProgressStep) -> None:
        """Print a finished case."""
        progress = self._progress
        progress.end(step)
        mark = self._failed if step.failed else " "
        place = f"[{progress.done:>{len(str(progress.total))}}/{progress.total}]"
        took = number_format.seconds(step.seconds)
        pace = f"  ({progress.pace})" if progress.pace else ""
        self._print(f"{place} {mark} {printable(step.id)}  {step.result}  {took}{pace}")

    def tick(self, part: float) -> None:
        """Print how far the present case is, if nothing was printed for a while."""
        progress = self._progress
        progress.part = part
        if progress.now() - self._said < QUIET_SECONDS:
            return
        place = f"[{progress.done:>{len(str(progress.total))}}/{progress.total}]"
        name = printable(progress.playing[-1]) if progress.playing else ""
        pace = f"  ({progress.pace})" if progress.pace else ""
        self._print(f"{place}   {name}  {part:.0%} done{pace}")

    def _print(self, text: str) -> None:
        self._said = self._progress.now()
        with suppress(BrokenPipeError):
            click.echo(text, err=True)


@contextmanager
def _live(progress: Progress, terminal: Terminal) -> Iterator[None]:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(stderr=True, no_color=not terminal.color, highlight=False)
    unicode = speaks_unicode(sys.stderr, os.environ)

    def line() -> Text:
        text = live_line(progress, console.width, unicode=unicode)
        return Text(text, no_wrap=True, overflow="crop")

    with Live(get_renderable=line, console=console, transient=True, refresh_per_second=4):
        yield
