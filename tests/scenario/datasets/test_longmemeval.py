"""LongMemEval: each question becomes a scenario with its history, a bad file an error in a line."""

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

Questions = list[dict[str, Any]]


def line(role: str, text: str, **more: object) -> dict[str, object]:
    """One message."""
    return {"role": role, "content": text, **more}


@pytest.fixture
def questions() -> Questions:
    """Two questions over three sessions, to be spoilt at will."""
    late = [
        line("user", "My degree is in botany.", has_answer=True),
        line("assistant", "Congratulations!"),
        line("user", " "),
        line("user", "Thanks."),
    ]
    early = [line("assistant", "How can I help?"), line("user", "Name a river.")]
    whole = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Which degree do I have?",
        "answer": "botany",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/02 (Tue) 10:00"],
        "haystack_session_ids": ["answer_1", "talk_7"],
        "haystack_sessions": [late, early],
        "answer_session_ids": ["answer_1"],
    }
    return [whole, {**whole, "question_id": "q2_abs", "answer_session_ids": []}]


def loaded(tmp_path: Path, value: object) -> list[Scenario]:
    """What is loaded of a file with this value."""
    path = tmp_path / "longmemeval_oracle.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return load_dataset("longmemeval", path)


def test_a_question_has_its_history_by_date_and_is_asked_on_its_day(
    tmp_path: Path, questions: Questions
) -> None:
    """Nothing that a strategy sees tells which session holds the answer."""
    scenario, _ = loaded(tmp_path, questions)
    events = [*scenario.events(7)]
    turns = [event for event in events if isinstance(event, Turn)]
    (ask,) = [event for event in events if isinstance(event, Ask)]
    messages = [m for turn in turns for m in (*turn.heard, *turn.reply)]

    assert "longmemeval-q1" == scenario.name
    assert ["s1-m1", "s1-m2", "s2-m1", "s2-m2", "s2-m4"] == [m.id for m in messages]
    assert {"session-1", "session-2"} == {m.session for m in messages}
    assert sorted(m.time for m in messages) == [m.time for m in messages]
    assert datetime(2023, 5, 30, 23, 40, tzinfo=UTC) == ask.time
    assert ("s2-m1",) == ask.probe.evidence
    assert ("botany",) == ask.probe.expect
    assert {"category": "single-session-user", "evidence": "message"} == ask.probe.labels
    assert "answer_" not in repr(events)


def test_without_marks_all_that_the_user_said_there_is_evidence(
    tmp_path: Path, questions: Questions
) -> None:
    """And a question of which no session is there is not scored for evidence."""
    del questions[0]["haystack_sessions"][0][0]["has_answer"]
    questions[1] |= {"question_id": "q2", "answer_session_ids": ["gone"]}
    marked, gone = (scenario.probes[0] for scenario in loaded(tmp_path, questions))

    assert ("s2-m1", "s2-m4") == marked.evidence
    assert "session" == marked.labels["evidence"]
    assert "no valid evidence" == gone.excluded


def test_a_question_of_abs_has_no_answer(tmp_path: Path, questions: Questions) -> None:
    """Its history is the same."""
    _, scenario = loaded(tmp_path, questions)
    (probe,) = scenario.probes

    assert probe.unanswerable
    assert "abstain" == probe.ability
    assert () == probe.expect == probe.evidence


def test_it_is_played_and_answered(tmp_path: Path, questions: Questions) -> None:
    """From the evidence alone the reader knows it."""
    scenario, _ = loaded(tmp_path, questions)

    assert "PASS" == run(scenario, "oracle").probes[0]["outcome"]
    assert "PASS" != run(scenario, "no_memory").probes[0]["outcome"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"question_type": "riddle"}, "question 1 has 'riddle' as 'question_type'"),
        ({"question_date": "2023-05-30"}, "question 1 has '2023-05-30' as a date"),
        ({"haystack_dates": ["2023/13/40 (Sat) 02:21"] * 2}, "has '2023/13/40 (Sat) 02:21' as a"),
        ({"question_date": "9999/12/31 (Fri) 23:59"}, "has '9999/12/31 (Fri) 23:59' as a date"),
        ({"haystack_dates": []}, "has 2 sessions, 0 dates and 2 ids of sessions"),
        ({"haystack_sessions": [1, []]}, "has as session 2 no list of messages"),
        ({"haystack_sessions": [[], []]}, "has a history without a message"),
        ({"haystack_sessions": [[{"role": "sys", "content": "x"}], []]}, "has 'sys' as 'role'"),
        ({"question_id": "q2_abs"}, "question 2 has the 'question_id' 'q2_abs' of another"),
        ({"answer": ["x"]}, "question 1 has a list as 'answer', not a text or a number"),
    ],
)
def test_a_bad_file_is_one_line(
    tmp_path: Path, questions: Questions, change: dict[str, Any], problem: str
) -> None:
    """With the file and the place in it."""
    questions[0] |= change
    with pytest.raises(ScenarioError) as caught:
        loaded(tmp_path, questions)

    assert problem in str(caught.value)
    assert "longmemeval_oracle.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_it_has_no_options_and_is_a_list(tmp_path: Path) -> None:
    """Both are told in a line."""
    with pytest.raises(ConfigError, match="longmemeval has no option 'x'"):
        load_dataset("longmemeval", tmp_path / "none.json", {"x": "1"})
    with pytest.raises(ScenarioError, match="not a list of questions"):
        loaded(tmp_path, {})
