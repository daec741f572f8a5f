"""PersonaMem: each user becomes a scenario with replies to choose from; a bad file is a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memsim.errors import ConfigError, ScenarioError
from memsim.scenario.datasets import load_dataset
from memsim.scenario.script import Ask, Scenario, Turn
from memsim.suite.single import run

Entries = list[dict[str, Any]]

PERSONA = "[SYSTEM] Current user persona: Name: Ana Berg"


@pytest.fixture
def documents() -> Entries:
    """Three sessions of one user and one of another, to be spoilt at will."""
    texts = {
        "u1_0": f"{PERSONA}\n\n[USER] User: I paint.\n\nIn oil.\n\n[ASSISTANT] Assistant: Nice.",
        "u1_1": f"{PERSONA}\n\n[USER] I gave up painting.\n\n[USER] User: Hm.\n\n[ASSISTANT] Why?",
        "u2_0": "[ASSISTANT] Hello.\n\n[USER] Hi.",
        "u1_2": "[SYSTEM] Ana has moved.\n\n[USER] I paint again.",
    }
    return [
        {"id": name, "user_id": name[:2], "content": text, "timestamp": None}
        for name, text in texts.items()
    ]


@pytest.fixture
def queries() -> Entries:
    """Two queries of one user, to be spoilt at will."""
    return [
        query("User: Ana Berg\n\nAny idea?", "u1_0", "u1_1", "u1_2"),
        query("User: Ana Berg\n\nUser: I gave up painting.", "u1_0", "u1_1"),
    ]


def query(asked: str, *gold: str) -> dict[str, Any]:
    """One query with three options; the second is right."""
    options = "(a) Run.\n(b) Paint.\n(z) Or draw.\n(c) Paint (a) house."
    return {
        "id": "9e2c",
        "user_id": "u1",
        "query": f"{asked}\n\n{options}",
        "gold_answers": ["(b) Paint.", "b"],
        "gold_ids": list(gold),
        "meta": {"question_type": "suggest_new_ideas", "retrieval_query": asked},
    }


def loaded(folder: Path, documents: object, queries: object) -> list[Scenario]:
    """What is loaded of a folder with these files."""
    for name, value in (("documents", documents), ("queries", queries)):
        (folder / f"32k-{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return load_dataset("personamem", folder)


def test_sessions_are_read_by_their_marks(
    tmp_path: Path, documents: Entries, queries: Entries
) -> None:
    """The persona stands there once; words for roles are left out."""
    scenario, other = loaded(tmp_path, documents, queries)
    turns = [event for event in scenario.events(7) if isinstance(event, Turn)]

    assert ["personamem-1", "personamem-2"] == [scenario.name, other.name]
    assert [
        ("s1-m1", "system", "Current user persona: Name: Ana Berg"),
        ("s1-m2", "user", "I paint.\n\nIn oil."),
        ("s1-m3", "assistant", "Nice."),
        ("s2-m2", "user", "I gave up painting."),
        ("s2-m3", "user", "Hm."),
        ("s2-m4", "assistant", "Why?"),
        ("s3-m1", "system", "Ana has moved."),
        ("s3-m2", "user", "I paint again."),
    ] == [(m.id, m.role, m.text) for turn in turns for m in (*turn.heard, *turn.reply)]
    assert [(2, 1), (1, 0), (1, 1), (2, 0)] == [(len(t.heard), len(t.reply)) for t in turns]


def test_a_query_is_asked_where_it_belongs(
    tmp_path: Path, documents: Entries, queries: Entries
) -> None:
    """After the sessions that it names; right before a message that is the same."""
    queries.append(query("User: Ana Berg\n\nAnd now?", "u1_0", "u1_1", "gone"))
    queries.append(query("Nothing named?"))
    scenario, _ = loaded(tmp_path, documents, queries)
    asked = [(e.probe.id[-2:], e.turn) for e in scenario.events(7) if isinstance(e, Ask)]

    assert [("q2", 1), ("q3", 3), ("q1", 4), ("q4", 4)] == asked


def test_options_are_choices(tmp_path: Path, documents: Entries, queries: Entries) -> None:
    """An option ends where the next letter begins a line."""
    scenario, other = loaded(tmp_path, documents, queries)
    probe, same = scenario.probes

    assert ("Run.", "Paint.\n(z) Or draw.", "Paint (a) house.") == probe.choices
    assert ("Paint.\n(z) Or draw.",) == probe.expect
    assert "choice" == probe.match
    assert ["Any idea?", "I gave up painting."] == [probe.ask, same.ask]
    assert "no valid evidence" == probe.excluded
    assert {"category": "suggest-new-ideas"} == probe.labels
    assert () == other.probes


def test_a_first_paragraph_that_is_no_name_stays(
    tmp_path: Path, documents: Entries, queries: Entries
) -> None:
    """Only a name is left out before a question."""
    asked = "User: I have painted for years.\n\nWhat now?"
    scenario, _ = loaded(tmp_path, documents, [query(asked, "u1_0")])

    assert "I have painted for years.\n\nWhat now?" == scenario.probes[0].ask


def test_it_is_played(tmp_path: Path, documents: Entries, queries: Entries) -> None:
    """Nothing of the files' own names reaches a memory."""
    scenario, _ = loaded(tmp_path, documents, queries)
    events = repr([event for event in scenario.events(7) if isinstance(event, Turn)])

    assert "u1" not in events
    assert 2 == len(run(scenario, "bm25").probes)


def test_the_files_stand_side_by_side(tmp_path: Path, documents: Entries, queries: Entries) -> None:
    """A folder with both, or the file of documents."""
    with pytest.raises(ScenarioError, match=r"no \*documents\.json in this folder"):
        load_dataset("personamem", tmp_path)
    loaded(tmp_path, documents, queries)
    file = tmp_path / "32k-documents.json"
    assert 2 == len(load_dataset("personamem", file))
    with pytest.raises(ScenarioError, match=r"name ends with documents\.json"):
        load_dataset("personamem", tmp_path / "32k-queries.json")
    with pytest.raises(ConfigError, match="personamem has no option 'x'"):
        load_dataset("personamem", file, {"x": "1"})
    (tmp_path / "1M-documents.json").write_text("[]")
    with pytest.raises(ScenarioError, match=r"name one: 1M-documents\.json, 32k-"):
        load_dataset("personamem", tmp_path)
    with pytest.raises(ScenarioError, match="not a list with a document"):
        load_dataset("personamem", tmp_path / "1M-documents.json")


@pytest.mark.parametrize(
    ("of_query", "change", "problem"),
    [
        (False, {"content": "Hello. [USER] Hi."}, "document 1 has in 'content' a text before"),
        (False, {"id": "u1_1"}, "document 2 has the 'id' 'u1_1' of another"),
        (True, {"user_id": "u9"}, "query 1 has the 'user_id' 'u9', which is that of no document"),
        (True, {"query": "Other?"}, "a 'query' that does not begin with its 'retrieval_query'"),
        (True, {"query": "User: Ana Berg\n\nAny idea?\n(a) x"}, "has in 'query' no options"),
        (True, {"gold_answers": ["(b) Paint."]}, "has in 'gold_answers' 0 letters of its options"),
        (True, {"gold_ids": [1]}, "has a whole number in 'gold_ids', not a text"),
        (True, {"meta": {"question_type": "riddle"}}, "has 'riddle' as 'question_type'"),
        (True, {"meta": None}, "query 1: meta is null, not an object"),
    ],
)
def test_a_bad_file_is_one_line(
    tmp_path: Path,
    documents: Entries,
    queries: Entries,
    of_query: bool,
    change: Mapping[str, Any],
    problem: str,
) -> None:
    """With the file and the place in it."""
    (queries if of_query else documents)[0].update(change)
    with pytest.raises(ScenarioError) as caught:
        loaded(tmp_path, documents, queries)

    assert problem in str(caught.value)
    assert ("queries" if of_query else "documents") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_sample_is_read_whole(data_dir: Path) -> None:
    """Of every query the options and the right one are known."""
    scenarios = load_dataset("personamem", data_dir / "personamem")

    assert 12 == len(scenarios)
    assert [4] * 174 == [len(p.choices) for s in scenarios for p in s.probes]
