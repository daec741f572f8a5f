"""`memsim report`: print a saved run again and write its reports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from memsim.cli.run_options import COLOR, HTML, QUIET, ConfigCommand, format_option, switch
from memsim.cli.run_output import Format, header_lines, show_run
from memsim.cli.saved_runs import saved_run, write_page, write_report
from memsim.cli.terminal import ColorChoice, Terminal
from memsim.discovery.project import find_project

if TYPE_CHECKING:
    from memsim.discovery.project import Project
    from memsim.report.run_summary import RunSummary
    from memsim.runs import Run

PLOTS = "plots"
"""The folder of a run's plots."""


@click.command(
    "report",
    cls=ConfigCommand,
    epilog="""\b
Examples:
  memsim report 20260923T1042 --format md > comparison.md
  memsim report --all""",
)
@click.argument("run", metavar="[RUN]", default="latest")
@format_option("table", "md", "json", "jsonl", variable="MEMSIM_FORMAT")
@switch("--plots", text="Draw every plot into the run's folder, as SVG and PNG.")
@switch("--latency", text="Print how long writes, maintenance and queries took.")
@HTML
@click.option(
    "--all",
    "everything",
    is_flag=True,
    envvar="MEMSIM_ALL",
    help="Both: the plots and the page.",
)
@QUIET
@COLOR
def command(
    run: str,
    form: Format,
    plots: bool,
    latency: bool,
    html: bool,
    everything: bool,
    quiet: bool,
    color: ColorChoice,
) -> int:
    """Print a saved run again, and rewrite its report.md.

    RUN is latest (the default), the beginning of a run's id, or a path. No model is called and no
    scenario is read. The exit code is that of the run.
    """
    from memsim.report.latency_table import latency_lines
    from memsim.report.summarise import summarise

    terminal = Terminal.of_process(color)
    project = find_project()
    saved = saved_run(run, project)
    summary = summarise(saved)
    path = write_report(saved, summary)
    if html or everything:
        path = write_page(saved, summary)
    summary = replace(summary, header=replace(summary.header, place=project.show(path)))
    if form == "table" and not quiet:
        terminal.say_lines(list(header_lines(summary.header, terminal, planned=f"run {saved.id}")))
    show_run(saved, summary, form, terminal, quiet=quiet)
    if latency:
        terminal.say_lines(list(latency_lines(saved.cases, terminal.width)))
    if plots or everything:
        draw(saved, summary, project, terminal, quiet=quiet)
    return summary.verdict.exit_code


def draw(
    run: Run, summary: RunSummary, project: Project, terminal: Terminal, *, quiet: bool = False
) -> None:
    """Draw the plots of a run and print the caption of each."""
    from memsim.errors import RunFolderError
    from memsim.report.plots import save_pictures

    folder = run.folder / PLOTS
    try:
        drawn = save_pictures(run, summary, folder)
    except OSError as error:
        raise RunFolderError(f"cannot be written: {error.strerror}", path=folder) from error
    if quiet:
        return
    for picture, paths in drawn:
        terminal.say(f"{project.show(paths[0])}  {picture.caption}")
    if not drawn:
        terminal.say("nothing to draw: no strategy was compared with another")
