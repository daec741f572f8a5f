"""ConvoMem: each question or test case becomes a scenario, a bad file an error in a line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memsim.errors import ConfigError, ScenarioError
from memsim.message import Message
from memsim.scenario.datasets import load_dataset
from memsim.scenario.script import Scenario, Turn
from memsim.suite.single import run

Item = dict[str, Any]
Load = Callable[..., list[Scenario]]

TALK = (
    "Assistant: How can I help?",
    "User: My boat is called “Tern”.",
    "Assistant: Nice.",
    "User: ",
    "User: I sail to Moss on Sundays,  when it is dry.",
)


def talk(*lines: str, **more: object) -> dict[str, object]:
    """One conversation."""
    said = [line.split(": ", 1) for line in lines]
    return {"messages": [{"speaker": speaker, "text": text} for speaker, text in said], **more}


def item(*evidence: str, **more: object) -> Item:
    """One question about a boat."""
    return {
        "question": "Which boat do I have?",
        "answer": "Tern",
        "category": "Personal Life",
        "message_evidences": [{"speaker": "User", "text": text} for text in evidence],
        "conversations": [talk(*TALK, id="answer", containsEvidence=True)],
        **more,
    }


BOAT = 'my boat is called "Tern".'


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads a file with a value, below a folder of a category."""

    def written(value: object, folder: str = "user_evidence/1_evidence") -> list[Scenario]:
        path = tmp_path / "core" / folder / "0_Clerk.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")
        return load_dataset("convomem", path)

    return written


def told(scenario: Scenario) -> list[Message]:
    """Every message."""
    turns = (event for event in scenario.events(7) if isinstance(event, Turn))
    return [m for turn in turns for m in (*turn.heard, *turn.reply)]


def test_an_item_is_a_scenario_of_its_talks(load: Load) -> None:
    """Messages without text are left out; nothing tells which talk holds the answer."""
    (scenario,) = load({"evidence_items": [item(BOAT)]})
    turns = [event for event in scenario.events(7) if isinstance(event, Turn)]

    assert "convomem-user_evidence-1_evidence-0_Clerk-1" == scenario.name
    assert [("assistant", 0), ("user", 1), ("user", 0)] == [
        (turn.heard[0].role, len(turn.reply)) for turn in turns
    ]
    assert [f"m{n}" for n in range(1, 5)] == [m.id for m in told(scenario)]
    assert {"session-1"} == {m.session for m in told(scenario)}
    assert "answer" not in repr([*scenario.events(7)][:-1])
    assert {"category": "user", "evidence": "1"} == scenario.probes[0].labels


@pytest.mark.parametrize(
    ("texts", "evidence"),
    [
        ((BOAT,), ("m2",)),
        (("I sail to Moss on Sundays, when it is dry.", BOAT), ("m4", "m2")),
        (("sail to moss on sundays",), ("m4",)),
        (("Well, I sail to Moss on Sundays, when it is dry. Often.",), ("m4",)),
        (("Well nice. nice", BOAT), ()),
        (("i",), ()),
        (("",), ()),
        ((), ()),
    ],
)
def test_evidence_is_found_by_its_words(
    load: Load, texts: tuple[str, ...], evidence: tuple[str, ...]
) -> None:
    """Whatever their case, quotes and blanks, or as the only part; else there is none."""
    (scenario,) = load({"evidence_items": [item(*texts)]})
    (probe,) = scenario.probes

    assert (evidence, "" if evidence else "no valid evidence") == (probe.evidence, probe.excluded)


def test_a_question_of_abstention_has_no_answer(load: Load) -> None:
    """Its messages only look like evidence."""
    (scenario,) = load({"evidence_items": [item(BOAT)]}, "abstention_evidence/2_evidence")
    (probe,) = scenario.probes

    assert (True, (), (), "abstain", "") == (
        probe.unanswerable,
        probe.expect,
        probe.evidence,
        probe.ability,
        probe.excluded,
    )


def test_a_test_case_has_its_own_talks_and_some_questions(load: Load) -> None:
    """A day apart, in the order of the file."""
    talks = [talk("User: Hello."), talk(*TALK)]
    case = {"contextSize": 2, "conversations": talks, "evidenceItems": [item(BOAT), item("Hello.")]}
    (scenario,) = load([case], "changing_evidence/2_evidence")
    days = [m.time.date().toordinal() for m in told(scenario)]

    assert [0, 1, 1, 1, 1] == [day - days[0] for day in days]
    assert [("m3",), ("m1",)] == [p.evidence for p in scenario.probes]
    assert {"category": "changing", "evidence": "2", "conversations": "2"} == (
        scenario.probes[1].labels
    )


def test_a_folder_has_its_files_but_those_without_questions(load: Load, tmp_path: Path) -> None:
    """Such as those of fillers."""
    load({"evidence_items": [item(BOAT), item(BOAT)]})
    load({"evidence_items": [item(BOAT)]}, "preference_evidence/1_evidence")
    filler = tmp_path / "core" / "filler_conversations" / "x.json"
    filler.parent.mkdir()
    filler.write_text("{}", encoding="utf-8")

    names = [scenario.name for scenario in load_dataset("convomem", tmp_path)]
    assert [
        "convomem-preference_evidence-1_evidence-0_Clerk-1",
        "convomem-user_evidence-1_evidence-0_Clerk-1",
        "convomem-user_evidence-1_evidence-0_Clerk-2",
    ] == names
    with pytest.raises(ScenarioError, match="lies below no folder of a category"):
        load_dataset("convomem", filler)
    with pytest.raises(ScenarioError, match="holds no question"):
        load_dataset("convomem", filler.parent)


def test_it_is_played_and_answered(load: Load) -> None:
    """From the evidence alone the reader knows it."""
    (scenario,) = load({"evidence_items": [item(BOAT)]})

    assert "PASS" == run(scenario, "oracle").probes[0]["outcome"]
    assert "PASS" != run(scenario, "no_memory").probes[0]["outcome"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("x", "the file is a text, not an object"),
        ({}, "the file has no 'evidence_items'"),
        ({"evidence_items": []}, "holds no question"),
        ({"evidence_items": [item(answer=[])]}, "item 1 has a list as 'answer', not a text or"),
        ({"evidence_items": [item(conversations=[])]}, "item 1 has no conversation with a message"),
        ([{"conversations": [talk("User: Hi")], "evidenceItems": []}], "test case 1 has no quest"),
        ([{"conversations": [], "evidenceItems": [1]}], "test case 1: item 1 is a whole number"),
        (
            {"evidence_items": [item(conversations=[talk("Bot: Hi")])]},
            "item 1: conversation 1: message 1 has 'Bot' as 'speaker'",
        ),
        ({"evidence_items": [item(message_evidences=[{}])]}, "item 1: evidence 1 has no 'text'"),
        (
            [{"conversations": [talk("User: a")], "evidenceItems": [item()], "contextSize": "2"}],
            "test case 1 has a text as 'contextSize', not a whole number",
        ),
    ],
)
def test_a_bad_file_is_one_line(load: Load, value: object, problem: str) -> None:
    """With the file and the place in it."""
    with pytest.raises(ScenarioError) as caught:
        load(value)

    assert problem in str(caught.value)
    assert "0_Clerk.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_there_are_no_options(tmp_path: Path) -> None:
    """One is refused before anything is read."""
    with pytest.raises(ConfigError, match="convomem has no option 'x'"):
        load_dataset("convomem", tmp_path / "none.json", {"x": "1"})
