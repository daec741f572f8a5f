"""BEAM: a folder with a chat and its questions becomes a scenario, a bad one an error in a line."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memsim.errors import ConfigError, ScenarioError
from memsim.scenario.datasets import load_dataset
from memsim.scenario.datasets.beam import load_beam
from memsim.scenario.script import Ask, ElapseEvent, Probe, Scenario, Turn

Chat = list[dict[str, Any]]
Questions = dict[str, list[dict[str, Any]]]
Lay = Callable[..., Path]


def line(number: int, role: str, text: str, **more: object) -> dict[str, object]:
    """One message."""
    return {"role": role, "id": number, "content": text, **more}


def asked(ask: str, *rubric: str, ids: object = None, **more: object) -> dict[str, object]:
    """One question."""
    cited = {} if ids is None else {"source_chat_ids": ids}
    return {"question": ask, "difficulty": "easy", "rubric": list(rubric), **cited, **more}


@pytest.fixture
def chat() -> Chat:
    """Three batches about a bus, to be spoilt at will."""
    return [
        {
            "batch_number": 1,
            "time_anchor": None,
            "turns": [
                [
                    line(
                        0, "user", "Which bus goes to Moss? ->-> 1,1", time_anchor="March-15-2024"
                    ),
                    line(1, "assistant", "The 31. ->-> 1,1"),
                    line(2, "user", "When?"),
                    line(3, "assistant", "At eight."),
                ],
                [line(4, "user", "Thanks! ->-> 1,N/A"), line(5, "assistant", "Gladly.")],
            ],
        },
        {"batch_number": 2, "turns": [[line(6, "user", "It leaves at nine now.")]]},
        {
            "batch_number": 3,
            "time_anchor": "April-01-2024",
            "turns": [[line(7, "user", "I prefer trains."), line(8, "assistant", "Noted.")]],
        },
    ]


@pytest.fixture
def questions() -> Questions:
    """One or two for some abilities, out of order."""
    return {
        "knowledge_update": [
            asked(
                "When does it leave?",
                "LLM response should state: at nine",
                ids={"original_info": [3], "updated_info": [6]},
            )
        ],
        "abstention": [asked("Who drives it?", "There is no information about the driver")],
        "event_ordering": [
            asked("In which order?", "The bus", "", "The train", ids=[0, [7, 0], 99]),
            asked("And before?", "LLM response should mention: nothing", ids=[99]),
        ],
    }


@pytest.fixture
def lay(tmp_path: Path) -> Lay:
    """Writes a conversation's folder and returns it."""

    def write(chat: object, questions: object, name: str = "100K/7", inside: str = "") -> Path:
        folder = tmp_path / name
        (folder / inside).mkdir(parents=True)
        (folder / "chat.json").write_text(json.dumps(chat), encoding="utf-8")
        place = folder / inside / "probing_questions.json"
        place.write_text(json.dumps(questions), encoding="utf-8")
        return folder

    return write


@pytest.fixture
def scenario(lay: Lay, chat: Chat, questions: Questions) -> Scenario:
    """The small conversation."""
    (only,) = load_beam(lay(chat, questions))
    return only


def turns(scenario: Scenario) -> list[Turn]:
    """Its turns."""
    return [event for event in scenario.events(1) if isinstance(event, Turn)]


def by_ask(scenario: Scenario) -> dict[str, Probe]:
    """Its probes by their question."""
    return {probe.ask: probe for probe in scenario.probes}


def test_a_folder_is_a_scenario(scenario: Scenario) -> None:
    """Named by its folder, counted, of one user's."""
    assert ("beam-7", "beam", 5, ("user",)) == (
        scenario.name,
        scenario.dataset,
        scenario.turns,
        scenario.principals,
    )
    assert "user and assistant, 3 sessions, 4 questions, 1 without valid evidence" == scenario.about


def test_each_message_of_the_user_is_a_turn_with_its_replies(scenario: Scenario) -> None:
    """Without the generator's marker, which only users' texts have; batches are sessions."""
    said = [([m.text for m in t.heard], [m.text for m in t.reply]) for t in turns(scenario)]

    assert [
        (["Which bus goes to Moss?"], ["The 31. ->-> 1,1"]),
        (["When?"], ["At eight."]),
        (["Thanks!"], ["Gladly."]),
        (["It leaves at nine now."], []),
        (["I prefer trains."], ["Noted."]),
    ] == said


def test_batches_are_dated(scenario: Scenario) -> None:
    """By their own date or their first message's, else the day after; a minute for each message."""
    times = [turn.time for turn in turns(scenario)]

    assert [
        datetime(2024, 3, 15, 9, 0, tzinfo=UTC),
        datetime(2024, 3, 15, 9, 2, tzinfo=UTC),
        datetime(2024, 3, 15, 9, 4, tzinfo=UTC),
        datetime(2024, 3, 16, 9, 0, tzinfo=UTC),
        datetime(2024, 4, 1, 9, 0, tzinfo=UTC),
    ] == times


def test_time_never_runs_backwards(lay: Lay, chat: Chat, questions: Questions) -> None:
    """A batch that is dated before the last message follows it."""
    chat[2]["time_anchor"] = "January-01-2024"
    (scenario,) = load_beam(lay(chat, questions))
    times = [turn.time for turn in turns(scenario)]

    assert sorted(times) == times


def test_questions_come_last(scenario: Scenario) -> None:
    """In the order of the abilities, whatever the file's."""
    kinds = [type(event) for event in scenario.events(1)]

    assert [Turn, Turn, Turn, ElapseEvent, Turn, ElapseEvent, Turn] + [Ask] * 4 == kinds
    assert [
        ("beam-7:abstention-1", "abstain", "abstention"),
        ("beam-7:event_ordering-1", "order", "event-ordering"),
        ("beam-7:event_ordering-2", "order", "event-ordering"),
        ("beam-7:knowledge_update-1", "update", "knowledge-update"),
    ] == [(p.id, p.ability, p.labels["category"]) for p in scenario.probes]
    assert {"easy"} == {p.labels["difficulty"] for p in scenario.probes}


def test_every_line_of_the_rubric_is_expected(scenario: Scenario) -> None:
    """Without the words that address a judge; an unanswerable question expects nothing."""
    probes = by_ask(scenario)

    assert ("at nine",) == probes["When does it leave?"].expect
    assert ("The bus", "The train") == probes["In which order?"].expect
    assert ((), True, "") == (
        probes["Who drives it?"].expect,
        probes["Who drives it?"].unanswerable,
        probes["Who drives it?"].excluded,
    )
    assert {"all"} == {probe.match for probe in scenario.probes}


def test_evidence_is_every_cited_message_that_exists(scenario: Scenario) -> None:
    """Once each, however nested; a question that cites none is excluded and counted."""
    probes = by_ask(scenario)

    assert ("m3", "m6") == probes["When does it leave?"].evidence
    assert ("m0", "m7") == probes["In which order?"].evidence
    assert ((), "no valid evidence") == (
        probes["And before?"].evidence,
        probes["And before?"].excluded,
    )


def test_it_plays_the_same_each_time_and_in_another_process(scenario: Scenario) -> None:
    """Nothing in it is left to chance, and the fingerprint is of what it says."""
    again: Scenario = pickle.loads(pickle.dumps(scenario))  # noqa: S301 - our own bytes

    assert list(scenario.events(1)) == list(scenario.events(2)) == list(again.events(1))


def test_the_fingerprint_tells_questions_apart(lay: Lay, chat: Chat, questions: Questions) -> None:
    """One changed answer is another dataset."""
    (one,) = load_beam(lay(chat, questions))
    questions["knowledge_update"][0]["rubric"] = ["at ten"]
    (other,) = load_beam(lay(chat, questions, "other/7"))

    assert one.fingerprint != other.fingerprint


def test_conversations_are_found_in_order(
    lay: Lay, chat: Chat, questions: Questions, tmp_path: Path
) -> None:
    """By number, from a file, a folder or a folder of these; questions may lie one deeper."""
    for name in ("10", "9", "b"):
        lay(chat, questions, f"100K/{name}", inside="probing_questions")

    assert ["beam-9", "beam-10", "beam-b"] == [
        s.name for s in load_dataset("beam", tmp_path / "100K")
    ]
    assert ["beam-10"] == [s.name for s in load_beam(tmp_path / "100K" / "10" / "chat.json")]
    assert 3 == len(load_beam(tmp_path))
    lay(chat, questions, "500K/1")
    with pytest.raises(ScenarioError, match="several sizes here, name one: 100K, 500K"):
        load_beam(tmp_path)


def test_a_chat_of_plans_is_played_plan_by_plan(lay: Lay, chat: Chat, questions: Questions) -> None:
    """As one of 10M tokens is published; what an exported row has as null is passed over."""
    plans = [{"plan-1": chat[:2], "plan-2": None}, {"plan-2": chat[2:], "plan-1": None}]
    (scenario,) = load_beam(lay(plans, questions, "10M/1"))
    (flat,) = load_beam(lay(chat, questions))

    assert [t.heard[0].text for t in turns(flat)] == [t.heard[0].text for t in turns(scenario)]
    assert [t.time for t in turns(flat)] == [t.time for t in turns(scenario)]
    assert ["plan-1-batch-1", "plan-1-batch-2", "plan-2-batch-1"] == list(
        dict.fromkeys(t.session for t in turns(scenario))
    )
    assert [p.evidence for p in flat.probes] == [p.evidence for p in scenario.probes]


def test_a_chat_that_was_cut_to_its_size_comes_first(
    lay: Lay, chat: Chat, questions: Questions
) -> None:
    """As in the published evaluation; a chat that is named is played."""
    folder = lay(chat, questions, "500K/1")
    (folder / "chat_trunecated.json").write_text(json.dumps(chat[:1]), encoding="utf-8")

    assert [3, 3, 5] == [
        load_beam(path)[0].turns for path in (folder, folder.parent, folder / "chat.json")
    ]


def test_what_is_missing_is_named(tmp_path: Path, lay: Lay, chat: Chat) -> None:
    """A folder without a chat, a chat without questions, a file that is not there."""
    folder = lay(chat, {})
    (folder / "probing_questions.json").unlink()
    for path, problem in (
        (folder, r"chat.json: no probing_questions.json lies beside it"),
        (tmp_path / "none.json", "none.json: cannot be read"),
    ):
        with pytest.raises(ScenarioError, match=problem):
            load_beam(path)
    (folder / "chat.json").unlink()
    with pytest.raises(ScenarioError, match=r"no chat\.json in this folder"):
        load_beam(folder)


def test_links_that_lead_nowhere_are_passed_over(
    tmp_path: Path, lay: Lay, chat: Chat, questions: Questions
) -> None:
    """A link to itself, or to too long a name, is no conversation and no error."""
    lay(chat, questions, "1")
    for name, target in (("2", "x" * 300), ("3", "chat.json")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "chat.json").symlink_to(target)

    assert ["beam-1"] == [s.name for s in load_beam(tmp_path)]


def test_options_are_refused(tmp_path: Path) -> None:
    """There are none."""
    with pytest.raises(ConfigError, match="beam has no option 'mask'"):
        load_dataset("beam", tmp_path, {"mask": "true"})


@pytest.mark.parametrize(
    ("place", "value", "problem"),
    [
        (("chat", 0, "turns", 0, 0, "role"), "tool", r"message 1 has 'tool' as 'role'"),
        (("chat", 0, "turns", 0, 1, "id"), 0, r"turn 1: message 2 has the 'id' 0 of another"),
        (("chat", 0, "turns", 0, 1, "id"), "1", r"has a text as 'id', not a whole number"),
        (("chat", 0, "turns", 0, 0, "content"), None, r"has null as 'content', not a text"),
        (("chat", 0, "turns", 0, 0, "role"), "assistant", r"message 1 replies to nothing"),
        (("chat", 0, "turns", 0), {}, r"batch 1 has as turn 1 no list of messages"),
        (("chat", 0, "turns", 0, 0), 3, r"message 1 is a whole number, not an object"),
        (("chat", 1, "turns"), {}, r"batch 2 has an object as 'turns', not a list"),
        (("chat", 2, "time_anchor"), "Mai-1-2024", r"batch 3 has 'Mai-1-2024' as 'time_anchor'"),
        (("chat", 2, "time_anchor"), "May-32-2024", r"not a date such as 'March-15-2024'"),
        (("chat", 2, "time_anchor"), "May-1-9999", r"not a date such as 'March-15-2024'"),
        (("chat",), [], "holds no turn"),
        (("chat",), [{"plan-1": {}}], "batch 1 has an object as 'plan-1', not a list"),
        (("chat",), [{"plan-1": [{"turns": [1]}]}], "plan-1: batch 1 has as turn 1 no list"),
        (("chat",), {}, "not a list of batches"),
        (("asked",), [], "the file is a list, not an object"),
        (("asked", "abstention"), {}, "has an object as 'abstention', not a list"),
        (("asked", "abstention", 0, "question"), 1, "abstention: question 1 has a whole number"),
        (("asked", "abstention", 0, "rubric"), "x", "has a text as 'rubric', not a list"),
        (("asked", "abstention", 0, "rubric"), [" "], "has an empty 'rubric'"),
        (("asked", "event_ordering", 1, "source_chat_ids"), ["7"], "what is no message's number"),
        (("asked", "event_order"), [], r"'event_order', .*did you mean 'event_ordering'\?"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(
    lay: Lay,
    chat: Chat,
    questions: Questions,
    place: tuple[str | int, ...],
    value: object,
    problem: str,
) -> None:
    """The file is named, and where in it, and what is wrong."""
    files: dict[str, Any] = {"chat": chat, "asked": questions}
    at: Any = files
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    with pytest.raises(ScenarioError, match=problem) as caught:
        load_beam(lay(files["chat"], files["asked"]))

    assert "\n" not in str(caught.value)
    name = "chat.json" if place[0] == "chat" else "probing_questions.json"
    assert f"{name}: " in str(caught.value)


def test_the_published_files_are_read_whole(data_dir: Path) -> None:
    """Six conversations of twenty questions each, every answerable one with evidence."""
    scenarios = load_beam(data_dir / "beam" / "100K")
    probes = [probe for scenario in scenarios for probe in scenario.probes]

    assert [f"beam-{n}" for n in range(1, 7)] == [s.name for s in scenarios]
    assert 1290 == sum(len(t.heard) + len(t.reply) for s in scenarios for t in turns(s))
    assert {12} == set(Counter(p.labels["category"] for p in probes).values())
    assert (120, 12) == (len(probes), sum(p.unanswerable for p in probes))
    assert [] == [p.id for p in probes if p.excluded]
    assert not [m.id for s in scenarios for t in turns(s) for m in t.heard if "->->" in m.text]
