"""Scenario files and their cases, as pytest collects, runs and reports them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memsim.discovery import find_project
from memsim.errors import MemsimError
from memsim.pytest_plugin.asked import asked_access, asked_settings
from memsim.suite.cases import CaseOutcome, blank_result

if TYPE_CHECKING:
    from memsim.suite.cases import CaseSpec


def specs_in(path: Path, config: pytest.Config) -> tuple[CaseSpec, ...]:
    """The cases of a scenario file, in the order in which `memsim run` plays them.

    Raises:
        MemsimError: the file, the project's settings or a strategy is wrong.
    """
    from memsim.suite import find_scenarios, plan, resolve_strategies

    project = find_project(path.parent)
    settings = asked_settings(project, config)
    scenarios = find_scenarios([str(path)], project)
    # Controls are never judged, so as items they could only pass.
    strategies = resolve_strategies(settings.strategies, project, controls=False)
    access = asked_access(settings, project, config)
    return plan(settings, scenarios, strategies, access=access).cases


def name_of(spec: CaseSpec) -> str:
    """`scenario[strategy@budget]`, with `#repeat` from the second repeat on."""
    return f"{spec.scenario.name}[{spec.variant}]" + spec.key.removeprefix(spec.id)


class ScenarioFile(pytest.File):
    """A scenario file: one item for each of its scenarios, strategies and budgets."""

    def collect(self) -> Iterable[ScenarioItem]:
        """The items, in the order in which `memsim run` plays the cases."""
        try:
            specs = specs_in(self.path, self.config)
        except MemsimError as error:
            raise self.CollectError(str(error)) from error
        return list(self._items(specs))

    def _items(self, specs: Iterable[CaseSpec]) -> Iterator[ScenarioItem]:
        for spec in specs:
            # As text: pytest takes it apart as it does an id that a user typed or that it kept.
            nodeid = f"{self.nodeid}::{name_of(spec)}"
            yield ScenarioItem.from_parent(self, name=name_of(spec), nodeid=nodeid, spec=spec)


class ScenarioItem(pytest.Item):
    """One case: an error in its setup could not be scored, a failure broke a bound."""

    def __init__(self, *, spec: CaseSpec, **kwargs: Any) -> None:  # noqa: ANN401 - pytest's signature
        super().__init__(**kwargs)
        self.spec = spec
        self.outcome: CaseOutcome | None = None
        self.line = _line_of(self.path, *(bound.place for bound in spec.bounds))
        self.add_marker("memsim")

    def setup(self) -> None:
        """Replay and score the case."""
        from memsim.gate import lacks
        from memsim.suite.play import run_case

        try:
            self.outcome = run_case(self._judge_tried())
        except MemsimError as error:
            said = " ".join(str(error).split())
            self.outcome = CaseOutcome(result=blank_result(self.spec, state="error", error=said))
        result = self.outcome.result
        measured = [(n, v) for n, v in result.metrics.items() if v is not None]
        self.user_properties += [(f"memsim.{name}", value) for name, value in measured]
        if lacks(result) and not result.control:
            from memsim.report.gather import unscored_of

            pytest.fail(unscored_of(result).error, pytrace=False)

    def _judge_tried(self) -> CaseSpec:
        if not self.spec.judge:
            return self.spec
        from memsim.pytest_plugin import session_of

        trial = session_of(self.config).trial
        unfit = str(trial["unfit"]) if trial else self.spec.unfit
        return replace(self.spec, unfit=unfit)

    def runtest(self) -> None:
        """Judge the case by its bounds."""
        from memsim.gate import fails

        if self.outcome is not None and fails(self.outcome.result):
            pytest.fail(self._block(self.outcome), pytrace=False)

    def _block(self, outcome: CaseOutcome) -> str:
        from memsim.report.failures import block
        from memsim.report.gather import failure_of
        from memsim.report.marks import UNICODE

        probes = map(json.loads, outcome.probe_lines.splitlines())
        failure = failure_of(outcome.result, probes)
        self.line = _line_of(self.path, *(broken.place for broken in failure.broken))
        # Pytest has asked for the place already, when nobody knew which bound would break.
        self.__dict__.pop("location", None)
        missed = failure.missed[0].id if failure.missed else ""
        lines = block(failure, UNICODE, command=again(self.spec.id, missed, self.config))
        # Pytest's own heading names the case.
        return "\n".join(line.text.removeprefix("  ") for line in lines[1:])

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The file, the line of the bound that was broken, and the case."""
        return self.path, self.line, self.name


def _line_of(path: Path, *places: str) -> int | None:
    """The line, counted from 0, of the first place that is in a file."""
    for place in places:
        said, _, line = place.rpartition(":")
        if said and line.isdecimal() and Path(said).name == path.name:
            return int(line) - 1
    return None


def again(case: str, probe: str, config: pytest.Config) -> str:
    """What to type to look into a case: of the run that is kept, or of one that is made for it."""
    if (kept := config.getoption("--memsim-report")) is not None and probe:
        return f"memsim explain {shlex.quote(str(kept))} {shlex.quote(probe)}"
    played = f"memsim run {shlex.quote(case)}"
    return f"{played}; memsim explain {shlex.quote(probe)}" if probe else played
