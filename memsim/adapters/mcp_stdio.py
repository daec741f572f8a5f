"""Talk to an MCP server over its standard streams: one JSON message a line, and a deadline each.

The server runs under `process_guard.py`, so that it ends with memsim however memsim ends. Its
standard error goes to a file, whose last line is told when the server ends by itself.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from memsim.adapters.http_contract import MOST_REPLY
from memsim.adapters.mcp_messages import Body, McpError, encoded, read_message
from memsim.errors import UsageError

_GUARD = Path(__file__).with_name("process_guard.py")
_CHUNK = 1 << 16
_LAST_SECONDS = 3.0
_SHOWN = 200


class StdioTransport:
    """A server that memsim started.

    Args:
        argv: the command.
        variables: its whole environment.
        folder: where it runs.
        log: the file for its standard error.
        answer: takes what the server asks or tells; returns what it is answered, if anything.
    """

    def __init__(
        self,
        argv: Sequence[str],
        variables: Mapping[str, str],
        folder: Path,
        log: Path,
        answer: Callable[[Body], Body | None],
    ) -> None:
        if not hasattr(select, "poll") or not hasattr(os, "posix_spawnp"):
            raise UsageError("MCP servers over stdio need Linux or macOS")
        self._log, self._answer = log, answer
        self._received = bytearray()
        self._searched = self._taken = 0
        with log.open("ab") as errors:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command
                [sys.executable, "-I", "-S", str(_GUARD), *argv],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=folder,
                env=dict(variables),
                bufsize=0,
                start_new_session=True,
            )
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101 - as above
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)

    def ask(self, request: Body, end: float) -> Body:
        """Send a request, and return the answer to it.

        Raises:
            McpError: the server ended, or said what is no answer.
            TimeoutError: there was none in time.
        """
        self._taken = 0
        self._send(request, end)
        while True:
            told = read_message(self._line(end))
            if "method" in told:
                answer = self._answer(told)
                if answer is not None:
                    self._send(answer, end)
            elif told.get("id") == request["id"]:
                return told
            else:
                raise McpError("it answered a request that was not made")

    def tell(self, note: Body, end: float) -> None:
        """Send what has no answer."""
        self._send(note, end)

    def close(self) -> None:
        """End the server: it is asked to by the end of its input, and killed if it stays."""
        self._close_pipes()
        try:
            self._process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the server and all that it started at once."""
        self._close_pipes()
        if self._process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _send(self, message: Body, end: float) -> None:
        left = memoryview(encoded(message) + b"\n")
        while left:
            can_write, can_read = self._ready(end, writes=True)
            if can_read:
                self._receive()  # a server that cannot write may not read either
            if can_write:
                try:
                    left = left[os.write(self._in, left[:_CHUNK]) :]
                except BlockingIOError:
                    continue
                except OSError:
                    self._has_ended()

    def _line(self, end: float) -> bytes:
        while True:
            place = self._received.find(b"\n", self._searched)
            if place >= 0:
                line = bytes(self._received[:place]).strip()
                del self._received[: place + 1]
                self._searched = 0
                if line.startswith((b"{", b"[")):
                    return line
                continue  # some servers greet on their output
            self._searched = len(self._received)
            self._ready(end, writes=False)
            self._receive()

    def _ready(self, end: float, *, writes: bool) -> tuple[bool, bool]:
        left = end - time.monotonic()
        waiting = select.poll()
        waiting.register(self._out, select.POLLIN)
        if writes:
            waiting.register(self._in, select.POLLOUT)
        ready = dict(waiting.poll(left * 1000)) if left > 0 else {}
        if not ready:
            raise TimeoutError
        return self._in in ready, self._out in ready

    def _receive(self) -> None:
        try:
            data = os.read(self._out, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._has_ended()
        self._taken += len(data)
        if self._taken > MOST_REPLY:
            raise McpError(f"it said more than {MOST_REPLY:,} bytes at once")
        self._received += data

    def _has_ended(self) -> NoReturn:
        self.close()
        last = self._log.read_bytes()[-10 * _SHOWN :].decode("utf-8", "replace")
        said = " ".join(last.strip().rpartition("\n")[2].split())[:_SHOWN]
        raise McpError(f"the server ended: {said}" if said else "the server ended without a word")
