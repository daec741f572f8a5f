"""Is there a point at which a fault leaves a third state?

Every sequence of up to three operations on everything that memsim keeps in a folder, with every
operation of the disk and the database failing in turn: once, for good, and as the end of the
process and of the machine. Claimed: afterwards it is one state or the next, whole; the error is one
of memsim's own and names the place; what failed once is there when it is tried again.
"""

from __future__ import annotations

import argparse
import sys
from unittest import mock

from memsim.testing.faults import Mode
from tests.doubles.exploration import explore, fresh_folders, sequences
from tests.faults.areas import AREAS

MODES: tuple[Mode, ...] = ("transient", "persistent", "crash", "power")


def points(name: str, mode: Mode, longest: int, step: int) -> tuple[int, list[str]]:
    """How many points there were, and what was found."""
    area, tried, findings = AREAS[name](), 0, []
    known: dict[tuple[str, ...], object] = {}
    with fresh_folders() as fresh:
        for names in sequences(sorted(area.operations), longest):
            reads = mode in {"transient", "persistent"}
            found = explore(area, names, mode, fresh, reads=reads, step=step, known=known)
            tried += found.points
            findings += found.findings
    return tried, findings


def main() -> int:
    """Try them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="single operations, every tenth point")
    parser.add_argument(
        "names", nargs="*", help="of what is tried; everything unless told otherwise"
    )
    given = parser.parse_args()
    longest, step = (1, 10) if given.quick else (3, 1)
    total, wrong = 0, 0
    with mock.patch("memsim.runs.run_writer.provenance", return_value={}), mock.patch("os.fsync"):
        for name in given.names or sorted(AREAS):
            for mode in MODES:
                tried, findings = points(name, mode, longest, step)
                total, wrong = total + tried, wrong + len(findings)
                print(f"{name:10} {mode:10} {tried:8,} points, {len(findings)} wrong", flush=True)
                for line in findings[:5]:
                    print(f"  {line[:300]}")
    print(f"{total:,} points, {wrong} wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
