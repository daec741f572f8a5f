"""The results of a run in Python: tables, plots, reports and explanations of its records."""

from __future__ import annotations

import shlex
import shutil
import weakref
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.atomic_files import write_whole
from memsim.errors import RefError, RunFolderError, UsageError, nearest
from memsim.notebook.displays import WIDTH, Plot, TextBlock
from memsim.notebook.record_tables import frame_of
from memsim.report.layout import UNICODE
from memsim.suite.single import CaseReport, Score, command_of

if TYPE_CHECKING:
    import pandas as pd

    from memsim.gate import Verdict
    from memsim.gate.comparison import Comparison
    from memsim.notebook.record_tables import TableName
    from memsim.report.html.markup import Markup
    from memsim.report.run_summary import RunSummary
    from memsim.runs import Run
    from memsim.suite.cases import CaseResult

EXPLAIN = "memsim explain "
REPORTS = (".html", ".md")
"""The suffixes of reports."""


class Results:
    """The results of a run: what `memsim.run` and `memsim.load` give.

    All of it is computed from the records in the run's folder. Without a folder of its own, a run
    has a temporary one, which is removed with this object.

    Attributes:
        run: the saved run that everything here is computed from.
    """

    def __init__(self, run: Run, *, named: bool = True, temporary: bool = False) -> None:
        self.run = run
        self._named = named
        self._temporary = temporary
        if temporary:
            weakref.finalize(self, shutil.rmtree, run.folder, ignore_errors=True)

    @property
    def folder(self) -> Path | None:
        """Where the records are kept; None where they are gone with this object."""
        return None if self._temporary else self.run.folder

    @property
    def verdict(self) -> Verdict:
        """The verdict on the run: its sentence and its exit code."""
        return self._summary.verdict

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategies of the run in the order of its records, controls among them."""
        return tuple(dict.fromkeys(case.strategy for case in self.run.cases))

    @property
    def scenarios(self) -> tuple[str, ...]:
        """The scenarios of the run in the order of its records."""
        return tuple(dict.fromkeys(case.scenario for case in self.run.cases))

    def to_pandas(self, table: TableName = "probes") -> pd.DataFrame:
        """One kind of records as a data frame with flat columns.

        Args:
            table: `probes`, `turns`, `cases`, `leaks` or `facts`.

        Raises:
            UsageError: there is no such table.
            RunFolderError: the records are damaged.
        """
        return frame_of(self.run, table)

    def case(self, name: str = "") -> CaseReport:
        """One case with its metrics and records, as the fixture `replay` gives it.

        Args:
            name: the id of a case, or a part that only one of them has, such as a strategy; empty
                for the only one beside the controls.

        Raises:
            RefError: no case or several have that name.
        """
        found = self._case(name)
        return CaseReport(
            id=found.id,
            state=found.state,
            error=found.error,
            metrics=found.metrics,
            outcomes=found.outcomes,
            probes=tuple(self.run.probes(found.key)),
            turns=tuple(self.run.turns(found.key)),
            result=found,
            command=command_of(found.id) if self._named else "",
        )

    @property
    def recall(self) -> Score:
        """The recall of the only case beside the controls, for an assertion in a test.

        Raises:
            RefError: there are several.
            Unmeasurable: a probe could not be scored, or there is none.
        """
        return self.case().recall

    def _case(self, name: str) -> CaseResult:
        cases = self.run.cases
        if not name:
            cases = tuple(c for c in cases if not c.control) or cases
        found = [c for c in cases if name in (c.key, c.id, c.strategy)]
        found = found or [c for c in cases if name in c.key]
        if len(found) == 1:
            return found[0]
        if not found:
            keys = [case.key for case in cases]
            raise RefError(f"the run has no case {name!r}", hint=nearest(name, keys))
        shown = ", ".join(repr(case.key) for case in found[:5])
        raise RefError(f"{name!r} matches {len(found)} cases: name one of {shown}")

    def summary(self) -> TextBlock:
        """The tables, failures and the verdict, as the terminal shows them."""
        from memsim.cli.run_output import run_lines, verdict_line
        from memsim.cli.terminal import Terminal

        terminal = Terminal(width=WIDTH, marks=UNICODE, color=False, live=False)
        lines = [*run_lines(self._summary, terminal), verdict_line(self._summary, terminal)]
        return TextBlock.of_lines(replace(line, text=_in_python(line.text)) for line in lines)

    def explain(self, probe: str) -> TextBlock:
        """Follow a probe turn by turn: where its fact was, and where it was lost.

        Args:
            probe: the name of a probe or a case, `case::probe`, or a part of one.

        Raises:
            RefError: no probe or case has that name, or several have it.
        """
        from memsim.cli.explain import explanation_of, pick

        case, name = pick(self.run, probe)
        return TextBlock.of_lines(explanation_of(self.run, case, name, UNICODE, WIDTH))

    def plot(self, name: str = "trade-off") -> Plot:
        """Draw a plot of the report, such as `trade-off` or `whereabouts`.

        Raises:
            UsageError: there is no such plot, or the run has no numbers for it.
        """
        from memsim.report.frames import Frames
        from memsim.report.plots import PLOTS, one_picture

        if name not in PLOTS:
            near = nearest(str(name), PLOTS)
            hint = f" (did you mean {near!r}?)" if near else ""
            raise UsageError(f"there is no plot {name!r}: the plots are {', '.join(PLOTS)}{hint}")
        picture = one_picture(name, self._summary, Frames(self.run))
        if picture is None:
            raise UsageError(f"nothing to draw in {name!r}: the run has no numbers for it")
        return Plot(picture)

    def report(self, path: str | Path) -> Path:
        """Write the report: a page with `.html`, Markdown with `.md`.

        Raises:
            UsageError: the path ends otherwise.
            RunFolderError: it cannot be written.
        """
        target = Path(path)
        if target.suffix not in REPORTS:
            raise UsageError(f"a report ends with {' or '.join(REPORTS)}, not {target.name!r}")
        made = (self._page() if target.suffix == ".html" else self._markdown()).encode(
            errors="backslashreplace"
        )
        try:
            write_whole(target, made, private=False)
        except OSError as error:
            raise RunFolderError(f"cannot be written: {error.strerror}", path=target) from error
        return target

    def _page(self) -> str:
        from memsim.report.html.page import page
        from memsim.report.viewer import fragment

        return page(self.run, self._summary, fragment(self.run))

    def _markdown(self) -> str:
        from memsim.report.run_markdown import markdown

        return markdown(self._summary)

    @cached_property
    def _summary(self) -> RunSummary:
        from memsim.report.summarise import summarise

        found = summarise(self.run)
        if not self._temporary:
            return found
        return replace(found, header=replace(found.header, run="", place=""))

    def __repr__(self) -> str:
        """How much there is, and the verdict."""
        of = f"{len(self.run.cases)} cases, {len(self.strategies)} strategies"
        return f"<Results: {of}; {self.verdict.sentence}>"

    def _repr_html_(self) -> str:
        from memsim.report.board_tables import board_table, title
        from memsim.report.html.markup import element, joined, table

        parts: list[Markup] = [element("p", element("b", self.verdict.sentence))]
        parts += [
            table(board_table(board, UNICODE), title(board, UNICODE))
            for board in self._summary.boards
        ]
        if self._summary.leakage:
            found = self.to_pandas("leaks")
            parts.append(element("p", f"Leaks: {len(found):,}. See to_pandas('leaks')."))
        return joined(parts)


def _in_python(line: str) -> str:
    """A line of the terminal, whose command to explain a probe becomes the call."""
    command = line.strip()
    if not command.startswith(EXPLAIN):
        return line
    name = shlex.split(command)[-1]
    return f"{line[: line.index(command)]}results.explain({name!r})"


class ResultsChange:
    """How a run differs from another or from a baseline: what `memsim.compare` gives.

    Attributes:
        comparison: each metric of each strategy, and each probe that changed.
        verdict: of the gate.
    """

    def __init__(self, comparison: Comparison, verdict: Verdict) -> None:
        self.comparison = comparison
        self.verdict = verdict

    def to_pandas(self) -> pd.DataFrame:
        """One row for each metric of each strategy, with both values and the interval."""
        from dataclasses import asdict, fields

        import pandas as pd

        from memsim.gate.comparison import MetricChange

        cells = self.comparison.cells
        rows = [asdict(cell) | {"altered": ", ".join(cell.altered)} for cell in cells]
        return pd.DataFrame(rows, columns=[field.name for field in fields(MetricChange)])

    def summary(self) -> TextBlock:
        """The comparison and the verdict, as the terminal shows them."""
        from memsim.report.comparison_text import comparison_lines
        from memsim.report.layout import TextLine

        lines = comparison_lines(self.comparison, UNICODE, WIDTH)
        return TextBlock.of_lines([*lines, TextLine(text=self.verdict.sentence)])

    def __repr__(self) -> str:
        """The verdict."""
        return f"<ResultsChange: {self.verdict.sentence}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
