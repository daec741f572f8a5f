"""`memsim init`: write the files of a new project, and print what was written."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from memsim.cli.terminal import Terminal
from memsim.report.layout import TextLine, Tone
from memsim.scaffold import NEXT, WHEEL, ScaffoldFile, scaffold

MOST_SHARDS = 256
"""Jobs that a matrix of GitHub Actions may have."""


@click.command(
    "init",
    epilog="""\b
Examples:
  memsim init
  memsim init my-agent --github --shards 4 && cd my-agent && memsim run""",
)
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path())
@click.option(
    "--github",
    is_flag=True,
    help="Also write a GitHub Actions workflow that runs, gates and reports.",
)
@click.option(
    "--shards",
    type=click.IntRange(1, MOST_SHARDS),
    default=1,
    metavar="N",
    help="With --github: split the run among N jobs, and merge it in one more.",
)
def command(folder: str, github: bool, shards: int) -> None:
    """Create a project in DIR: a scenario, a strategy, a test and the settings.

    No existing file is changed, except that a pyproject.toml without a [tool.memsim] block gets one
    at its end.
    """
    if shards > 1 and not github:
        raise click.UsageError("--shards needs --github")
    terminal = Terminal.of_process()
    done = scaffold(Path(folder), github=github, shards=shards)
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
