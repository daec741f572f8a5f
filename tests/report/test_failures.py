"""Failures say what broke, where, and what to type next."""

from __future__ import annotations

import shlex

import pytest

from memsim.report import failure_text
from memsim.report.layout import ASCII, UNICODE, TextLine
from memsim.report.run_summary import (
    BrokenBound,
    CaseFailure,
    MissedGroup,
    MissedProbe,
    UnscoredCase,
)

CASE = "scenarios/support_agent.yaml::support_agent[sliding_window@4k]"


def missed(name: str, **more: object) -> MissedProbe:
    """A missed probe of that case."""
    return MissedProbe(id=f"{CASE}::{name}", probe=name, outcome="MISS", **more)  # type: ignore[arg-type]


def shown(lines: list[TextLine]) -> str:
    """The bare text, with a newline before the first line."""
    return "\n" + "\n".join(line.text for line in lines) + "\n"


def test_a_block_tells_bounds_places_missed_probes_and_a_command() -> None:
    """Everything that is needed to go on, and nothing else."""
    failure = CaseFailure(
        case=CASE,
        broken=(
            BrokenBound(metric="recall", bound=">= 0.8", value=0.62, place="support_agent.yaml:41"),
            BrokenBound(
                metric="context_peak", bound="<= 4096", value=5200.0, place="pyproject.toml:9"
            ),
        ),
        missed=(
            missed("order_id", said=3, gone=19),
            missed("refund_window", said=9, gone=25),
            missed("card", said=1, reason="not-read"),
            missed("city"),
        ),
    )

    expected = """
FAILED scenarios/support_agent.yaml::support_agent[sliding_window@4k]
  recall .62 < .8              support_agent.yaml:41
  context_peak 5,200 > 4096    pyproject.toml:9
  missed: order_id (turn 3, out of the context from turn 19), refund_window (turn 9, out of the\
 context from turn 25), card (turn 1, not read), +1
  memsim explain 'scenarios/support_agent.yaml::support_agent[sliding_window@4k]::order_id'
"""
    assert expected == shown(failure_text.block(failure, UNICODE))


def test_the_command_can_be_pasted() -> None:
    """Whatever stands in a name, a shell hands it over as one word."""
    command = failure_text.explain_command("scenarios/a b.yaml::it's[bm25:k=8@4k]::x")

    words = shlex.split(command)

    assert words == ["memsim", "explain", "scenarios/a b.yaml::it's[bm25:k=8@4k]::x"]


@pytest.mark.parametrize(
    ("metric", "bound", "value", "text"),
    [
        ("recall", ">= 0.8", 0.62, "recall .62 < .8"),
        ("recall", "> 0.8", 0.8, "recall .80 ≤ .8"),
        ("recall", "== 1", 0.5, "recall .50 != 1"),
        ("compactions", "<= 3", 12.0, "compactions 12 > 3"),
        ("context_mean", "< 900", 1000.5, "context_mean 1,000.5 ≥ 900"),
        ("recall", ">= 0.8", None, "recall n/a, expected >= 0.8"),
    ],
)
def test_a_broken_bound_is_written_as_it_stands(
    metric: str, bound: str, value: float | None, text: str
) -> None:
    """The value, the sign that holds, the bound; what was not measured is n/a."""
    assert text == failure_text.broken_text(
        BrokenBound(metric=metric, bound=bound, value=value), UNICODE
    )


def test_failures_beyond_many_are_counted() -> None:
    """A thousand blocks would scroll the table off the screen."""
    cases = tuple(CaseFailure(case=f"c{n}", broken=()) for n in range(23))

    text = shown(failure_text.failure_lines(cases, ASCII))

    assert text.count("FAILED") == 20
    assert "... 3 more failed cases in report.md" in text


def test_unscored_cases_say_why() -> None:
    """An error is a state of its own, with its own word."""
    cases = (UnscoredCase(case=CASE, state="error", error="mine.py:12: KeyError: 'x'"),)

    assert "ERROR scenarios/support" in shown(failure_text.unscored_lines(cases, ASCII))
    assert "  mine.py:12: KeyError: 'x'" in shown(failure_text.unscored_lines(cases, ASCII))
    assert failure_text.unscored_lines((), ASCII) == []


def group(strategy: str, *probes: MissedProbe) -> MissedGroup:
    """What a strategy missed."""
    return MissedGroup(
        strategy=strategy,
        budget=4096,
        missed=15,
        answerable=40,
        reasons={"evicted": 13, "not-read": 2},
        hallucinated=1,
        unanswerable=4,
        examples=probes,
    )


def test_what_was_missed_names_reasons_and_one_example_of_each_strategy_first() -> None:
    """Three examples at most, and not all of the worst strategy."""
    groups = (group("tiered", missed("a"), missed("b")), group("sliding_window", missed("c")))

    expected = f"""
missed, and why
  tiered          15 of 40: 13 evicted, 2 not read; 1 of 4 hallucinated
  sliding_window  15 of 40: 13 evicted, 2 not read; 1 of 4 hallucinated
  to see where one went …
    memsim explain '{CASE}::a'
    memsim explain '{CASE}::c'
    memsim explain '{CASE}::b'

"""
    assert expected == shown(failure_text.missed_lines(groups, UNICODE, 100))


def test_reasons_are_wrapped_and_commands_are_not() -> None:
    """What is to be pasted stays on one line."""
    lines = failure_text.missed_lines((group("tiered", missed("a")),), UNICODE, 50)

    assert [line.text for line in lines[1:3]] == [
        "  tiered  15 of 40: 13 evicted, 2 not read; 1 of 4",
        "          hallucinated",
    ]
    assert lines[4].text == f"    memsim explain '{CASE}::a'"


def test_all_missed_probes_are_listed_where_all_are_given() -> None:
    """With -v there is no need to guess the other ids."""
    probes = [missed(f"p{n}", reason="not-read") for n in range(5)]

    text = shown(failure_text.missed_lines((group("tiered", *probes),), UNICODE, 100))

    assert text.count("  MISS not read  scenarios/") == 5


def test_nothing_missed_prints_nothing() -> None:
    """No empty heading."""
    assert failure_text.missed_lines((), UNICODE, 100) == []
