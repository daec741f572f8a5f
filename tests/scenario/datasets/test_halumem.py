"""HaluMem: each user becomes a scenario with questions between sessions; a bad file is a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memsim.errors import ConfigError, ScenarioError
from memsim.scenario.datasets import load_dataset
from memsim.scenario.script import Ask, ElapseEvent, Scenario, Turn
from memsim.suite.single import run

User = dict[str, Any]

BERGEN = "Ana lives in Bergen with her cat."
OSLO = "Ana moved to Oslo for a ferry job."


def line(role: str, text: str, stamp: str | None = "Jan 15, 2029, 15:12:20") -> dict[str, object]:
    """One message."""
    whole: dict[str, object] = {"role": role, "content": text}
    return whole if stamp is None else {**whole, "timestamp": stamp}


def point(text: str, *, replaces: tuple[str, ...] = (), source: str = "secondary") -> User:
    """One memory point; an update where it replaces something."""
    return {
        "memory_content": text,
        "memory_type": "Persona Memory",
        "memory_source": source,
        "is_update": "True" if replaces else "False",
        "original_memories": list(replaces),
    }


def question(text: str, answer: str, *evidence: str, kind: str = "Basic Fact Recall") -> User:
    """One question."""
    return {
        "question": text,
        "answer": answer,
        "evidence": [{"memory_content": each} for each in evidence],
        "difficulty": "easy",
        "question_type": kind,
    }


@pytest.fixture
def user() -> User:
    """A user with three sessions, to be spoilt at will."""
    first = [
        line("user", "Hello there."),
        line("assistant", "Hi! So you live in Bergen, with your cat?"),
        line("user", "Yes, that is right.", "Jan 15, 2029, 15:20:00"),
    ]
    noise = [line("user", "What is 2 + 2?", None), line("assistant", "4", None), line("user", " ")]
    last = [
        line("assistant", "Good morning.", "Mar 01, 2029, 09:00:00"),
        line("user", "I moved to Oslo for a job on a ferry.", "Mar 01, 2029, 09:00:00"),
    ]
    return {
        "uuid": "u1",
        "sessions": [
            {
                "start_time": "Jan 15, 2029, 15:12:20",
                "memory_points": [point(BERGEN), point("Ana owns a boat.", source="interference")],
                "dialogue": first,
                "questions": [
                    question("Where does Ana live?", "Bergen", BERGEN),
                    question("What is her shoe size?", "Unknown", kind="Memory Boundary"),
                ],
            },
            {"memory_points": [], "dialogue": noise},
            {
                "memory_points": [point(OSLO, replaces=(BERGEN,)), point("Qqq zzz.")],
                "dialogue": last,
                "questions": [
                    question("Where did Ana move?", "Oslo", OSLO, kind="Dynamic Update"),
                    question("Which q?", "z", "Qqq zzz.", "A point that nobody told."),
                    question("Which p?", "y", "A point that nobody told."),
                ],
            },
        ],
    }


def loaded(tmp_path: Path, *users: object) -> list[Scenario]:
    """What is loaded of a file with these users."""
    path = tmp_path / "HaluMem-Medium.jsonl"
    path.write_text("\n".join(map(json.dumps, users)) + "\n\n", encoding="utf-8")
    return load_dataset("halumem", path)


def test_questions_are_asked_after_their_session(tmp_path: Path, user: User) -> None:
    """Before anything of the next session is said."""
    (scenario,) = loaded(tmp_path, user)
    order = [
        event.probe.id.removeprefix("halumem-1:") if isinstance(event, Ask) else event.number
        for event in scenario.events(7)
        if isinstance(event, Ask | Turn)
    ]

    assert "halumem-1" == scenario.name
    assert [1, 2, "s1-q1", "s1-q2", 3, 4, 5, "s3-q1", "s3-q2", "s3-q3"] == order


def test_time_never_goes_back(tmp_path: Path, user: User) -> None:
    """A message without a time, or with an early one, comes a minute after the one before it."""
    user["sessions"][2]["dialogue"][1]["timestamp"] = "Jan 01, 2029, 00:00:00"
    (scenario,) = loaded(tmp_path, user)
    times: list[datetime] = []
    for event in scenario.events(7):
        if isinstance(event, Turn):
            times += [m.time for m in (*event.heard, *event.reply)]
        elif isinstance(event, Ask):
            times.append(event.time)
        elif isinstance(event, ElapseEvent):
            times.append(event.now)

    assert sorted(times) == times
    assert datetime(2029, 1, 15, 15, 12, 20, tzinfo=UTC) == times[0]
    assert datetime(2029, 3, 1, 9, 1, tzinfo=UTC) == times[-4]


def test_evidence_is_the_message_that_told_the_point(tmp_path: Path, user: User) -> None:
    """By its words; else all that the user said in the session; else there is none."""
    (scenario,) = loaded(tmp_path, user)
    bergen, size, oslo, partly, never = scenario.probes

    assert ("s1-m2",) == bergen.evidence
    assert ("s3-m2",) == oslo.evidence
    assert ("s3-m2",) == partly.evidence
    assert ["message", "none", "message", "session", "none"] == [
        p.labels["evidence"] for p in scenario.probes
    ]
    assert ["", "", "", "", "no valid evidence"] == [p.excluded for p in scenario.probes]
    assert size.unanswerable
    assert () == size.expect == size.evidence
    assert ("y",) == never.expect


def test_a_point_told_twice_counts_for_the_last_session_before_the_question(
    tmp_path: Path, user: User
) -> None:
    """What is told later is no evidence for an earlier question."""
    first, _, last = user["sessions"]
    last["memory_points"].append(point(BERGEN))
    last["dialogue"].append(line("user", "Before, I lived in Bergen with my cat."))
    last["questions"] = first["questions"][:1]
    (scenario,) = loaded(tmp_path, user)

    assert [("s1-m2",), (), ("s3-m3",)] == [p.evidence for p in scenario.probes]


def test_points_are_planted_by_the_message_that_told_them(tmp_path: Path, user: User) -> None:
    """An update replaces the point that its originals restate; interference is a false version."""
    first, _, last = user["sessions"]
    last["memory_points"][0]["original_memories"] = ["Ana's cat lives in Bergen with her."]
    false = {**point("Ana lives in Narvik.", source="interference")}
    first["memory_points"].append({**false, "reference_memory_content": BERGEN})
    (scenario,) = loaded(tmp_path, user)
    facts = [f for e in scenario.events(7) if isinstance(e, Turn) for f in e.facts]

    assert [
        ("s1-p1", "s1-m2", BERGEN, None, None, "persona"),
        ("s1-p3", "s1-m2", "Ana lives in Narvik.", None, "s1-p1", "persona"),
        ("s3-p2", "s3-m1", "Qqq zzz.", None, None, "persona"),
        ("s3-p1", "s3-m2", OSLO, "s1-p1", None, "updated"),
    ] == sorted(
        ((f.id, f.source, f.value, f.replaces, f.contradicts, f.kind) for f in facts),
        key=lambda found: found[1],
    )
    assert all(fact.statement for fact in facts)


def test_an_update_of_what_was_not_told_replaces_nothing(tmp_path: Path, user: User) -> None:
    """Neither is what a session tells later, nor what was never so."""
    first, _, last = user["sessions"]
    last["memory_points"][0]["original_memories"] = ["Ana dislikes opera.", "Ana owns a boat."]
    first["memory_points"].append(point("Ana likes tea.", replaces=(OSLO,)))
    (scenario,) = loaded(tmp_path, user)
    facts = {f.id: f for e in scenario.events(7) if isinstance(e, Turn) for f in e.facts}

    assert facts["s3-p1"].replaces is None is facts["s1-p3"].replaces
    assert "updated" == facts["s3-p1"].kind == facts["s1-p3"].kind


def test_nothing_that_is_heard_names_a_point(tmp_path: Path, user: User) -> None:
    """Messages have ids by place, and sessions too."""
    (scenario,) = loaded(tmp_path, user)
    turns = [event for event in scenario.events(7) if isinstance(event, Turn)]
    messages = [m for turn in turns for m in (*turn.heard, *turn.reply)]

    assert {"session-1", "session-2", "session-3"} == {m.session for m in messages}
    assert BERGEN not in repr(messages)


def test_it_is_played_and_answered(tmp_path: Path, user: User) -> None:
    """From the evidence alone the reader knows where she moved."""
    user["sessions"][2]["questions"][0]["question"] = "Where did I move for a job?"
    (scenario,) = loaded(tmp_path, user)
    known, empty = (
        {p["probe"]: p["outcome"] for p in run(scenario, name).probes}
        for name in ("oracle", "no_memory")
    )

    assert "PASS" == known["halumem-1:s3-q1"]
    assert "PASS" != empty["halumem-1:s3-q1"]


def test_a_folder_holds_one_file(tmp_path: Path, user: User) -> None:
    """Of several, one has to be named."""
    with pytest.raises(ScenarioError, match=r"no \*\.jsonl in this folder"):
        load_dataset("halumem", tmp_path)
    loaded(tmp_path, user, user)
    assert ["halumem-1", "halumem-2"] == [s.name for s in load_dataset("halumem", tmp_path)]
    (tmp_path / "HaluMem-Long.jsonl").write_text("")
    with pytest.raises(ScenarioError, match=r"name one: HaluMem-Long\.jsonl, Halu"):
        load_dataset("halumem", tmp_path)
    with pytest.raises(ScenarioError, match="holds no user"):
        load_dataset("halumem", tmp_path / "HaluMem-Long.jsonl")
    with pytest.raises(ConfigError, match="halumem has no option 'x'"):
        load_dataset("halumem", tmp_path, {"x": "1"})


@pytest.mark.parametrize(
    ("place", "change", "problem"),
    [
        ((), {"sessions": {}}, "user 1 has an object as 'sessions', not a list"),
        ((), {"sessions": []}, "user 1 has no message"),
        (("sessions", 0, "dialogue", 0), {"role": "sys"}, "session 1: message 1 has 'sys' as"),
        (("sessions", 0, "dialogue", 0), {"timestamp": "2029-01-15"}, "not a date such as 'Jan"),
        (("sessions", 0, "dialogue", 0), {"timestamp": "Jan 15, 9999, 00:00:00"}, "not a date"),
        (("sessions", 0, "memory_points", 0), {"is_update": "yes"}, "neither 'True' nor 'False'"),
        (("sessions", 0, "questions", 0), {"question_type": "Riddle"}, "has 'Riddle' as"),
        (("sessions", 0, "questions", 0), {"evidence": [1]}, "evidence 1 is a whole number, not"),
    ],
)
def test_a_bad_file_is_one_line(
    tmp_path: Path,
    user: User,
    place: tuple[str | int, ...],
    change: Mapping[str, Any],
    problem: str,
) -> None:
    """With the file and the place in it."""
    spoilt: Any = user
    for step in place:
        spoilt = spoilt[step]
    spoilt.update(change)
    with pytest.raises(ScenarioError) as caught:
        loaded(tmp_path, user)

    assert problem in str(caught.value)
    assert "HaluMem-Medium.jsonl" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_sample_is_read_whole(data_dir: Path) -> None:
    """Every question with an answer has evidence, and those without are told apart."""
    (scenario,) = load_dataset("halumem", data_dir / "halumem")

    assert 67 == len(scenario.probes)
    assert 16 == sum(p.unanswerable for p in scenario.probes)
    assert not any(p.excluded for p in scenario.probes)
