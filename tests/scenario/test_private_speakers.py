"""Others who speak in private: who says and asks what, and who may see it."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import memsim
from memsim.cli.program import program
from memsim.errors import ScenarioError
from memsim.scenario import ScenarioBuilder, load_scenario
from memsim.scenario.generator.dials import Generate
from memsim.scenario.generator.event_log import SessionDays
from memsim.scenario.generator.story_script import story_of
from memsim.scenario.script import Scenario, Turn

DAYS = SessionDays(first=date(2026, 1, 5), apart=timedelta(days=7))
NAMES = ("preferences", "temporal")


def _scenario(name: str, kind: str = "private", **dials: int | str) -> Scenario:
    turned: dict[str, Any] = {"distance": 6, "facts": 4, "speakers": 2, **dials}
    builder = ScenarioBuilder(f"{name}-{kind}-{turned['speakers']}")
    return builder.generate(name, speaker_kind=kind, **turned).build()


def _turns(scenario: Scenario) -> list[Turn]:
    return [event for event in scenario.events(7) if isinstance(event, Turn)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("more", [{}, {"noise": 100}, {"code_switching": 100}], ids=str)
def test_each_speaks_in_private_and_says_what_they_said_together(
    name: str, more: dict[str, int]
) -> None:
    """In sessions of one principal, without the name before it, and nobody else may see it."""
    together, private = (_scenario(name, kind, **more) for kind in ("together", "private"))
    owners: dict[str, set[str]] = {}
    said = set()
    for turn in _turns(private):
        owners.setdefault(turn.session, set()).add(turn.principal)
        for fact in turn.facts:
            assert fact.private
            assert fact.principal == turn.principal
        if turn.facts:
            named = "" if turn.principal == "user" else f"{turn.principal}: "
            said.add(f"{named}{turn.heard[0].text}")

    assert 3 == len(private.principals)
    assert {1} == {len(principals) for principals in owners.values()}
    assert said == {turn.heard[0].text for turn in _turns(together) if turn.facts}
    assert ("user",) == together.principals


def test_each_asks_about_what_is_theirs() -> None:
    """By their own name as principal; the answers are those of the same story told together."""
    together, private = (
        _scenario("preferences", kind, unknown=2) for kind in ("together", "private")
    )
    asks = {f"{p.principal}: {p.ask}".removeprefix("user: "): p.expect for p in private.probes}

    assert asks == {probe.ask: probe.expect for probe in together.probes}
    assert 2 == len({probe.principal for probe in private.probes})
    assert {"private"} == {probe.labels["speaker_kind"] for probe in private.probes}


@pytest.mark.parametrize("name", NAMES)
def test_who_keeps_apart_what_is_private_leaks_nothing(name: str) -> None:
    """The oracle has every answer and no_memory none; who shares all has fewer, and leaks."""
    scenarios = [_scenario(name, speakers=speakers) for speakers in (0, 6)]
    shared = ["bm25", "full_context"]
    played = memsim.run(
        scenarios,
        ["oracle", "no_memory", *shared, "bm25:scope=principal"],
        budgets=["512", "1k"],
        controls=False,
    )
    probes = played.to_pandas("probes")
    held = probes.groupby(["strategy", "budget", "scenario"])["answer_in_context"].mean().unstack()
    few, many = (held[f"<python>::{scenario.name}"] for scenario in scenarios)
    leaked = probes.groupby("strategy")["leaks"].sum()

    assert {1.0} == {*few["oracle"], *many["oracle"]}
    assert {0.0} == {*few["no_memory"], *many["no_memory"]}
    assert any(min(many[who] - few[who]) < -0.05 for who in shared)
    assert sum(leaked[who] for who in shared) > 0
    assert 0 == leaked["bm25:scope=principal"] == leaked["oracle"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_private_is_written_out_and_plays_the_same(name: str, tmp_path: Path) -> None:
    """With its principals, who asks, and what is private."""
    path = tmp_path / "written.yaml"
    dials = ["--speakers", "2", "--speaker-kind", "private", "--distance", "6", "--facts", "4"]
    done = CliRunner().invoke(program, ["generate", name, *dials, "--written", "-o", str(path)])
    assert 0 == done.exit_code, done.output
    short, long = _scenario(name), load_scenario(path)

    assert short.principals == long.principals
    assert [_told(turn) for turn in _turns(short)] == [_told(turn) for turn in _turns(long)]
    assert [(p.ask, p.principal, p.expect, p.evidence) for p in short.probes] == [
        (p.ask, p.principal, p.expect, p.evidence) for p in long.probes
    ]


def _told(turn: Turn) -> tuple[Any, ...]:
    facts = [(fact.value, fact.source, fact.principal, fact.private) for fact in turn.facts]
    return turn.session, turn.principal, turn.time, facts


def test_the_story_is_the_same_however_it_is_told() -> None:
    """Only the conversations are others."""
    private, together, plain = (
        story_of(Generate(line=None, family="temporal", speakers=3, speaker_kind=kind), DAYS)
        for kind in ("private", "together", None)
    )

    assert private == together == plain


def test_a_family_without_speakers_is_refused() -> None:
    """With those that have some."""
    step = Generate(line=3, family="updates", speaker_kind="private")
    with pytest.raises(ScenarioError, match="families that have: preferences, temporal"):
        story_of(step, DAYS)
