"""`memsim init`: write the files of a new project, and print what was written."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from memsim.cli.terminal import Terminal
from memsim.report.layout import TextLine, Tone
from memsim.scaffold import NEXT, WHEEL, ScaffoldFile, scaffold


@click.command(
    "init",
    epilog="""\b
Examples:
  memsim init
  memsim init my-agent --github && cd my-agent && memsim run""",
)
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path())
@click.option(
    "--github",
    is_flag=True,
    help="Also write a GitHub Actions workflow that runs, gates and reports.",
)
def command(folder: str, github: bool) -> None:
    """Create a project in DIR: a scenario, a strategy, a test and the settings.

    No existing file is changed, except that a pyproject.toml without a [tool.memsim] block gets one
    at its end.
    """
    terminal = Terminal.of_process()
    done = scaffold(Path(folder), github=github)
    for written in done:
        path = (Path(folder) / written.path).as_posix()
        tone: Tone = "dim" if written.action == "kept" else "plain"
        terminal.say_lines([TextLine(text=f"{written.action:<9} {path}", tone=tone)])
    terminal.say()
    for place, step in enumerate(_steps(folder, done, github=github)):
        terminal.say(f"{'next: ' if place == 0 else '      '} {step}")


def _steps(folder: str, done: Sequence[ScaffoldFile], *, github: bool) -> Iterator[str]:
    """The commands to type next; settings that were kept may name other strategies."""
    if folder != ".":
        yield f"cd {shlex.quote(folder)}"
    kept = any(f.path == "pyproject.toml" and f.action == "kept" for f in done)
    yield from (step for step in NEXT if not (kept and step.startswith("memsim explain")))
    if github:
        yield WHEEL
