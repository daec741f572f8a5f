"""Hold the limits that `memsim limit` finds against those of a full grid.

::

    python benchmarks/limit_grid.py                 # bm25 on the dials updates and look_alikes
    python benchmarks/limit_grid.py -s layered --dial updates --most 63
    python benchmarks/limit_grid.py -s layered --dial updates --family preferences --most 30

The grid plays every setting of a dial up to `--most` with each story. All questions of the stories
count together. A limit is where the falling curve nearest to the whole grid crosses four fifths, as
it is of what `memsim limit` plays. The runs of a whole grid are one for each setting of the dial
and each story. It ends with exit code 1 where a limit is farther than a tenth from that of the
grid, or took more than a tenth of its runs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from memsim.cli.limit_search import HOLDS, SEEDS, LimitSearch, pooled
from memsim.scenario.generator.dials import ASKED, DIALS
from memsim.suite.staircase import NEAR, limit_of

RUNS = 0.1
"""Share of a grid's runs that a staircase may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitPair:
    """The limit of a strategy by both ways; None where it does not hold the least setting."""

    strategy: str
    dial: str
    grid: int | None
    staircase: int | None
    runs: int
    grid_runs: int

    @property
    def near(self) -> bool:
        """Whether both agree, within a tenth or the smallest step of a dial."""
        if self.grid is None or self.staircase is None:
            return self.grid == self.staircase
        return abs(self.grid - self.staircase) <= max(1, NEAR * self.grid)

    @property
    def cheap(self) -> bool:
        """Whether it took few enough runs."""
        return self.runs <= RUNS * self.grid_runs

    def __str__(self) -> str:
        said = "" if self.near and self.cheap else "  MISSED"
        return (
            f"{self.strategy:14} {self.dial:12} grid {_shown(self.grid):>5}  "
            f"staircase {_shown(self.staircase):>5}  "
            f"runs {self.runs} of {self.grid_runs}{said}"
        )


def _shown(limit: int | None) -> str:
    return "none" if limit is None else str(limit)


def compare(
    search: LimitSearch, strategy: str, dial: str, most: int, family: str | None = None
) -> LimitPair:
    """Both limits of a strategy on a dial, in the dial's own family where none is named."""
    (climb,) = search.climbed([strategy], [dial], family)
    ends = DIALS[dial].least, min(DIALS[dial].most, most)
    shares = search.grid([strategy], dial, family, range(ends[0], ends[1] + 1))
    return LimitPair(
        strategy=strategy,
        dial=dial,
        grid=limit_of(pooled(shares.values()), HOLDS).holds,
        staircase=None if climb.result is None else climb.result.holds,
        runs=climb.runs,
        grid_runs=SEEDS * (DIALS[dial].most - DIALS[dial].least + 1),
    )


def main() -> int:
    """Print both limits of each strategy and dial."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-s", "--strategy", action="append", dest="strategies")
    parser.add_argument("--dial", action="append", dest="dials", choices=sorted({*DIALS} - ASKED))
    parser.add_argument("--family", help="family of the stories; else that of the dial")
    parser.add_argument("--most", type=int, default=40, help="largest setting of the grid")
    parser.add_argument("--budget", type=int, default=1000)
    chosen = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory(prefix="memsim-grid-") as folder:
        search = LimitSearch(folder=Path(folder), budget=chosen.budget, jobs=1)
        for strategy in chosen.strategies or ["bm25"]:
            for dial in chosen.dials or ["updates", "look_alikes"]:
                pair = compare(search, strategy, dial, chosen.most, chosen.family)
                print(pair, flush=True)
                good = good and pair.near and pair.cheap
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
