"""Workers of xdist that die: what they were replaying is lost, and never dropped."""

from __future__ import annotations

import json

import pytest

from tests.plugin.conftest import quick_tokens

PLUGINS = ("-p", "memsim.pytest_plugin", "-p", "xdist.plugin", "-p", "no:cacheprovider")
DIES = '''
import os

from memsim import Context, Query, Strategy


class Dies(Strategy):
    """Takes its process down."""

    def context(self, query: Query) -> Context:
        os._exit(9)
'''


@pytest.fixture
def deadly(project: pytest.Pytester) -> pytest.Pytester:
    """A project with a strategy that no process survives."""
    (project.path / "strategies/dies.py").write_text(DIES, encoding="utf-8")
    quick_tokens(project)
    return project


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Replay a strategy that dies, and one that does not."""
    named = ("--memsim-strategy", "dies", "--memsim-strategy", "mine")
    return project.runpytest_subprocess(*PLUGINS, *named, *arguments)


def test_what_a_dead_worker_replayed_is_lost(deadly: pytest.Pytester) -> None:
    """An error that says so; the others are replayed by whoever takes its place."""
    result = run(deadly, "-n", "1", "--memsim-report", "kept")

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at setup of first[[]dies@4k]*",
            "lost: worker 'gw0' crashed while running *",
            "1 lost: scenarios/first.yaml::first[[]dies@4k]",
        ]
    )
    assert "INTERNALERROR" not in result.stdout.str()
    kept = [json.loads(x) for x in (deadly.path / "kept/cases.jsonl").read_text().splitlines()]
    assert [("dies", "lost"), ("mine", "scored")] == [(k["strategy"], k["state"]) for k in kept]


def test_where_no_worker_is_left_everything_else_is_lost(deadly: pytest.Pytester) -> None:
    """Nothing that was planned goes without a word."""
    result = run(deadly, "-n", "1", "--max-worker-restart=0")

    result.assert_outcomes(errors=2)
    assert result.ret != 0
    result.stdout.fnmatch_lines(["lost: no worker was left to replay it"])
    assert "INTERNALERROR" not in result.stdout.str()
