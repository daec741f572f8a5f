"""Run Python code in forks of one process that has imported what the code needs.

To import what a command of memsim needs takes up to a second. A fork has it already. Otherwise it
is a process of its own: it may be killed, and has its own folder, environment and limits.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess
from types import TracebackType
from typing import Self

ROOT = Path(__file__).resolve().parents[1]
COMMAND = "from memsim.cli import main; main()"
"""The code of `memsim`; the arguments are those of the command."""

PLAYING = """
import memsim.cli.run
import memsim.gate.comparison
import memsim.memory.index.bm25
import memsim.report.summarise
import memsim.suite.case_models
"""
"""Imports of what `memsim run` needs."""

SERVER = """
import json, os, sys

def prepare(order):
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    for number, name in enumerate((os.devnull, order["out"], order["err"])):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), number)
    sys.argv = ["memsim", *order["args"]]

for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if not child:
        prepare(order)
        exec(compile(order["code"], "<fork>", "exec"), {"__name__": "__main__"})
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Forks:
    """A process that forks; it ends with the block.

    Args:
        imports: statements that it executes once, before it forks.
        folder: where it imports from, besides memsim.
    """

    def __init__(self, imports: str = "import memsim.cli", folder: Path = ROOT) -> None:
        self._imports = imports
        self._folder = folder

    def __enter__(self) -> Self:
        self._server = subprocess.Popen(
            [sys.executable, "-c", f"{self._imports}\n{SERVER}"],
            cwd=self._folder,
            env={"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _: TracebackType | None,
    ) -> None:
        self._server.communicate()

    def run(
        self,
        code: str,
        *arguments: str,
        cwd: Path = ROOT,
        env: Mapping[str, str] | None = None,
    ) -> CompletedProcess[str]:
        """Execute code in a fork, and wait for its end.

        Args:
            code: is executed as a program.
            arguments: the program's own, from `sys.argv[1]` on.
            cwd: the folder that it is executed in.
            env: its whole environment.
        """
        with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
            order = {
                "code": code,
                "args": arguments,
                "cwd": str(cwd),
                "env": {"PYTHONPATH": str(ROOT), **(env or {})},
                "out": out.name,
                "err": err.name,
            }
            assert self._server.stdin is not None
            assert self._server.stdout is not None
            self._server.stdin.write(f"{json.dumps(order)}\n")
            self._server.stdin.flush()
            ended = int(self._server.stdout.readline())
            said = (Path(file.name).read_text("utf-8") for file in (out, err))
            return CompletedProcess([code, *arguments], ended, *said)
