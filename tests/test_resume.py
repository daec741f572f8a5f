"""Kill a run anywhere, or damage what it wrote: the same command ends with the same bytes."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsim.discovery.loader import load_file
from memsim.runs import load_run, open_run
from tests.forks import Forks

DRIVER = '''
"""Plays forty cases into one folder; told to, it dies half-way through a write."""
import os, signal, sys
from pathlib import Path
from memsim.config import Settings
from memsim.discovery.strategy_ref import StrategyRef
from memsim.errors import ExitCode
from memsim.executors import InProcess, ProcessPool
from memsim.runs import open_run, perform
from memsim.suite.cases import CaseOutcome, CaseResult, CaseSpec
from memsim.suite.case_plan import CasePlan
from memsim.suite.scenarios import ScenarioRef

CASES = 40

def play(spec):
    number = int(spec.scenario.name)
    lines = b"".join(b'{"turn":%d,"text":"%s"}\\n' % (n, b"x" * 97) for n in range(number % 7 * 20))
    result = CaseResult(id=spec.id, scenario=spec.scenario.name, strategy="b", budget=4096)
    probes = b'{"probe":"p","case":"%d"}\\n' % number
    contexts = b'{"full":%d}\\n' % number
    return CaseOutcome(
        result=result, turn_lines=lines, probe_lines=probes, context_lines=contexts
    )

def plan(cases=CASES):
    made = tuple(
        CaseSpec(
            scenario=ScenarioRef(source="s", name=str(n)),
            strategy=StrategyRef(name="b"),
            budget=4096,
        )
        for n in range(cases)
    )
    return CasePlan(cases=made, settings=Settings(), fingerprints=("p",) * cases, fingerprint="f")

def run(reports, jobs=1, die_at=0):
    """Play what is lacking; at the write of that number, write half of it and die."""
    made = plan()
    executor = InProcess() if jobs == 1 else ProcessPool(jobs)
    with open_run(made, reports) as writer:
        if die_at:
            countdown = [die_at]
            writer._files[:] = [Dying(file, countdown) for file in writer._files]
        perform(made, writer, executor, play=play, watch=tell)
        writer.finish(ExitCode.PASSED, "40 passed")
    return writer.folder

class Dying:
    def __init__(self, file, countdown):
        self.file, self.countdown = file, countdown

    def __getattr__(self, name):
        return getattr(self.file, name)

    def write(self, data):
        self.countdown[0] -= 1
        if not self.countdown[0]:
            self.file.write(data[: len(data) // 2])
            self.file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        self.file.write(data)

def tell(result):
    if __name__ == "__main__":
        os.write(1, b".")

if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
'''
RECORDS = ("turns.jsonl", "probes.jsonl", "contexts.jsonl", "cases.jsonl")
WRITES = 4 * 40


@pytest.fixture(scope="module")
def driver_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The driver, as a file that can be run."""
    path = tmp_path_factory.mktemp("driver") / "driver.py"
    path.write_text(DRIVER, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def driver(driver_path: Path) -> ModuleType:
    """The driver, as a module of this process."""
    return load_file(driver_path)


@pytest.fixture(scope="module")
def forks(driver_path: Path) -> Iterator[Forks]:
    """What forks processes that have imported the driver."""
    with Forks("import driver", driver_path.parent) as started:
        yield started


def killed(forks: Forks, reports: Path, die_at: int) -> bool:
    """Play in a process of its own up to a write, of which it writes a half and is killed."""
    code = "import driver, pathlib, sys; driver.run(pathlib.Path(sys.argv[1]), 1, int(sys.argv[2]))"
    return forks.run(code, str(reports), str(die_at)).returncode == -signal.SIGKILL


@pytest.fixture(scope="module")
def undisturbed(driver: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that nothing happened to."""
    folder: Path = driver.run(tmp_path_factory.mktemp("undisturbed"))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """The records of a run, byte for byte."""
    return {name: (folder / name).read_bytes() for name in RECORDS}


def start(driver_path: Path, reports: Path) -> subprocess.Popen[bytes]:
    """The driver, which has two processes play."""
    command = [sys.executable, str(driver_path), str(reports), "2", "0"]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


# 9 and 160 share no divisor: each file is hit, early and late.
@pytest.mark.parametrize(
    "die_at", [1, 2, 3, *range(9, WRITES - 2, 9), *range(WRITES - 2, WRITES + 1)]
)
def test_killed_in_the_middle_of_a_write_it_ends_with_the_same_bytes(
    driver: ModuleType, forks: Forks, undisturbed: Path, tmp_path: Path, die_at: int
) -> None:
    """SIGKILL leaves half a write in one of the files; the same command goes on."""
    assert killed(forks, tmp_path, die_at)
    before = load_run("latest", tmp_path)

    folder = driver.run(tmp_path)

    assert (die_at - 1) // 4 == len(before.cases)
    assert before.folder == folder
    assert contents(undisturbed) == contents(folder)
    assert load_run("latest", tmp_path).finished


@pytest.mark.parametrize("cases", [1, 20, 39])
def test_killed_with_its_workers_it_ends_with_the_same_bytes(
    driver: ModuleType, driver_path: Path, undisturbed: Path, tmp_path: Path, cases: int
) -> None:
    """From outside, at any moment, while two processes play; neither of them outlives it."""
    with start(driver_path, tmp_path) as process:
        assert process.stdout is not None
        process.stdout.read(cases)
        process.kill()
        # Workers hold the other end of this pipe: it ends when the last of them has.
        process.stdout.read()

    assert contents(undisturbed) == contents(driver.run(tmp_path))


def test_killed_again_and_again_it_ends_with_the_same_bytes(
    driver_path: Path, forks: Forks, undisturbed: Path, tmp_path: Path
) -> None:
    """Each try gets a little further, also with another number of processes."""
    assert all(killed(forks, tmp_path, die_at) for die_at in (20, 1, 2, 3, 30))
    assert len(list((tmp_path / "runs").iterdir())) == 1

    with start(driver_path, tmp_path) as process:
        process.communicate()

    assert contents(undisturbed) == contents(load_run("latest", tmp_path).folder)


def unfinished(folder: Path, reports: Path) -> Path:
    """A copy of a finished run, as it was just before it was finished."""
    copy = reports / "runs" / folder.name
    shutil.rmtree(reports, ignore_errors=True)
    shutil.copytree(folder, copy)
    info = (copy / "run.json").read_text(encoding="utf-8")
    info = info.replace('"finished": true', '"finished": false')
    (copy / "run.json").write_text(info, encoding="utf-8")
    return copy


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    ends=st.tuples(*[st.floats(0, 1) for _ in RECORDS]),
    tails=st.tuples(*[st.sampled_from([b"", b"\0" * 300, b"{}\n", b'{"id": "x'])] * len(RECORDS)),
)
def test_after_a_loss_of_power_it_ends_with_the_same_bytes(
    driver: ModuleType,
    undisturbed: Path,
    tmp_path: Path,
    ends: tuple[float, ...],
    tails: tuple[bytes, ...],
) -> None:
    """Each file may end anywhere, the log behind its data or before it, in zeros or in rubbish."""
    reports = tmp_path / "reports"
    damaged = unfinished(undisturbed, reports)
    for name, end, tail in zip(RECORDS, ends, tails, strict=True):
        whole = (undisturbed / name).read_bytes()
        (damaged / name).write_bytes(whole[: round(end * len(whole))] + tail)

    folder = driver.run(reports)

    assert damaged == folder
    assert contents(undisturbed) == contents(folder)


@pytest.mark.parametrize("name", RECORDS)
def test_a_file_that_is_gone_is_played_again(
    driver: ModuleType, undisturbed: Path, tmp_path: Path, name: str
) -> None:
    """Whichever of the three it was."""
    damaged = unfinished(undisturbed, tmp_path)
    (damaged / name).unlink()

    assert contents(undisturbed) == contents(driver.run(tmp_path))


def test_a_line_that_lacks_only_its_end_is_played_again(
    driver: ModuleType, undisturbed: Path, tmp_path: Path
) -> None:
    """What follows must not be written onto it."""
    damaged = unfinished(undisturbed, tmp_path)
    lines = (damaged / "cases.jsonl").read_bytes().splitlines(keepends=True)
    (damaged / "cases.jsonl").write_bytes(b"".join(lines[:20]).removesuffix(b"\n"))

    assert contents(undisturbed) == contents(driver.run(tmp_path))


def test_a_flipped_bit_in_the_records_is_played_again(
    driver: ModuleType, undisturbed: Path, tmp_path: Path
) -> None:
    """The log knows a checksum of what it stands for."""
    damaged = unfinished(undisturbed, tmp_path)
    data = bytearray((damaged / "turns.jsonl").read_bytes())
    data[len(data) // 2] ^= 1
    (damaged / "turns.jsonl").write_bytes(data)

    assert contents(undisturbed) == contents(driver.run(tmp_path))


def test_killed_before_it_has_a_name_it_leaves_nothing_to_trip_over(
    driver: ModuleType, undisturbed: Path, tmp_path: Path
) -> None:
    """Half a run.json never stands under a run's name."""
    beginning = tmp_path / "runs" / ".new-0badcafe"
    beginning.mkdir(parents=True)
    (beginning / ".run.json.0badcafe.tmp").write_text('{"memsim": 1, "finger', encoding="utf-8")

    folder = driver.run(tmp_path)

    assert contents(undisturbed) == contents(folder)
    assert load_run("latest", tmp_path).folder == folder


def test_only_what_is_lacking_is_played(
    driver: ModuleType, undisturbed: Path, tmp_path: Path
) -> None:
    """A case that is complete is not paid for twice."""
    damaged = unfinished(undisturbed, tmp_path)
    lines = (damaged / "cases.jsonl").read_bytes().splitlines(keepends=True)
    (damaged / "cases.jsonl").write_bytes(b"".join(lines[:37]) + lines[37][:10])

    with open_run(driver.plan(), tmp_path) as writer:
        assert len(writer.resumed) == 37
