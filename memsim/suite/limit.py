"""Ends a case that takes too long, wherever in a strategy's code it is."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import NoReturn

from memsim.errors import UsageError

_AGAIN = 1.0
"""Seconds until the next reminder, for a strategy that hangs in its `close` as well."""


class OutOfTime(BaseException):
    """The time is over."""


def time_limit(seconds: float) -> AbstractContextManager[None]:
    """Raises `OutOfTime` in what it holds once so many seconds are over; never for 0.

    Raises:
        UsageError: this system, or this thread, has no timer for it.
    """
    return _timed(seconds) if seconds else _ENDLESS


_ENDLESS = nullcontext()


@contextmanager
def _timed(seconds: float) -> Iterator[None]:
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        raise UsageError("a case's time can only be limited in a main thread and on Unix")
    before = signal.signal(signal.SIGALRM, _end)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _end(_number: int, _frame: object) -> NoReturn:
    raise OutOfTime
