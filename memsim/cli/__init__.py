"""The `memsim` command line: the code of a command is imported when the command is used."""

from __future__ import annotations

import sys

from memsim.cli.program import program
from memsim.cli.supervisor import supervised

_PLAYING = {"baseline", "limit", "run", "twist"}
"""Commands that play cases: a strategy, or Ray, may end their process."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if not _PLAYING.isdisjoint(sys.argv[1:2]):
        supervised(program)
    program()
