"""The pytest plugin: each case of a scenario file is a test item.

The setup of an item replays the case, and its test checks the scores. Only pytest and the standard
library are imported until a scenario is found, so projects without scenarios lose no time.
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
"""Key of the scenario session in pytest's stash; it is set when a scenario is found."""

_OURS = re.compile(rb"^(\xef\xbb\xbf)?memsim\s*:", re.MULTILINE)
_HEAD = 1 << 16


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and the setting of memsim."""
    group = parser.getgroup("memsim", "memory scenarios")
    group.addoption(
        "--memsim-strategy",
        action="append",
        metavar="REF",
        default=[],
        help="strategy to test, instead of the project's strategies; repeatable",
    )
    group.addoption(
        "--memsim-baseline",
        metavar="NAME|PATH|none",
        help="baseline to compare with, instead of the configured one",
    )
    group.addoption(
        "--memsim-update-baseline",
        action="store_true",
        help="write the scores into the baseline instead of comparing with it",
    )
    group.addoption(
        "--memsim-judge",
        metavar="ID|none",
        help="model that judges answers in addition to the rules, instead of the project's",
    )
    group.addoption(
        "--memsim-record",
        choices=["none", "new", "rewrite"],
        help="answers of a live model: only replay, record missing ones, or record all again",
    )
    group.addoption(
        "--memsim-repeat",
        type=_repeats,
        metavar="N",
        help="number of times that each case is replayed; each is an item",
    )
    group.addoption(
        "--memsim-report",
        metavar="DIR",
        help="save the session as a run in this folder, for memsim explain, compare and report",
    )
    group.addoption(
        "--memsim-strict",
        action="store_true",
        help="also fail on unsure or stale metrics, and if the baseline is missing",
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
    """Add the marker of scenario items, and refuse contradicting options."""
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
    """Collect a file as scenarios if it matches `memsim_files` and has the key `memsim`."""
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
    """The scenario session of a pytest run, created for the first scenario."""
    if (known := config.stash.get(SESSION, None)) is not None:
        return known
    from memsim.pytest_plugin.scenario_session import PLUGIN, ScenarioSession
    from memsim.pytest_plugin.session_end import SessionEnd

    session = config.stash[SESSION] = ScenarioSession(config, SessionEnd)
    config.pluginmanager.register(session, PLUGIN)
    return session


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: Sequence[str]) -> None:  # noqa: ANN401 - a type of xdist
    """Plan the items that a worker of xdist collected: the first process sees only their ids."""
    named = [i for i in ids if is_named(node.config.rootpath / i.partition("::")[0], node.config)]
    if named:
        session_of(node.config).planned_elsewhere(named)


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Compare the session with its baseline after the last test."""
    complete = False
    try:
        result = yield
        complete = True
        return result
    finally:
        if (ours := session.config.stash.get(SESSION, None)) is not None:
            ours.conclude(session, complete=complete)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Explain a failed assertion about a score."""
    if "memsim.suite.single" not in sys.modules:
        return None
    from memsim.pytest_plugin.session_report import comparison_of

    return comparison_of(op, left, right)


def is_named(path: Path, config: pytest.Config) -> bool:
    """Whether a file matches `memsim_files`."""
    if path.suffix not in {".yaml", ".yml"}:
        return False
    try:
        relative = path.relative_to(config.rootpath)
    except ValueError:
        return False
    return any(matches(relative, pattern) for pattern in config.getini("memsim_files"))


def matches(path: Path, pattern: str) -> bool:
    """Whether a relative path matches a glob in which `**` stands for any number of folders."""
    return _fits(path.parts, Path(pattern).parts)


def _fits(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fits(parts[skip:], pattern[1:]) for skip in range(len(parts) + 1))
    return bool(parts) and fnmatch(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


class Memsim:
    """The value of the `memsim` fixture."""

    def run(self, scenario: Scenario | str | Path, strategy: Any, **more: Any) -> CaseReport:  # noqa: ANN401 - as memsim.run
        """Play a scenario against a strategy, as `memsim.run` does."""
        from memsim.suite.single import run

        return run(scenario, strategy, **more)


@pytest.fixture(name="memsim")
def memsim_fixture() -> Memsim:
    """Replay scenarios: `memsim.run("support_desk", "bm25").recall`."""
    return Memsim()


@pytest.fixture
def replay() -> Callable[..., CaseReport]:
    """Replay a scenario: `replay("support_desk", "bm25").recall`."""
    return Memsim().run
