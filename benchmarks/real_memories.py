"""Measures memories of other projects, and writes the tables of docs/real-memories.md.

`make peers-comparison DATE=2026-11-23` plays some scenarios, a story of each generated family,
slices of leakage and conversations of LoCoMo against each line of
`benchmarks/real_memory_targets.py`. The date is told, because nothing here reads a clock. What
cannot be measured is n/a, with its reason below the tables. Runs stay in `build/real-memories`. A
part that was not played keeps the rows that the page has, with their date.

    python -m benchmarks.real_memories --date DATE [--again] [--only REF ...] [--data PATH]
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
from memsim.scenario.generator.dials import FAMILIES

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
GENERATED = "generated"
"""The head of the table of generated families."""

DISTANCE = 40
"""Turns of other talk in each story."""

WALL_TIME = "lives in wall time"
"""How the note of every library and server begins, which the page says once."""

SHARE = 0.1
"""Of the attempts of each channel."""

REASONS = "what was not measured"
LOCOMO = "LoCoMo"
ONE = "conv-30"
"""The shortest conversation of LoCoMo, which every memory plays."""

VERSION = re.compile(r"([@\w./-]+(?: [A-Z]\w*)? v?\d[\w.+-]*)(?: over MCP .*)?")
"""A note that names a package or server, and its version."""

PLAYED = (0, 1, 7)
"""Exit codes of a run that was played: passed, failed, unmeasured."""

Case = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """What the runs of one target found, by scenario, channel and conversation."""

    target: Target
    cases: Mapping[str, Case]

    @property
    def conversations(self) -> list[Case]:
        """Those of LoCoMo."""
        return [case for case in self.cases.values() if case.get("dataset") == "locomo"]

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
        told = [n for n in notes if not (VERSION.fullmatch(n) or n.startswith(WALL_TIME))]
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


def write_stories(folder: Path) -> None:
    """Write one scenario for each generated family."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FAMILIES:
        step = f"generate: {{family: {name}, distance: {DISTANCE}}}"
        text = f"memsim: 1\nname: {name}\nbudget: 1k\nturns:\n  - {step}\n"
        (folder / f"{name}.yaml").write_text(text, "utf-8")


def play(target: Target, folder: Path, data: str) -> None:
    """Play the scenarios and the leakage of a target, and LoCoMo if its folder is told.

    Raises:
        RuntimeError: memsim could not be run.
    """
    name = target.ref.partition(":")[0]
    flags = ["-s", target.ref, "-k", name, "--progress", "none"]
    attacks = [f"leakage::{channel}" for channel in CHANNELS]
    parts = {
        "scenarios": [*SCENARIOS],
        "families": [str(BUILD / "families"), "--no-report"],
        "leakage": [*attacks, "--leak-attempts", str(SHARE)],
        "locomo": [target.conversations, "--data", data],
    }
    for part, asked in parts.items():
        if part == "locomo" and not data:
            continue
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
    """The cases of a target's runs, as far as they were played."""
    parts = ("scenarios", "families", "leakage", "locomo")
    files = (folder / part / "cases.jsonl" for part in parts)
    texts = (file.read_text("utf-8") for file in files if file.is_file())
    lines = (json.loads(line) for text in texts for line in text.splitlines())
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


def tokens(cases: Sequence[Case]) -> str:
    """Tokens of a context, as a mean over cases."""
    found = [case["metrics"]["context_mean"] for case in cases]
    known = [value for value in found if value is not None]
    return f"{sum(known) / len(known):,.0f}" if known else "n/a"


def pooled(cases: Sequence[Case], metric: str, weight: str) -> str:
    """A metric over all probes of several cases."""
    found = [(case["metrics"][metric], case["counts"][weight]) for case in cases]
    known = [(value, count) for value, count in found if value is not None and count]
    if not known or len(known) < len(cases):
        return "n/a"
    mean = sum(value * count for value, count in known) / sum(count for _, count in known)
    return f"{mean:.2f}".removeprefix("0")


Kept = Mapping[tuple[str, str], str]
"""Rows of the page, by the head of their table and their ref."""


def rows_of(page: str) -> Kept:
    """The rows that a page has."""
    found, head = {}, ""
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("| `") and cells[1] != "`-s`":
            found[head, cells[1].strip("`")] = line
        elif line.startswith("| "):
            head = cells[1]
    return found


def tables(everything: Sequence[Measured], day: date, kept: Kept) -> Iterator[str]:
    """The lines of the measured part of the page; rows of what was not played are kept."""
    yield "Measured with the offline model and a budget of 4k tokens."
    yield f"Of each way to leak, {SHARE:.0%} of the attempts were made."
    parts = (
        ("`-s`", ("memory", "measured", "day", *SCENARIOS, "mean context"), scenario_row),
        (GENERATED, ("day", *FAMILIES), family_row),
        ("attempts that leaked", ("day", *CHANNELS.values()), leakage_row),
        (LOCOMO, ("day", *LOCOMO_HEADS), locomo_row),
        (REASONS, ("why",), reasons_row),
    )
    for head, heads, row in parts:
        yield ""
        if head in LEGENDS:
            yield LEGENDS[head]
            yield ""
        numbers = [name not in {"memory", "measured", "day", "why"} for name in heads]
        yield f"| {head} | {' | '.join(heads)} |"
        yield f"|---|{''.join('--:|' if number else '---|' for number in numbers)}"
        for each in everything:
            cells, ref = row(each, day), each.target.ref
            if cells:
                yield f"| `{ref}` | {' | '.join(cells)} |"
            elif (head, ref) in kept:
                yield kept[head, ref]
        if head == "`-s`":
            yield ""
            yield SCENARIO_LEGEND


LOCOMO_HEADS = ("conversations", "recall", "evidence recall", "conv-30 alone", "mean context")
SCENARIO_LEGEND = (
    "Recall of each scenario; leaks are probes that showed what the asker may not see."
)
LEGENDS = {
    GENERATED: f"""\
Share of the questions of a [generated story](generate.md) whose whole answer is in the context,
at 1k tokens and {DISTANCE} turns of other talk.""",
    LOCOMO: """\
Five conversations of LoCoMo, on which memsim's own memory was tuned; a slow memory plays one.""",
    REASONS: "All libraries and servers live in wall time: age and expiry are not measured.",
}


def scenario_row(measured: Measured, day: date) -> list[str]:
    """Recall of the scenarios; nothing if none was played."""
    played = [measured.cases[name] for name in SCENARIOS if name in measured.cases]
    if not played:
        return []
    values = [recall(measured.cases.get(name)) for name in SCENARIOS]
    version = measured.version or "memsim"
    return [measured.target.about, version, day.isoformat(), *values, tokens(played)]


def family_row(measured: Measured, day: date) -> list[str]:
    """How much of the answers was in the context; nothing if no family was played."""
    if not any(name in measured.cases for name in FAMILIES):
        return []
    found = [measured.cases.get(name) for name in FAMILIES]
    return [day.isoformat(), *(in_context(case) for case in found)]


def in_context(case: Case | None) -> str:
    """The share of the answers that were in the context."""
    value = case["metrics"]["answer_in_context"] if case else None
    return "n/a" if value is None else f"{value:.2f}".removeprefix("0")


def leakage_row(measured: Measured, day: date) -> list[str]:
    """What leaked; nothing if no channel was played."""
    if not any(channel in measured.cases for channel in CHANNELS):
        return []
    return [day.isoformat(), *(leaked(measured.cases.get(channel)) for channel in CHANNELS)]


def locomo_row(measured: Measured, day: date) -> list[str]:
    """Recall of conversations; nothing if none was played."""
    played = measured.conversations
    if not played:
        return []
    alone = [case for case in played if case["scenario"] == ONE]
    return [
        day.isoformat(),
        f"{len(played)}",
        pooled(played, "recall", "answerable"),
        pooled(played, "evidence_recall", "probes"),
        pooled(alone, "recall", "answerable"),
        tokens(played),
    ]


def reasons_row(measured: Measured, _day: date) -> list[str]:
    """Why something was not measured; nothing if all was, or little was played."""
    if not measured.unmeasured or not set(measured.cases) & {*SCENARIOS, *CHANNELS}:
        return []
    return ["; ".join(measured.unmeasured)]


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
    parser.add_argument("--data", default="", help="folder of LoCoMo")
    given = parser.parse_args()
    write_stories(BUILD / "families")
    folders = {t: BUILD / re.sub(r"\W+", "-", t.ref) for t in TARGETS}
    for target, folder in folders.items():
        wanted = target.ref in given.only if given.only else not given.again
        if wanted:
            print(target.ref, flush=True)
            play(target, folder, given.data)
    found = [read(target, folder) for target, folder in folders.items()]
    page = PAGE.read_text("utf-8")
    PAGE.write_text(written(page, tables(found, given.date, rows_of(page))), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
