"""Who plays the cases: this process, or several of its own.

Both yield what they have as soon as they have it, in any order; who keeps the records puts them
into the plan's.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, NoReturn, Protocol

from memsim.errors import MemsimError
from memsim.suite.cases import CaseOutcome, CaseSpec, blank_result
from memsim.suite.scenarios import rare_garbage_collection

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

PlayCase = Callable[[CaseSpec], CaseOutcome]
Outcomes = Generator[tuple[int, CaseOutcome], None, None]

_BATCH = 16
_BATCH_TURNS = 100
_PATIENCE = 5.0
_FEW_TURNS = 5000
"""Below so many turns in all, starting processes takes longer than it saves."""


class Executor(Protocol):
    """Plays cases."""

    def run(self, specs: Sequence[CaseSpec], play: PlayCase) -> Outcomes:
        """Play every case, and yield its place among `specs` and its outcome when it is done."""
        ...


class WorkerError(Exception):
    """A worker could not start, or raised what it should not; the message says all there is."""


@dataclass(frozen=True, slots=True)
class InProcess:
    """Plays one case after the other, here."""

    def run(self, specs: Sequence[CaseSpec], play: PlayCase) -> Outcomes:
        """Play the cases in their order."""
        for place, spec in enumerate(specs):
            with _NoWayOut():
                outcome = play(spec)
            yield place, outcome


class _NoWayOut:
    """Lets `os._exit` of a strategy end its case and not memsim, which would seem to have passed.

    A process that the strategy forked may leave as it likes.
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
    """Plays cases in processes of its own, started afresh.

    A process that dies takes with it only the case that it was playing, which becomes `lost`; the
    cases that it had not begun go to others. An interrupt ends the processes and is passed on.

    Args:
        jobs: how many processes.
    """

    jobs: int

    def run(self, specs: Sequence[CaseSpec], play: PlayCase) -> Outcomes:
        """Play the cases, each in whichever process is free."""
        crew = _Crew(specs, play, min(self.jobs, len(specs)))
        try:
            yield from crew.outcomes()
        finally:
            crew.dismiss()


def choose_executor(jobs: int, cases: int, turns: int) -> Executor:
    """The executor for so many processes; 0 leaves the choice to the size of the work.

    Args:
        jobs: processes; 1 is this one.
        cases: how many there are to play.
        turns: turns of them all.
    """
    if jobs == 0:
        small = cases < 2 or turns < _FEW_TURNS
        jobs = 1 if small else available_processors()
    return InProcess() if jobs == 1 else ProcessPool(jobs)


def available_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(slots=True, eq=False)
class _Worker:
    process: SpawnProcess
    line: Connection
    playing: deque[int] = field(default_factory=deque)
    ready: bool = False


@dataclass(frozen=True, slots=True)
class _Ready:
    """The worker has started."""


@dataclass(frozen=True, slots=True)
class _Done:
    outcome: CaseOutcome


@dataclass(frozen=True, slots=True)
class _Raised:
    error: MemsimError | None
    trace: str


class _Crew:
    """The workers, what each is playing, and what is still to be played."""

    def __init__(self, specs: Sequence[CaseSpec], play: PlayCase, size: int) -> None:
        self._specs = specs
        self._play = play
        self._size = size
        self._pending = deque(range(len(specs)))
        self._workers: list[_Worker] = []

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
        process = context.Process(target=_work, args=(theirs, self._play), daemon=True)
        with _interrupts_held():
            process.start()
        theirs.close()
        return _Worker(process, ours)

    def _assign(self, worker: _Worker) -> None:
        places = self._batch()
        worker.playing.extend(places)
        with suppress(OSError):  # it may have died; reading from it says so
            worker.line.send([self._specs[p] for p in places])

    def _batch(self) -> list[int]:
        # Small cases go out several at a time, large ones singly: a batch is done within a moment.
        most = max(1, min(_BATCH, len(self._pending) // (4 * self._size)))
        places = [self._pending.popleft()]
        turns = self._specs[places[0]].turns
        while self._pending and len(places) < most and turns < _BATCH_TURNS:
            places.append(self._pending.popleft())
            turns += self._specs[places[-1]].turns
        return places

    def _hear(self, worker: _Worker) -> tuple[int, CaseOutcome] | None:
        try:
            said = worker.line.recv()
        except (EOFError, OSError):
            return self._lose(worker)
        if isinstance(said, _Ready):
            worker.ready = True
            return None
        if isinstance(said, _Raised):
            raise said.error or WorkerError(said.trace)
        return worker.playing.popleft(), said.outcome

    def _lose(self, worker: _Worker) -> tuple[int, CaseOutcome]:
        worker.process.join(_PATIENCE)
        cause = _cause(worker.process.exitcode)
        if not worker.ready:
            raise WorkerError(f"a worker process could not start ({cause})")
        # A batch is played in order and told case by case: the first untold one was being played.
        lost = worker.playing.popleft()
        self._pending.extendleft(reversed(worker.playing))
        self._workers.remove(worker)
        worker.line.close()
        error = f"the process that played it died ({cause})"
        return lost, CaseOutcome(result=blank_result(self._specs[lost], state="lost", error=error))

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
    # A process inherits the hold, so an interrupt cannot hit it before it is ready for one.
    _hold_interrupts(held=True)
    try:
        yield
    finally:
        _hold_interrupts(held=False)


def _hold_interrupts(*, held: bool) -> None:
    if sys.platform != "win32":
        how = signal.SIG_BLOCK if held else signal.SIG_UNBLOCK
        signal.pthread_sigmask(how, {signal.SIGINT})


def _cause(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def _work(line: Connection, play: PlayCase) -> None:
    """What a worker does: play batches of cases until nobody sends more."""
    # Ctrl-C reaches every process of the terminal; the one that keeps the records decides. A
    # handler and not SIG_IGN, which a strategy's own subprocesses would inherit.
    signal.signal(signal.SIGINT, lambda *_: None)
    _hold_interrupts(held=False)
    try:
        line.send(_Ready())
        with rare_garbage_collection():
            while True:
                for spec in line.recv():
                    line.send(_attempt(spec, play))
    except (EOFError, OSError):
        return


def _attempt(spec: CaseSpec, play: PlayCase) -> _Done | _Raised:
    try:
        return _Done(play(spec))
    except MemsimError as error:
        return _Raised(error, "")
    except Exception:  # noqa: BLE001 - it is our own bug, and is raised again where it can be shown
        return _Raised(None, traceback.format_exc())
