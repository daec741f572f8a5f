"""`memsim init`: writes what a project lacks, and says what it did."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from memsim.cli.terminal import Terminal
from memsim.report.layout import TextLine, Tone
from memsim.scaffold import NEXT, scaffold


@click.command(
    "init",
    epilog="""\b
Examples:
  memsim init
  memsim init my-agent --github && cd my-agent && memsim run""",
)
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path())
@click.option(
    "--github", is_flag=True, help="A workflow for GitHub Actions as well: run, gate, report."
)
def command(folder: str, github: bool) -> None:
    """Scaffold a project in DIR: a scenario, a strategy, a test, the settings.

    Nothing that exists is changed, but for a [tool.memsim] block at the end of a pyproject.toml
    that has none.
    """
    terminal = Terminal.of_process()
    for written in scaffold(Path(folder), github=github):
        path = (Path(folder) / written.path).as_posix()
        tone: Tone = "dim" if written.action == "kept" else "plain"
        terminal.say_lines([TextLine(text=f"{written.action:<9} {path}", tone=tone)])
    terminal.say()
    steps = NEXT if folder == "." else (f"cd {shlex.quote(folder)}", *NEXT)
    for place, step in enumerate(steps):
        terminal.say(f"{'next: ' if place == 0 else '      '} {step}")
