"""LongMemEval-V2: questions on trajectories, a scenario for each history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memsim.errors import ConfigError, ScenarioError
from memsim.message import Message
from memsim.scenario.datasets import load_dataset
from memsim.scenario.script import Ask, Probe, Scenario, Turn
from memsim.suite.single import run

Record = dict[str, Any]


def question(name: str, answer: str = "Taxes", **more: object) -> Record:
    """One question, by default about a page and answered by one phrase."""
    return {
        "id": name,
        "domain": "web",
        "question": f"{name}?",
        "image": None,
        "question_type": "static-environment",
        "answer": answer,
        "eval_function": "norm_phrase_set_match",
        **more,
    }


def trajectory(name: str, *states: Record, **more: object) -> Record:
    """One trajectory of some states."""
    return {
        "id": name,
        "domain": "web",
        "goal": f"Do {name}.",
        "start_url": "http://shop/",
        "states": [{"url": "http://shop/", "screenshot": "x.png", **state} for state in states],
        **more,
    }


@pytest.fixture
def questions() -> list[Record]:
    """Two questions on the same history, one with a picture, and one on another history."""
    return [
        question("q1", "Sales; Taxes", eval_function="norm_phrase_set_match|separators=;"),
        question("q2", "b", question_type="procedure", eval_function="mc_choice_match"),
        question("q3", image="question_screenshots/q3.png"),
        question(
            "q4",
            "No such tab.",
            question_type="procedure-abs",
            eval_function="llm_abstention_checker",
        ),
    ]


@pytest.fixture
def trajectories() -> list[Record]:
    """Two trajectories that are told, and one that is in no history."""
    return [
        trajectory(
            "secret-good",
            {"accessibility_tree": "tab Sales", "thought": "In Sales.", "action": "click('12')"},
            {"accessibility_tree": "tab Taxes", "thought": None, "action": " "},
            outcome="success",
        ),
        trajectory("secret-other", {"accessibility_tree": "", "action": "stop"}),
        {"id": "unused"},
    ]


HISTORIES = {
    "q1": ["secret-other", "secret-good"],
    "q2": ["secret-other", "secret-good"],
    "q3": ["secret-other", "secret-good"],
    "q4": ["secret-good"],
}


def written(
    folder: Path,
    questions: list[Record],
    trajectories: list[Record],
    histories: object = HISTORIES,
    tier: str = "small",
) -> Path:
    """The folder as it is published."""
    (folder / "haystacks").mkdir(exist_ok=True)
    for name, records in (("questions", questions), ("trajectories", trajectories)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    (folder / f"haystacks/lme_v2_{tier}.json").write_text(json.dumps(histories))
    return folder


@pytest.fixture
def scenarios(
    tmp_path: Path, questions: list[Record], trajectories: list[Record]
) -> list[Scenario]:
    """Both scenarios of the made-up folder."""
    return load_dataset("longmemeval_v2", written(tmp_path, questions, trajectories))


def messages(scenario: Scenario) -> list[Message]:
    """All that is told."""
    turns = [event for event in scenario.events(7) if isinstance(event, Turn)]
    return [m for turn in turns for m in (*turn.heard, *turn.reply)]


def probes(scenario: Scenario) -> list[Probe]:
    """All that is asked, in order."""
    return [event.probe for event in scenario.events(7) if isinstance(event, Ask)]


def test_questions_with_the_same_history_share_a_scenario(scenarios: list[Scenario]) -> None:
    """And one with another history has its own."""
    assert [s.name for s in scenarios] == [
        "longmemeval_v2-lme_v2_small-1",
        "longmemeval_v2-lme_v2_small-2",
    ]
    assert [[p.labels["question"] for p in probes(s)] for s in scenarios] == [["q1", "q2"], ["q4"]]


def test_trajectories_are_told_in_the_order_of_the_history(scenarios: list[Scenario]) -> None:
    """Goal, pages and outcome are heard; thought and action are the reply."""
    assert [(m.session, m.role, m.text) for m in messages(scenarios[0])] == [
        ("session-1", "user", "Goal: Do secret-other.\nStart: http://shop/"),
        ("session-1", "user", "http://shop/\n"),
        ("session-1", "assistant", "stop"),
        ("session-2", "user", "Goal: Do secret-good.\nStart: http://shop/"),
        ("session-2", "user", "http://shop/\ntab Sales"),
        ("session-2", "assistant", "In Sales.\nclick('12')"),
        ("session-2", "user", "http://shop/\ntab Taxes"),
        ("session-2", "user", "Outcome: success"),
    ]
    days = {m.session: m.time.date() for m in messages(scenarios[0])}
    assert (days["session-2"] - days["session-1"]).days == 1


def test_no_id_of_the_files_reaches_a_memory(scenarios: list[Scenario]) -> None:
    """Ids of trajectories and questions may tell what they are about."""
    for scenario in scenarios:
        seen = [(m.id, m.session, m.principal) for m in messages(scenario)]
        assert "secret" not in str(seen)
        assert [p.id for p in probes(scenario)] == [
            f"{scenario.name}:question-{n}" for n, _ in enumerate(scenario.probes, start=1)
        ]


def test_each_rule_of_the_file_has_its_match(scenarios: list[Scenario]) -> None:
    """Phrases are all needed; a letter and an explanation are one text."""
    found = [(p.expect, p.match, p.ability, p.excluded) for s in scenarios for p in probes(s)]
    assert found == [
        (("Sales", "Taxes"), "all", "recall", "no valid evidence"),
        (("b",), "tokens", "instruction", "no valid evidence"),
        (("No such tab.",), "tokens", "conflict", "no valid evidence"),
    ]
    assert dict(probes(scenarios[0])[1].labels) == {
        "question": "q2",
        "category": "procedure",
        "domain": "web",
        "rule": "mc_choice_match",
    }


@pytest.mark.parametrize(
    ("rule", "answer", "expect"),
    [
        ("norm_phrase_set_match", "a, b; a;", ("a", "b")),
        (
            "norm_phrase_set_match_ordered|lower=true| separators = ; /",
            "r, e t; c",
            ("r, e t", "c"),
        ),
        ("norm_phrase_set_match|separators=^.", "a.b^c, d", ("a", "b", "c, d")),
        ('norm_phrase_set_match|separators=["and", "^"]', "a and b^c, d", ("a", "b", "c, d")),
        ("norm_phrase_set_match|separators=", "a, b", ("a, b",)),
        ("mc_choice_set_match", "a, C", ("A", "C")),
        ("llm_gotchas_checker", "a; b", ("a; b",)),
    ],
)
def test_answers_are_parted_as_their_rule_says(
    rule: str, answer: str, expect: tuple[str, ...], tmp_path: Path, trajectories: list[Record]
) -> None:
    """By its own separators, by commas and semicolons, by letters, or not at all."""
    asked = [question("q1", answer, eval_function=rule)]
    [scenario] = load_dataset("longmemeval_v2", written(tmp_path, asked, trajectories))
    assert [p.expect for p in probes(scenario)] == [expect]


def test_questions_with_a_picture_are_left_out_and_counted(scenarios: list[Scenario]) -> None:
    """Only text is read."""
    assert [s.about.endswith("1 left out for their picture") for s in scenarios] == [True, False]


def test_a_file_of_histories_plays_that_one(
    tmp_path: Path,
    questions: list[Record],
    trajectories: list[Record],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The medium ones are as large as the published file says."""
    written(tmp_path, questions, trajectories, tier="a b")
    monkeypatch.chdir(tmp_path / "haystacks")
    [first, _] = load_dataset("longmemeval_v2", Path("lme_v2_a b.json"))
    assert first.name == "longmemeval_v2-lme_v2_a-b-1"


def test_the_fingerprint_covers_what_is_told_and_asked(
    tmp_path: Path, questions: list[Record], trajectories: list[Record], scenarios: list[Scenario]
) -> None:
    """A changed page changes it, and so does a changed answer."""
    trajectories[1]["states"][0]["accessibility_tree"] = "new"
    questions[3]["answer"] = "Other."
    changed = load_dataset("longmemeval_v2", written(tmp_path, questions, trajectories))
    for before, after in zip(scenarios, changed, strict=True):
        assert before.fingerprint != after.fingerprint


def test_a_run_scores_every_question(scenarios: list[Scenario]) -> None:
    """From the load to the score."""
    result = run(scenarios[0], strategy="full_context")
    assert len(result.probes) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question_type": "odd"}, r"line 1 has 'odd' as 'question_type', which is none"),
        ({"eval_function": "odd|x=1"}, r"line 1 has 'odd' as 'eval_function', which is none"),
        ({"answer": " ;"}, r"line 1 has no words in its 'answer'"),
        ({"id": "q2"}, r"line 2 has the 'id' 'q2' of another"),
        ({"id": "q9"}, r"lme_v2_small.json: the file has no 'q9'"),
        ({"id": "none"}, r"line 1 has no trajectory in its haystack"),
        ({"id": "lost"}, r"trajectories.jsonl: has no trajectory 'gone'"),
    ],
)
def test_a_wrong_question_is_refused(
    change: Record,
    message: str,
    tmp_path: Path,
    questions: list[Record],
    trajectories: list[Record],
) -> None:
    """In one line that says where it is."""
    questions[0].update(change)
    histories = {**HISTORIES, "none": [], "lost": ["secret-good", "gone"]}
    folder = written(tmp_path, questions, trajectories, histories)
    with pytest.raises(ScenarioError, match=message):
        load_dataset("longmemeval_v2", folder)


def test_a_trajectory_given_twice_is_refused(
    tmp_path: Path, questions: list[Record], trajectories: list[Record]
) -> None:
    """One of them would be told in place of the other."""
    folder = written(tmp_path, questions, [*trajectories, trajectories[0]])
    with pytest.raises(ScenarioError, match="line 4 has the 'id' 'secret-good' of another"):
        load_dataset("longmemeval_v2", folder)


def test_pictures_alone_are_no_dataset(tmp_path: Path, trajectories: list[Record]) -> None:
    """There would be nothing to ask."""
    folder = written(tmp_path, [question("q3", image="x.png")], trajectories)
    with pytest.raises(
        ScenarioError, match=r"questions.jsonl: holds no question without a picture"
    ):
        load_dataset("longmemeval_v2", folder)


def test_an_option_is_refused(tmp_path: Path) -> None:
    """There is none."""
    with pytest.raises(ConfigError, match="longmemeval_v2 has no option 'tier'; it has none"):
        load_dataset("longmemeval_v2", tmp_path, {"tier": "small"})
