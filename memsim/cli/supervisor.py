"""Play a run in a child process: a strategy that kills its process loses its case, not the run.

The child says in shared memory which case it plays. When a signal ends it in the middle of a case,
another child continues the run. It keeps that case as lost and plays the others. Ray may end the
child without a word when its head has died; then the parent says so::

    parent   waits, hands on signals, ends with the child's exit code
    child    plans, plays, writes and reports, as it would alone
"""

from __future__ import annotations

import json
import mmap
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NoReturn

from memsim.cli.terminal import complain
from memsim.errors import ExitCode

if TYPE_CHECKING:
    from types import FrameType

_SIZE = 1 << 14
_HANDED_ON = ("SIGINT", "SIGTERM", "SIGHUP")
_SAME = 0.5
"""Seconds in which a second interrupt is the same one: a terminal sends it to parent and child."""
_PR_SET_PDEATHSIG = 1
_LOOK = 0.5
_BACK = "\x1b[?25h\n"
"""Shows the cursor of a terminal again, on a line of its own: progress was ended in its middle."""


@dataclass(slots=True)
class Supervision:
    """What a child and its supervisor tell each other.

    Attributes:
        lost: cases in which an earlier child died, and how it ended.
        shared: what the present child does, as JSON text.
    """

    lost: dict[str, str] = field(default_factory=dict)
    shared: mmap.mmap | None = None
    _folder: str = ""
    _case: str = ""
    _cluster: str = ""

    @property
    def folder(self) -> Path | None:
        """The folder of the run that an earlier child began; None in the first."""
        return Path(self._folder) if self.lost and self._folder else None

    def begun(self, folder: Path) -> None:
        """Tell in which folder the run is kept."""
        self._folder = str(folder.absolute())
        self.plays("")

    def plays(self, case: str) -> None:
        """Tell which case is about to be played; empty for none."""
        self._case = case
        self._tell()

    @contextmanager
    def played_by(self, jobs: int | str) -> Iterator[None]:
        """Tell who plays the cases in the meantime: a text is a Ray cluster."""
        self._cluster = jobs if isinstance(jobs, str) else ""
        self._tell()
        try:
            yield
        finally:
            self._cluster = ""
            self._tell()

    def _tell(self) -> None:
        if self.shared is not None:
            told = json.dumps([self._case, self._folder, self._cluster]).encode()
            self.shared[:] = (told if len(told) < _SIZE else b"").ljust(_SIZE, b"\0")

    def hear(self) -> tuple[str, str]:
        """The case and the cluster that the child had when it ended; empty for none."""
        told = self.shared[:].rstrip(b"\0") if self.shared is not None else b""
        try:
            case, self._folder, cluster = json.loads(told)
        except ValueError:
            return "", ""
        return str(case), str(cluster)


SUPERVISION = Supervision()
"""That of this process; without a supervisor nothing was ever lost, and nobody listens."""


def supervised(command: Callable[[], NoReturn]) -> NoReturn:
    """Run a command in children, one after the other, until one ends by itself."""
    if not hasattr(os, "fork"):
        command()
    SUPERVISION.shared = mmap.mmap(-1, _SIZE)
    while True:
        parent = os.getpid()
        with _signals_held():
            child = os.fork()
            before = _hand_on_to(child) if child else {}
            if not child:
                _prepare_child(parent)
        if not child:
            command()
        _, status = os.waitpid(child, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
        case, cluster = SUPERVISION.hear()
        if os.WIFEXITED(status):
            raise SystemExit(_exit_code(os.WEXITSTATUS(status), cluster))
        ended_by = os.WTERMSIG(status)
        if not case or case in SUPERVISION.lost:
            _die_of(ended_by)
        SUPERVISION.lost[case] = f"signal {_name(ended_by)}"


def _exit_code(status: int, cluster: str) -> int:
    if status != ExitCode.FAILED or not cluster:
        return status
    # Where its head is gone, Ray calls `_exit(1)` in any thread: nothing in the child can hear it.
    from memsim.ray_connection import head_lost

    lost = head_lost(cluster)
    if sys.stderr.isatty():
        sys.stderr.write(_BACK)
    complain(f"memsim: {lost}")
    return lost.exit_code


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _hand_on_to(child: int) -> dict[signal.Signals, Any]:
    """Hand on the signals that end a run; return what handled them before."""

    def hand_on(number: int, _frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, number)

    return {number: signal.signal(number, hand_on) for number in _handed_on()}


def _handed_on() -> list[signal.Signals]:
    known = [signal.Signals[name] for name in _HANDED_ON]
    return [number for number in known if signal.getsignal(number) != signal.SIG_IGN]


@contextmanager
def _signals_held() -> Iterator[None]:
    # None of them may come between the fork and the handlers of its two sides.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _handed_on())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _die_of(number: int) -> NoReturn:
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    raise SystemExit(128 + number)


def _prepare_child(parent: int) -> None:
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, _Interrupt())
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    else:
        Thread(target=_end_with, args=(parent,), daemon=True).start()
    if os.getppid() != parent:
        os._exit(1)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


class _Interrupt:
    """Raises `KeyboardInterrupt` once, however many processes an interrupt was sent to."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last > _SAME:
            self._last = now
            raise KeyboardInterrupt
