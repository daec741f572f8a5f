"""One pytest session with scenarios in it: what was planned, what came of it, what was lost."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from memsim.errors import MemsimError
from memsim.pytest_plugin.carrying import decode, encode
from memsim.pytest_plugin.items import ScenarioItem, name_of, specs_in
from memsim.suite.cases import CaseOutcome, blank_result

if TYPE_CHECKING:
    from memsim.pytest_plugin.ending import Ending
    from memsim.suite.cases import CaseSpec

Phase = Literal["setup", "call"]
"""What failed in its setup could not be measured; what failed in its call was."""

_CARRIED = "memsim_outcome"
_TRIAL = "memsim_judge"


class Session:
    """What memsim knows of a session; in a worker of xdist, only what the worker plays.

    Attributes:
        planned: the scenario items that are to be played, by node id, in pytest's order.
        played: what came of them, by node id.
        narrowed: some scenario items were left out on purpose.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.planned: dict[str, None] = {}
        self.played: dict[str, CaseOutcome] = {}
        self.narrowed = bool(config.getoption("lf", default=False))
        self._specs: dict[str, CaseSpec] = {}
        self._crashed: list[str] = []
        self._ending: Ending | None = None
        self._pytest_session: pytest.Session | None = None
        self._added: list[str] = []
        self._trial: Mapping[str, Any] | None = None

    @property
    def ending(self) -> Ending | None:
        """What is done at the end; None as long as nothing is planned, and in workers."""
        if self._ending is None and self.planned and not self._works_for_another:
            from memsim.pytest_plugin.ending import Ending

            self._ending = Ending(self, self.spec_of(next(iter(self.planned))))
        return self._ending

    @property
    def trial(self) -> Mapping[str, Any]:
        """How the judge did on known answers, as `run.json` has it; empty without one.

        Tried once, before the first case that has one; in a worker of xdist by the worker, which
        asks about what all others ask about.

        Raises:
            MemsimError: it cannot be asked.
        """
        if self._trial is None:
            from memsim.pytest_plugin.trying import trial_of

            self._trial = trial_of(tuple(self._specs.values()))
        return self._trial

    @property
    def told_of_judge(self) -> Mapping[str, Any]:
        """The same, as far as anybody asked."""
        return self._trial or {}

    @property
    def _works_for_another(self) -> bool:
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
        if (ending := self.ending) is not None:
            ending.begin()

    def pytest_report_collectionfinish(self) -> list[str]:
        """What shapes the numbers."""
        if (ending := self.ending) is None or self.config.get_verbosity() < 0:
            return []
        return [f"memsim: {ending.header}"]

    def planned_elsewhere(self, ids: Sequence[str]) -> None:
        """The items that a worker of xdist collected; all workers collect the same."""
        if self.planned:
            return
        self.planned = dict.fromkeys(ids)
        # Which items a worker left out is not told here, only that it was asked to.
        asked = ("keyword", "markexpr", "deselect")
        self.narrowed |= any(self.config.getoption(name, default=None) for name in asked)
        if (ending := self.ending) is not None:
            ending.begin()
            ending.say_header()

    # -- what came of it

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """The outcome goes with the report of the setup, to whichever process hears of it."""
        report = yield
        if call.when == "setup" and isinstance(item, ScenarioItem) and item.outcome is not None:
            turns = self.config.getoption("--memsim-report") is not None
            setattr(report, _CARRIED, encode(item.outcome, turns=turns))
            if self._trial:
                setattr(report, _TRIAL, dict(self._trial))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """An outcome has come."""
        if (text := getattr(report, _CARRIED, None)) is not None:
            self.played[report.nodeid] = decode(text)
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
        report.longrepr = shown(f"lost: {said}")
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
        if self._works_for_another or not self.planned:
            return
        self._pytest_session = session
        if self._crashed and not self.config.getoption("maxfail", default=0):
            self._lose_the_rest()
        if complete and self.played and (ending := self.ending) is not None:
            ending.judge()

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
                longrepr=shown(said),
                when=when,
            )
        )

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """What is no item cannot be run again by --lf, and is not kept for it."""
        cache = getattr(self.config, "cache", None)
        if cache is None or not self._added or self._works_for_another:
            return
        failed = cache.get("cache/lastfailed", {})
        cache.set("cache/lastfailed", {k: v for k, v in failed.items() if k not in self._added})

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The table of all strategies, and what became of them since the baseline."""
        if self.played and (ending := self.ending) is not None:
            ending.tell(terminalreporter)


@lru_cache(maxsize=64)
def _specs_again(path: Path, config: pytest.Config) -> tuple[CaseSpec, ...]:
    return specs_in(path, config)


def shown(text: str) -> Any:  # noqa: ANN401 - whatever pytest makes of it
    """A text as pytest shows what went wrong: whole, and its first line in the short summary."""
    try:
        pytest.fail(text, pytrace=False)
    except pytest.fail.Exception:
        return pytest.ExceptionInfo.from_current().getrepr(style="value")
