"""The other end of a process pool: a process that plays batches of cases and sends their outcomes.

Little is imported here, so that a worker watches its parent before it imports what plays cases.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import TYPE_CHECKING

from memsim.errors import MemsimError

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from memsim.suite.cases import CaseOutcome, CaseSpec


@dataclass(frozen=True, slots=True)
class WorkerReady:
    """The worker has started."""


@dataclass(frozen=True, slots=True)
class CaseReply:
    """A case was played."""

    outcome: CaseOutcome


@dataclass(frozen=True, slots=True)
class CaseError:
    """A case could not be played: an error of memsim, or a bug with its traceback."""

    error: MemsimError | None
    trace: str


def work(line: Connection) -> None:
    """Play cases until the parent hangs up.

    Args:
        line: to the parent, which first sends how a case is played and then batches of cases.
    """
    # Ctrl-C reaches every process of the terminal; the one that writes the records decides. A
    # handler is used, because subprocesses of a strategy would inherit SIG_IGN.
    signal.signal(signal.SIGINT, lambda *_: None)
    hold_interrupts(held=False)
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        play = line.recv()
        line.send(WorkerReady())
        _play_batches(line, play)
    except (EOFError, OSError):
        return


def _end_with_parent() -> None:
    """End this process when its parent ends, also in the middle of a case."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _play_batches(line: Connection, play: Callable[[CaseSpec], CaseOutcome]) -> None:
    from memsim.heap import keep_large_blocks_apart, rare_garbage_collection

    keep_large_blocks_apart()
    with rare_garbage_collection():
        while True:
            for spec in line.recv():
                line.send(attempt(spec, play))


def attempt(spec: CaseSpec, play: Callable[[CaseSpec], CaseOutcome]) -> CaseReply | CaseError:
    """Play a case; an error of memsim, or a bug, is told and not raised."""
    try:
        return CaseReply(play(spec))
    except MemsimError as error:
        return CaseError(error, "")
    except Exception:  # noqa: BLE001 - a bug of memsim, raised again in the main process
        return CaseError(None, traceback.format_exc())


def hold_interrupts(*, held: bool) -> None:
    """Keep interrupts from this process, or let them through again."""
    if sys.platform != "win32":
        how = signal.SIG_BLOCK if held else signal.SIG_UNBLOCK
        signal.pthread_sigmask(how, {signal.SIGINT})
