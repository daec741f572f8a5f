"""MemFail: each file becomes a scenario of one memory, a bad file an error in a line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from memsim.errors import ConfigError, ScenarioError
from memsim.scenario.datasets import load_dataset
from memsim.scenario.script import Probe, Scenario, Turn
from memsim.suite.single import run

Row = dict[str, str]


def coexisting(*drinks: str) -> Row:
    """A row of things to drink."""
    return {
        "preference_category": "drinks",
        "preferences": json.dumps(drinks),
        "preference_facts": json.dumps([f"I like {drink}." for drink in drinks]),
        "question": f"Do I like {drinks[0]}, and what else?",
        "ground_truth_answer": ", ".join(drinks),
    }


def conditional(**more: str) -> Row:
    """A row of what somebody does on a condition."""
    return {
        "entity": "Ida",
        "entity_facts": '["Ida sings only when it rains."]',
        "question": "It is dry. Does Ida sing?",
        "condition_met": "no",
        "ground_truth_answer": "No, it does not rain.",
        **more,
    }


def persona(name: str, *others: str) -> Row:
    """A row of a person, with a question about them and one about each of the others."""
    asked = [{"text": f"What does {name} eat?", "is_misleading": False, "distractor": None}]
    asked += [
        {"text": f"What does {o} eat?", "is_misleading": True, "distractor": o} for o in others
    ]
    questions = [{**q, "ground_truth_answer": "rye bread"} for q in asked]
    return {
        "entity": name,
        "entity_facts": json.dumps([f"{name} eats rye bread."]),
        "questions": json.dumps(questions),
    }


def long_hop(**more: str) -> Row:
    """A row of a chain of three facts."""
    return {
        "id": "longhop-2hop-001",
        "hop_count": "2",
        "fact_1": "Tea calms me.",
        "fact_2": "When calm I sing.",
        "fact_3": "Singing tires me.",
        "fact_4": "",
        "chain_1": "tea",
        "graded_question": "What follows from tea?\n\nOptions:\nA. rest\nB. fatigue",
        "ground_truth_answer": "fatigue",
        "choice_a": "rest",
        "choice_b": "fatigue",
        "choice_c": "rest",
        "choice_d": "joy",
        "choice_e": "",
        "correct_choice": "B",
        **more,
    }


def table(folder: Path, *rows: Row, name: str = "mine.csv") -> Path:
    """A file with these rows."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def loaded(folder: Path, *rows: Row) -> Scenario:
    """The scenario of a file with these rows."""
    (scenario,) = load_dataset("memfail", table(folder, *rows))
    return scenario


def told(scenario: Scenario) -> list[tuple[str, str, str]]:
    """Id, session and text of every message."""
    turns = (event for event in scenario.events(7) if isinstance(event, Turn))
    return [(m.id, m.session, m.text) for turn in turns for m in turn.heard]


def test_facts_of_a_row_share_no_session(tmp_path: Path) -> None:
    """All first facts are told, then all second ones; nothing tells whose they are."""
    scenario = loaded(tmp_path, coexisting("tea", "milk"), coexisting("ale", "rum", "gin"))

    assert [
        ("m1", "session-1", "I like tea."),
        ("m2", "session-1", "I like ale."),
        ("m3", "session-2", "I like milk."),
        ("m4", "session-2", "I like rum."),
        ("m5", "session-3", "I like gin."),
    ] == told(scenario)
    assert [("m1", "m3"), ("m2", "m4", "m5")] == [p.evidence for p in scenario.probes]


def test_a_session_has_ten_facts(tmp_path: Path) -> None:
    """As in the published evaluation."""
    scenario = loaded(tmp_path, *[coexisting("tea")] * 21)

    sessions = [session for _, session, _ in told(scenario)]
    assert ["session-1"] * 10 + ["session-2"] * 10 + ["session-3"] == sessions


def only(scenario: Scenario) -> Probe:
    """Its only question."""
    (probe,) = scenario.probes
    return probe


def test_coexisting_facts_need_every_one(tmp_path: Path) -> None:
    """A list of some of them is wrong."""
    probe = only(loaded(tmp_path, coexisting("tea", "milk")))

    assert (("tea", "milk"), "all", "preference") == (probe.expect, probe.match, probe.ability)
    assert {"category": "coexisting-facts", "facts": "2"} == probe.labels


def test_conditional_facts_are_yes_or_no(tmp_path: Path) -> None:
    """Whether the condition is met."""
    probe = only(loaded(tmp_path, conditional()))

    assert (("no",), ("yes", "no"), "choice") == (probe.expect, probe.choices, probe.match)
    assert {"category": "conditional-facts", "condition": "not met"} == probe.labels


def test_long_hops_show_their_options_once(tmp_path: Path) -> None:
    """And not in the question as well."""
    probe = only(loaded(tmp_path, long_hop()))

    assert "What follows from tea?" == probe.ask
    assert (("fatigue",), ("rest", "fatigue", "joy")) == (probe.expect, probe.choices)
    assert ("m1", "m2", "m3") == probe.evidence
    assert {"category": "long-hop", "hops": "2"} == probe.labels


def test_misleading_questions_are_about_people_whom_nobody_described(tmp_path: Path) -> None:
    """One about a person of another row has an answer, and is left out."""
    scenario = loaded(tmp_path, persona("Ida", "Odd", "Eli"), persona("Odd"))

    asked = [(p.ask, p.unanswerable, p.evidence, p.expect) for p in scenario.probes]
    assert [
        ("What does Ida eat?", False, ("m1",), ("rye bread",)),
        ("What does Eli eat?", True, (), ()),
        ("What does Odd eat?", False, ("m2",), ("rye bread",)),
    ] == asked
    assert {"category": "persona-retrieval"} == scenario.probes[0].labels
    assert scenario.about.endswith("1 left out, whose person is known")
    with pytest.raises(ScenarioError, match="holds no question"):
        loaded(tmp_path, {**persona("Ida"), "questions": "[]"})


def test_it_is_played_and_answered(tmp_path: Path) -> None:
    """From the evidence alone the reader knows it."""
    scenario = loaded(tmp_path, persona("Ida"), persona("Odd"))

    assert {"PASS"} == {p["outcome"] for p in run(scenario, "oracle").probes}
    assert "PASS" not in {p["outcome"] for p in run(scenario, "no_memory").probes}


def test_the_published_folder_is_read_without_drafts(tmp_path: Path) -> None:
    """Each of its files is a scenario."""
    table(tmp_path, conditional(), name="conditional_facts/easy/easy.csv")
    table(tmp_path, long_hop(), name="long_hop/chains.csv")
    table(tmp_path, long_hop(), name="long_hop/chains_raw.csv")

    names = [scenario.name for scenario in load_dataset("memfail", tmp_path)]
    assert ["memfail-easy", "memfail-chains"] == names


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"x": "y"}, "row 1 has none of MemFail's columns 'preference_facts'"),
        ({**coexisting("tea"), "preference_facts": "[1]"}, "a whole number in 'preference_facts'"),
        ({**coexisting("tea"), "preference_facts": "[]"}, "row 1 has no fact, or an empty one"),
        ({**coexisting("tea"), "preferences": '["'}, "row 1: 'preferences': not JSON"),
        ({**coexisting("tea"), "preferences": r'["\ud800"]'}, "half a surrogate pair"),
        (conditional(condition_met="perhaps"), "has 'perhaps' as 'condition_met'"),
        (long_hop(correct_choice="E"), "has 'e' as 'correct_choice', which is none of"),
        (long_hop(fact_1="", fact_2="", fact_3=""), "row 1 has no fact"),
        ({**persona("Ida"), "questions": "[{}]"}, "row 1: question 1 has as 'is_misleading'"),
        ({**persona("Ida"), "questions": "1"}, "has a whole number as 'questions', not a list"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, row: Row, problem: str) -> None:
    """With the file and the place in it."""
    with pytest.raises(ScenarioError) as caught:
        loaded(tmp_path, row)

    assert problem in str(caught.value)
    assert "mine.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_table_is_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Its text, its header, its rows, and what is in a folder."""
    path = tmp_path / "mine.csv"
    for data, problem in [
        (b"", "holds no row"),
        (b"question\n", "holds no row"),
        (b"\xff\n", "not UTF-8 at byte 0"),
        (b'a\n"b\n', "not CSV"),
        (b"a,a\n1,2\n", "has the column 'a' twice"),
        (b"a" + b"," * 2_000_001, "has more than 2,000,000 cells"),
        (b"a,b\n1\n", "row 1 has 1 cells, and the header 2"),
    ]:
        with subtests.test(problem=problem):
            path.write_bytes(data)
            with pytest.raises(ScenarioError, match=problem):
                load_dataset("memfail", path)
    path.unlink()
    with pytest.raises(ScenarioError, match=r"no \*\.csv in this folder"):
        load_dataset("memfail", tmp_path)
    with pytest.raises(ScenarioError, match="cannot be read"):
        load_dataset("memfail", path)
    with pytest.raises(ConfigError, match="memfail has no option 'x'"):
        load_dataset("memfail", path, {"x": "1"})
    for folder in ("a", "b"):
        table(tmp_path, conditional(), name=f"{folder}/same.csv")
    with pytest.raises(ScenarioError, match="has the name of another file"):
        load_dataset("memfail", tmp_path)
