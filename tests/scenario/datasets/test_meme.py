"""MEME: each episode becomes a scenario before its change and one after it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memsim.errors import ConfigError, ScenarioError
from memsim.message import Message
from memsim.scenario.datasets import load_dataset
from memsim.scenario.script import Ask, Probe, Scenario, Turn
from memsim.suite.single import run

Episode = dict[str, Any]


def session(day: int, *lines: str, facts: tuple[tuple[str, object, object], ...] = ()) -> Episode:
    """One session on a day of March, with facts by entity, value and turn."""
    said = [{"role": role, "content": text} for role, text in (line.split(": ") for line in lines)]
    made: Episode = {
        "session_id": f"evidence_{day}",
        "timestamp": f"2023/03/{day:02} (Sun) 10:00",
        "conversation": said,
    }
    if facts:
        made["gold_facts"] = [
            {"entity": entity, "value": value, "conveyed_in_turn": turn}
            for entity, value, turn in facts
        ]
    return made


def asked(task: str, *entities: str, **more: object) -> dict[str, object]:
    """One question."""
    return {"task_type": task, "entity": list(entities), "question": f"{task}?", **more}


@pytest.fixture
def episode() -> Episode:
    """A lead who assigns a reviewer, a log that is to be forgotten, and a change of the lead."""
    return {
        "episode_id": "sw_007",
        "domain": "software_project",
        "dependency_edges_used": [
            {"source": "lead", "target": "reviewer", "hop": 1},
            {"source": "reviewer", "target": "report", "hop": 2},
            {"source": "report", "target": "lead", "hop": 2},
        ],
        "sessions": [
            session(
                1, "user: Ben leads. Logs go to Zed.", facts=(("lead", "Ben", 0), ("log", "Zed", 0))
            ),
            session(
                2,
                "assistant: Hi.",
                "user:  ",
                "user: Ana reviews.",
                facts=(("reviewer", "Ana", 2), ("reviewer", "Ana", 1)),
            ),
            session(
                3, "user: Kim leads; forget the log.", facts=(("lead", ["Kim"], 0), ("x", 1, None))
            ),
            session(4, "user: Much later."),
        ],
        "before_questions": {
            "timestamp": "2023/03/05 (Sun) 09:00",
            "position_after_session": 1,
            "questions": [
                asked("Cas", "reviewer", expected_answer="Ana", hop=1),
                asked("Del", "log", expected_answer="Zed"),
                asked("Abs", "reviewer", expected_answer="Ana"),
            ],
        },
        "after_questions": {
            "timestamp": "2023/03/09 (Thu) 09:00",
            "position_after_session": 2,
            "questions": [
                asked("ER", "log", gold_answer=3),
                asked("Agg", "lead", "reviewer", gold_answer=["Kim", "Ana"]),
                asked("Tr", "lead", gold_answer="Ben, then Kim"),
                asked("Del", "log", gold_answer="forgotten"),
                asked("Cas", "report", gold_answer="Eli", hop=2),
                asked("Abs", "reviewer", gold_answer="unknown", hop=1),
                asked("ER", "nothing", gold_answer="x"),
            ],
        },
    }


def loaded(tmp_path: Path, *episodes: object) -> list[Scenario]:
    """The scenarios of a file with these episodes."""
    path = tmp_path / "meme_nofiller.json"
    path.write_text(json.dumps(episodes), encoding="utf-8")
    return load_dataset("meme", path)


def told(scenario: Scenario) -> list[Message]:
    """Every message."""
    turns = (event for event in scenario.events(7) if isinstance(event, Turn))
    return [m for turn in turns for m in (*turn.heard, *turn.reply)]


def by_task(scenario: Scenario) -> dict[str, Probe]:
    """The last probe of each category."""
    return {probe.labels["category"]: probe for probe in reversed(scenario.probes)}


def test_questions_come_after_their_session_and_on_their_day(
    tmp_path: Path, episode: Episode
) -> None:
    """Nothing tells which session holds the answer, and what comes later is not played."""
    before, after = loaded(tmp_path, episode)
    asks = [e for s in (before, after) for e in s.events(7) if isinstance(e, Ask)]

    assert ["meme-sw_007-before", "meme-sw_007-after"] == [before.name, after.name]
    assert ["m1", "m2", "m3"] == [m.id for m in told(before)]
    assert ["session-1", "session-2", "session-2", "session-3"] == [m.session for m in told(after)]
    assert datetime(2023, 3, 2, 10, 1, tzinfo=UTC) == told(before)[2].time
    assert {datetime(2023, 3, 5, 9, 0, tzinfo=UTC), datetime(2023, 3, 9, 9, 0, tzinfo=UTC)} == {
        ask.time for ask in asks
    }
    assert "evidence_" not in repr([*after.events(7)])


def test_before_the_change_everything_has_an_answer(tmp_path: Path, episode: Episode) -> None:
    """A cascade's evidence is also what it depends on, whatever circles there are."""
    before, _ = loaded(tmp_path, episode)
    cascade, deletion, absence = before.probes

    assert (("Ana",), ("m1", "m3"), "recall") == (cascade.expect, cascade.evidence, cascade.ability)
    assert {"category": "cascade", "phase": "before", "hop": "1"} == cascade.labels
    assert (("Zed",), ("m1",), False) == (deletion.expect, deletion.evidence, deletion.unanswerable)
    assert {"category": "deletion", "phase": "before"} == deletion.labels
    assert cascade.evidence == absence.evidence


def test_after_the_change_some_things_are_not_known(tmp_path: Path, episode: Episode) -> None:
    """What was told of them is wrong then."""
    probes = by_task(loaded(tmp_path, episode)[1])

    assert [(True, ("Zed",), ()), (True, ("Ana",), ())] == [
        (p.unanswerable, p.forbid, p.expect + p.evidence)
        for p in (probes["deletion"], probes["absence"])
    ]
    assert {"abstain"} == {probes["deletion"].ability, probes["absence"].ability}


def test_after_the_change_the_rest_has_its_gold_answer(tmp_path: Path, episode: Episode) -> None:
    """A list needs each of its members."""
    _, scenario = loaded(tmp_path, episode)
    probes = by_task(scenario)
    shown = {
        name: (probe.expect, probe.evidence, probe.ability)
        for name, probe in probes.items()
        if not probe.unanswerable
    }

    assert {
        "exact-recall": (("3",), ("m1",), "recall"),
        "aggregation": (("Kim", "Ana"), ("m1", "m3", "m4"), "multi-session"),
        "tracking": (("Ben, then Kim",), ("m1", "m4"), "order"),
        "cascade": (("Eli",), ("m1", "m3", "m4"), "update"),
    } == shown
    assert {"all"} == {probe.match for probe in probes.values()}
    assert "no valid evidence" == scenario.probes[-1].excluded


def test_it_is_played_and_answered(tmp_path: Path, episode: Episode) -> None:
    """From the evidence alone the reader knows it."""
    episode["before_questions"]["questions"][0]["question"] = "Who reviews?"
    before, _ = loaded(tmp_path, episode)

    assert "PASS" == run(before, "oracle").probes[0]["outcome"]
    assert "PASS" != run(before, "no_memory").probes[0]["outcome"]


@pytest.mark.parametrize(
    ("block", "change", "problem"),
    [
        ("", {"sessions": {}}, "episode 1 has an object as 'sessions', not a list"),
        ("", {"episode_id": []}, "episode 1 has a list as 'episode_id', not a text or a number"),
        ("", {"after_questions": None}, "episode 1: after_questions is null, not an object"),
        ("", {"dependency_edges_used": [{}]}, "episode 1: edge 1 has no 'target'"),
        ("", {"sessions": [session(1)] * 3}, "before_questions comes before any message"),
        ("", {"sessions": [session(40, "user: x")] * 3}, "session 1 has '2023/03/40 (Sun) 10:00'"),
        ("", {"sessions": [session(1, "bot: x")] * 3}, "session 1: message 1 has 'bot' as 'role'"),
        ("before", {"position_after_session": 4}, "comes after session 4, and there are 4"),
        ("before", {"position_after_session": -1}, "comes after session -1, and there are 4"),
        ("before", {"timestamp": "soon"}, "before_questions has 'soon' as a date"),
        ("before", {"questions": [asked("Cat")]}, "question 1 has 'Cat' as 'task_type'"),
        ("after", {"questions": [asked("ER", "x")]}, "question 1 has no 'gold_answer'"),
    ],
)
def test_a_bad_file_is_one_line(
    tmp_path: Path, episode: Episode, block: str, change: dict[str, Any], problem: str
) -> None:
    """With the file and the place in it."""
    (episode[f"{block}_questions"] if block else episode).update(change)
    with pytest.raises(ScenarioError) as caught:
        loaded(tmp_path, episode)

    assert problem in str(caught.value)
    assert "meme_nofiller.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_it_is_a_list_of_episodes_without_options(tmp_path: Path, episode: Episode) -> None:
    """Each with an id of its own."""
    with pytest.raises(ScenarioError, match="not a list of episodes"):
        loaded(tmp_path)
    with pytest.raises(ScenarioError, match="episode 2 has the 'episode_id'"):
        loaded(tmp_path, episode, episode)
    with pytest.raises(ConfigError, match="meme has no option 'x'"):
        load_dataset("meme", tmp_path / "none.json", {"x": "1"})
