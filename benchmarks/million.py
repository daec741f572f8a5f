"""Play the `long_haul` scenario with a million turns of filler: cost, memory, report and page.

Each strategy plays the scenario as it is, with 10,000 turns and with the wanted number of turns.
Each is a whole `memsim run` in a process of its own. The cost of a turn is processor time, without
that of the shortest run, for the turns beyond it. Claimed: a turn costs at most twice as much as
with 10,000 turns, the process holds at most 2 GB, and the report with its page takes under 30 s.

    python -m benchmarks.million --turns 100000 --only sliding_window --keep million
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "scenarios" / "long_haul.yaml"
STRATEGIES = ("sliding_window", "bm25", "layered:store=sqlite")
EARLY = 10_000
MOST_TIMES, MOST_MEGABYTES, MOST_SECONDS = 2.0, 2_048.0, 30.0
"""What is claimed."""

_FILLER = re.compile(r"filler: \{turns: (\d+)")
_PACE = re.compile(r"^pace: .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process took: seconds of processor time, and the most memory that it held."""

    seconds: float
    megabytes: float
    exit: int


def scaled(text: str, turns: int) -> str:
    """Raise the filler of a scenario until it has so many turns."""
    fillers = [int(n) for n in _FILLER.findall(text)]
    others = len(re.findall(r"^  - user:", text, re.MULTILINE))
    wanted = turns - others
    if wanted <= sum(fillers):
        return text
    places = [wanted * sum(fillers[:n]) // sum(fillers) for n in range(len(fillers) + 1)]
    counts = iter(late - early for early, late in pairwise(places))
    longer = _FILLER.sub(lambda _: f"filler: {{turns: {next(counts)}", text)
    # Sessions have fixed dates: at five minutes a turn, one would begin after the next.
    return _PACE.sub("pace: 1s", longer)


def shortest_turns() -> int:
    """Turns of the scenario as it is."""
    text = SCENARIO.read_text(encoding="utf-8")
    return sum(map(int, _FILLER.findall(text))) + text.count("\n  - user:")


def run(folder: Path, *arguments: str, beside: Callable[[], None] = lambda: None) -> Cost:
    """Run a command of memsim and measure its process.

    `beside` is called again and again while it runs. What that raises ends the process.
    """
    command = [sys.executable, "-m", "memsim", *arguments]
    # Strategies beside this file import from the repository.
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    env = os.environ | {"PYTHONPATH": paths}
    with (folder / "output.txt").open("ab") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output, env=env)
        try:
            while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
                beside()
                time.sleep(0.1)
        except BaseException:
            process.terminate()
            raise
    _, status, used = ended
    process.returncode = os.waitstatus_to_exitcode(status)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, process.returncode)


def played(
    folder: Path,
    strategy: str,
    turns: int,
    file: Path | None = None,
    beside: Callable[[], None] = lambda: None,
) -> Cost:
    """Play the scenario with so many turns in a new folder; 0 leaves it as it is.

    The file of a strategy is copied there, so that pages name it and not where it was. `beside` is
    called as in `run`.
    """
    folder.mkdir(parents=True)
    if file is not None:
        shutil.copy(file, folder)
    text = SCENARIO.read_text(encoding="utf-8")
    (folder / SCENARIO.name).write_text(scaled(text, turns), encoding="utf-8")
    chosen = ("-s", strategy, "--budget", "4k", "-j", "1", "-o", "run", "-q")
    cost = run(folder, "run", SCENARIO.name, *chosen, beside=beside)
    if cost.exit:
        print(f"{strategy}: {turns:,} turns: exit {cost.exit}", flush=True)
        print((folder / "output.txt").read_text(encoding="utf-8")[-500:], flush=True)
    return cost


def page_megabytes(folder: Path) -> float:
    """The size of the page that was made of the run in a folder; 0 where there is none."""
    page = folder / "run" / "report.html"
    return page.stat().st_size / 1e6 if page.exists() else 0.0


def measured(root: Path, strategy: str, turns: int) -> bool:
    """Measure one strategy and print its row; whether it kept the claims."""
    name = strategy.partition(":")[0]
    base = played(root / f"{name}-0", strategy, 0)
    early = played(root / f"{name}-{EARLY}", strategy, EARLY)
    late = played(root / f"{name}-{turns}", strategy, turns)
    if base.exit or early.exit or late.exit:
        return False
    folder = root / f"{name}-{turns}"
    page = run(folder, "report", "run", "--html", "-q")
    first = (early.seconds - base.seconds) / (EARLY - shortest_turns()) * 1e3
    last = (late.seconds - early.seconds) / (turns - EARLY) * 1e3
    kept = (
        last <= MOST_TIMES * first
        and late.megabytes <= MOST_MEGABYTES
        and page.seconds < MOST_SECONDS
        and not page.exit
    )
    print(
        f"{strategy:<22}{first:>10.2f}{last:>10.2f}{last / first:>8.2f}{late.megabytes:>10.0f}"
        f"{page.seconds:>10.1f}{page.megabytes:>10.0f}{page_megabytes(folder):>9.1f}"
        f"  {'' if kept else 'MISSED'}",
        flush=True,
    )
    return kept


def main() -> int:
    """Measure each strategy; 1 when one misses a claim."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000_000, help="more than 10,000")
    parser.add_argument("--only", choices=STRATEGIES, help="one strategy")
    parser.add_argument("--keep", type=Path, help="a new folder for the runs and pages")
    given = parser.parse_args()
    if given.turns <= EARLY:
        parser.error(f"--turns is {given.turns}: more than {EARLY}")
    print(f"ms a turn up to {EARLY:,} and from there to {given.turns:,} turns, MB of the run,")
    print("seconds and MB of the report, MB of the page")
    heads = ("early", "late", "times", "MB", "report s", "MB", "page MB")
    print(f"{'':<22}", *(f"{h:>9}" for h in heads), sep="", flush=True)
    with tempfile.TemporaryDirectory(prefix="memsim-million-") as name:
        root = (given.keep or Path(name)).resolve()
        wanted = [given.only] if given.only else STRATEGIES
        kept = [measured(root, strategy, given.turns) for strategy in wanted]
    return int(not all(kept))


if __name__ == "__main__":
    sys.exit(main())
