"""End a run that was played or merged: judge it, write its reports, print it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memsim.atomic_files import sweep
from memsim.cli.run_output import Stopwatch, show_run
from memsim.cli.terminal import complain
from memsim.report.layout import TextLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.cli.run_options import OutputFlags
    from memsim.cli.saved_runs import RunBaseline
    from memsim.cli.terminal import Terminal
    from memsim.config import Settings
    from memsim.discovery.project import Project
    from memsim.gate import Verdict
    from memsim.report.run_summary import RunSummary
    from memsim.runs import Run, RunWriter
    from memsim.suite.cases import CaseResult


def judge_run(
    writer: RunWriter, results: Sequence[CaseResult], settings: Settings, against: RunBaseline
) -> Verdict:
    """Judge the cases of a run and compare them with its baseline; finish the run."""
    from memsim.gate import judge
    from memsim.gate.comparison import write_comparison

    comparison = against.compare(writer.folder, settings)
    alone = judge(results, max_errors=settings.max_errors)
    verdict = against.rule(alone, comparison)
    write_comparison(writer.folder, comparison)
    if not writer.finished:
        writer.finish(verdict.exit_code, verdict.sentence, against=against.name)
    return verdict


class RunEnd:
    """Reports a finished run, and prints it."""

    def __init__(
        self, project: Project, terminal: Terminal, flags: OutputFlags, watch: Stopwatch
    ) -> None:
        self._project = project
        self._terminal = terminal
        self._flags = flags
        self._watch = watch
        self._page: Path | None = None
        self._summary: RunSummary | None = None

    def show(self, folder: Path, verdict: Verdict) -> int:
        """Write the reports of the run in a folder, print it, and return the exit code."""
        from memsim.runs.run_reader import open_folder

        run = open_folder(folder)
        summary = replace(self._summarise(run), verdict=verdict)
        self._summary = summary
        self._keep_report(run, summary)
        flags = self._flags
        quiet, verbose = flags["quiet"], flags["verbose"]
        show_run(run, summary, flags["form"], self._terminal, quiet=quiet, verbose=verbose)
        self._annotate(summary)
        return verdict.exit_code

    def close(self, line: str, *, bad: bool) -> None:
        """Print the last line of a command that has no result to show."""
        if self._flags["form"] == "table":
            self._terminal.say_lines([TextLine(text=line, tone="bad" if bad else "good")])
        else:
            complain(line)

    def tell_notes(self) -> None:
        """Tell which hosts strategies talked to, and what strategies say of themselves."""
        if self._summary is None:
            return
        for strategy, met in self._summary.header.hosts:
            complain(f"{strategy} talked to {', '.join(met)}")
        for strategy, notes in self._summary.header.notes:
            complain(f"{strategy}: {'; '.join(notes)}")

    def open_page(self) -> None:
        """Open the page of the run, if a flag wants it."""
        from memsim.cli.view import show_page

        if self._flags["open_page"] and self._page is not None:
            show_page(self._page)

    def _summarise(self, run: Run) -> RunSummary:
        from memsim.report.summarise import EXAMPLES, summarise

        shown = None if self._flags["verbose"] else EXAMPLES
        summary = summarise(run, seconds=self._watch.seconds, examples=shown)
        name = "" if self._flags["no_report"] else "report.md"
        name = "report.html" if self._with_page else name
        place = self._project.show(run.folder / name)
        return replace(summary, header=replace(summary.header, place=place))

    @property
    def _with_page(self) -> bool:
        return self._flags["html"] or self._flags["open_page"]

    def _keep_report(self, run: Run, summary: RunSummary) -> None:
        from memsim.cli.saved_runs import write_page, write_report
        from memsim.report.github import VARIABLE, add_to_job_summary
        from memsim.report.run_markdown import markdown

        if not self._flags["no_report"]:
            # What an earlier try of this run had begun when it was killed.
            sweep(run.folder / "report.md")
            write_report(run, summary)
        if self._with_page:
            self._page = write_page(run, summary)
        wrong = os.environ.get(VARIABLE) and add_to_job_summary(markdown(summary), os.environ)
        if wrong:
            complain(wrong)

    def _annotate(self, summary: RunSummary) -> None:
        from memsim.report.github import annotation_lines, on_github

        if not on_github(os.environ):
            return
        found = (summary.failures, summary.unscored, summary.comparison)
        # GitHub reads both streams, and standard output may carry JSON.
        for line in annotation_lines(*found, self._project.base, os.environ):
            click.echo(line, err=True)
