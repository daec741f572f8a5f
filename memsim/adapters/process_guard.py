"""Run a command, and end everything it started when standard input is closed.

It is a program that imports nothing of memsim: python process_guard.py COMMAND [ARGUMENT...]

The command gets the standard streams. Its process group is that of the guard, which ends as a
whole when the command ends, or soon after nobody can write to standard input any more. That is so
also when the process that started the guard is killed.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress

PATIENCE = 1.0
"""Seconds that the command has to end by itself."""

MOST_FILE = 2**30
"""Bytes of the largest file that the command may write, such as its log."""

_TICK_MS = 50
_NOT_STARTED = 127


def main(command: list[str]) -> None:
    """Start the command, and wait for its end or for that of the input."""
    try:
        pid = _start(command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.exit(_NOT_STARTED)
    os.close(1)  # so that a reader sees the end of the output when the command ends
    waiting = select.poll()
    waiting.register(0, 0)  # a hang-up is reported whatever is asked for
    ended = False
    while not ended and not waiting.poll(_TICK_MS):
        ended = _has_ended(pid)
    end = time.monotonic() + PATIENCE
    while not ended and time.monotonic() < end:
        time.sleep(_TICK_MS / 5000)
        ended = _has_ended(pid)
    os.killpg(0, signal.SIGKILL)


def _start(command: list[str]) -> int:
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_FILE, MOST_FILE))
    return os.posix_spawnp(command[0], command, os.environ)


def _has_ended(pid: int) -> bool:
    done, _ = os.waitpid(pid, os.WNOHANG)
    return done != 0


if __name__ == "__main__":
    main(sys.argv[1:])
