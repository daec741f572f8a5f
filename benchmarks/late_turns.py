"""Play `long_haul` with a million turns through `layered` on SQLite, which is asked in few of them.

A million contexts take hours. In most turns the memory is told what was said, and is not asked. In
the last 300 of every 20,000 turns, and by every probe, it is asked as in any run. All else is a
whole `memsim run` with its controls, records, report and page. Before and after it the scenario is
played with 10,000 turns, and the memory is asked in the last 9,000 of them: these are the early
turns. Each row has milliseconds of processor time for a turn that is told, for one that is asked
and for its context alone, and the megabytes of the process.

The cost of a turn is that of the whole run, from the start of its process to its report, without
that of the shortest run, for the turns beyond it. To it is added what the turns that were only told
would have taken more if they had been asked, by the row of their step.

Claimed: a turn of the long run costs at most twice as much as an early one, the process holds at
most 2 GB, and the report with its page takes under 30 s.

    python -m benchmarks.late_turns --turns 240000 --keep late
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.million import (
    EARLY,
    MOST_MEGABYTES,
    MOST_SECONDS,
    MOST_TIMES,
    page_megabytes,
    played,
    run,
    shortest_turns,
)

FILE = Path(__file__).resolve().with_name("layered_asked_seldom.py")
STEP, ASKED = 20_000, 300
TOLD_FIRST = 1000
"""Turns of a conversation that are no early turns: in them, models are loaded."""
LAST = 5
"""Rows that are shown for the end of the conversation."""


@dataclass(frozen=True, slots=True)
class Played:
    """A run that was asked in few turns.

    Attributes:
        asked: milliseconds of an asked turn, by row.
        seconds: of the run if every turn had been asked.
        megabytes: of the process at most.
    """

    asked: tuple[float, ...]
    seconds: float
    megabytes: float


def asked_in(root: Path, name: str, turns: int, step: int, asked: int) -> Played:
    """Play so many turns; ends where the run fails."""
    strategy = f"{FILE.name}@LayeredAskedSeldom:rows=rows.txt,step={step},asked={asked}"
    cost = played(root / name, strategy, turns, FILE)
    if cost.exit:
        sys.exit(1)
    rows = [
        [float(cell) for cell in line.split()]
        for line in (root / name / "rows.txt").read_text(encoding="utf-8").splitlines()
    ]
    for turn, *cells in rows:
        print(f"{name:<8}{turn:>10,.0f}", *(f"{cell:>9.1f}" for cell in cells), sep="", flush=True)
    print(f"{name:<8}{cost.seconds:>10,.1f} s of processor time", flush=True)
    unasked = sum(asked_turn - told for _, told, asked_turn, _, _ in rows) * (step - asked) / 1e3
    return Played(tuple(row[2] for row in rows), cost.seconds + unasked, cost.megabytes)


def early(root: Path, name: str) -> Played:
    """Play the early turns."""
    return asked_in(root, name, EARLY, EARLY, EARLY - TOLD_FIRST)


def main() -> int:
    """Play the conversations; 1 when a claim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000_000, help=f"at least {2 * STEP:,}")
    parser.add_argument("--keep", type=Path, help="a new folder for the runs and pages")
    given = parser.parse_args()
    if given.turns < 2 * STEP:
        parser.error(f"--turns is {given.turns}: at least {2 * STEP:,}")
    heads = ("turns", "told ms", "asked", "context", "MB")
    print(f"{'':<8}{heads[0]:>10}", *(f"{head:>9}" for head in heads[1:]), sep="", flush=True)
    with tempfile.TemporaryDirectory(prefix="memsim-late-") as name:
        root = (given.keep or Path(name)).resolve()
        shortest = played(root / "shortest", "layered:store=sqlite", 0)
        before = early(root, "before")
        late = asked_in(root, "late", given.turns, STEP, ASKED)
        after = early(root, "after")
        page = run(root / "late", "report", "run", "--html", "-q")
        size = page_megabytes(root / "late")
    seconds = (before.seconds + after.seconds) / 2
    first = (seconds - shortest.seconds) / (EARLY - shortest_turns()) * 1e3
    last = (late.seconds - seconds) / (given.turns - EARLY) * 1e3
    once, again, ending = (statistics.mean(each.asked[-LAST:]) for each in (before, after, late))
    asked, median = (once + again) / 2, statistics.median(late.asked)
    print(f"a turn: early {first:.2f} ms, late {last:.2f} ms: {last / first:.2f} times")
    print(f"asked: early {asked:.2f} ms, late {median:.2f} ms in the median of rows,")
    print(f"  {ending:.2f} ms in the last {LAST} rows: {ending / asked:.2f} times")
    print(f"the run held {late.megabytes:,.0f} MB at most")
    print(f"report: {page.seconds:.1f} s, {page.megabytes:.0f} MB; page: {size:.1f} MB")
    kept = (
        last <= MOST_TIMES * first
        and late.megabytes <= MOST_MEGABYTES
        and page.seconds < MOST_SECONDS
        and not (page.exit or shortest.exit)
    )
    print("" if kept else "MISSED")
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main())
