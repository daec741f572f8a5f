"""Lets pytest collect scenario files: replaying is an item's setup, judging it is its test.

Nothing but pytest and the standard library is imported until a scenario is found, and a project
without scenarios does not notice that this plugin is installed.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Generator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from memsim.pytest_plugin.scenario_session import ScenarioFile, ScenarioSession
    from memsim.scenario.script import Scenario
    from memsim.suite.single import CaseReport

SCENARIOS = "scenarios/**/*.yaml"
SESSION = pytest.StashKey["ScenarioSession"]()
"""Where what memsim knows of a session is kept; nothing is until a scenario is found."""

_OURS = re.compile(rb"^(\xef\xbb\xbf)?memsim\s*:", re.MULTILINE)
_HEAD = 1 << 16


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options and the one setting, all under memsim's own name."""
    group = parser.getgroup("memsim", "memory scenarios")
    group.addoption(
        "--memsim-strategy",
        action="append",
        metavar="REF",
        default=[],
        help="strategy that scenarios are replayed against, in place of the project's; repeatable",
    )
    group.addoption(
        "--memsim-baseline",
        metavar="NAME|PATH|none",
        help="the baseline to compare with, in place of the configured one",
    )
    group.addoption(
        "--memsim-update-baseline",
        action="store_true",
        help="write what was found into the baseline instead of comparing with it",
    )
    group.addoption(
        "--memsim-judge",
        metavar="ID|none",
        help="a model that judges answers beside the rules, in place of the project's",
    )
    group.addoption(
        "--memsim-record",
        choices=["none", "new", "rewrite"],
        help="a live model's answers: replay them and never ask, record what is missing, or all",
    )
    group.addoption(
        "--memsim-repeat",
        type=_repeats,
        metavar="N",
        help="how often each case is replayed, each as an item of its own",
    )
    group.addoption(
        "--memsim-report",
        metavar="DIR",
        help="keep the session as a run in this folder: memsim explain, compare and report read it",
    )
    group.addoption(
        "--memsim-strict",
        action="store_true",
        help="fail as well what is unsure or stale, and where the baseline is missing",
    )
    parser.addini(
        "memsim_files",
        "scenario files, as globs relative to the root",
        type="args",
        default=[SCENARIOS],
    )


def _repeats(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise ArgumentTypeError(f"must be a whole number from 1 to 1,000,000, not {text!r}")
    return int(text)


def pytest_configure(config: pytest.Config) -> None:
    """The marker that every scenario item bears; options that cannot be meant are refused."""
    config.addinivalue_line("markers", "memsim: a scenario replayed against a strategy")
    given = (
        "--memsim-baseline",
        "--memsim-judge",
        "--memsim-update-baseline",
        "--memsim-report",
    )
    recording = config.getoption("--memsim-record") in {"new", "rewrite"}
    if recording or any(config.getoption(name) for name in given):
        from memsim.pytest_plugin.session_options import check_options

        check_options(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """A scenario file, if it is named like one and says that it is one."""
    if not is_named(file_path, parent.config):
        return None
    with file_path.open("rb") as file:
        if not _OURS.search(file.read(_HEAD)):
            return None
    from memsim.pytest_plugin.scenario_session import ScenarioFile

    session_of(parent.config)
    collected: ScenarioFile = ScenarioFile.from_parent(parent, path=file_path)
    return collected


def session_of(config: pytest.Config) -> ScenarioSession:
    """What memsim knows of the session, which begins with the first scenario."""
    if (known := config.stash.get(SESSION, None)) is not None:
        return known
    from memsim.pytest_plugin.scenario_session import PLUGIN, ScenarioSession
    from memsim.pytest_plugin.session_end import SessionEnd

    session = config.stash[SESSION] = ScenarioSession(config, SessionEnd)
    config.pluginmanager.register(session, PLUGIN)
    return session


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: Sequence[str]) -> None:  # noqa: ANN401 - xdist's own
    """Where xdist's workers collect, their ids are all that the first process sees."""
    named = [i for i in ids if is_named(node.config.rootpath / i.partition("::")[0], node.config)]
    if named:
        session_of(node.config).planned_elsewhere(named)


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """When all is played, the session is compared with its baseline."""
    complete = False
    try:
        result = yield
        complete = True
        return result
    finally:
        if (ours := session.config.stash.get(SESSION, None)) is not None:
            ours.conclude(session, complete=complete)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """What stands behind a score that is not as a test says."""
    if "memsim.suite.single" not in sys.modules:
        return None
    from memsim.pytest_plugin.session_report import comparison_of

    return comparison_of(op, left, right)


def is_named(path: Path, config: pytest.Config) -> bool:
    """Whether a file is where scenarios are."""
    if path.suffix not in {".yaml", ".yml"}:
        return False
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


@pytest.fixture
def replay() -> Callable[..., CaseReport]:
    """Replays a scenario: `replay("support_desk", "bm25").recall`."""
    return Memsim().run
