"""The `memsim` command: each verb's code is loaded only when that verb is used."""

from __future__ import annotations

from memsim.cli.program import program


def main() -> None:
    """Run the command line and end the process with its exit code."""
    program()
