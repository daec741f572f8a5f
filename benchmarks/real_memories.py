"""Measures memories of other projects, and writes the tables of docs/real-memories.md.

`make peers-comparison DATE=2026-11-23` plays some scenarios and slices of leakage against each line
of `benchmarks/real_memory_targets.py`. The date is told, because nothing here reads a clock. What
cannot be measured is n/a, with its reason below the tables. Runs stay in `build/real-memories`.

    python -m benchmarks.real_memories --date DATE [--again] [--only REF ...]
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.real_memory_targets import TARGETS, Target

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "real-memories.md"
BUILD = ROOT / "build" / "real-memories"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
SCENARIOS = ("support_desk", "changing_preferences", "two_customers")
CHANNELS = {
    "L1": "another person asks",
    "L6": "forgotten, shown again",
    "L7": "forgotten, still stored",
}
SHARE = 0.1
"""Of the attempts of each channel."""

VERSION = re.compile(r"([@\w./-]+ v?\d[\w.+-]*)(?: over MCP .*)?")
"""A note that names a package or server, and its version."""

PLAYED = (0, 1, 7)
"""Exit codes of a run that was played: passed, failed, unmeasured."""

Case = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """What the runs of one target found, by scenario and channel."""

    target: Target
    cases: Mapping[str, Case]

    @property
    def version(self) -> str:
        """The package and version that the runs name."""
        notes = (n for c in self.cases.values() for n in c.get("notes", ()))
        named = (VERSION.fullmatch(n) for n in notes)
        return next((found[1] for found in named if found), "")

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """Each reason why something is n/a or was left out, once."""
        notes = (n for c in self.cases.values() for n in c.get("notes", ()))
        told = [n for n in notes if not VERSION.fullmatch(n)]
        for name, case in self.cases.items():
            if case["error"]:
                told.append(f"{CHANNELS.get(name, name)}: {plain(case['error'])}")
            elif case["counts"]["errors"]:
                errors, probes = case["counts"]["errors"], case["counts"]["probes"]
                told.append(f"{CHANNELS.get(name, name)}: {errors} of {probes} without a score")
        return tuple(dict.fromkeys(told))


def plain(error: str) -> str:
    """An error without the place in memsim where it was raised."""
    said = re.sub(r"^[\w.]+\.py:\d+: \w+: | \(in \w+\)$", "", " ".join(error.split()))
    return said.replace("|", "/")[:200]


def play(target: Target, folder: Path) -> None:
    """Play the scenarios and the leakage of a target.

    Raises:
        RuntimeError: memsim could not be run.
    """
    name = target.ref.partition(":")[0]
    flags = ["-s", target.ref, "-k", name, "--progress", "none"]
    attacks = [f"leakage::{channel}" for channel in CHANNELS]
    for part, asked in (
        ("scenarios", [*SCENARIOS]),
        ("leakage", [*attacks, "--leak-attempts", str(SHARE)]),
    ):
        shutil.rmtree(folder / part, ignore_errors=True)
        done = subprocess.run(
            [sys.executable, "-m", "memsim", "run", *asked, *flags, "-o", str(folder / part)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in PLAYED:
            raise RuntimeError(f"{target.ref}: {done.stderr.strip() or done.stdout.strip()}")


def read(target: Target, folder: Path) -> Measured:
    """The cases of a target's runs."""
    lines = (
        json.loads(line)
        for part in ("scenarios", "leakage")
        for line in (folder / part / "cases.jsonl").read_text("utf-8").splitlines()
    )
    return Measured(target, {c["scenario"]: c for c in lines if c["strategy"] == target.ref})


def recall(case: Case | None) -> str:
    """Recall, and the probes that showed what was not for the asker."""
    value = case["metrics"]["recall"] if case else None
    if case is None or value is None:
        return "n/a"
    leaks = case["metrics"]["leaks"]
    return f"{value:.2f}".removeprefix("0") + (f" (leaks: {leaks:.0f})" if leaks else "")


def leaked(case: Case | None) -> str:
    """How many of the attempts that say anything leaked."""
    if case is None:
        return "n/a"
    leaks, safe = (case["outcomes"].get(word, 0) for word in ("leak", "safe"))
    return f"{leaks} of {leaks + safe}" if leaks + safe else "n/a"


def tokens(measured: Measured) -> str:
    """Tokens of a context, as a mean over the scenarios."""
    found = [measured.cases[s]["metrics"]["context_mean"] for s in SCENARIOS if s in measured.cases]
    known = [value for value in found if value is not None]
    return f"{sum(known) / len(known):,.0f}" if known else "n/a"


def tables(everything: Sequence[Measured], day: date) -> Iterator[str]:
    """The lines of the measured part of the page."""
    yield f"Measured on {day.isoformat()} with the offline model and a budget of 4k tokens."
    yield f"Of each way to leak, {SHARE:.0%} of the attempts were made."
    yield ""
    yield f"| `-s` | memory | measured | {' | '.join(SCENARIOS)} | mean context |"
    yield f"|---|---|---|{'--:|' * (len(SCENARIOS) + 1)}"
    for each in everything:
        row = [recall(each.cases.get(name)) for name in SCENARIOS]
        head = f"| `{each.target.ref}` | {each.target.about} | {each.version or 'memsim'} |"
        yield f"{head} {' | '.join(row)} | {tokens(each)} |"
    yield ""
    yield "Recall of each scenario; leaks are probes that showed what the asker may not see."
    yield ""
    yield f"| attempts that leaked | {' | '.join(CHANNELS.values())} |"
    yield f"|---|{'--:|' * len(CHANNELS)}"
    for each in everything:
        row = [leaked(each.cases.get(channel)) for channel in CHANNELS]
        yield f"| `{each.target.ref}` | {' | '.join(row)} |"
    yield ""
    yield "| what was not measured | why |"
    yield "|---|---|"
    for each in everything:
        if each.unmeasured:
            yield f"| `{each.target.ref}` | {'; '.join(each.unmeasured)} |"


def written(page: str, lines: Iterator[str]) -> str:
    """The page with new tables between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{chr(10).join(lines)}\n\n{END}{after}"


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", required=True, type=date.fromisoformat)
    parser.add_argument("--again", action="store_true", help="write from the runs that are there")
    parser.add_argument("--only", nargs="*", default=[], help="play these anew, keep the others")
    given = parser.parse_args()
    folders = {t: BUILD / re.sub(r"\W+", "-", t.ref) for t in TARGETS}
    for target, folder in folders.items():
        wanted = target.ref in given.only if given.only else not given.again
        if wanted:
            print(target.ref, flush=True)
            play(target, folder)
    found = [read(target, folder) for target, folder in folders.items()]
    page = PAGE.read_text("utf-8")
    PAGE.write_text(written(page, tables(found, given.date)), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
