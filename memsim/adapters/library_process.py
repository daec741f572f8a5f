"""Start a library in its own environment, as a server of the HTTP contract.

The environment is the folder `.venv-NAME` of the working folder or of one above it. The process
gets only those variables of the user that `_PASSED` names, so that no key reaches it. It ends with
the process that started it.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from memsim.adapters.environments import environment_folder
from memsim.errors import StrategyError

_PASSED = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP")
_SECONDS = 60.0
"""Until a library has to be imported and served."""

_LAST_SECONDS = 2.0
_SHOWN = 200
_FOLDER = Path(__file__).parent / "libraries"


def find_python(name: str, requirements: str) -> Path:
    """The Python of a library's environment.

    Raises:
        ValueError: there is none; with the commands that make it.
    """
    inside = "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
    python = environment_folder(name, inside)
    if python is not None:
        return python
    raise ValueError(
        f"there is no environment .venv-{name}: make it by `make library NAME={name}`, or by"
        f" `python -m venv .venv-{name} && .venv-{name}/bin/pip install {requirements}`"
    )


def program_file(name: str) -> Path:
    """Where the program is that serves a library, if there is one of this name."""
    return _FOLDER / f"{name}.py"


class LibraryProcess:
    """A library that is being served.

    Args:
        python: of its environment.
        name: of its program in `memsim/adapters/libraries`.
        options: what the program is given.
        folder: where it may write; its output goes to `NAME.log` there.

    Raises:
        StrategyError: it ended, or was not ready in time.
    """

    def __init__(
        self, python: Path, name: str, options: Mapping[str, object], folder: Path
    ) -> None:
        self._python, self._name, self._options = python, name, options
        self._folder = folder
        self._log = folder / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0
        self._start()

    @property
    def url(self) -> str:
        """Its address, which a restart does not change."""
        return f"http://127.0.0.1:{self._port}"

    def restart(self) -> None:
        """End the process, and start it again in the same folder.

        Raises:
            StrategyError: as when it was started first.
        """
        self.close()
        self._start()

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _start(self) -> None:
        passed = {key: os.environ[key] for key in _PASSED if key in os.environ}
        program = [str(_FOLDER / "server.py"), str(program_file(self._name))]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - memsim's own program
                [str(self._python), "-P", *program, str(self._port), json.dumps(self._options)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self._folder,
                env={**passed, "HOME": str(self._folder), "NO_PROXY": "127.0.0.1"},
            )
        try:
            self._port = self._told_port(self._process)
        except BaseException:
            self.close()
            raise

    def _told_port(self, process: subprocess.Popen[bytes]) -> int:
        line = _first_line(process.stdout) if process.stdout is not None else ""
        if line.isdigit():
            return int(line)
        last = self._log.read_text("utf-8", "replace").strip().rpartition("\n")[2][:_SHOWN]
        if process.poll() is None and not last:
            raise StrategyError(f"{self._name} was not served within {_SECONDS:g} s")
        raise StrategyError(f"{self._name} cannot be served: {last or 'it ended without a word'}")


def _first_line(told: IO[bytes]) -> str:
    end, found = time.monotonic() + _SECONDS, b""
    while not found.endswith(b"\n"):
        left = end - time.monotonic()
        if left <= 0 or not select.select([told], [], [], left)[0]:
            return ""
        read = os.read(told.fileno(), 64)
        if not read:
            return ""
        found += read
    return found.decode("ascii", "replace").strip()
