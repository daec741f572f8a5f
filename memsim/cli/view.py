"""`memsim view`: open the page of a saved run in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memsim.cli.saved_runs import saved_run, write_page
from memsim.cli.terminal import Terminal, complain
from memsim.discovery.project import find_project
from memsim.errors import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

    from memsim.runs import Run


@click.command(
    "view",
    epilog="""\b
Examples:
  memsim view
  memsim view 20260923T1042 --no-open""",
)
@click.argument("run", metavar="[RUN]", default="latest")
@click.option("--no-open", is_flag=True, help="Print the path of the page and open no browser.")
def command(run: str, no_open: bool) -> int:
    """Open the page of a saved run in a browser.

    RUN is latest (the default), the beginning of a run's id, or a path. The page is made if it is
    not there, or older than the run's records. In CI, over ssh and without a browser the path is
    printed instead; the exit code is 0 as well. The variable BROWSER names a browser.
    """
    project = find_project()
    saved = saved_run(run, project)
    page = page_of(saved)
    Terminal.of_process().say(project.show(page))
    if not no_open:
        show_page(page)
    return ExitCode.PASSED


def page_of(run: Run) -> Path:
    """Find the page of a run; make it if it is not there or older than the run's records."""
    from memsim.report.html.page import NAME
    from memsim.report.summarise import summarise

    path = run.folder / NAME
    if _is_current(path, run.folder):
        return path
    return write_page(run, summarise(run))


def _is_current(page: Path, folder: Path) -> bool:
    if page.is_symlink() or not page.is_file():
        return False
    records = [p for p in folder.iterdir() if p.suffix in {".json", ".jsonl"} and p.is_file()]
    written = page.stat().st_mtime_ns
    return all(record.stat().st_mtime_ns <= written for record in records)


def show_page(page: Path) -> None:
    """Open a page in a browser; print a line if that is not possible."""
    from memsim.cli.web_browser import open_page

    if reason := open_page(page):
        complain(f"not opened: {reason}; open it yourself: {page.resolve().as_uri()}")
