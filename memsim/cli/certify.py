"""`memsim certify`: try every clause of the HTTP contract on a server."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from memsim.atomic_files import write_whole
from memsim.cli.run_options import format_option
from memsim.cli.terminal import ColorChoice, Terminal
from memsim.errors import UsageError

MARKDOWN, JSON = "certificate.md", "certificate.json"


@click.command(
    "certify",
    epilog="""\b
Examples:
  memsim certify http://127.0.0.1:8080
  memsim certify http://127.0.0.1:8080 -k deletion -o certificates""",
)
@click.argument("target", metavar="URL")
@click.option("-k", "part", metavar="TEXT", default="", help="Only clauses whose name has it.")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(0.01, 3600),
    default=30.0,
    show_default=True,
    help="Seconds for each answer.",
)
@format_option("table", "markdown", "json")
@click.option("-o", "--output", metavar="DIR", help=f"Folder for {MARKDOWN} and {JSON}.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def command(
    target: str,
    part: str,
    timeout: float,
    form: Literal["table", "markdown", "json"],
    output: str | None,
    color: ColorChoice,
) -> int:
    """Try every clause of the HTTP contract on a server, and say which hold.

    The exit code is 1 where a clause is broken. It is 7 where one could not be tried, or none
    holds. What the server does not offer is n/a. Use a server with nothing of value in it.
    """
    from memsim.certification.certificate import (
        certificate_json,
        certificate_markdown,
        terminal_lines,
    )
    from memsim.certification.clause import all_clauses
    from memsim.certification.kit import certify

    chosen = [each for each in all_clauses() if part in each.name]
    if not chosen:
        raise UsageError(
            f"no clause has {part!r} in its name; there are, for example,"
            f" {', '.join(each.name for each in all_clauses()[:3])}"
        )
    try:
        certificate = certify(target, timeout=timeout, clauses=chosen)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if output is not None:
        _save(Path(output), certificate_markdown(certificate), certificate_json(certificate))
    terminal = Terminal.of_process(color)
    if form == "table":
        terminal.say_lines(list(terminal_lines(certificate, terminal.width)))
    else:
        made = certificate_json if form == "json" else certificate_markdown
        terminal.say(made(certificate).rstrip("\n"))
    return certificate.exit_code


def _save(folder: Path, page: str, record: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in ((MARKDOWN, page), (JSON, record)):
            write_whole(folder / name, text.encode(), private=False)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from error
