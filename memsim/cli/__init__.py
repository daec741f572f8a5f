"""The `memsim` command line: the code of a command is imported when the command is used."""

from __future__ import annotations

from memsim.cli.program import program


def main() -> None:
    """Run the command line and end the process with its exit code."""
    program()
