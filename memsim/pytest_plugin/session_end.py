"""The end of a session: compare or update the baseline, print the table, save the run."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import pytest

from memsim.cli.saved_runs import read_baseline_sheet
from memsim.discovery.project import find_project
from memsim.errors import MemsimError
from memsim.gate.comparison import Comparison, MetricChange
from memsim.gate.score_sheet import ScoreSheet
from memsim.pytest_plugin.scenario_session import Phase, ScenarioSession
from memsim.pytest_plugin.session_options import explain_hint, report_folder, session_settings
from memsim.report.layout import TextLine
from memsim.suite.cases import CaseResult, CaseSpec

_COLOURS: dict[str, dict[str, bool]] = {
    "bad": {"red": True},
    "good": {"green": True},
    "head": {"bold": True},
    "dim": {"light": True},
}


class SessionEnd:
    """The end of a session, prepared at its beginning."""

    def __init__(self, session: ScenarioSession, first: CaseSpec) -> None:
        place = first.scenario.place
        self._session = session
        self._config = session.config
        self._project = find_project(place.parent if place else session.config.rootpath)
        self._settings = session_settings(self._project, session.config)
        self._updating = bool(self._config.getoption("--memsim-update-baseline"))
        self._base: ScoreSheet | None = None
        self._found: Comparison | None = None
        self._notes: list[tuple[str, str]] = []

    # -- at the beginning

    def read_baseline(self) -> None:
        """Read the baseline."""
        from memsim.gate.metric_comparison import check_metrics
        from memsim.pytest_plugin.baseline_update import check_updatable

        try:
            self._base = read_baseline_sheet(self._named(), self._project, typed=False)
            check_metrics(self._settings.gate.metrics)
            if self._updating:
                check_updatable(self._settings)
        except MemsimError as error:
            raise pytest.UsageError(str(error)) from error

    def _named(self) -> Any:  # noqa: ANN401 - Settings, which is imported only for types
        from memsim.gate.baseline_file import DEFAULT

        if self._updating and not self._settings.baseline:
            return replace(self._settings, baseline=DEFAULT)
        return self._settings

    @property
    def header(self) -> str:
        """The settings, such as `model offline, budget 4k, seed 7, baseline main (2026-09-18)`."""
        from memsim.config import show_budget

        settings = self._settings
        budgets = "/".join(map(show_budget, settings.budget))
        parts = [f"model {settings.model}", f"budget {budgets}", f"seed {settings.seed}"]
        if settings.repeat > 1:
            parts.append(f"repeat {settings.repeat}")
        if settings.baseline:
            parts.append(f"baseline {settings.baseline} {self._made}")
        return ", ".join(parts)

    @property
    def _made(self) -> str:
        if self._updating:
            return "(to be updated)"
        if self._base is None:
            return "(not there yet: pytest --memsim-update-baseline)"
        return f"({' '.join(p for p in (self._base.created[:10], self._base.commit[:7]) if p)})"

    def write_header(self) -> None:
        """Print the header later than pytest's own header."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and self._config.get_verbosity() >= 0:
            reporter.ensure_newline()
            reporter.write_line(f"memsim: {self.header}")

    # -- after the last case

    @cached_property
    def _specs(self) -> list[CaseSpec]:
        played = self._session.played
        return [self._session.spec_of(n) for n in self._session.planned if n in played]

    @cached_property
    def _results(self) -> list[CaseResult]:
        played = self._session.played
        return [played[n].result for n in self._session.planned if n in played]

    def _lines(self) -> list[dict[str, Any]]:
        played = self._session.played
        texts = (played[n].probe_lines for n in self._session.planned if n in played)
        return [json.loads(line) for text in texts for line in text.splitlines()]

    def _sheet(self, results: list[CaseResult]) -> ScoreSheet:
        from dataclasses import asdict

        from memsim.gate.score_sheet import sheet_of
        from memsim.runs.run_writer import provenance
        from memsim.suite.case_plan import identity

        made = provenance(datetime.now(UTC))
        if made["dirty"]:
            made["commit"] = None
        info = {**made, **identity(self._specs), "settings": asdict(self._settings)}
        known = {result.key for result in results}
        lines = [x for x in self._lines() if _key(x) in known]
        return sheet_of(results, lines, info, name="this session")

    def compare_or_update(self) -> None:
        """Compare with the baseline, or update it, and report worse metrics as failures."""
        try:
            if self._updating:
                self._update()
            else:
                self._gate()
        except MemsimError as error:
            self._fail(str(error), "baseline", when="setup")

    def _update(self) -> None:
        from memsim.gate import fails, lacks
        from memsim.gate.baseline_file import baseline_path, write_baseline
        from memsim.pytest_plugin.baseline_update import unused_entries, updated

        good = [r for r in self._results if not (fails(r) or lacks(r))]
        bad = len(self._results) - len(good)
        path = self._project.base / self._shown_baseline
        now, base = self._sheet(good), self._base
        unused = unused_entries(base, self._sheet(self._results), self._session) if base else None
        sheet = updated(base, now, unused)
        if not sheet.columns:
            self._note("the baseline is as it was: nothing that passed could be kept", "bad")
            return
        write_baseline(baseline_path(str(path), self._project.base), sheet)
        probes = sum(len(column.probes) for column in now.columns.values())
        said = "updated" if base else "created"
        self._note(f"{said} {self._shown_baseline}: {probes:,} probes; commit it", "good")
        if unused and unused.names:
            self._note(f"taken out, as nothing uses it: {', '.join(unused.names)}", "")
        if bad:
            self._note(f"not kept, as they failed or could not be scored: {bad} cases", "bad")

    @property
    def _shown_baseline(self) -> str:
        from memsim.gate.baseline_file import baseline_path

        path = baseline_path(self._named().baseline, self._project.base / self._settings.reports)
        return self._project.show(self._project.base / path)

    def _gate(self) -> None:
        from memsim.gate.metric_comparison import ComparisonRules, compare
        from memsim.pytest_plugin.baseline_update import in_use, unused_entries

        strict = bool(self._config.getoption("--memsim-strict"))
        if self._base is None:
            if self._settings.baseline and strict:
                self._fail(f"there is no baseline {self._settings.baseline}", "missing")
            return
        now = self._sheet(self._results)
        found = compare(in_use(self._base, now), now, ComparisonRules(gate=self._settings.gate))
        self._found = found
        for cell in found.cells:
            self._judge_cell(cell, strict=strict)
        if strict and found.stale and not any(c.word == "stale" for c in found.cells):
            names = ", ".join(s.name or s.kind for s in found.stale)
            self._fail(f"stale: {names}", "stale")
        if strict and found.empty:
            self._fail("nothing of this session is in the baseline", "empty")
        unused = unused_entries(self._base, now, self._session)
        if unused.names:
            said = f"unused in {self._shown_baseline}: {', '.join(unused.names)}"
            self._note(f"{said}; pytest --memsim-update-baseline takes it out", "")

    def _judge_cell(self, cell: MetricChange, *, strict: bool) -> None:
        from memsim.gate.verdict import STRICT

        if cell.word == "worse" or (strict and cell.word in STRICT):
            self._fail(self._told(cell), f"{cell.variant}[{cell.metric}]")
        # A part of a suite is expected to have too few probes.
        elif cell.word == "unmeasured" and not self._session.narrowed:
            self._fail(self._told(cell), f"{cell.variant}[{cell.metric}]", when="setup")

    def _told(self, cell: MetricChange) -> str:
        from memsim.report.comparison_text import change, comparison_lines, value
        from memsim.report.layout import UNICODE

        assert self._found is not None  # noqa: S101 - cells exist only with a comparison
        moved = tuple(m for m in self._found.moved if m.variant == cell.variant)
        one = replace(self._found, cells=(cell,), moved=moved, stale=(), new=(), gone=())
        lines = [line.text for line in comparison_lines(one, UNICODE, 100, run="")]
        if cell.layer:
            then, now = value(cell.metric, cell.base), value(cell.metric, cell.now)
            first = f"{cell.metric} {then} then, {now} now, {change(cell, UNICODE)}: {cell.word}"
        else:
            first = f"{cell.metric} is {cell.word}: {cell.why}"
        if lost := [m for m in moved if m.lost]:
            case = lost[0].id.rpartition("::")[0]
            lines.append(explain_hint(case, lost[0].id, self._config))
        return "\n".join([first, *lines])

    def _fail(self, said: str, name: str, *, when: Phase = "call") -> None:
        place = self._shown_baseline
        self._session.report(f"{place}::{name}", said, location=(place, None, name), when=when)

    def _note(self, text: str, tone: str) -> None:
        self._notes.append((text, tone))

    # -- in the summary

    def write_summary(self, reporter: pytest.TerminalReporter) -> None:
        """Save the run, and print the table and the notes."""
        self._keep()
        self._add_to_job()
        quiet = self._config.get_verbosity() < 0
        lines = [] if quiet else self._table()
        if lines or self._notes:
            reporter.section("memsim")
        for line in lines:
            reporter.write_line(line.text.rstrip(), **_COLOURS.get(line.tone, {}))
        for text, tone in self._notes:
            reporter.write_line(text, **_COLOURS.get(tone, {}))
        for text in self._annotations():
            reporter.write_line(text)

    def _table(self) -> list[TextLine]:
        from memsim.cli.terminal import speaks_unicode
        from memsim.pytest_plugin.session_report import session_lines
        from memsim.report.layout import ASCII, UNICODE

        writer = self._config.get_terminal_writer()
        marks = UNICODE if speaks_unicode(writer._file, os.environ) else ASCII  # noqa: SLF001
        found = self._found
        lines = session_lines(self._results, self._lines(), found, marks, writer.fullwidth)
        if lost := [r.key for r in self._results if r.state == "lost"]:
            self._note(f"{len(lost)} lost: {', '.join(lost)}", "bad")
        left = sum(1 for n in self._session.planned if n not in self._session.played)
        if left:
            self._note(f"{left} not run", "")
        return lines

    def _keep(self) -> None:
        folder = report_folder(self._config)
        if folder is None:
            return
        from memsim.pytest_plugin.session_run import keep_run

        outcomes = [
            self._session.played[n] for n in self._session.planned if n in self._session.played
        ]
        try:
            keep_run(
                folder,
                self._specs,
                outcomes,
                self._settings,
                self._found,
                trial=self._session.known_trial,
                command=self._command,
            )
        except MemsimError as error:
            self._note(str(error), "bad")
            return
        asked = str(self._config.getoption("--memsim-report"))
        self._note(f"kept in {asked}: memsim report {shlex.quote(asked)}", "")

    def _add_to_job(self) -> None:
        from memsim.report.github import VARIABLE, add_to_job_summary

        if not os.environ.get(VARIABLE):
            return
        from memsim.pytest_plugin.session_report import summary_of
        from memsim.report.run_markdown import markdown

        session = self._session
        summary = summary_of(
            self._results,
            self._lines(),
            self._found,
            self._settings,
            strict=bool(self._config.getoption("--memsim-strict")),
            command=self._command,
            pending=len(session.planned) - len(session.played),
        )
        if wrong := add_to_job_summary(markdown(summary), os.environ):
            self._note(wrong, "bad")

    @property
    def _command(self) -> tuple[str, ...]:
        return ("pytest", *map(str, self._config.invocation_params.args))

    def _annotations(self) -> list[str]:
        from memsim.report.github import annotation_lines, on_github

        if not on_github(os.environ):
            return []
        from memsim.pytest_plugin.session_report import failures_in

        failures, unscored = failures_in(self._results, self._lines())
        return annotation_lines(failures, unscored, self._found, self._project.base, os.environ)


def _key(line: dict[str, Any]) -> str:
    case, repeat = line["case"], line["repeat"]
    return f"{case}#{repeat}" if repeat else str(case)
