"""`assert result.recall >= 0.8`: what stands behind the number."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

import memsim
from memsim.pytest_plugin.session_report import comparison_of

Play = Callable[..., pytest.RunResult]


def test_a_failed_assertion_tells_interval_lost_facts_and_command(
    gated: pytest.Pytester, play: Play
) -> None:
    """Everything that is needed to look into it."""
    gated.makepyfile(
        "def test_recall(replay):\n"
        "    assert replay('lockers', 'sliding_window:messages=6').recall >= 0.8\n"
    )

    result = play(24, "-q", "--tb=short")

    case = "scenarios/lockers.yaml::lockers[[]sliding_window:messages=6@4k]"
    result.stdout.fnmatch_lines(
        [
            "E   *assert recall .25 >= 0.8",
            f"E   *recall .25, 95% [[].00 .50] over 12 probes of {case}",
            "E   *missed: oslo (turn 1, out of the context from turn 4), *, +6",
            f"E   *memsim run '{case}'; memsim explain '{case}::oslo'",
        ]
    )


def test_both_sides_may_be_scores(gated: pytest.Pytester) -> None:
    """A strategy is often compared with another one."""
    mine, other = (
        memsim.run("lockers", f"sliding_window:messages={messages}", controls=False).recall
        for messages in (6, 24)
    )

    lines = comparison_of(">", mine, other) or []

    assert lines[0] == "recall .25 > 1.00"
    assert sum("95%" in line for line in lines) == 2


def test_other_comparisons_are_left_to_others(gated: pytest.Pytester) -> None:
    """Plain numbers, and operators that are no comparison of numbers."""
    score = memsim.run("lockers", "no_memory", controls=False).recall

    assert [None, None] == [comparison_of("==", 0.25, 1), comparison_of("in", score, [score])]


def test_a_score_is_a_number(gated: pytest.Pytester) -> None:
    """It adds up, it prints and it is pickled like one."""
    score = memsim.run("lockers", "sliding_window:messages=6", controls=False).recall

    assert ("0.25", 0.5, 0.25) == (str(score), score + 0.25, pickle.loads(pickle.dumps(score)))  # noqa: S301


def test_what_no_command_line_can_name_has_no_command(gated: pytest.Pytester) -> None:
    """A class of a test is known to that test alone."""

    class Forgetful(memsim.Strategy):
        def context(self, query: memsim.Query) -> memsim.Context:
            return self.env.build.context()

    score = memsim.run("lockers", Forgetful, controls=False).recall
    lines = comparison_of(">=", score, 1) or []

    assert [] == [line for line in lines if "memsim" in line]
