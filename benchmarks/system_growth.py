"""What does a turn with a published system cost as the conversation grows?

Replays one generated conversation through each of the five systems, in their modes, and gives the
curve: microseconds of processor time per turn around the 1,000th, 2,000th, 5,000th, 10,000th and
20,000th turn, the median over blocks of 100, all in one process. Where the original's own design
reads more and more, the row says so; every other row should stay within 1.3 times. It ends with 1
where one does not. docs/systems.md has the figures.
"""

from __future__ import annotations

import argparse
import sys
import time

from benchmarks._growing import ALLOWED, each_apart, measured

LOOKING = "agentscope:memory=autocontext,version=1.0.12"
"""The package, of which a turn costs as much as there is history."""

SYSTEMS = (
    "agenticx",
    "agenticx:version=0.6",
    "agentscope",
    "agentscope:memory=autocontext",
    LOOKING,
    "prx:backend=memory",
    "prx:backend=memory,acl=on",
    "cogtrix",
    "cogtrix:mode=code",
    "cogtrix:mode=reasoning",
    "aegis",
)
BY_DESIGN = {
    "agenticx": "every recall compares the query with all chunks, and each day adds some",
    "agenticx:version=0.6": "every recall compares the query with all chunks",
    "agentscope": "InMemoryMemory grows without limit",
    LOOKING: "a threshold that nothing brings it below is passed in every turn, and six families"
    " of strategies look through the whole history each time: 2,000 turns are what is played",
    "prx:backend=memory": "every message is an entry for three days, and a search scores all that"
    " share words",
    "prx:backend=memory,acl=on": "as without access control",
    "cogtrix": "every exchange that left the window is compared with the question",
    "cogtrix:mode=code": "every exchange that left the window is compared with the question",
    "cogtrix:mode=reasoning": "every exchange that left the window is compared with the question",
}
"""What the original itself does that grows."""

MARKS = (1_000, 2_000, 5_000, 10_000, 20_000)
QUICK = (500, 1_000, 2_000)


def report(system: str, marks: tuple[int, ...]) -> bool:
    """Measure one system in this process and print its row; whether it is as it should be."""
    meter = measured(system, marks[-1], time.process_time)
    times = [meter.per_turn(mark - mark // 4, mark) for mark in marks]
    grown = times[-1] / times[0]
    reason = BY_DESIGN.get(system, "")
    kept = grown <= ALLOWED or bool(reason)
    told = f"by design: {reason}" if reason and grown > ALLOWED else ""
    figures = "".join(f"{time:>10.0f}" for time in times)
    print(f"{system:<46}{figures}{grown:>8.2f}  {told if kept else 'MISSED'}", flush=True)
    return kept


def marks_to(turns: int) -> tuple[int, ...]:
    """The marks up to so many turns, these among them."""
    return (*(mark for mark in MARKS if mark < turns), turns)


def main() -> int:
    """Measure each system in a process of its own, one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2,000 turns")
    parser.add_argument("--only", choices=SYSTEMS, help="one system, in this process")
    parser.add_argument("--turns", type=int, default=MARKS[-1], help="at the end, 1,000 at least")
    given = parser.parse_args()
    marks = QUICK if given.quick else marks_to(max(MARKS[0], given.turns))
    if given.only:
        return int(not report(given.only, QUICK if given.only == LOOKING else marks))
    print("microseconds of processor time per turn, and how many times the first, budget 4k")
    print(f"{'':<46}" + "".join(f"{mark:>10,}" for mark in marks))
    print(f"{LOOKING:<46}" + "".join(f"{mark:>10,}" for mark in QUICK))
    flags = ("--quick",) if given.quick else ("--turns", str(given.turns))
    return int(bool(each_apart(__file__, SYSTEMS, *flags)))


if __name__ == "__main__":
    sys.exit(main())
