"""LoCoMo-Plus: pairs are placed into conversations of LoCoMo; a bad file is an error in a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memsim.errors import ConfigError, ScenarioError
from memsim.scenario.datasets import load_dataset
from memsim.scenario.script import Ask, Scenario, Turn
from memsim.suite.single import run

Pairs = list[dict[str, Any]]

CUE = "A: I sold my canoe after the storm.\nB: A pity."
REMARK = "A: The lake looks so empty now."


@pytest.fixture
def pairs() -> Pairs:
    """Three pairs, to be spoilt at will."""
    gaps = ("two weeks later", "about one month later", "one week later")
    return [
        {"relation_type": "causal", "time_gap": gap, "cue_dialogue": CUE, "trigger_query": REMARK}
        for gap in gaps
    ]


def talk(name: str, speakers: tuple[str, str]) -> dict[str, Any]:
    """A conversation of two sessions, three weeks apart."""
    said = [
        {"speaker": who, "dia_id": f"D1:{n}", "text": f"{who} says hello."}
        for n, who in enumerate(speakers, start=1)
    ]
    later = [{**line, "dia_id": line["dia_id"].replace("D1", "D2")} for line in said]
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": speakers[0],
            "speaker_b": speakers[1],
            "session_1_date_time": "1:00 pm on 1 May, 2023",
            "session_1": said,
            "session_2_date_time": "1:00 pm on 22 May, 2023",
            "session_2": later,
        },
        "qa": [],
    }


def loaded(folder: Path, pairs: object, **options: str) -> list[Scenario]:
    """What is loaded of a folder with pairs and two conversations."""
    talks = [talk("conv-1", ("Ana", "Ben")), talk("conv-2", ("Cyd", "Dan"))]
    (folder / "locomo10.json").write_text(json.dumps(talks), encoding="utf-8")
    (folder / "locomo_plus.json").write_text(json.dumps(pairs), encoding="utf-8")
    return load_dataset("locomo_plus", folder, options)


def heard(scenario: Scenario) -> list[tuple[str, str, str]]:
    """Id, speaker and text of every message."""
    turns = [event for event in scenario.events(7) if isinstance(event, Turn)]
    return [(m.id, m.principal, m.text) for turn in turns for m in turn.heard]


def test_cues_are_sessions_at_their_time(tmp_path: Path, pairs: Pairs) -> None:
    """A and B are the speakers; nothing tells a cue by its id."""
    first, second = loaded(tmp_path, pairs)

    assert ["locomo_plus-conv-1", "locomo_plus-conv-2"] == [first.name, second.name]
    assert [
        ("D1:1", "Ana", "Ana says hello."),
        ("D1:2", "Ben", "Ben says hello."),
        ("D2:1", "Ana", "I sold my canoe after the storm."),
        ("D2:2", "Ben", "A pity."),
        ("D3:1", "Ana", "Ana says hello."),
        ("D3:2", "Ben", "Ben says hello."),
        ("D4:1", "Ana", "I sold my canoe after the storm."),
        ("D4:2", "Ben", "A pity."),
    ] == heard(first)
    assert "D1:1" == heard(second)[0][0]
    assert ["Cyd", "Dan", "Cyd", "Dan", "Cyd", "Dan"] == [who for _, who, _ in heard(second)]
    assert ("D1:1", "D1:2") == second.probes[0].evidence


def test_remarks_are_made_a_week_after_the_last_session(tmp_path: Path, pairs: Pairs) -> None:
    """The context is searched for what A said in the cue."""
    scenario, _ = loaded(tmp_path, pairs)
    asked = [event for event in scenario.events(7) if isinstance(event, Ask)]
    turns = [event for event in scenario.events(7) if isinstance(event, Turn)]
    probe = asked[0].probe

    assert {datetime(2023, 5, 29, 13, 0, tzinfo=UTC)} == {event.time for event in asked}
    assert datetime(2023, 5, 15, 13, 0, tzinfo=UTC) == turns[2].time
    assert sorted(turn.time for turn in turns) == [turn.time for turn in turns]
    assert ("The lake looks so empty now.", "Ana") == (probe.ask, probe.principal)
    assert ("context", ("I sold my canoe after the storm.",)) == (probe.match, probe.expect)
    assert {"category": "causal", "gap": "14 days"} == probe.labels
    assert [("D2:1", "D2:2"), ("D4:1", "D4:2")] == [event.probe.evidence for event in asked]


def test_apart_places_each_pair_into_a_copy(tmp_path: Path, pairs: Pairs) -> None:
    """As its authors do."""
    found = loaded(tmp_path, pairs, apart="true")

    assert ["locomo_plus-conv-1-1", "locomo_plus-conv-1-3", "locomo_plus-conv-2-2"] == [
        scenario.name for scenario in found
    ]
    assert [1, 1, 1] == [len(scenario.probes) for scenario in found]


@pytest.mark.parametrize(
    ("gap", "days"),
    [("a year later", 365), ("Several Months later", 90), ("10 days later", 10)],
)
def test_gaps_are_read(tmp_path: Path, pairs: Pairs, gap: str, days: int) -> None:
    """In words and digits."""
    pairs[0]["time_gap"] = gap
    scenario, _ = loaded(tmp_path, pairs)

    assert f"{days} days" == scenario.probes[0].labels["gap"]


def test_b_may_begin_in_the_middle_of_a_line(tmp_path: Path, pairs: Pairs) -> None:
    """A line without a speaker goes on with the one before it."""
    pairs[0]["cue_dialogue"] = "A: I sold it.\nThe canoe. B: Plan B: a raft."
    pairs[2]["cue_dialogue"] = "A: I sold it.\\nB: A pity."
    scenario, _ = loaded(tmp_path, pairs)

    assert [("Ana", "I sold it.\nThe canoe."), ("Ben", "Plan"), ("Ben", "a raft.")] == [
        (who, text) for _, who, text in heard(scenario)[2:5]
    ]
    assert [("Ana", "I sold it."), ("Ben", "A pity.")] == [
        (who, text) for _, who, text in heard(scenario)[-2:]
    ]


def test_it_is_played(tmp_path: Path, pairs: Pairs) -> None:
    """`oracle` has the cue, and `no_memory` has not."""
    scenario, _ = loaded(tmp_path, pairs)

    assert "PASS" == run(scenario, "oracle").probes[0]["outcome"]
    assert "PASS" != run(scenario, "no_memory").probes[0]["outcome"]


def test_locomo_lies_beside_or_is_named(tmp_path: Path, pairs: Pairs) -> None:
    """In the same folder, or in the folder `locomo` beside it."""
    loaded(tmp_path, pairs)
    own, beside = tmp_path / "plus", tmp_path / "locomo"
    own.mkdir()
    (own / "dev.json").write_text(json.dumps(pairs), encoding="utf-8")
    with pytest.raises(ScenarioError, match="no folder 'locomo' beside its folder"):
        load_dataset("locomo_plus", own)
    named = load_dataset("locomo_plus", own, {"locomo": str(tmp_path / "locomo10.json")})
    beside.mkdir()
    (tmp_path / "locomo10.json").rename(beside / "locomo10.json")
    assert [s.name for s in named] == [s.name for s in load_dataset("locomo_plus", own)]
    with pytest.raises(ConfigError, match="locomo_plus has no option 'lokomo'"):
        load_dataset("locomo_plus", own, {"lokomo": "x"})
    with pytest.raises(ScenarioError, match=r"no locomo_plus\*\.json in this folder"):
        load_dataset("locomo_plus", beside)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"time_gap": "soon"},
            "pair 1 has 'soon' as 'time_gap', not one such as 'two weeks later'",
        ),
        ({"time_gap": "zero weeks later"}, "pair 1 has 'zero weeks later' as 'time_gap'"),
        ({"time_gap": "3000 years later"}, "has '3000 years later' as 'time_gap'"),
        ({"cue_dialogue": "Hello."}, "has a 'cue_dialogue' that is not like 'A: Hello.'"),
        ({"cue_dialogue": "A: \nB: Hi."}, "has a 'cue_dialogue' that is not like 'A: Hello.'"),
        ({"cue_dialogue": "B: Hi."}, "has a 'cue_dialogue' in which A says nothing"),
        ({"trigger_query": "B: Hi."}, "has a 'trigger_query' that is not one remark of A"),
        ({"relation_type": 1}, "has a whole number as 'relation_type', not a text"),
    ],
)
def test_a_bad_file_is_one_line(
    tmp_path: Path, pairs: Pairs, change: Mapping[str, Any], problem: str
) -> None:
    """With the file and the place in it."""
    pairs[0].update(change)
    with pytest.raises(ScenarioError) as caught:
        loaded(tmp_path, pairs)

    assert problem in str(caught.value)
    assert "locomo_plus.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_list_of_pairs_is_wanted(tmp_path: Path) -> None:
    """Not an object, and not nothing."""
    with pytest.raises(ScenarioError, match="not a list of pairs"):
        loaded(tmp_path, {})


def test_the_sample_is_read_whole(data_dir: Path) -> None:
    """Every pair is placed, and every cue is evidence."""
    scenarios = load_dataset("locomo_plus", data_dir / "locomo_plus")

    assert [26] * 5 == [len(scenario.probes) for scenario in scenarios]
    assert {2} == {len(p.evidence) for scenario in scenarios for p in scenario.probes}
