"""Simulates pairs of runs, and counts how often the gate cries wolf, sees a drop, and is right.

Run from the repository: `python benchmarks/gate_validity.py` (a minute), or with `--quick` for a
look. Every pair is judged by the gate's own functions. The probes of a suite are easy or hard: 70 %
are answered 96 times of a hundred, 30 % are 43 times, which makes a base recall of .8.

============== =================================================================================
kind           how two runs of one strategy differ
============== =================================================================================
redrawn        each answers every probe once, by chance
repeated       as redrawn, three times each; less is refused of a baseline with a live model
deterministic  nothing is drawn again, but a change of the code moved one answer in seven
============== =================================================================================
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from memsim.gate.metric_comparison import word_of
from memsim.stats.bootstrap import DRAWS
from memsim.stats.interval import CONFIDENCE
from memsim.stats.paired_test import PairedChanges, paired_changes
from memsim.stats.significance import holm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SUITES = ((30, 6), (90, 6), (200, 10), (400, 20))
"""Probes and scenarios."""

DROPS = (0.0, 0.05, 0.1)
KINDS = {"redrawn": 1, "repeated": 3, "deterministic": 0}
"""Answers to each probe; 0 where none is drawn."""

EASY, HARD, SHARE_EASY = 0.96, 0.43, 0.7
MOVED = 0.14
"""Share of all answers that a harmless change moves, each way together."""

FEW_MOVED = (0.04, 0.1)
"""Shares at which 30 probes are looked at as well: so few move that a mean takes few values."""

MARGIN = 0.02
EXPECTED = {0.05: (0.10, 0.17, 0.34, 0.52), 0.1: (0.24, 0.47, 0.81, 0.98)}
"""Power that was asked for, by drop and suite; itself from 600 simulated pairs."""

EXPECTED_PAIRS = 600
FAMILY = 8
"""Strategies that are compared at once where the correction is put to the test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One kind of run, size of suite and true drop.

    Attributes:
        failed: share of the pairs that the gate calls worse.
        covered: share of the intervals that hold the true change.
        unsure: share of the pairs of which it says so.
    """

    kind: str
    probes: int
    scenarios: int
    drop: float
    failed: float
    covered: float
    unsure: float


def differences(
    kind: str,
    probes: int,
    drop: float,
    pairs: int,
    chance: np.random.Generator,
    moved: float = MOVED,
) -> Floats:
    """Candidate less baseline: a row for each probe, a column for each pair of runs."""
    shape = (probes, pairs)
    easy = chance.random(shape) < SHARE_EASY
    known = np.where(easy, EASY, HARD)
    answers = KINDS[kind]
    if answers:
        base = chance.binomial(answers, known)
        now = chance.binomial(answers, np.clip(known - drop, 0, 1))
        return np.asarray((now - base) / answers, dtype=float)
    kept = chance.random(shape) < known
    base_recall = SHARE_EASY * EASY + (1 - SHARE_EASY) * HARD
    lost = kept & (chance.random(shape) < (moved / 2 + drop) / base_recall)
    found = ~kept & (chance.random(shape) < moved / 2 / (1 - base_recall))
    return found.astype(float) - lost


def words(found: PairedChanges) -> list[str]:
    """The gate's word for each pair, compared alone."""
    return [
        word_of(float(m), (float(low), float(high)), float(p), margin=MARGIN, confidence=CONFIDENCE)
        for m, low, high, p in zip(found.mean, found.low, found.high, found.p, strict=True)
    ]


def measure(
    kind: str,
    suite: tuple[int, int],
    drop: float,
    *,
    pairs: int,
    draws: int,
    seed: int,
    moved: float = MOVED,
) -> Measured:
    """One cell of the table."""
    probes, scenarios = suite
    samples = differences(kind, probes, drop, pairs, np.random.default_rng(seed), moved)
    sizes = [probes // scenarios] * scenarios
    found = _judged(samples, sizes, draws)
    said = words(found)
    edge = 1e-9
    covered = (found.low <= -drop + edge) & (found.high >= -drop - edge)
    return Measured(
        kind=kind,
        probes=probes,
        scenarios=scenarios,
        drop=drop,
        failed=said.count("worse") / pairs,
        covered=float(covered.mean()),
        unsure=said.count("unsure") / pairs,
    )


def _judged(samples: Floats, sizes: Sequence[int], draws: int) -> PairedChanges:
    # In portions, as the resampled means of all pairs at once would take a gigabyte.
    step = max(1, (1 << 22) // draws)
    parts = [
        paired_changes(samples[:, start : start + step], sizes, draws=draws)
        for start in range(0, samples.shape[1], step)
    ]
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("mean", "low", "high", "p", "error")
    }
    return PairedChanges(**joined)


def table(*, pairs: int, draws: int) -> Iterator[Measured]:
    """Every cell."""
    for kind in KINDS:
        for drop in DROPS:
            for place, suite in enumerate(SUITES):
                seed = 1000 * list(KINDS).index(kind) + 100 * place + int(1000 * drop)
                yield measure(kind, suite, drop, pairs=pairs, draws=draws, seed=seed)


def family(*, pairs: int, draws: int, seed: int = 5) -> float:
    """Share of runs in which any of several unchanged strategies is called worse."""
    probes, scenarios = SUITES[1]
    chance = np.random.default_rng(seed)
    samples = differences("redrawn", probes, 0.0, pairs * FAMILY, chance)
    found = _judged(samples, [probes // scenarios] * scenarios, draws)
    failed = 0
    for run in range(pairs):
        inside = slice(run * FAMILY, (run + 1) * FAMILY)
        adjusted = holm([float(p) for p in found.p[inside]])
        means = found.mean[inside]
        failed += any(
            p <= 1 - CONFIDENCE and mean <= -MARGIN for p, mean in zip(adjusted, means, strict=True)
        )
    return failed / pairs


def faults(cells: Sequence[Measured], *, pairs: int) -> list[str]:
    """What the gate promises and did not keep, beyond the error of so many pairs."""
    said = []
    for cell in cells:
        name = f"{cell.kind}, {cell.probes} probes, drop {cell.drop:g}"
        if not cell.drop and cell.failed > 0.05:
            said.append(f"{name}: false alarms {cell.failed:.3f} > .05")
        if not 0.93 <= cell.covered <= 0.97:
            said.append(f"{name}: coverage {cell.covered:.3f} is not .93 to .97")
        if cell.drop:
            least = expected_power(cell)
            error = math.sqrt(least * (1 - least) * (1 / pairs + 1 / EXPECTED_PAIRS))
            if cell.failed < least - 2 * error:
                said.append(f"{name}: power {cell.failed:.3f} < {least:.2f}")
    return said


def expected_power(cell: Measured) -> float:
    """The power that was asked for."""
    return EXPECTED[cell.drop][[probes for probes, _ in SUITES].index(cell.probes)]


def _line(cell: Measured) -> str:
    asked = f"{expected_power(cell):.2f}" if cell.drop else "    "
    return (
        f"{cell.kind:14} {cell.probes:6} {cell.drop:6.2f} {cell.failed:8.3f} {asked:>6}"
        f" {cell.covered:9.3f} {cell.unsure:8.3f}"
    )


def main() -> int:
    """Print the table; 1 where a promise was not kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="2,000 draws in place of 10,000")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.draws = 2000
    began = time.perf_counter()
    print(f"{chosen.pairs} pairs of runs a row, {chosen.draws} draws, margin {MARGIN}")
    print("kind           probes   drop   failed  asked   covered   unsure")
    cells = []
    for cell in table(pairs=chosen.pairs, draws=chosen.draws):
        cells.append(cell)
        print(json.dumps(asdict(cell)) if chosen.json else _line(cell), flush=True)
    for moved in FEW_MOVED:
        print(f"deterministic, 30 probes, {moved:.0%} of the answers moved:")
        for drop in DROPS:
            few = measure(
                "deterministic",
                SUITES[0],
                drop,
                pairs=chosen.pairs,
                draws=chosen.draws,
                seed=7,
                moved=moved,
            )
            print(_line(few))
    alarms = family(pairs=max(1, chosen.pairs // 2), draws=chosen.draws)
    print(f"any of {FAMILY} unchanged strategies called worse: {alarms:.3f}")
    said = faults(cells, pairs=chosen.pairs)
    said += [f"family: false alarms {alarms:.3f} > .05"] if alarms > 0.05 else []
    print("\n".join(said) or "every promise is kept")
    print(f"{time.perf_counter() - began:.0f} s")
    return int(bool(said))


if __name__ == "__main__":
    raise SystemExit(main())
