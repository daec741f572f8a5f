"""Makes `reports/comparison`: all built-in strategies and five published systems, on all scenarios.

`--write` plays them and writes the folder anew: `index.html` and `comparison.md`, the plots,
`cells.jsonl` with the numbers of every case, and `manifest.json` with the fingerprints of what it
was made from. The same sources make the same bytes on any machine and with any number of
processes: nothing in it is of a clock, of a machine or of the working tree. How the data of the
page are packed is zlib's, whose builds differ; they are compared as what they stand for.

Without it the folder is checked: `--quick` compares the manifest and plays a sample, the same
whenever it is played; otherwise all is played again and compared byte by byte. It ends with 1 where
the folder is out of date::

    python benchmarks/comparison.py [--quick | --write [--again]]
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memsim.discovery.project import find_project
from memsim.errors import MemsimError, Unmeasurable
from memsim.gate.metric_comparison import ComparisonRules, compare
from memsim.gate.score_sheet import sheet_of_run
from memsim.report.html.markup import unpacked
from memsim.report.run_summary import RunSummary
from memsim.report.summarise import EXAMPLES, summarise
from memsim.runs import Run, load_run
from memsim.scenario.generator.dials import FAMILIES
from memsim.suite.scenarios import ScenarioRef, find_scenarios
from memsim.suite.single import run as replayed

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "reports" / "comparison"
BUILD = ROOT / "build" / "comparison"
SCENARIOS = "scenarios"
OWN = ("layered", "hybrid", "bm25", "vector", "rolling_summary", "sliding_window")
PUBLISHED = (
    "agenticx",
    "agentscope:memory=autocontext",
    "prx:acl=on",
    "cogtrix:mode=code",
    "aegis",
)
REPAIRED = (
    "agenticx:fixed=true,scope=principal",
    "agentscope:memory=autocontext,fixed=true",
    "prx:acl=on,fixed=true",
    "cogtrix:mode=code,fixed=true,scope=principal",
    "aegis:fixed=true",
)
"""With what each offers against its own defects."""

PRODUCTION = (
    "agenticx:cues=zh+en,longterm=mem0,tools=true",
    "agentscope:memory=autocontext,longterm=mem0,mode=both",
    "agentscope:memory=autocontext,longterm=store,mode=both",
    "prx:acl=on,audit=on",
    "cogtrix",
    "aegis:users=on,index=exact,notes=on",
)
"""As the documentation of each would have it run: with every part that it offers.

AgenticX: Mem0 beside the files, its tools, and cue words of the users' language. AgentScope: both
memories, the long one by Mem0 or of its own, recorded and retrieved by the framework and by the
agent. PRX: access rules and audit. Cogtrix: the mode to start with. AEGIS: filtered by user, no
index over as few rows as it has here, and a scratchpad that is written to.
"""

RUNS = {"published": (*OWN, *PUBLISHED), "configured": (*PRODUCTION, *REPAIRED)}
ATTEMPTS = "0.1"
"""Share of the attempts of each channel of leakage; the suite's own tests make all of them."""

ROOM = 480_000
"""Characters of replays in the page, which is committed: one of each scenario comes first."""

PAGE_ALONE = ("context-over-time", "forgetting")
"""Pictures too large for a file of their own; the page draws them with fewer points."""

SAMPLE = ("support_desk", ("layered", "hybrid", "rolling_summary", "sliding_window", *PUBLISHED))
INTRODUCTION = f"""\
Written by `make comparison`, which CI checks. [index.html](index.html) shows the same with replays
of every scenario, and [cells.jsonl](cells.jsonl) holds the numbers of every case. The five systems
are played as they were published; what they come to as in production, and repaired, stands at the
end. Nothing is tested here: a bound that is not kept is a finding, such as a leak through a channel
with the gate *zero*. Of each channel {float(ATTEMPTS):.0%} of the attempts are made."""
PACKAGES = ("matplotlib", "numpy", "pandas", "pystemmer", "pyyaml", "tiktoken", "wordllama")
PLAYING = ("strategies", "memsim/memory")
TELLING = ("memsim/stats", "memsim/gate", "memsim/report", "benchmarks/comparison.py")
SOURCES = (*PLAYING, *TELLING)
PLAYED = "played.json"
OUT_OF_DATE = "reports/comparison is out of date: run `make comparison`"


def written() -> tuple[ScenarioRef, ...]:
    """The written scenarios; docs/generate.md compares strategies on the generated ones."""
    refs = find_scenarios([SCENARIOS], find_project(ROOT))
    return tuple(ref for ref in refs if ref.name not in FAMILIES)


def arguments(name: str) -> list[str]:
    """What `memsim` is asked for, by the name of the run."""
    wanted = [word for ref in RUNS[name] for word in ("-s", ref)]
    channels = ["leakage", "--leak-attempts", ATTEMPTS] if name == "published" else []
    names = [ref.name for ref in written()]
    return ["run", *names, *channels, *wanted, "--budget", "4k", "--baseline", "none"]


def play(name: str, folder: Path) -> None:
    """Play a run into a folder of its name.

    Raises:
        CalledProcessError: it came to no end.
        Unmeasurable: a case of a scenario could not be scored.
    """
    shutil.rmtree(folder / name, ignore_errors=True)
    more = ["-o", str(folder / name), "--no-resume", "--no-report", "-q"]
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("MEMSIM_", "GITHUB_"))}
    done = subprocess.run(
        [sys.executable, "-m", "memsim", *arguments(name), *more],
        cwd=ROOT,
        env=environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    # A leak, and a channel that a strategy cannot be measured by, are results.
    if done.returncode not in {0, 1, 7}:
        done.check_returncode()
    for case in load_run(folder / name, folder).cases:
        if case.state != "scored" and not case.dataset:
            raise Unmeasurable(f"{case.key}: {case.error}")


def play_all(folder: Path) -> None:
    """Play the runs, and keep what they were played with, whatever becomes of it meanwhile.

    Raises:
        CalledProcessError, Unmeasurable: as `play`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PLAYED).write_text(json.dumps(manifest()), encoding="utf-8")
    for name in RUNS:
        play(name, folder)


def steady(name: str, folder: Path) -> Run:
    """A run without what differs from one machine or one day to the next."""
    found = load_run(folder / name, folder)
    settings: Any = found.info.get("settings")
    info = {
        **found.info,
        "command": ["memsim", *arguments(name)],
        "versions": {"memsim": version()},
        "settings": {**settings, "jobs": 0},
        **dict.fromkeys(("created", "commit", "dirty", "platform")),
    }
    cases = tuple(replace(case, seconds=0.0, latency={}) for case in found.cases)
    return replace(found, info=info, cases=cases)


def version() -> str:
    """Of memsim, installed or not."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


# -- what is written


def write(folder: Path, runs: Path) -> None:
    """Write everything, in place of what is there.

    Args:
        folder: where to.
        runs: the folder of the runs.

    Raises:
        MemsimError: a run's records are damaged.
    """
    from memsim.report.frames import Frames
    from memsim.report.html.page import page
    from memsim.report.plots import save_pictures
    from memsim.report.viewer import fragment

    published, configured = (steady(name, runs) for name in RUNS)
    production = configured.only(lambda case: case.strategy not in REPAIRED)
    repaired = configured.only(lambda case: case.strategy not in PRODUCTION)
    summary = compared(published)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    frames = Frames(published)
    saved = save_pictures(published, summary, folder, formats=("svg",), frames=frames)
    drawn = [picture for picture, _ in saved]
    for name in PAGE_ALONE:
        (folder / f"{name}.svg").unlink(missing_ok=True)
    drawn = [picture for picture in drawn if picture.name not in PAGE_ALONE]
    files = {
        "index.html": page(
            published,
            compared(published, examples=None),
            fragment(published, room=ROOM),
            frames=frames,
        ),
        "comparison.md": "\n".join(_story(published, summary, production, repaired, drawn)) + "\n",
        "cells.jsonl": "".join(_cells([*published.cases, *configured.cases])),
        "manifest.json": json.dumps(made_from(runs), indent=1, sort_keys=True) + "\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def compared(run: Run, examples: int | None = EXAMPLES) -> RunSummary:
    """The summary of rivals, none of which is tested."""
    return replace(summarise(run, examples=examples), rivals=True)


def _story(
    published: Run, summary: RunSummary, production: Run, repaired: Run, drawn: Sequence[Any]
) -> Iterator[str]:
    from memsim.report.comparison_text import comparison_markdown
    from memsim.report.layout import markdown_escape
    from memsim.report.run_markdown import markdown

    yield from (
        "# Every built-in strategy on every built-in scenario",
        "",
        INTRODUCTION,
        "",
    )
    for picture in drawn:
        yield from (f"![{markdown_escape(picture.title)}]({picture.name}.svg)", "")
        yield from (f"*{markdown_escape(picture.caption)}*", "")
    yield from markdown(summary).splitlines()[2:]
    yield from ("", "# The five systems, as in production", "")
    yield from markdown(compared(production)).splitlines()[2:]
    yield from ("", "# The five systems, repaired", "")
    yield from markdown(compared(repaired)).splitlines()[2:]
    found = compare(sheet_of_run(systems(published)), sheet_of_run(repaired), ComparisonRules())
    yield from comparison_markdown(found)


def systems(run: Run) -> Run:
    """The published systems on the scenarios, out of a run that has more beside them."""
    scripts: Any = run.info["scenarios"]
    known = {name: text for name, text in scripts.items() if not name.startswith("leakage")}
    found = run.only(lambda case: case.strategy in PUBLISHED and not case.dataset)
    return replace(found, info={**run.info, "scenarios": known})


def _cells(cases: Sequence[Any]) -> Iterator[str]:
    seen: set[str] = set()
    for case in cases:
        if case.key not in seen:
            seen.add(case.key)
            yield cell(case.key, case.metrics)


def cell(key: str, metrics: Mapping[str, float | None]) -> str:
    """The numbers of a case in one line; zeros and what was not measured are left out."""
    # Six digits: what differs behind them is how a processor rounds.
    numbers = {name: float(f"{value:.6g}") for name, value in sorted(metrics.items()) if value}
    return json.dumps({"case": key, **numbers}) + "\n"


# -- whether it is out of date


def manifest() -> dict[str, Any]:
    """Fingerprints of all that the comparison is made from."""
    lock = (ROOT / "requirements" / "run.lock").read_text(encoding="utf-8")
    pins = dict(re.findall(r"^([\w.-]+)==([^\s;\\]+)", lock, re.MULTILINE))
    return {
        "runs": {name: shlex.join(arguments(name)) for name in RUNS},
        "scenarios": {ref.name: ref.load().fingerprint for ref in written()},
        "sources": {name: _digest(ROOT / name) for name in SOURCES},
        "packages": {name: pins[name] for name in PACKAGES},
    }


def made_from(runs: Path) -> dict[str, Any]:
    """The manifest of what is written now, from runs that were played earlier."""
    played = json.loads((runs / PLAYED).read_text(encoding="utf-8"))
    now = manifest()["sources"]
    sources = {name: now[name] if name in TELLING else played["sources"][name] for name in SOURCES}
    return {**played, "sources": sources}


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    for file in files:
        if "__pycache__" not in file.parts:
            found.update(f"{file.relative_to(ROOT).as_posix()}\0".encode())
            found.update(code(file))
    return found.hexdigest()


def code(file: Path) -> bytes:
    """A file; of Python without its comments, docstrings and empty lines."""
    data = file.read_bytes()
    if file.suffix != ".py":
        return data
    lines: list[bytes] = data.splitlines()
    # What a docstring is, every version of Python agrees on; how code is written out anew, none do.
    for node in ast.walk(ast.parse(data)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            for line in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[line] = b""
    return b"\n".join(x for x in lines if x.strip() and not x.lstrip().startswith(b"#"))


def stale() -> list[str]:
    """What changed since the comparison was made, by its name in the manifest."""
    path = FOLDER / "manifest.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return [
        f"{part}: {name}"
        for part, now in manifest().items()
        for name in sorted({*now, *kept.get(part, {})})
        if now.get(name) != kept.get(part, {}).get(name)
    ]


def differing(scenario: str = SAMPLE[0], strategies: Sequence[str] = SAMPLE[1]) -> list[str]:
    """The cases of a sample that come to something else than is written."""
    path = FOLDER / "cells.jsonl"
    kept = set(path.read_text(encoding="utf-8").splitlines(keepends=True)) if path.exists() else ()
    found = []
    for strategy in strategies:
        report = replayed(scenario, strategy, budget="4k")
        if cell(report.id, report.metrics) not in kept:
            found.append(report.id)
    return found


def different(folder: Path) -> list[str]:
    """The files that are not the same in a folder as in the committed one."""
    names = {p.name for where in (folder, FOLDER) for p in where.iterdir()}
    return sorted(name for name in names if _content(folder / name) != _content(FOLDER / name))


def _content(path: Path) -> bytes | str:
    """What a file says: a page with its data unpacked, which each zlib packs in its own way."""
    if not path.exists():
        return b""
    if path.suffix != ".html":
        return path.read_bytes()
    return unpacked(path.read_text(encoding="utf-8"))


def main() -> int:
    """Write or check the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--quick", action="store_true", help="the manifest and a sample")
    ways.add_argument("--write", action="store_true", help="write the folder anew")
    parser.add_argument("--again", action="store_true", help="from the runs that were played last")
    given = parser.parse_args()
    if given.quick:
        found = stale() or differing()
    else:
        if not given.again:
            play_all(BUILD)
        if given.write:
            write(FOLDER, BUILD)
            return 0
        with tempfile.TemporaryDirectory(prefix="memsim-comparison-") as folder:
            write(Path(folder) / "made", BUILD)
            found = different(Path(folder) / "made")
    print("\n".join([OUT_OF_DATE, *(f"  {text}" for text in found)]) if found else "up to date")
    return int(bool(found))


if __name__ == "__main__":
    os.chdir(ROOT)
    try:
        sys.exit(main())
    except MemsimError as error:
        sys.exit(str(error))
