"""What the harness itself costs: 2,000 trivial one-probe cases, beside pytest and inspect_ai.

Every tool gets 2,000 of the smallest things it can run, and does with them what it does by default:
memsim replays, scores and keeps records; pytest collects and reports; inspect_ai asks its mock
model, scores and logs. All rounds of all tools are interleaved in one run, the best of each counts,
and only the ratios mean anything on another machine.

Each tool runs as its users run it, and all three are then one process on one processor: memsim
starts no others below 5,000 turns, since that takes longer than it saves; pytest never does by
itself; inspect_ai's concurrency is of waiting for models, and its mock model lets nobody wait: a
hundred samples at once took it as long as ten. It logs samples, as the two others keep records.

memsim is measured twice: as 2,000 scenario files, each read and planned, and as one scenario with
2,000 repeats, which is the nearer likeness of one file with 2,000 tests or one data set of 2,000
samples, as inspect_ai gets them. What is claimed beside inspect_ai is claimed of that likeness, and
has to hold by the clock and by processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "benchmarks" / "peers"
PYTEST_RATIO, INSPECT_RATIO = 1.0, 20.0
"""The least that is claimed of memsim's rate over theirs."""

SCENARIO = """\
memsim: 1
name: {name}
turns:
  - user: My order is A-{number}.
    facts: {{order_id: A-{number}}}
  - assistant: Noted.
probes:
  order_id: {{after: end, ask: What is my order number?, expect: A-{number}}}
"""

MEMSIM = """
import json, sys, time
from pathlib import Path
from memsim.config import load_settings
from memsim.discovery.project import find_project
from memsim.executors import choose_executor
from memsim.gate import judge
from memsim.runs import open_run, perform
from memsim.suite.case_plan import plan, resolve_strategies
from memsim.suite.scenarios import find_scenarios
ready, used = time.perf_counter(), time.process_time()
project = find_project()
settings = load_settings(project, {"repeat": int(sys.argv[1])})
refs = resolve_strategies(["sliding_window"], project, controls=False)
made = plan(settings, find_scenarios(["scenarios"], project), refs)
executor = choose_executor(0, len(made.cases), sum(case.turns for case in made.cases))
with open_run(made, project.base / "reports") as writer:
    verdict = judge(perform(made, writer, executor))
    writer.finish(verdict.exit_code, verdict.sentence)
seconds, processor = time.perf_counter() - ready, time.process_time() - used
print(json.dumps({"passed": verdict.passed, "seconds": seconds, "processor": processor}))
"""


@dataclass(frozen=True, slots=True)
class Taken:
    """What one round took.

    Attributes:
        wall: seconds of the whole process.
        inside: seconds from when everything was imported, as the tool itself tells.
        processor: seconds of processor time of the whole process and what it started.
        busy: of these, the ones since everything was imported; of all, where the tool cannot tell.
    """

    wall: float
    inside: float
    processor: float
    busy: float


def clocked(command: list[str], folder: Path, cases: int, **environ: str) -> Taken:
    """Run a command to its end; its last line is JSON with `passed` and `seconds`."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    used = _processor_time()
    began = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    wall = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{' '.join(command[:3])} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    said = json.loads(done.stdout.splitlines()[-1])
    if said["passed"] != cases:
        sys.exit(f"{' '.join(command[:3])}: {said['passed']} of {cases} passed")
    processor = _processor_time() - used
    return Taken(wall, said["seconds"], processor, said.get("processor", processor))


def _processor_time() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def write_project(folder: Path, files: int) -> Path:
    """A project of so many scenario files."""
    (folder / "scenarios").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[tool.memsim]\n", encoding="utf-8")
    for number in range(files):
        name = f"case_{number:05}"
        text = SCENARIO.format(name=name, number=number)
        (folder / "scenarios" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def measure(cases: int, rounds: int, peers: Path | None, folder: Path) -> dict[str, list[Taken]]:
    """Rounds of every tool, interleaved."""
    files = write_project(folder / "files", cases)
    repeats = write_project(folder / "repeats", 1)
    here = sys.executable
    taken: dict[str, list[Taken]] = {}
    for _ in range(rounds):
        commands = {
            "memsim, files": ([here, "-c", MEMSIM, "1"], files),
            "memsim, repeats": ([here, "-c", MEMSIM, str(cases)], repeats),
            "pytest": ([here, str(PEERS / "pytest_trivial.py"), str(cases)], folder),
        }
        for name, (command, place) in commands.items():
            taken.setdefault(name, []).append(clocked(command, place, cases))
    if peers is not None:
        # Once: it takes half a minute, and a tenth more or less does not matter at its distance.
        command = [str(peers), str(PEERS / "inspect_trivial.py"), str(cases)]
        taken["inspect_ai"] = [clocked(command, folder, cases)]
    return taken


@dataclass(frozen=True, slots=True)
class Rate:
    """Cases a second; the attributes are those of `Taken`."""

    wall: float
    inside: float
    processor: float
    busy: float


def rates(taken: dict[str, list[Taken]], cases: int) -> dict[str, Rate]:
    """Cases a second by tool, each by its best round."""
    return {
        name: Rate(
            cases / min(t.wall for t in rounds),
            cases / min(t.inside for t in rounds),
            cases / min(t.processor for t in rounds),
            cases / min(t.busy for t in rounds),
        )
        for name, rounds in taken.items()
    }


def report(found: dict[str, Rate]) -> bool:
    """Print rates and ratios; whether the claims hold.

    Beside pytest whole processes are compared, as one waits for them; beside inspect_ai what comes
    after importing, since its half minute would hide what starting takes. On a machine that does
    other work as well, processor time is the steadier of the two, and a half minute has less of a
    chance than a second to fall into a quiet moment: hence both have to hold.
    """
    test, sample = found["pytest"], found.get("inspect_ai")
    heads = ("process/s", "x pytest", "cpu/s", "x pytest")
    heads += ("inside/s", "x inspect_ai", "cpu/s", "x inspect_ai")
    print(f"{'':16}", *(f"{head:>12}" for head in heads))
    for name, rate in found.items():
        row = [rate.wall, rate.wall / test.wall, rate.processor, rate.processor / test.processor]
        beside = (sample.inside, sample.busy) if sample else (0.0, 0.0)
        row += [rate.inside, _ratio(rate.inside, beside[0])]
        row += [rate.busy, _ratio(rate.busy, beside[1])]
        print(f"{name:16}", *(f"{number:12.{n % 2 and 2}f}" for n, number in enumerate(row)))
    ours = [found[name] for name in found if name.startswith("memsim")]
    holds = max(rate.wall for rate in ours) >= PYTEST_RATIO * test.wall
    if sample is None:
        print("inspect_ai was left out: make peers, or --peers-python PATH")
        return holds
    by_clock = max(rate.inside for rate in ours) / sample.inside
    by_processor = max(rate.busy for rate in ours) / sample.busy
    return holds and min(by_clock, by_processor) >= INSPECT_RATIO


def _ratio(ours: float, theirs: float) -> float:
    return ours / theirs if theirs else float("nan")


def main() -> int:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="500 cases, one round, no inspect_ai")
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--peers-python",
        type=Path,
        default=ROOT / ".venv-peers" / "bin" / "python",
        help="a Python that has inspect_ai",
    )
    given = parser.parse_args()
    peers = given.peers_python if given.peers_python.exists() and not given.quick else None
    cases, rounds = (500, 1) if given.quick else (given.cases, given.rounds)
    with tempfile.TemporaryDirectory(prefix="memsim-bench-") as folder:
        holds = report(rates(measure(cases, rounds, peers, Path(folder)), cases))
    # Starting takes a good part of a quick round, so that one only shows that it runs.
    return 0 if holds or given.quick else 1


if __name__ == "__main__":
    sys.exit(main())
