"""Does a run survive that one of its workers is killed, and does no worker outlive the run?

A small run of real cases, by the command that people type, loses a worker (SIGKILL) after a random
time. Claimed: no traceback, an exit code that the documentation lists, and the same command
afterwards plays the lost cases and ends with the records and the report of an undisturbed run. Then
runs are killed themselves: one second later, no worker of theirs is alive.

Each run is forked from this process, and so are its workers; `--spawn` starts the workers as usual.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from unittest import mock

from benchmarks.resume_kills import FILLERS, STRATEGIES, begun, ending, forking, how
from benchmarks.resume_kills import play as play_once
from memsim.cli.program import program
from memsim.testing.folders import throwaway

ROUNDS, QUICK = 30, 5
PARENTS, QUICK_PARENTS = 20, 3
JOBS = 2
DOCUMENTED = (0, 7)
"""Exit codes of a run that lost nothing, and of one that lost a case."""

GONE = 1.0
"""Seconds that a worker may outlive its parent."""

LOG = "output.txt"


def play(folder: Path) -> None:
    """The command in the folder of the scenarios, with what it prints in a file."""
    files = [f"s{number}.yaml" for number in range(len(FILLERS))]
    which = [word for name in STRATEGIES for word in ("--strategy", name)]
    flags = ["--output", "run", "--progress", "none", "--embedder", "hash"]
    with (
        contextlib.chdir(folder),
        Path(LOG).open("w", encoding="utf-8") as log,
        contextlib.redirect_stdout(log),
        contextlib.redirect_stderr(log),
    ):
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        program(["run", *files, *which, *flags, "--tokenizer", "chars/4", "--jobs", str(JOBS)])


def start(folder: Path) -> int:
    """Start the run in a process of its own, and return its id."""
    process = os.fork()
    if process:
        return process
    code: object = 1
    # A worker imports the main module of its parent; that of the command is small, this is not.
    del sys.modules["__main__"].__file__
    try:
        play(folder)
    except SystemExit as left:
        code = left.code
    finally:
        os._exit(code if isinstance(code, int) else 1)


def workers_of(parent: int) -> list[int]:
    """The ids of the workers of a run that are alive."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, above = path.read_text().rpartition(")")[2].split()[:2]
            command = path.with_name("cmdline").read_bytes()
        except OSError:
            continue
        if int(above) == parent and state != "Z" and b"resource_tracker" not in command:
            found.append(int(path.parent.name))
    return sorted(found)


def is_alive(process: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def wait_for(process: int) -> int | None:
    """Wait for a run, and return its exit code; None if it was killed."""
    return how(os.waitpid(process, 0)[1])


def kill_worker(folder: Path, after: float, chance: random.Random) -> tuple[int | None, bool]:
    """Play a run, and kill one of its workers after some seconds: the exit code, and if it did."""
    run, end, killed = start(folder), time.monotonic() + after, False
    while time.monotonic() < end:
        time.sleep(0.001)
    # A worker that is not there yet is waited for: the first moments of its life count as well.
    while not (workers := workers_of(run)) and is_alive(run):
        time.sleep(0.001)
    if workers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(chance.choice(workers), signal.SIGKILL)
            killed = True
    return wait_for(run), killed


def lose_workers(place: Path, rounds: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Kill a worker in each of some runs, and play each run to its end.

    Returns:
        How the killed runs ended, and what was wrong.
    """
    chance, ends, wrong = random.Random(seed), Counter[str](), list[str]()
    whole, at = begun(place, "whole"), time.monotonic()
    code, expected = wait_for(start(whole)), ending(whole)
    took = time.monotonic() - at
    for number in range(rounds):
        folder = begun(place, f"run{number}")
        first, killed = kill_worker(folder, chance.random() * took, chance)
        said = (folder / LOG).read_text(encoding="utf-8", errors="replace")
        ends[f"exit {first}" if killed else "was over before"] += 1
        if "Traceback" in said or first not in DOCUMENTED:
            wrong.append(f"run {number}: exit {first}: {said[-2000:]}")
        again, found = wait_for(start(folder)), ending(folder)
        if (again, found) != (code, expected):
            other = [name for name in {*found, *expected} if found.get(name) != expected.get(name)]
            wrong.append(f"run {number}, continued: exit {again}, other {', '.join(other)}")
    return ends, wrong


def outlive(place: Path, rounds: int, seed: int) -> tuple[int, list[str]]:
    """Kill runs: how many workers they had, and which of them were alive a second later."""
    chance, count, wrong = random.Random(seed), 0, list[str]()
    for number in range(rounds):
        run = start(begun(place, f"killed{number}"))
        while not (workers := workers_of(run)) and is_alive(run):
            time.sleep(0.001)
        time.sleep(chance.random() / 2)
        workers = workers_of(run) or workers
        os.kill(run, signal.SIGKILL)
        os.waitpid(run, 0)
        count += len(workers)
        end = time.monotonic() + GONE
        while (alive := [w for w in workers if is_alive(w)]) and time.monotonic() < end:
            time.sleep(0.01)
        wrong += [f"killed run {number}: worker {worker} is alive" for worker in alive]
    return count, wrong


def main() -> int:
    """Kill workers and runs, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--parents", type=int, default=PARENTS)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} and {QUICK_PARENTS} rounds")
    parser.add_argument("--spawn", action="store_true", help="start workers anew, as usual")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    rounds, parents = given.rounds, given.parents
    if given.quick:
        rounds, parents = QUICK, QUICK_PARENTS
    with throwaway() as name, mock.patch("memsim.runs.run_writer.provenance", return_value={}):
        with contextlib.suppress(SystemExit):  # what is imported here is there in every fork
            play_once(begun(Path(name), "first"), "run", 1)
        gc.freeze()
        with contextlib.nullcontext() if given.spawn else forking():
            ends, wrong = lose_workers(Path(name), rounds, given.seed)
            workers, alive = outlive(Path(name), parents, given.seed)
    print(f"{rounds} runs that lost a worker, each continued by the same command")
    for what, number in ends.most_common():
        print(f"  {number:4} {what}")
    print(f"{parents} killed runs with {workers} workers")
    for line in [*wrong, *alive][:5]:
        print(f"  {line}")
    print(f"{len(wrong)} runs went wrong, {len(alive)} workers outlived their run")
    return int(bool(wrong or alive))


if __name__ == "__main__":
    sys.exit(main())
