"""Play `long_haul` with a million turns through `layered` on SQLite, which is asked in few of them.

A million contexts take hours. In most turns the memory is told what was said, and is not asked. In
the last 1,000 of every 50,000 turns, and by every probe, it is asked as in any run. All else is a
whole `memsim run` with its controls, records, report and page. Each row has milliseconds of
processor time for a turn that is told, for one that is asked, for its context alone and for what
asking adds, and the megabytes of the process.

Machines are faster in some minutes than in others. So the long run pauses after each quarter of its
turns. Before it and in each pause, a run of 10,000 turns is played, which is asked in all of them.

An early turn costs what a run of 10,000 turns takes beyond the shortest run, for each turn beyond
those of the shortest; the runs of 10,000 count in the mean. A late turn costs what the long run
takes beyond one of 10,000, for each turn beyond those. Added is what asking would have added in the
turns that were only told, as the row of their step says. The megabytes are those of the run as it
was played.

Claimed: a turn of the long run costs at most twice as much as an early one, the process holds at
most 2 GB, and the report with its page takes under 30 s.

    python -m benchmarks.late_turns --turns 250000 --keep late
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.layered_asked_seldom import PAUSED
from benchmarks.million import (
    EARLY,
    MOST_MEGABYTES,
    MOST_SECONDS,
    MOST_TIMES,
    Cost,
    page_megabytes,
    played,
    run,
    shortest_turns,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FILE = Path(__file__).resolve().with_name("layered_asked_seldom.py")
STEP, ASKED = 50_000, 1000
QUARTERS = 4
LAST = 4
"""Rows that tell what a turn costs at the end of the conversation."""


class Row(NamedTuple):
    """What the turns of a step take: milliseconds of processor time, and megabytes then.

    Where all were asked, `told` and `added` are no numbers.
    """

    turns: float
    told: float
    asked: float
    context: float
    added: float
    megabytes: float


class Played(NamedTuple):
    """What a run took, and its rows."""

    cost: Cost
    rows: list[Row]


def asked_in(
    root: Path,
    name: str,
    turns: int,
    *,
    step: int,
    asked: int,
    pause: int = 0,
    beside: Callable[[], None] = lambda: None,
) -> Played:
    """Play so many turns and show the rows; ends where the run fails."""
    options = f"rows=rows.txt,step={step},asked={asked},pause={pause}"
    strategy = f"{FILE.name}@LayeredAskedSeldom:{options}"
    cost = played(root / name, strategy, turns, FILE, beside)
    if cost.exit:
        sys.exit(1)
    lines = (root / name / "rows.txt").read_text(encoding="utf-8").splitlines()
    rows = [Row(*map(float, line.split())) for line in lines]
    for turn, *cells in rows:
        told = ("-" if math.isnan(cell) else f"{cell:.1f}" for cell in cells)
        print(f"{name:<8}{turn:>10,.0f}", *(f"{cell:>9}" for cell in told), sep="", flush=True)
    print(f"{name:<8}{cost.seconds:>10,.1f} s of processor time", flush=True)
    return Played(cost, rows)


def side_by_side(root: Path, turns: int) -> tuple[Played, list[Played]]:
    """Play the long run, and the runs of 10,000 turns before it and in its pauses."""
    others: list[Played] = []
    paused = root / "late" / PAUSED

    def play_early() -> None:
        name = f"early-{len(others)}"
        others.append(asked_in(root, name, EARLY, step=EARLY, asked=EARLY))

    def play_early_where_paused() -> None:
        if paused.exists():
            play_early()
            paused.unlink()

    play_early()
    late = asked_in(
        root,
        "late",
        turns,
        step=STEP,
        asked=ASKED,
        pause=turns // QUARTERS,
        beside=play_early_where_paused,
    )
    return late, others


def unasked(rows: Iterable[Row], turns: int) -> float:
    """Seconds that asking would have added in so many turns of each step that were only told."""
    return sum(row.added for row in rows) * turns / 1e3


def main() -> int:
    """Play the conversations; 1 when a claim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000_000, help=f"a multiple of {STEP:,}")
    parser.add_argument("--keep", type=Path, help="a new folder for the runs and pages")
    given = parser.parse_args()
    if given.turns < STEP or given.turns % STEP:
        parser.error(f"--turns is {given.turns}: a multiple of {STEP:,}")
    heads = ("turns", "told ms", "asked", "context", "added", "MB")
    print(f"{'':<8}{heads[0]:>10}", *(f"{head:>9}" for head in heads[1:]), sep="", flush=True)
    with tempfile.TemporaryDirectory(prefix="memsim-late-") as name:
        root = (given.keep or Path(name)).resolve()
        shortest = played(root / "shortest", "layered:store=sqlite", 0)
        if shortest.exit:
            return 1
        (run_of_all, rows), others = side_by_side(root, given.turns)
        page = run(root / "late", "report", "run", "--html", "-q")
        size = page_megabytes(root / "late")
    start = statistics.mean(other.cost.seconds for other in others)
    whole = run_of_all.seconds + unasked(rows, STEP - ASKED)
    first = (start - shortest.seconds) / (EARLY - shortest_turns()) * 1e3
    late = (whole - start) / (given.turns - EARLY) * 1e3
    asked = statistics.mean(other.rows[0].asked for other in others)
    end = statistics.mean(row.told + row.added for row in rows[-LAST:])
    print(f"a turn of the run: early {first:.2f} ms, late {late:.2f} ms: {late / first:.2f} times")
    print(f"an asked turn: early {asked:.2f} ms, at the end {end:.2f} ms: {end / asked:.2f} times")
    print(f"the run held {run_of_all.megabytes:,.0f} MB at most")
    print(f"report: {page.seconds:.1f} s, {page.megabytes:.0f} MB; page: {size:.1f} MB")
    kept = (
        late <= MOST_TIMES * first
        and run_of_all.megabytes <= MOST_MEGABYTES
        and page.seconds < MOST_SECONDS
        and not page.exit
    )
    print("" if kept else "MISSED")
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main())
