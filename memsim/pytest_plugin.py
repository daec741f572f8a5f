"""Lets pytest collect scenario files: replaying is an item's setup, judging it is its test.

Nothing but pytest and the standard library is imported until a scenario is found, and a project
without scenarios does not notice that this plugin is installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from memsim.scenario.script import Scenario
    from memsim.suite import CaseOutcome, CaseSpec
    from memsim.suite.single import CaseReport

SCENARIOS = "scenarios/**/*.yaml"
_OURS = re.compile(rb"^(\xef\xbb\xbf)?memsim\s*:", re.MULTILINE)
_HEAD = 1 << 16


def pytest_addoption(parser: pytest.Parser) -> None:
    """One option and one setting, both under memsim's own name."""
    group = parser.getgroup("memsim", "memory scenarios")
    group.addoption(
        "--memsim-strategy",
        action="append",
        metavar="REF",
        default=[],
        help="strategy that scenarios are replayed against, in place of the project's; repeatable",
    )
    parser.addini(
        "memsim_files",
        "scenario files, as globs relative to the root",
        type="args",
        default=[SCENARIOS],
    )


def pytest_configure(config: pytest.Config) -> None:
    """The marker that every scenario item bears."""
    config.addinivalue_line("markers", "memsim: a scenario replayed against a strategy")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """A scenario file, if it is named like one and says that it is one."""
    if file_path.suffix not in {".yaml", ".yml"} or not _named(file_path, parent.config):
        return None
    with file_path.open("rb") as file:
        if not _OURS.search(file.read(_HEAD)):
            return None
    collected: ScenarioFile = ScenarioFile.from_parent(parent, path=file_path)
    return collected


def _named(path: Path, config: pytest.Config) -> bool:
    try:
        relative = path.relative_to(config.rootpath)
    except ValueError:
        return False
    return any(matches(relative, pattern) for pattern in config.getini("memsim_files"))


def matches(path: Path, pattern: str) -> bool:
    """Whether a relative path fits a glob in which `**` stands for any number of folders."""
    return _fits(path.parts, Path(pattern).parts)


def _fits(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fits(parts[skip:], pattern[1:]) for skip in range(len(parts) + 1))
    return bool(parts) and fnmatch(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


class ScenarioFile(pytest.File):
    """A scenario file: one item for each of its scenarios, strategies and budgets."""

    def collect(self) -> Iterable[ScenarioItem]:
        """The items, in the order in which `memsim run` plays the cases."""
        from memsim.errors import MemsimError

        try:
            specs = list(self._specs())
        except MemsimError as error:
            raise self.CollectError(str(error)) from error
        for spec in specs:
            name = f"{spec.scenario.name}[{spec.variant}]" + spec.key.removeprefix(spec.id)
            # As text: pytest takes it apart as it does an id that a user typed or that it kept.
            nodeid = f"{self.nodeid}::{name}"
            yield ScenarioItem.from_parent(self, name=name, nodeid=nodeid, spec=spec)

    def _specs(self) -> Iterator[CaseSpec]:
        from memsim.cli.saved import settings_of
        from memsim.discovery import find_project
        from memsim.suite import find_scenarios, plan, resolve_strategies

        project = find_project(self.path.parent)
        chosen = self.config.getoption("--memsim-strategy")
        settings = settings_of(project, {"strategies": chosen or None})
        scenarios = find_scenarios([str(self.path)], project)
        # Controls are never judged, so as items they could only pass.
        strategies = resolve_strategies(settings.strategies, project, controls=False)
        yield from plan(settings, scenarios, strategies).cases


class ScenarioItem(pytest.Item):
    """One case: an error in its setup could not be scored, a failure broke a bound."""

    def __init__(self, *, spec: CaseSpec, **kwargs: Any) -> None:  # noqa: ANN401 - pytest's signature
        super().__init__(**kwargs)
        self.spec = spec
        self.outcome: CaseOutcome | None = None
        self.line: int | None = None
        self.add_marker("memsim")

    def setup(self) -> None:
        """Replay and score the case."""
        from memsim.gate import lacks
        from memsim.suite import run_case

        self.outcome = run_case(self.spec)
        result = self.outcome.result
        measured = [(n, v) for n, v in result.metrics.items() if v is not None]
        self.user_properties += [(f"memsim.{name}", value) for name, value in measured]
        if lacks(result) and not result.control:
            from memsim.report.gather import unscored_of

            pytest.fail(unscored_of(result).error, pytrace=False)

    def runtest(self) -> None:
        """Judge the case by its bounds."""
        from memsim.gate import fails

        if self.outcome is not None and fails(self.outcome.result):
            pytest.fail(self._block(), pytrace=False)

    def _block(self) -> str:
        import json
        import shlex

        from memsim.report.failures import block
        from memsim.report.gather import failure_of
        from memsim.report.marks import UNICODE

        assert self.outcome is not None  # noqa: S101 - runtest comes after setup
        result = self.outcome.result
        failure = failure_of(result, map(json.loads, self.outcome.probe_lines.splitlines()))
        place, _, line = failure.broken[0].place.rpartition(":")
        if place and line.isdecimal() and Path(place).name == self.path.name:
            self.line = int(line) - 1
        again = f"memsim run {shlex.quote(self.spec.id)}"
        lines = block(failure, UNICODE, command=again)
        # pytest's own heading names the case.
        return "\n".join(line.text.removeprefix("  ") for line in lines[1:])

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The file, the line of the bound that was broken, and the case."""
        return self.path, self.line, self.name


class Memsim:
    """What the `memsim` fixture offers."""

    def run(self, scenario: Scenario | str | Path, strategy: Any, **more: Any) -> CaseReport:  # noqa: ANN401 - as memsim.run
        """Play a scenario against a strategy: `memsim.run` with the same arguments."""
        from memsim.suite.single import run

        return run(scenario, strategy, **more)


@pytest.fixture(name="memsim")
def memsim_fixture() -> Memsim:
    """Replays scenarios: `memsim.run("support_desk", "bm25").recall`."""
    return Memsim()
