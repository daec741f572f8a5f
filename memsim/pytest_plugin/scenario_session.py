"""Scenario files and cases as pytest items, and the session that plans and reports them."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol

import pytest

from memsim.discovery.project import find_project
from memsim.errors import LocatedError, MemsimError
from memsim.pytest_plugin.session_options import explain_hint, session_access, session_settings
from memsim.pytest_plugin.session_run import decode_outcome, encode_outcome
from memsim.suite.cases import CaseOutcome, CaseSpec, blank_result


def specs_in(path: Path, config: pytest.Config) -> tuple[CaseSpec, ...]:
    """The cases of a scenario file, in the order in which `memsim run` plays them."""
    from memsim.suite.case_plan import plan, resolve_strategies
    from memsim.suite.scenarios import find_scenarios

    project = find_project(path.parent)
    settings = session_settings(project, config)
    scenarios = find_scenarios([str(path)], project)
    # Controls are never judged, so items of them could only pass.
    strategies = resolve_strategies(settings.strategies, project, controls=False)
    access = session_access(settings, project, config)
    return plan(settings, scenarios, strategies, access=access).cases


def name_of(spec: CaseSpec) -> str:
    """The name of an item: `scenario[strategy@budget]`, and `#repeat` from the second repeat on."""
    return f"{spec.scenario.name}[{spec.variant}]" + spec.key.removeprefix(spec.id)


class ScenarioFile(pytest.File):
    """A scenario file, with one item for each scenario, strategy and budget."""

    def collect(self) -> Iterable[ScenarioItem]:
        """The items, in the order in which `memsim run` plays the cases."""
        try:
            specs = specs_in(self.path, self.config)
        except MemsimError as error:
            every = error.every if isinstance(error, LocatedError) else (error,)
            raise self.CollectError("\n".join(map(str, every))) from error
        return list(self._items(specs))

    def _items(self, specs: Iterable[CaseSpec]) -> Iterator[ScenarioItem]:
        for spec in specs:
            # A text: pytest then parses it like an id that a user typed.
            nodeid = f"{self.nodeid}::{name_of(spec)}"
            yield ScenarioItem.from_parent(self, name=name_of(spec), nodeid=nodeid, spec=spec)


class ScenarioItem(pytest.Item):
    """One case: an error means that it could not be scored, and a failure that it broke a bound."""

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
        """Check the bounds of the case."""
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
        # Pytest cached the place before the broken bound was known.
        self.__dict__.pop("location", None)
        missed = failure.missed[0].id if failure.missed else ""
        lines = block(failure, UNICODE, command=explain_hint(self.spec.id, missed, self.config))
        # Pytest's heading names the case already.
        return "\n".join(line.text.removeprefix("  ") for line in lines[1:])

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The file, the line of the broken bound, and the case."""
        return self.path, self.line, self.name


def _line_of(path: Path, *places: str) -> int | None:
    """The line, counted from 0, of the first place that is in a file."""
    for place in places:
        said, _, line = place.rpartition(":")
        if said and line.isdecimal() and Path(said).name == path.name:
            return int(line) - 1
    return None


Phase = Literal["setup", "call"]
"""A failed `setup` means not measured; a failed `call` means measured and failed."""

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
    """The scenario items of a session and their outcomes; in a worker of xdist, only its own.

    Attributes:
        planned: the scenario items to play, by node id, in pytest's order.
        played: the outcomes, by node id.
        narrowed: whether some scenario items were deselected.
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
        """The result of the judge on known answers, as in `run.json`; empty without a judge.

        It is made once, before the first case with a judge. Each worker of xdist makes it for
        itself, with the same questions.
        """
        if self._trial is None:
            from memsim.pytest_plugin.session_run import judge_trial_of

            self._trial = judge_trial_of(tuple(self._specs.values()))
        return self._trial

    @property
    def known_trial(self) -> Mapping[str, Any]:
        """The trial of the judge if it was made already; empty otherwise."""
        return self._trial or {}

    @property
    def _is_worker(self) -> bool:
        return hasattr(self.config, "workerinput")

    def spec_of(self, nodeid: str) -> CaseSpec:
        """The case of a planned item, in whichever process it was collected."""
        if nodeid not in self._specs:
            name, _, _ = nodeid.partition("::")
            for spec in _specs_again(self.config.rootpath / name, self.config):
                self._specs[f"{name}::{name_of(spec)}"] = spec
        return self._specs[nodeid]

    # -- planning

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Note that -k, -m, --lf or --deselect left out items."""
        self.narrowed |= any(isinstance(item, ScenarioItem) for item in items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Plan the items and read the baseline, before anything is played."""
        for item in session.items:
            if isinstance(item, ScenarioItem):
                self.planned[item.nodeid] = None
                self._specs[item.nodeid] = item.spec
        if (end := self.end) is not None:
            end.read_baseline()

    def pytest_report_collectionfinish(self) -> list[str]:
        """The settings that shape the numbers."""
        if (end := self.end) is None or self.config.get_verbosity() < 0:
            return []
        return [f"memsim: {end.header}"]

    def planned_elsewhere(self, ids: Sequence[str]) -> None:
        """Plan the items that a worker of xdist collected; all workers collect the same."""
        if self.planned:
            return
        self.planned = dict.fromkeys(ids)
        # Workers do not report which items they deselected, so the options are checked.
        asked = ("keyword", "markexpr", "deselect")
        self.narrowed |= any(self.config.getoption(name, default=None) for name in asked)
        if (end := self.end) is not None:
            end.read_baseline()
            end.write_header()

    # -- outcomes

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the outcome to the report of the setup, which xdist sends to the first process."""
        report = yield
        if call.when == "setup" and isinstance(item, ScenarioItem) and item.outcome is not None:
            turns = self.config.getoption("--memsim-report") is not None
            setattr(report, _CARRIED, encode_outcome(item.outcome, turns=turns))
            if self._trial:
                setattr(report, _TRIAL, dict(self._trial))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Read the outcome from a report."""
        if (text := getattr(report, _CARRIED, None)) is not None:
            self.played[report.nodeid] = decode_outcome(text)
        if self._trial is None and (trial := getattr(report, _TRIAL, None)) is not None:
            self._trial = trial

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """Count the case of a dead worker as lost, which is an error and no failure."""
        if crashitem not in self.planned:
            return
        self._crashed.append(crashitem)
        said = str(report.longrepr)
        self._lose(crashitem, said)
        path, _, name = crashitem.partition("::")
        report.location = (path, None, name)
        report.when = "setup"
        report.longrepr = failure_repr(f"lost: {said}")
        # The property marks the scenario as lost for readers of the report.
        report.user_properties.append(("memsim.state", "lost"))

    def _lose(self, nodeid: str, said: str) -> None:
        try:
            spec = self.spec_of(nodeid)
        except (KeyError, MemsimError):
            return
        result = blank_result(spec, state="lost", error=" ".join(said.split()))
        self.played[nodeid] = CaseOutcome(result=result)

    def conclude(self, session: pytest.Session, *, complete: bool) -> None:
        """Compare the session with the baseline after the last test."""
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
        """Report a failure, or an error of the setup, that belongs to no item."""
        if nodeid not in self.planned and self._pytest_session is not None:
            # Pytest computes its progress from this number.
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
        """Remove failures without an item from the cache of --lf, which cannot rerun them."""
        cache = getattr(self.config, "cache", None)
        if cache is None or not self._added or self._is_worker:
            return
        failed = cache.get("cache/lastfailed", {})
        cache.set("cache/lastfailed", {k: v for k, v in failed.items() if k not in self._added})

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table of all strategies, and the comparison with the baseline."""
        if self.played and (end := self.end) is not None:
            end.write_summary(terminalreporter)


@lru_cache(maxsize=64)
def _specs_again(path: Path, config: pytest.Config) -> tuple[CaseSpec, ...]:
    return specs_in(path, config)


def failure_repr(text: str) -> Any:  # noqa: ANN401 - a private type of pytest
    """A text as pytest's representation of a failure; the short summary shows its first line."""
    try:
        pytest.fail(text, pytrace=False)
    except pytest.fail.Exception:
        return pytest.ExceptionInfo.from_current().getrepr(style="value")
