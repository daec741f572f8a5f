"""Fuzz everything that memsim reads: each input is taken, or refused in one line.

A kind of input is made in a module of `benchmarks/fuzz_*.py`. An input is wrong if anything but an
error of memsim comes out, if its message is no printable line, if it takes `LONGEST` seconds, or if
the process exceeds `LARGEST`. A strategy that refuses a state must keep the state that it had.

Without kinds and with `--seconds`, all kinds share the time. A night of one kind::

    python -m benchmarks.fuzz scenario --inputs 100000
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from typing import Literal

from benchmarks.fuzz_datasets import DATASETS
from benchmarks.fuzz_files import FILES
from benchmarks.fuzz_memories import MEMORIES
from benchmarks.fuzz_runs import RUNS
from benchmarks.fuzz_states import STATES
from benchmarks.fuzz_traces import TRACES
from benchmarks.fuzz_wire import WIRE
from memsim.errors import MemsimError
from memsim.testing.folders import throwaway

Target = Callable[[random.Random], None]
"""Reads something mutated; raises whatever comes out."""

Factory = Callable[[Path, ExitStack], Target]
"""Makes one in a folder, and says what is to be closed in the end."""

TARGETS: Mapping[str, Factory] = {
    **FILES,
    **DATASETS,
    **TRACES,
    **RUNS,
    **MEMORIES,
    **WIRE,
    **STATES,
}
"""Every kind of input."""

LONGEST = 20
"""Seconds that one input may take."""

LARGEST = 1_000
"""Megabytes that the process may need."""


class HangError(BaseException):
    """An input took longer than `LONGEST`; no handler of errors takes it for one."""


@dataclass(slots=True)
class FuzzCount:
    """What came of the inputs of one kind; seconds are those of the clock."""

    loaded: int = 0
    refused: int = 0
    wrong: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    slowest_seed: str = ""
    peak: int = 0

    @property
    def inputs(self) -> int:
        """How many inputs there were."""
        return self.loaded + self.refused + self.wrong

    def line(self, name: str) -> str:
        """A line of the table."""
        rate = self.inputs / self.seconds if self.seconds else 0.0
        return (
            f"{name:24} {self.inputs:8,} inputs {self.loaded:8,} loaded {self.refused:8,} refused"
            f" {self.wrong:5,} wrong {self.slowest:6.2f} s slowest ({self.slowest_seed})"
            f" {self.peak:5,} MB {rate:7,.0f}/s"
        )


Outcome = Literal["loaded", "refused", "wrong"]


def one(target: Target, seed: str) -> tuple[Outcome, str]:
    """Try one input; with what was wrong."""
    try:
        with _alarm():
            target(random.Random(seed))
    except MemsimError as error:
        said = str(error)
        return ("refused", "") if said.isprintable() else ("wrong", f"not one line: {said!r}")
    except (Exception, HangError) as error:  # noqa: BLE001 - whatever comes out is looked for
        return "wrong", f"{type(error).__name__}: {error} ({_place(error)})"
    return "loaded", ""


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise HangError(f"took longer than {LONGEST} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _place(error: BaseException) -> str:
    frames = [f"{Path(f.filename).name}:{f.lineno}" for f in extract_tb(error.__traceback__)]
    return next((place for place in reversed(frames) if not place.startswith("fuzz.py:")), "")


def peak() -> int:
    """The most megabytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def fuzz(
    names: list[str], *, inputs: int, seconds: float = 0.0, seed: int = 7, first: int = 0
) -> tuple[dict[str, FuzzCount], list[str]]:
    """Try so many inputs of each kind, or as many as there is time for.

    Returns:
        What came of each kind; and each wrong input with its seed.
    """
    found = {name: FuzzCount() for name in names}
    wrong: list[str] = []
    end = time.monotonic() + seconds if seconds else None
    # A process that has run other tests before needs their memory as well.
    allowed = max(LARGEST, peak() + LARGEST // 2)
    with throwaway() as folder, ExitStack() as closing:
        ready = {}
        for number, name in enumerate(names):
            place = Path(folder) / str(number)
            place.mkdir()
            ready[name] = TARGETS[name](place, closing)
        closing.callback(faulthandler.cancel_dump_traceback_later)
        watched = 0.0
        while end is None or time.monotonic() < end:
            if time.monotonic() > watched:
                # Where no signal reaches what runs, the process ends and says where it was.
                faulthandler.dump_traceback_later(3 * LONGEST, exit=True)
                watched = time.monotonic() + LONGEST
            # Each kind has the same share of the time, however long its inputs take.
            name = min(names, key=lambda n: (found[n].inputs >= inputs, found[n].seconds))
            if found[name].inputs >= inputs:
                break
            why = _counted(
                found[name], ready[name], f"{seed}/{name}/{first + found[name].inputs}", allowed
            )
            wrong += [why] if why else []
    return found, wrong


def _counted(count: FuzzCount, target: Target, seed: str, allowed: int) -> str:
    before, start = max(peak(), allowed), time.monotonic()
    came, why = one(target, seed)
    took = time.monotonic() - start
    count.peak = peak()
    if not why and took > LONGEST:
        came, why = "wrong", f"took {took:.0f} seconds"
    if not why and count.peak > before:
        came, why = "wrong", f"needed {count.peak:,} MB"
    setattr(count, came, getattr(count, came) + 1)
    count.seconds += took
    if took > count.slowest:
        count.slowest, count.slowest_seed = took, seed
    return f"seed {seed}: {why[:200]} {why[max(200, why.rfind('(')) :]}" if why else ""


def _guard() -> None:
    # What allocates without end ends itself, and not the machine.
    most = 3 * LARGEST * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (most, resource.RLIM_INFINITY))


def main() -> int:
    """Try them and say what came."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, help="of each kind")
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after so long")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--quick", action="store_true", help="fifty inputs of each kind")
    parser.add_argument("names", nargs="*", metavar="KIND", help=f"of {', '.join(TARGETS)}")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in TARGETS]:
        parser.error(f"no kind is called {unknown[0]!r}")
    _guard()
    faulthandler.enable()
    found, wrong = fuzz(
        given.names or [*TARGETS],
        inputs=50 if given.quick else given.inputs,
        seconds=given.seconds,
        seed=given.seed,
        first=given.first,
    )
    for name, count in found.items():
        print(count.line(name))
    total = sum(count.inputs for count in found.values())
    print(f"{total:,} inputs, {len(wrong):,} wrong; {peak():,} MB at most")
    for line in _by_place(wrong):
        print("  " + ascii(line))
    return int(bool(wrong))


def _by_place(wrong: Iterable[str]) -> Iterator[str]:
    """How often something went wrong at each place, and an example."""
    places: dict[str, list[str]] = {}
    for line in wrong:
        places.setdefault(line[line.rfind("(") :], []).append(line)
    for found in sorted(places.values(), key=len, reverse=True):
        yield f"{len(found):,} times: {found[0]}"


if __name__ == "__main__":
    sys.exit(main())
