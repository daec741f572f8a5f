"""Fork strategies' processes from one that has imported memsim, which takes a fraction of the time.

A server holds no strategy, scenario or answer. It executes nothing of a user's: each fork does so
anew. It ends with the process that started it, and ends its forks with it::

    client  ── {"do": "start", "cwd": ..., "env": ...}, line, alarm ──►  server, forks
            ◄─ the fork's process id ─────────────────────────────────
            ── {"do": "end", "pid": ..., "patience": 5} ──────────────►
            ◄─ its exit code ─────────────────────────────────────────
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from memsim.strategy_process import child

_START = "from memsim.strategy_process.fork_server import serve; serve({line})"
_LENGTH = 8
_TICK = 0.002
_WARM = re.compile(r"(memsim(\.\w+)+|numpy)")
"""Modules that a server may import ahead: none of them is a user's."""


class ForkServer:
    """The client's end of a server; made by `fork_server`."""

    def __init__(self, interpreter: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        given = {"PYTHONPATH": str(Path(__file__).parents[2]), **interpreter}
        self._process = subprocess.Popen(  # noqa: S603 - this very interpreter
            [sys.executable, "-c", _START.format(line=theirs.fileno())],
            cwd=tempfile.gettempdir(),
            env=os.environ | given,
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=sys.__stderr__,
        )
        theirs.close()
        self._line = ours
        self._warm: dict[str, bool] = {}

    def start(self, cwd: str, env: Mapping[str, str], line: int, alarm: int) -> int:
        """Fork a process with these two pipes; its id."""
        new = [name for name, known in self._warm.items() if not known]
        self._warm.update(dict.fromkeys(new, True))
        request = {"do": "start", "cwd": cwd, "env": dict(env), "modules": new}
        return int(self._asked(request, line, alarm))

    def warm(self, modules: Iterable[str]) -> None:
        """Let the next fork find these modules of memsim's imported."""
        for name in modules:
            if _WARM.fullmatch(name):
                self._warm.setdefault(name, False)

    def end(self, pid: int, patience: float) -> int:
        """Wait so long for the end of a process, then kill it and what it started; its code."""
        return int(self._asked({"do": "end", "pid": pid, "patience": patience}))

    def close(self) -> None:
        """End the server, and all that it forked."""
        self._line.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_TICK * 1_000)

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def _asked(self, request: dict[str, Any], *descriptors: int) -> int:
        data = json.dumps(request).encode()
        length = len(data).to_bytes(_LENGTH, "big")
        socket.send_fds(self._line, [length], descriptors)
        self._line.sendall(data)
        return int.from_bytes(_exactly(self._line, _LENGTH), "big", signed=True)


def fork_server(interpreter: Mapping[str, str]) -> ForkServer:
    """The server of this process whose interpreter started with these variables."""
    given = tuple(sorted(interpreter.items()))
    server = _server(os.getpid(), given)
    if not server.alive:
        _server.cache_clear()
        server = _server(os.getpid(), given)
    return server


@lru_cache(maxsize=16)
def _server(_process: int, interpreter: tuple[tuple[str, str], ...]) -> ForkServer:
    made = ForkServer(dict(interpreter))
    # In a fork of this process, the server is not its own to end.
    owner = os.getpid()
    atexit.register(lambda: made.close() if os.getpid() == owner else None)
    return made


def _exactly(line: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        more = line.recv(length - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def serve(descriptor: int) -> None:
    """Fork as asked until the client is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    line = socket.socket(fileno=descriptor)
    running: set[int] = set()
    gc.freeze()
    while True:
        try:
            head, descriptors, _, _ = socket.recv_fds(line, _LENGTH, 2)
            if not head:
                break
            head += _exactly(line, _LENGTH - len(head))
            request = json.loads(_exactly(line, int.from_bytes(head, "big")))
        except (EOFError, OSError):
            break
        if request["do"] == "start":
            answer = _forked(line, request, descriptors)
            running.add(answer)
        else:
            answer = _ended(request["pid"], request["patience"])
            running.discard(request["pid"])
        line.sendall(answer.to_bytes(_LENGTH, "big", signed=True))
    for pid in running:
        _ended(pid, 0.0)


def _forked(line: socket.socket, request: dict[str, Any], descriptors: Sequence[int]) -> int:
    for name in request["modules"]:
        with suppress(Exception):
            importlib.import_module(name)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            line.close()
            _play(request, *descriptors)
            code = 0
        finally:
            os._exit(code)
    for descriptor in descriptors:
        os.close(descriptor)
    return pid


def _play(request: dict[str, Any], line: int, alarm: int) -> None:
    # A group of its own, so that what it starts ends with it.
    os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    tempfile.tempdir = None
    random.seed()
    child.main(line, alarm)


def _ended(pid: int, patience: float) -> int:
    until = time.monotonic() + patience
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        if time.monotonic() >= until:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            break
        time.sleep(_TICK)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status)
