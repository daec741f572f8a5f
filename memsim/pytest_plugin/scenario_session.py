"""One pytest session with scenarios in it: what was planned, what came of it, what was lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pytest

from memsim.discovery import find_project
from memsim.errors import MemsimError
from memsim.pytest_plugin.session_options import explain_hint, session_access, session_settings
from memsim.pytest_plugin.session_run import decode_outcome, encode_outcome
from memsim.suite.cases import CaseOutcome, blank_result

if TYPE_CHECKING:
    from memsim.suite.cases import CaseSpec


# Scenario files and their cases, as pytest collects, runs and reports them.


def specs_in(path: Path, config: pytest.Config) -> tuple[CaseSpec, ...]:
    """The cases of a scenario file, in the order in which `memsim run` plays them.

    Raises:
        MemsimError: the file, the project's settings or a strategy is wrong.
    """
    from memsim.suite import find_scenarios, plan, resolve_strategies

    project = find_project(path.parent)
    settings = session_settings(project, config)
    scenarios = find_scenarios([str(path)], project)
    # Controls are never judged, so as items they could only pass.
    strategies = resolve_strategies(settings.strategies, project, controls=False)
    access = session_access(settings, project, config)
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
            from memsim.report.summarise import unscored_of

            pytest.fail(unscored_of(result).error, pytrace=False)

    def _judge_tried(self) -> CaseSpec:
        if not self.spec.judge:
            return self.spec
        session = self.config.pluginmanager.get_plugin(PLUGIN)
        trial = session.trial if session else {}
        unfit = str(trial["unfit"]) if trial else self.spec.unfit
        return replace(self.spec, unfit=unfit)

    def runtest(self) -> None:
        """Judge the case by its bounds."""
        from memsim.gate import fails

        if self.outcome is not None and fails(self.outcome.result):
            pytest.fail(self._block(self.outcome), pytrace=False)

    def _block(self, outcome: CaseOutcome) -> str:
        from memsim.report.failure_text import block
        from memsim.report.layout import UNICODE
        from memsim.report.summarise import failure_of

        probes = map(json.loads, outcome.probe_lines.splitlines())
        failure = failure_of(outcome.result, probes)
        self.line = _line_of(self.path, *(broken.place for broken in failure.broken))
        # Pytest has asked for the place already, when nobody knew which bound would break.
        self.__dict__.pop("location", None)
        missed = failure.missed[0].id if failure.missed else ""
        lines = block(failure, UNICODE, command=explain_hint(self.spec.id, missed, self.config))
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


Phase = Literal["setup", "call"]
"""What failed in its setup could not be measured; what failed in its call was."""

PLUGIN = "memsim-session"
"""Name of the session among pytest's plugins."""

_CARRIED = "memsim_outcome"
_TRIAL = "memsim_judge"


class EndSteps(Protocol):
    """The steps of `session_end.SessionEnd` that a session calls."""

    @property
    def header(self) -> str:
        """The settings that shape the numbers, in one line."""

    def read_baseline(self) -> None:
        """Read the baseline before a case is played."""

    def write_header(self) -> None:
        """Write the header below pytest's own header."""

    def compare_or_update(self) -> None:
        """Compare the session with the baseline, or update the baseline."""

    def write_summary(self, reporter: pytest.TerminalReporter) -> None:
        """Write the table, the comparison and the notes."""


class ScenarioSession:
    """What memsim knows of a session; in a worker of xdist, only what the worker plays.

    Args:
        config: pytest's configuration.
        end_of: makes the end of the session from any of its cases.

    Attributes:
        planned: the scenario items that are to be played, by node id, in pytest's order.
        played: what came of them, by node id.
        narrowed: some scenario items were left out on purpose.
    """

    def __init__(
        self, config: pytest.Config, end_of: Callable[[ScenarioSession, CaseSpec], EndSteps]
    ) -> None:
        self.config = config
        self._end_of = end_of
        self.planned: dict[str, None] = {}
        self.played: dict[str, CaseOutcome] = {}
        self.narrowed = bool(config.getoption("lf", default=False))
        self._specs: dict[str, CaseSpec] = {}
        self._crashed: list[str] = []
        self._end: EndSteps | None = None
        self._pytest_session: pytest.Session | None = None
        self._added: list[str] = []
        self._trial: Mapping[str, Any] | None = None

    @property
    def end(self) -> EndSteps | None:
        """The steps at the end; None while nothing is planned, and in workers of xdist."""
        if self._end is None and self.planned and not self._is_worker:
            self._end = self._end_of(self, self.spec_of(next(iter(self.planned))))
        return self._end

    @property
    def trial(self) -> Mapping[str, Any]:
        """How the judge did on known answers, as `run.json` has it; empty without one.

        Tried once, before the first case that has one; in a worker of xdist by the worker, which
        asks about what all others ask about.

        Raises:
            MemsimError: it cannot be asked.
        """
        if self._trial is None:
            from memsim.pytest_plugin.session_run import judge_trial_of

            self._trial = judge_trial_of(tuple(self._specs.values()))
        return self._trial

    @property
    def known_trial(self) -> Mapping[str, Any]:
        """The trial of the judge, if it was made already; empty otherwise."""
        return self._trial or {}

    @property
    def _is_worker(self) -> bool:
        return hasattr(self.config, "workerinput")

    def spec_of(self, nodeid: str) -> CaseSpec:
        """The case of a planned item, wherever it was collected."""
        if nodeid not in self._specs:
            name, _, _ = nodeid.partition("::")
            for spec in _specs_again(self.config.rootpath / name, self.config):
                self._specs[f"{name}::{name_of(spec)}"] = spec
        return self._specs[nodeid]

    # -- what is to be played

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Items that -k, -m, --lf or --deselect leave out."""
        self.narrowed |= any(isinstance(item, ScenarioItem) for item in items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """The items, and what they are compared with: refused before anything is played."""
        for item in session.items:
            if isinstance(item, ScenarioItem):
                self.planned[item.nodeid] = None
                self._specs[item.nodeid] = item.spec
        if (end := self.end) is not None:
            end.read_baseline()

    def pytest_report_collectionfinish(self) -> list[str]:
        """What shapes the numbers."""
        if (end := self.end) is None or self.config.get_verbosity() < 0:
            return []
        return [f"memsim: {end.header}"]

    def planned_elsewhere(self, ids: Sequence[str]) -> None:
        """The items that a worker of xdist collected; all workers collect the same."""
        if self.planned:
            return
        self.planned = dict.fromkeys(ids)
        # Which items a worker left out is not told here, only that it was asked to.
        asked = ("keyword", "markexpr", "deselect")
        self.narrowed |= any(self.config.getoption(name, default=None) for name in asked)
        if (end := self.end) is not None:
            end.read_baseline()
            end.write_header()

    # -- what came of it

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """The outcome goes with the report of the setup, to whichever process hears of it."""
        report = yield
        if call.when == "setup" and isinstance(item, ScenarioItem) and item.outcome is not None:
            turns = self.config.getoption("--memsim-report") is not None
            setattr(report, _CARRIED, encode_outcome(item.outcome, turns=turns))
            if self._trial:
                setattr(report, _TRIAL, dict(self._trial))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """An outcome has come."""
        if (text := getattr(report, _CARRIED, None)) is not None:
            self.played[report.nodeid] = decode_outcome(text)
        if self._trial is None and (trial := getattr(report, _TRIAL, None)) is not None:
            self._trial = trial

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """A worker died: what it was replaying is lost, which is an error and no failure."""
        if crashitem not in self.planned:
            return
        self._crashed.append(crashitem)
        said = str(report.longrepr)
        self._lose(crashitem, said)
        path, _, name = crashitem.partition("::")
        report.location = (path, None, name)
        report.when = "setup"
        report.longrepr = failure_repr(f"lost: {said}")
        # To xdist a scenario is like any test; ours says which metrics it cost.
        report.user_properties.append(("memsim.state", "lost"))

    def _lose(self, nodeid: str, said: str) -> None:
        try:
            spec = self.spec_of(nodeid)
        except (KeyError, MemsimError):
            return
        result = blank_result(spec, state="lost", error=" ".join(said.split()))
        self.played[nodeid] = CaseOutcome(result=result)

    def conclude(self, session: pytest.Session, *, complete: bool) -> None:
        """All is played that will be: judge it against the baseline.

        Args:
            session: pytest's.
            complete: nothing stopped it.
        """
        if self._is_worker or not self.planned:
            return
        self._pytest_session = session
        if self._crashed and not self.config.getoption("maxfail", default=0):
            self._lose_the_rest()
        if complete and self.played and (end := self.end) is not None:
            end.compare_or_update()

    def _lose_the_rest(self) -> None:
        for nodeid in [n for n in self.planned if n not in self.played]:
            said = "no worker was left to replay it"
            self._lose(nodeid, said)
            path, _, name = nodeid.partition("::")
            self.report(nodeid, f"lost: {said}", location=(path, None, name), when="setup")

    def report(
        self, nodeid: str, said: str, *, location: tuple[str, int | None, str], when: Phase = "call"
    ) -> None:
        """Count something as failed, or as an error of the setup, that no item of its own tests."""
        if nodeid not in self.planned and self._pytest_session is not None:
            # One thing more than was collected is reported: the progress is a share of both.
            self._pytest_session.testscollected += 1
            self._added.append(nodeid)
            self.config.hook.pytest_runtest_logstart(nodeid=nodeid, location=location)
        self.config.hook.pytest_runtest_logreport(
            report=pytest.TestReport(
                nodeid=nodeid,
                location=location,
                keywords={"memsim": 1},
                outcome="failed",
                longrepr=failure_repr(said),
                when=when,
            )
        )

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """What is no item cannot be run again by --lf, and is not kept for it."""
        cache = getattr(self.config, "cache", None)
        if cache is None or not self._added or self._is_worker:
            return
        failed = cache.get("cache/lastfailed", {})
        cache.set("cache/lastfailed", {k: v for k, v in failed.items() if k not in self._added})

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The table of all strategies, and what became of them since the baseline."""
        if self.played and (end := self.end) is not None:
            end.write_summary(terminalreporter)


@lru_cache(maxsize=64)
def _specs_again(path: Path, config: pytest.Config) -> tuple[CaseSpec, ...]:
    return specs_in(path, config)


def failure_repr(text: str) -> Any:  # noqa: ANN401 - whatever pytest makes of it
    """A text as pytest shows what went wrong: whole, and its first line in the short summary."""
    try:
        pytest.fail(text, pytrace=False)
    except pytest.fail.Exception:
        return pytest.ExceptionInfo.from_current().getrepr(style="value")
