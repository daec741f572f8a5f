"""Playing cases here and in processes: the same outcomes, whatever a case does to its process."""

from __future__ import annotations

import operator
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from memsim import executors
from memsim.discovery.loader import load_file
from memsim.discovery.strategy_ref import StrategyRef
from memsim.errors import RefError, Unmeasurable
from memsim.executors import (
    InProcess,
    PlayCase,
    ProcessPool,
    WorkerError,
    available_processors,
    choose_executor,
)
from memsim.suite.cases import CaseOutcome, CaseResult, CaseSpec
from memsim.suite.scenarios import ScenarioRef
from tests.test_heap import tells_of_blocks

PLAY = '''
"""A stand-in for playing: a case does what its scenario's name says."""
import os, signal, sys, time
from memsim.errors import RefError
from memsim.suite.cases import CaseOutcome, CaseResult

def block():
    """Pages of their own that a block of 8 MB takes, after a larger one was freed."""
    import ctypes
    told = ctypes.CDLL(None).mallinfo2
    told.restype = type("Told", (ctypes.Structure,), {
        "_fields_": [(f"n{n}", ctypes.c_size_t) for n in range(10)]
    })
    bytearray(30 << 20)
    begun = told().n3
    kept = bytearray(8 << 20)
    return str(told().n3 - begun)

def play(spec):
    what, _, number = spec.scenario.name.partition("-")
    if what == "exit":
        os._exit(int(number))
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
    if what == "quit":
        sys.exit(3)
    if what == "refuse":
        raise RefError("refused", path="a.yaml", line=3)
    if what == "bug":
        raise ZeroDivisionError("our own")
    if what == "sleep":
        time.sleep(float(number))
    if what == "block":
        number = block()
    result = CaseResult(id=spec.id, scenario=what, strategy=str(spec.strategy), budget=spec.budget)
    return CaseOutcome(result=result, turn_lines=number.encode(), probe_lines=b"%d" % os.getpid())
'''


class _Module:
    """A module that is pickled as the file it is loaded from."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return load_file, (self.path,)


class _Function:
    """A function of a file, which a process that never saw this test can load."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name

    def __call__(self, spec: CaseSpec) -> CaseOutcome:
        outcome: CaseOutcome = getattr(load_file(self.path), self.name)(spec)
        return outcome

    def __reduce__(self) -> tuple[object, ...]:
        return operator.attrgetter(self.name), (_Module(self.path),)


@pytest.fixture
def play(tmp_path: Path) -> PlayCase:
    """The stand-in."""
    path = tmp_path / "play.py"
    path.write_text(PLAY, encoding="utf-8")
    return _Function(path, "play")


def specs(*names: str) -> list[CaseSpec]:
    """Cases whose scenarios have these names."""
    return [
        CaseSpec(
            scenario=ScenarioRef(source="s.yaml", name=name),
            strategy=StrategyRef(name="bm25"),
            budget=4096,
            probes=2,
        )
        for name in names
    ]


def states(outcomes: dict[int, CaseOutcome]) -> list[str]:
    """The states in the order of the cases."""
    return [outcomes[place].result.state for place in sorted(outcomes)]


def test_in_process_keeps_the_order(play: PlayCase) -> None:
    """One after the other, in this process."""
    outcomes = list(InProcess().run(specs("a-1", "b-2", "c-3"), play))

    assert [place for place, _ in outcomes] == [0, 1, 2]
    assert {o.probe_lines for _, o in outcomes} == {b"%d" % os.getpid()}


def test_a_case_that_ended_an_earlier_process_is_lost(play: PlayCase) -> None:
    """It is not played again; of every other case it is told when it begins and when it ended."""
    told: list[str] = []
    cases = specs("a-1", "kill-2", "c-3")
    executor = InProcess(begin=told.append, lost={cases[1].key: "signal SIGKILL"})

    outcomes = dict(executor.run(cases, play))

    assert ["scored", "lost", "scored"] == states(outcomes)
    assert "the process that played it died (signal SIGKILL)" == outcomes[1].result.error
    assert [cases[0].key, "", cases[2].key, ""] == told


def test_a_pool_plays_every_case_once_and_elsewhere(play: PlayCase) -> None:
    """Forty cases, two processes: each place once, none in this process."""
    names = [f"a-{n}" for n in range(40)]

    outcomes = list(ProcessPool(2).run(specs(*names), play))

    assert sorted(place for place, _ in outcomes) == list(range(40))
    assert {place: o.turn_lines for place, o in outcomes} == {n: b"%d" % n for n in range(40)}
    assert b"%d" % os.getpid() not in {o.probe_lines for _, o in outcomes}


@pytest.mark.parametrize(
    ("death", "told"),
    [
        ("exit-0", "the process that played it died (exit code 0)"),
        ("exit-7", "the process that played it died (exit code 7)"),
        ("kill-", "the process that played it died (signal SIGKILL)"),
        ("quit-", "the process that played it died (exit code 3)"),
    ],
)
def test_a_case_that_kills_its_process_is_lost_alone(play: PlayCase, death: str, told: str) -> None:
    """However it died: the others are played, and the lost one counts its probes as errors."""
    names = [f"a-{n}" for n in range(30)]
    names[11] = death

    outcomes = dict(ProcessPool(2).run(specs(*names), play))

    assert states(outcomes) == ["scored"] * 11 + ["lost"] + ["scored"] * 18
    assert outcomes[11].result.error == told
    assert outcomes[11].result.counts["errors"] == 2
    assert (outcomes[11].turn_lines, outcomes[11].probe_lines) == (b"", b"")


def test_many_deaths_are_many_lost_cases(play: PlayCase) -> None:
    """Each gets a new process; nothing is played twice or left out."""
    names = [("exit-1" if n % 3 == 0 else f"a-{n}") for n in range(12)]

    outcomes = dict(ProcessPool(2).run(specs(*names), play))

    assert states(outcomes) == ["lost" if n % 3 == 0 else "scored" for n in range(12)]


def test_what_memsim_raises_on_purpose_is_raised_here(play: PlayCase) -> None:
    """With its file and line, as if it had been raised in this process."""
    with pytest.raises(RefError) as raised:
        list(ProcessPool(2).run(specs("a-1", "refuse-", "a-2"), play))

    assert (raised.value.path, raised.value.line) == ("a.yaml", 3)


def test_our_own_bug_comes_with_its_traceback(play: PlayCase) -> None:
    """What should not happen is raised, never counted as a result."""
    with pytest.raises(WorkerError, match="ZeroDivisionError: our own"):
        list(ProcessPool(2).run(specs("a-1", "bug-"), play))


def test_a_worker_that_cannot_start_is_no_lost_case(tmp_path: Path) -> None:
    """Nothing was played, so nothing is said about any case."""
    path = tmp_path / "play.py"
    path.write_text("import sys\nsys.exit(5)\n", encoding="utf-8")

    with pytest.raises(WorkerError, match="could not start"):
        list(ProcessPool(2).run(specs("a-1", "a-2"), _Function(path, "play")))


def test_a_worker_that_is_killed_while_it_starts_is_replaced(
    play: PlayCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was played, so nothing is lost; if all are killed, that is said and not retried."""
    hire, killed = executors._Crew._hire, [0]

    def hire_and_kill(crew: executors._Crew, most: int) -> executors._Worker:
        worker = hire(crew)
        if killed[0] < most:
            killed[0] += 1
            worker.process.kill()
        return worker

    monkeypatch.setattr(executors._Crew, "_hire", lambda crew: hire_and_kill(crew, 1))
    outcomes = dict(ProcessPool(1).run(specs("a-1", "a-2"), play))
    assert states(outcomes) == ["scored"] * 2
    assert killed == [1]

    monkeypatch.setattr(executors._Crew, "_hire", lambda crew: hire_and_kill(crew, 99))
    with pytest.raises(Unmeasurable, match="3 worker processes in a row were killed"):
        list(ProcessPool(1).run(specs("a-1", "a-2"), play))


def test_giving_up_ends_the_processes(play: PlayCase) -> None:
    """Closing the iterator does not wait for a case that would take a minute."""
    began = time.monotonic()
    outcomes = ProcessPool(2).run(specs("a-1", "sleep-60"), play)
    next(outcomes)
    outcomes.close()

    assert time.monotonic() - began < 30


def test_an_interrupt_is_passed_on_and_leaves_no_process_behind(tmp_path: Path) -> None:
    """Ctrl-C reaches the whole group: workers ignore it, the parent ends them."""
    # In one piece: what two workers print at the same time may come mixed.
    told = PLAY.replace("time.sleep(", 'os.write(2, b"asleep\\n"); time.sleep(')
    (tmp_path / "play.py").write_text(told, encoding="utf-8")
    script = tmp_path / "main.py"
    script.write_text(
        textwrap.dedent("""
        import signal, sys
        sys.path.insert(0, sys.argv[1])
        # Whatever started the tests in the background may have had interrupts ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from play import play
        from memsim.discovery.strategy_ref import StrategyRef
        from memsim.executors import ProcessPool
        from memsim.suite.cases import CaseSpec
        from memsim.suite.scenarios import ScenarioRef

        if __name__ == "__main__":
            cases = [
                CaseSpec(
                    scenario=ScenarioRef(source="s", name=name),
                    strategy=StrategyRef(name="b"),
                    budget=1,
                )
                for name in ("a-1", "sleep-60", "sleep-61")
            ]
            try:
                for _place, outcome in ProcessPool(2).run(cases, play):
                    print(outcome.result.scenario, flush=True)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
        """),
        encoding="utf-8",
    )
    command = [sys.executable, str(script), str(tmp_path)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "a\n"
        # Both workers are in the middle of a case, and their parent waits for them.
        assert ["asleep\n"] * 2 == [process.stderr.readline() for _ in range(2)]
        os.killpg(process.pid, signal.SIGINT)
        rest, errors = process.stdout.read(), process.stderr.read()
        process.wait()

    assert rest == "interrupted\n"
    assert "" == errors
    assert [] == _alive(process.pid)


def _alive(group: int) -> list[int]:
    """Processes of a group that still run a few seconds from now; zombies do not."""
    for _ in range(100):
        alive = [
            pid
            for pid, state, of in map(_stat, Path("/proc").glob("[0-9]*/stat"))
            if of == group and state != "Z"
        ]
        if not alive:
            break
        time.sleep(0.05)
    return alive


def _stat(path: Path) -> tuple[int, str, int]:
    """A process's id, state and group; a zombie when it is gone."""
    try:
        state, _, group = path.read_text().rpartition(")")[2].split()[:3]
    except OSError:
        return 0, "Z", 0
    return int(path.parent.name), state, int(group)


def test_a_worker_leaves_interrupts_to_the_one_that_keeps_the_records(play: PlayCase) -> None:
    """A terminal sends Ctrl-C to every process; what a worker is playing is not lost by it."""
    outcomes = dict(ProcessPool(1).run(specs("a-1", "interrupt-", "a-2"), play))

    assert states(outcomes) == ["scored"] * 3


def test_large_cases_are_handed_out_singly(play: PlayCase) -> None:
    """With its process a case takes only small ones down the queue, and none of them is lost."""
    cases = specs("a-1", "exit-1", *(f"a-{n}" for n in range(60)))
    large = [replace(case, turns=500) for case in cases]

    for tried in (cases, large):
        outcomes = dict(ProcessPool(2).run(tried, play))
        assert states(outcomes) == ["scored", "lost"] + ["scored"] * 60


def test_few_small_cases_need_no_processes() -> None:
    """Starting one takes longer than playing them; asking for a number settles it."""
    assert choose_executor(0, cases=1, turns=10**6) == InProcess()
    assert choose_executor(0, cases=50, turns=500) == InProcess()
    assert choose_executor(1, cases=50, turns=10**6) == InProcess()
    assert choose_executor(8, cases=50, turns=500) == ProcessPool(8)


def test_much_work_takes_the_processors_there_are() -> None:
    """All that this process may use."""
    expected = InProcess() if available_processors() == 1 else ProcessPool(available_processors())

    assert choose_executor(0, cases=50, turns=10**6) == expected


@tells_of_blocks
def test_a_process_of_a_pool_gives_large_blocks_pages_of_their_own(play: PlayCase) -> None:
    """So that the columns of a long memory leave no holes in its heap."""
    outcomes = dict(ProcessPool(1).run(specs("block-"), play))

    assert b"1" == outcomes[0].turn_lines


def test_no_cases_are_no_outcomes(play: PlayCase) -> None:
    """Nothing is started for nothing."""
    assert list(ProcessPool(4).run([], play)) == []


def test_a_result_travels_as_it_is(play: PlayCase) -> None:
    """Both ways of playing give equal results."""
    (_, here), (_, there) = (
        next(iter(executor.run(specs("a-1"), play))) for executor in (InProcess(), ProcessPool(2))
    )

    assert here.result == there.result
    assert isinstance(there.result, CaseResult)
