"""Executors: play cases in this process, in several, or on a Ray cluster.

An executor yields each outcome as soon as it is done, in any order. The writer of the records
restores the order of the plan.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, NoReturn, Protocol

from memsim.case_queue import (
    STARTS,
    Begin,
    CaseQueue,
    Outcomes,
    PlayCase,
    WorkerError,
    WorkersKilledError,
    available_processors,
    begin_unheard,
    lost_outcome,
)
from memsim.suite.cases import CaseOutcome, CaseSpec
from memsim.worker_process import CaseError, WorkerReady, hold_interrupts, work

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

__all__ = [
    "Executor",
    "InProcess",
    "Outcomes",
    "PlayCase",
    "ProcessPool",
    "WorkerError",
    "WorkersKilledError",
    "available_processors",
    "choose_executor",
]

_PATIENCE = 5.0
_FEW_TURNS = 5000
"""Below this number of turns, starting processes takes longer than it saves."""


class Executor(Protocol):
    """Plays cases."""

    def run(self, specs: Sequence[CaseSpec], play: PlayCase) -> Outcomes:
        """Play every case; yield its place among `specs` and its outcome when it is done."""
        ...


@dataclass(frozen=True, slots=True)
class InProcess:
    """Plays one case after another in this process.

    Attributes:
        begin: is told the key of each case before it is played, and an empty text after it.
        lost: cases that are not played, because they ended an earlier process, and how it ended.
    """

    begin: Begin = begin_unheard
    lost: Mapping[str, str] = field(default_factory=dict)

    def run(self, specs: Sequence[CaseSpec], play: PlayCase) -> Outcomes:
        """Play the cases in their order."""
        for place, spec in enumerate(specs):
            if spec.key in self.lost:
                yield place, lost_outcome(spec, self.lost[spec.key])
                continue
            self.begin(spec.key)
            with _NoWayOut():
                outcome = play(spec)
            self.begin("")
            yield place, outcome


class _NoWayOut:
    """Turns `os._exit` in a strategy into an error, so that it cannot end memsim with success.

    A process that the strategy forked may exit as usual.
    """

    __slots__ = ("_leave", "_own")

    def __enter__(self) -> None:
        self._leave, self._own = os._exit, os.getpid()
        os._exit = self._refuse

    def __exit__(self, *_raised: object) -> None:
        os._exit = self._leave

    def _refuse(self, status: int) -> NoReturn:
        if os.getpid() != self._own:
            self._leave(status)
        raise SystemExit(f"os._exit({status})")


@dataclass(frozen=True, slots=True)
class ProcessPool:
    """Plays cases in separate processes.

    If a process dies, only the case that it was playing becomes `lost`; its other cases go to other
    processes. An interrupt ends the processes and is raised again. The processes end within a
    moment of this one, however it ends.

    Attributes:
        begin: is told the key of each case when a process has come to it.
    """

    jobs: int
    begin: Begin = begin_unheard

    def run(self, specs: Sequence[CaseSpec], play: PlayCase) -> Outcomes:
        """Play the cases, each in the next free process."""
        crew = _Crew(specs, play, min(self.jobs, len(specs)), self.begin)
        try:
            yield from crew.outcomes()
        finally:
            crew.dismiss()


def choose_executor(
    jobs: int | str,
    cases: int,
    turns: int,
    *,
    here: InProcess | None = None,
    begin: Begin = begin_unheard,
) -> Executor:
    """The executor for a number of processes.

    Args:
        jobs: processes; 1 is this one, and 0 depends on the amount of work. A text is a Ray
            cluster: `ray` on this machine, or the address of one.
        cases: number of cases to play.
        turns: number of turns in all cases.
        here: what plays them in this process.
        begin: is told the key of each case that another process begins.
    """
    if isinstance(jobs, str):
        from memsim.ray_executor import RayPool

        return RayPool(jobs, begin)
    if jobs == 0:
        small = cases < 2 or turns < _FEW_TURNS
        jobs = 1 if small else available_processors()
    return (here or InProcess()) if jobs == 1 else ProcessPool(jobs, begin)


@dataclass(slots=True, eq=False)
class _Worker:
    process: SpawnProcess
    line: Connection
    playing: deque[int] = field(default_factory=deque)
    ready: bool = False


class _Crew:
    """The workers, the case that each plays, and the remaining cases."""

    def __init__(
        self,
        specs: Sequence[CaseSpec],
        play: PlayCase,
        size: int,
        begin: Begin,
    ) -> None:
        self._specs = specs
        self._play = play
        self._size = size
        self._begin = begin
        self._pending = CaseQueue(specs)
        self._workers: list[_Worker] = []
        self._killed_at_start = 0

    def outcomes(self) -> Iterator[tuple[int, CaseOutcome]]:
        while self._pending or any(w.playing for w in self._workers):
            self._staff()
            lines = {w.line: w for w in self._workers if w.playing}
            for line in wait([*lines]):
                heard = self._hear(lines[line])  # type: ignore[index]
                if heard is not None:
                    yield heard

    def _staff(self) -> None:
        while len(self._workers) < self._size and len(self._workers) < self._open():
            self._workers.append(self._hire())
        for worker in self._workers:
            if not worker.playing and self._pending:
                self._assign(worker)

    def _open(self) -> int:
        return len(self._pending) + sum(1 for w in self._workers if w.playing)

    def _hire(self) -> _Worker:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs,), daemon=True)
        with _interrupts_held():
            process.start()
        theirs.close()
        with suppress(OSError):  # the worker may be dead; the next read reports it
            ours.send(self._play)
        return _Worker(process, ours)

    def _assign(self, worker: _Worker) -> None:
        places = self._pending.take(self._size)
        worker.playing.extend(places)
        with suppress(OSError):  # the worker may be dead; the next read reports it
            worker.line.send([self._specs[p] for p in places])
        self._begin(self._specs[places[0]].key)

    def _hear(self, worker: _Worker) -> tuple[int, CaseOutcome] | None:
        try:
            said = worker.line.recv()
        except (EOFError, OSError):
            return self._lose(worker)
        if isinstance(said, WorkerReady):
            worker.ready = True
            self._killed_at_start = 0
            return None
        if isinstance(said, CaseError):
            raise said.error or WorkerError(said.trace)
        played = worker.playing.popleft()
        if worker.playing:
            self._begin(self._specs[worker.playing[0]].key)
        return played, said.outcome

    def _lose(self, worker: _Worker) -> tuple[int, CaseOutcome] | None:
        code = self._discharge(worker)
        if not worker.ready:
            self._check_start(code)
            self._pending.give_back(worker.playing)
            return None
        # A batch is played and reported in order: the first unreported case was being played.
        lost = worker.playing.popleft()
        self._pending.give_back(worker.playing)
        return lost, lost_outcome(self._specs[lost], _cause(code))

    def _discharge(self, worker: _Worker) -> int | None:
        self._workers.remove(worker)
        worker.line.close()
        worker.process.join(_PATIENCE)
        code = worker.process.exitcode
        if code is None:  # it closed its line and goes on
            worker.process.kill()
            worker.process.join()
        return code

    def _check_start(self, code: int | None) -> None:
        if code is None or code >= 0:
            raise WorkerError(f"a worker process could not start ({_cause(code)})")
        self._killed_at_start += 1
        if self._killed_at_start >= STARTS:
            raise WorkersKilledError(
                f"{STARTS} worker processes in a row were killed while they started"
                f" ({_cause(code)}); try fewer of them with --jobs"
            )

    def dismiss(self) -> None:
        for worker in self._workers:
            worker.line.close()
            if worker.playing:
                worker.process.terminate()
        for worker in self._workers:
            worker.process.join(_PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers.clear()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    # A process inherits the blocked signal, so no interrupt reaches it before it is ready.
    hold_interrupts(held=True)
    try:
        yield
    finally:
        hold_interrupts(held=False)


def _cause(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
