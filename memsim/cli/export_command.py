"""`memsim export`: write scenarios or a saved run in the format of another tool."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memsim.cli.saved_runs import reports_folder, saved_run, settings_of
from memsim.cli.terminal import Terminal
from memsim.discovery.project import Project, find_project
from memsim.errors import ConfigError, NoCasesError
from memsim.json_input import is_folder
from memsim.report import number_format

if TYPE_CHECKING:
    from memsim.traces.records import TraceConversation

_SUFFIXES = {"inspect": ".eval"}


@click.command(
    "export",
    epilog="""\b
Examples:
  memsim export scenarios/mine --format openai -o mine.jsonl
  memsim export latest --format inspect""",
)
@click.argument("source", metavar="SCENARIO|RUN")
@click.option(
    "--format",
    "form",
    required=True,
    help="otel, openai or inspect.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file; by default named after the format, in this folder.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def command(source: str, form: str, output: Path | None, force: bool) -> None:
    """Write scenarios or a saved run in the format of another tool.

    A scenario is a file, a folder or a name; a run is latest, the beginning of its id, or its
    folder. `memsim import` reads back all that is written.
    """
    from memsim.traces.exports import trace_export

    write = trace_export(form)
    project = find_project()
    conversations = list(_conversations(source, project))
    if not conversations:
        raise NoCasesError(f"{source} holds no conversation")
    path = output or Path(f"memsim-{form}{_SUFFIXES.get(form, '.jsonl')}")
    try:
        with path.open("wb" if force else "xb") as stream:
            write(conversations, stream)
    except FileExistsError:
        raise ConfigError("is there already; --force replaces it", path=path) from None
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", path=path) from None
    terminal = Terminal.of_process()
    terminal.say(f"{number_format.plural(len(conversations), 'conversation')} written to {path}")


def _conversations(source: str, project: Project) -> Iterator[TraceConversation]:
    if _names_run(source, project):
        from memsim.report.run_conversations import run_conversations

        yield from run_conversations(saved_run(source, project))
        return
    from memsim.scenario.scenario_conversations import scenario_conversations
    from memsim.suite.scenarios import find_scenarios

    seed = settings_of(project).seed
    for ref in find_scenarios([source], project):
        yield from scenario_conversations(ref.load(), seed)


def _names_run(source: str, project: Project) -> bool:
    from memsim.runs import list_runs
    from memsim.runs.run_folder import INFO

    if source == "latest" or (is_folder(Path(source)) and (Path(source) / INFO).exists()):
        return True
    return any(folder.name.startswith(source) for folder in list_runs(reports_folder(project)))
