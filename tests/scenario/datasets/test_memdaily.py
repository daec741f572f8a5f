"""MemDaily: each trajectory becomes a scenario, a bad file an error in a line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memsim.errors import ConfigError, ScenarioError
from memsim.scenario.datasets import load_dataset
from memsim.scenario.script import Ask, Scenario, Turn
from memsim.suite.single import run

Trajectory = dict[str, Any]


def line(number: int, text: str, time: str) -> dict[str, object]:
    """One message."""
    return {"mid": number, "message": text, "time": time, "place": "北京"}


def asked(**more: object) -> dict[str, object]:
    """One question about a cat."""
    return {
        "qid": 0,
        "question": "我的猫叫什么?",
        "answer": "小白",
        "target_step_id": [1, 9],
        "choices": {"A": "大黄", "B": "小白", "C": "大黄", "D": "阿福 "},
        "ground_truth": "B",
        "time": "2024年04月05日 周五 18:34",
        **more,
    }


@pytest.fixture
def trajectory() -> Trajectory:
    """Three messages of two days, to be spoilt at will."""
    return {
        "tid": 4,
        "message_list": [
            line(0, "我养了一只猫。", "2024年04月01日 周一 08:30"),
            line(1, "我的猫叫小白。", "2024年04月02日 周二 09:00"),
            line(2, "今天下雨。", "2024年04月02日 周二 08:00"),
        ],
        "question_list": [asked()],
    }


def loaded(tmp_path: Path, value: object, name: str = "01_simple_items.json") -> list[Scenario]:
    """What is loaded of a file with this value."""
    path = tmp_path / name
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return load_dataset("memdaily", path)


def test_a_trajectory_is_a_scenario_of_days(tmp_path: Path, trajectory: Trajectory) -> None:
    """A message that is dated before an earlier one follows it by a minute."""
    (scenario,) = loaded(tmp_path, [trajectory])
    events = [*scenario.events(7)]
    heard = [m for e in events if isinstance(e, Turn) for m in e.heard]
    (ask,) = [event for event in events if isinstance(event, Ask)]

    assert "memdaily-simple-items-4" == scenario.name
    assert [("m0", "day-1"), ("m1", "day-2"), ("m2", "day-2")] == [(m.id, m.session) for m in heard]
    assert datetime(2024, 4, 2, 9, 1, tzinfo=UTC) == heard[2].time
    assert datetime(2024, 4, 5, 18, 34, tzinfo=UTC) == ask.time
    assert "今天下雨。 (消息地点 北京, 消息时间 2024年04月02日 周二 08:00)" == heard[2].text


def test_a_question_has_each_option_once_and_the_evidence_that_exists(
    tmp_path: Path, trajectory: Trajectory
) -> None:
    """The letter says which option is right."""
    (scenario,) = loaded(tmp_path, [trajectory])
    (probe,) = scenario.probes

    assert ("大黄", "小白", "阿福") == probe.choices
    assert ("小白",) == probe.expect
    assert ("m1",) == probe.evidence
    assert {"category": "simple", "topic": "items"} == probe.labels


def test_a_question_without_evidence_is_not_scored_for_it(
    tmp_path: Path, trajectory: Trajectory
) -> None:
    """Its answer is."""
    trajectory["question_list"] = [asked(target_step_id=[9])]
    (scenario,) = loaded(tmp_path, [trajectory])

    assert "no valid evidence" == scenario.probes[0].excluded


@pytest.mark.parametrize("where", ["question", "answer", "choices", "ground_truth"])
def test_questions_that_the_generator_failed_on_are_left_out_and_counted(
    tmp_path: Path, trajectory: Trajectory, where: str
) -> None:
    """The other trajectories of the file say how many."""
    failed = {**trajectory, "tid": 5, "question_list": [asked(**{where: "[ERRORX]"})]}
    (scenario,) = loaded(tmp_path, [trajectory, failed])

    assert "memdaily-simple-items-4" == scenario.name
    assert scenario.about.endswith("1 of its kind left out, which the generator failed on")
    with pytest.raises(ScenarioError, match="holds no question"):
        loaded(tmp_path, [failed])


def test_the_published_file_of_all_kinds_is_the_same(
    tmp_path: Path, trajectory: Trajectory
) -> None:
    """It names a kind and a topic, and holds one question for each trajectory."""
    single = {**trajectory, "QA": trajectory["question_list"][0]}
    del single["question_list"]
    merged = loaded(tmp_path, {"post_processing": {"items": [single]}}, "memdaily.json")
    alone = loaded(tmp_path, [trajectory], "05_post_processing_items.json")

    assert "memdaily-post-processing-items-4" == merged[0].name
    assert (alone[0].name, alone[0].fingerprint) == (merged[0].name, merged[0].fingerprint)


def test_a_folder_has_the_trajectories_of_its_files(tmp_path: Path, trajectory: Trajectory) -> None:
    """In the order of their names."""
    loaded(tmp_path, [trajectory], "06_noisy_items.json")
    loaded(tmp_path, [trajectory], "01_simple_items.json")

    names = [s.name for s in load_dataset("memdaily", tmp_path)]
    assert ["memdaily-simple-items-4", "memdaily-noisy-items-4"] == names


def test_it_is_played(tmp_path: Path, trajectory: Trajectory) -> None:
    """The options are shown with the question."""
    (scenario,) = loaded(tmp_path, [trajectory])
    (probe,) = run(scenario, "oracle").probes

    assert ["大黄", "小白", "阿福"] == probe["choices"]
    assert "PASS" != run(scenario, "no_memory").probes[0]["outcome"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"tid": "x"}, "trajectory 1 has a text as 'tid', not a whole number"),
        ({"message_list": []}, "trajectory 1 has no message"),
        ({"message_list": [line(0, "x", "yesterday")]}, "trajectory 1: message 1 has a 'time'"),
        ({"message_list": [line(0, "x", "2024年13月41日 周一 08:30")]}, "has a 'time' that is not"),
        ({"message_list": [line(0, "x", "9999年12月31日 周五 23:59")]}, "has a 'time' that is not"),
        (
            {"message_list": [line(0, "x", "2024年04月01日 周一 08:30")] * 2},
            "trajectory 1: message 2 has the 'mid' 0 of another",
        ),
        ({"question_list": [1]}, "trajectory 1: question 1 is a whole number, not an object"),
        ({"question_list": [asked(ground_truth="E")]}, "has 'E' as 'ground_truth', which is none"),
        ({"question_list": [asked(choices=["x"])]}, "choices is a list, not an object"),
        ({"question_list": [asked(target_step_id=["x"])]}, "has in 'target_step_id' what is no"),
    ],
)
def test_a_bad_file_is_one_line(
    tmp_path: Path, trajectory: Trajectory, change: dict[str, Any], problem: str
) -> None:
    """With the file and the place in it."""
    with pytest.raises(ScenarioError) as caught:
        loaded(tmp_path, [{**trajectory, **change}])

    assert problem in str(caught.value)
    assert "01_simple_items.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_file_of_memdaily_is_refused(tmp_path: Path, trajectory: Trajectory) -> None:
    """By its name, its kind, its shape, or what is in the folder."""
    with pytest.raises(ScenarioError, match=r"no \*\.json in this folder"):
        load_dataset("memdaily", tmp_path)
    with pytest.raises(ConfigError, match="memdaily has no option 'x'"):
        load_dataset("memdaily", tmp_path, {"x": "1"})
    for value, name, problem in [
        ([trajectory], "mine.json", "not named after its kind"),
        ("x", "01_simple_items.json", "not a list of trajectories"),
        ({"odd": {}}, "memdaily.json", "has 'odd', which is none of MemDaily's kinds"),
        ([trajectory, trajectory], "01_simple_items.json", "trajectory 2 has the 'tid'"),
    ]:
        with pytest.raises(ScenarioError, match=problem):
            loaded(tmp_path, value, name)
