"""Does a run that is killed anywhere, and again, end with the bytes of one that was not?

A small run of real cases, by the command that people type, is killed (SIGKILL, with its workers)
after a random time or half-way through a random write, and continued by the same command with one,
two or eight workers, which may be killed as well; the last one goes through. Claimed: the same
records and the same report byte for byte but for seconds, each case once, and the same exit code,
whatever the number of workers; no run that cannot be continued, and no file that is left behind.

Each try is forked from this process, which has played the run once: kills hit what is played and
written, and not the start of Python. Workers are forked as well; `--spawn` starts them as usual.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import (
    AbstractContextManager,
    chdir,
    contextmanager,
    nullcontext,
    redirect_stderr,
    redirect_stdout,
    suppress,
)
from multiprocessing import Pipe, parent_process
from multiprocessing.context import ForkProcess
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from memsim.cli.program import program
from memsim.testing.faults import Schedule
from memsim.testing.folders import throwaway
from tests.doubles.failing_files import failing_files

LOG = "cases.jsonl"
KEPT = ("turns.jsonl", "probes.jsonl", "contexts.jsonl", LOG, "report.md")
STRATEGIES = ("full_context", "sliding_window:messages=4", "bm25")
JOBS = (1, 2, 8)
KILLS, QUICK = 500, 10
TRIES = 4
"""Times that a run is killed at most, before it may end."""

WRITES = 160
"""Operations of the disk of which one is the last: a run has a few more."""

FILLERS = (0, 1, 4, 9, 16, 25, 36)
"""Turns that the scenarios are filled up with."""

_SCENARIO = """memsim: 1
name: s{number}
turns:
  - user: My order is A-{number}4.
    facts: {{order: A-{number}4}}
  - assistant: Noted.
{filler}  - user: My order is B-{number}7 now.
    facts: {{order: {{value: B-{number}7}}}}
  - assistant: Noted as well.
  - filler: 3
probes:
  first: {{ask: What is my order?, expect: B-{number}7}}
  other: {{ask: What is my shoe size?, expect: unknown}}
"""
_TIMED = re.compile(
    rb'"latency":\{("[^"]*":\{[^}]*\},?)*\}'
    rb'|"(seconds|ends|crc|own)":(\[[^]]*\]|[0-9.e-]+)|--jobs \d'
)


class Worker(ForkProcess):
    """A forked worker that keeps nothing of its parent's open, as one that is started anew."""

    def run(self) -> None:
        """Close what is not its own, and work."""
        line = self._args[0].fileno()  # type: ignore[attr-defined]
        parent = parent_process()
        own = {line, parent.sentinel if parent else line}
        for descriptor in {*range(3, 256)} - own:
            with suppress(OSError):
                os.close(descriptor)
        super().run()


def scenarios(folder: Path) -> None:
    """Write the scenarios."""
    for number, turns in enumerate(FILLERS):
        filler = f"  - filler: {turns}\n" if turns else ""
        text = _SCENARIO.format(number=number, filler=filler)
        (folder / f"s{number}.yaml").write_text(text, encoding="utf-8")


def play(folder: Path, out: str, jobs: int) -> None:
    """The command, in the folder of the scenarios; raises SystemExit."""
    files = [f"s{number}.yaml" for number in range(len(FILLERS))]
    which = [word for name in STRATEGIES for word in ("--strategy", name)]
    flags = ["--output", out, "--progress", "none", "--embedder", "hash", "--tokenizer", "chars/4"]
    with chdir(folder), Path(os.devnull).open("w") as no, redirect_stdout(no), redirect_stderr(no):
        # The output's own name is in the report, and has to be the same in all of them.
        program(["run", *files, *which, *flags, "--jobs", str(jobs)])


def attempt(folder: Path, jobs: int, lives: float = 0.0, writes: int = 0) -> int | None:
    """Run it; its exit code, if it was not killed.

    Args:
        folder: of the scenarios.
        jobs: its workers.
        lives: seconds after which it is killed; 0 for never.
        writes: the operation of its disk in the middle of which it is killed; 0 for none.
    """
    process = os.fork()
    if not process:
        code: object = 1
        try:
            os.setsid()
            with dying(folder, writes) if writes else nullcontext():
                play(folder, "run", jobs)
        except SystemExit as left:
            code = left.code
        finally:
            os._exit(code if isinstance(code, int) else 1)
    end = time.monotonic() + lives
    while lives and time.monotonic() < end:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return how(status)
        time.sleep(0.001)
    if lives:
        with suppress(ProcessLookupError):  # it has yet to begin a session of its own
            os.killpg(process, signal.SIGKILL)
        os.kill(process, signal.SIGKILL)
    return how(os.waitpid(process, 0)[1])


def how(status: int) -> int | None:
    """The exit code of a process that was not killed."""
    code = os.waitstatus_to_exitcode(status)
    return None if code == -signal.SIGKILL else code


@contextmanager
def dying(folder: Path, at: int) -> Iterator[Schedule]:
    """Have this process and its workers killed with half of an operation done."""
    schedule = Schedule(at=at, mode="crash")
    with (
        failing_files(folder / "run", schedule),
        mock.patch("tests.doubles.failing_files.SimulatedCrash", lambda _: os.killpg(0, 9)),  # noqa: PT008 - it is the end
    ):
        yield schedule


def ending(folder: Path) -> dict[str, bytes]:
    """What a run has come to, without the seconds that it took and the workers it had."""
    places = {name: folder / "run" / name for name in KEPT}
    found = {n: _TIMED.sub(b"", p.read_bytes()) for n, p in places.items() if p.exists()}
    return {
        **found,
        "files": "\n".join(sorted(p.name for p in (folder / "run").iterdir())).encode(),
    }


def where(folder: Path) -> str:
    """How far a run had come when it was killed."""
    info, log = folder / "run" / "run.json", folder / "run" / LOG
    if not info.exists():
        return "before there was a run"
    if b'"finished": true' in info.read_bytes():
        return "after its last case"
    return "in the middle" if log.exists() and log.stat().st_size else "before its first case"


def again_and_again(
    place: Path, kills: int, seed: int
) -> tuple[Counter[str], Counter[int], list[str]]:
    """Kill runs so many times.

    Returns:
        Where the kills hit, how many tries there were with so many workers, and what was wrong.
    """
    chance, took, wrong = random.Random(seed), dict[int, float](), list[str]()
    ends = []
    for jobs in JOBS:
        folder = begun(place, f"whole{jobs}")
        at = time.monotonic()
        ends.append((attempt(folder, jobs), ending(folder)))
        took[jobs] = time.monotonic() - at
        if ends[-1] != ends[0]:
            wrong.append(f"with {jobs} workers it is another than with {JOBS[0]}")
    hit, tries = Counter[str](), Counter[int]()
    for number in range(kills):
        if hit.total() >= kills:
            break
        folder, used = begun(place, f"run{number}"), []
        for _ in range(TRIES):
            used.append(chance.choice(JOBS))
            lives = chance.random() * took[used[-1]] if chance.random() < 0.5 else 0.0
            if attempt(folder, used[-1], lives, 0 if lives else chance.randint(1, WRITES)) is None:
                hit[where(folder)] += 1
        used.append(chance.choice(JOBS))
        code, found = attempt(folder, used[-1]), ending(folder)
        tries.update(used)
        if (code, found) != ends[0]:
            other = [name for name, data in ends[0][1].items() if found.get(name) != data]
            wrong.append(f"run {number}, workers {used}: exit {code}, other {', '.join(other)}")
    return hit, tries, wrong


def begun(place: Path, name: str) -> Path:
    """A new folder with the scenarios."""
    folder = place / name
    folder.mkdir()
    scenarios(folder)
    return folder


def forking() -> AbstractContextManager[object]:
    """Have workers forked."""
    context = SimpleNamespace(Pipe=Pipe, Process=Worker)
    return mock.patch("memsim.executors.get_context", return_value=context)


def main() -> int:
    """Kill and continue, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} kills")
    parser.add_argument("--spawn", action="store_true", help="start workers anew, as usual")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    kills = QUICK if given.quick else given.kills
    with throwaway() as name, mock.patch("memsim.runs.run_writer.provenance", return_value={}):
        with suppress(SystemExit):
            play(begun(Path(name), "first"), "run", 1)
        gc.freeze()
        with nullcontext() if given.spawn else forking():
            hit, tries, wrong = again_and_again(Path(name), kills, given.seed)
    tried = ", ".join(f"{tries[jobs]} with {jobs}" for jobs in JOBS)
    print(f"{hit.total()} kills; tries by workers: {tried}")
    for what, number in hit.most_common():
        print(f"  {number:4} {what}")
    for line in wrong[:5]:
        print(f"  {line}")
    print(f"{len(wrong)} runs ended otherwise than the undisturbed one")
    return int(bool(wrong) or hit.total() < kills)


if __name__ == "__main__":
    sys.exit(main())
