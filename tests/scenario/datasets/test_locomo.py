"""LoCoMo: a file of conversations becomes scenarios, and a bad one an error in one line."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memsim.errors import ConfigError, ScenarioError
from memsim.scenario.datasets import load_dataset
from memsim.scenario.datasets.locomo import load_locomo, speaker_named
from memsim.scenario.script import Ask, ElapseEvent, GrantEvent, Probe, Scenario, Turn
from memsim.suite.single import run

Write = Callable[..., Path]
Conversations = list[dict[str, Any]]


@pytest.fixture
def scenario(written: Write, conversations: Conversations) -> Scenario:
    """The small conversation."""
    (only,) = load_locomo(written(conversations))
    return only


def turns(scenario: Scenario) -> list[Turn]:
    """Its turns."""
    return [event for event in scenario.events(1) if isinstance(event, Turn)]


def by_ask(scenario: Scenario) -> dict[str, Probe]:
    """Its probes by the question's first word and last."""
    return {probe.ask: probe for probe in scenario.probes}


def test_a_conversation_is_a_scenario(scenario: Scenario) -> None:
    """Named and counted; the people are its principals, and no stranger is."""
    assert ("conv-7", "locomo", 5) == (scenario.name, scenario.dataset, scenario.turns)
    assert ("Ida", "Odd") == scenario.principals
    assert "Ida and Odd, 2 sessions, 8 questions, 2 without valid evidence" == scenario.about


def test_each_utterance_is_a_turn_without_a_reply(scenario: Scenario) -> None:
    """Its id is the file's, its text has the caption, its principal is the speaker."""
    first, second, *_, last = turns(scenario)

    assert [1, 2, 3, 4, 5] == [turn.number for turn in turns(scenario)]
    assert [()] * 5 == [turn.reply for turn in turns(scenario)]
    assert ("D1:1", "Ida", "session_1") == (first.heard[0].id, first.principal, first.session)
    assert "Look at mine! [shares a green boat]" == second.heard[0].text
    assert ("Odd", "user", 2) == (
        second.heard[0].principal,
        second.heard[0].role,
        second.heard[0].turn,
    )
    assert "[shares a harbour]" == last.heard[0].text


def test_sessions_are_in_number_order_and_dated(scenario: Scenario) -> None:
    """One minute for each utterance; sessions without turns and dates alone are not there."""
    times = [turn.time for turn in turns(scenario)]

    assert [
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        datetime(2023, 5, 8, 13, 57, tzinfo=UTC),
        datetime(2023, 6, 1, 12, 30, tzinfo=UTC),
        datetime(2023, 6, 1, 12, 31, tzinfo=UTC),
        datetime(2023, 6, 1, 12, 32, tzinfo=UTC),
    ] == times
    assert ["session_1"] * 2 + ["session_10"] * 3 == [turn.session for turn in turns(scenario)]


def test_midnight_and_noon_are_told_apart(written: Write, conversations: Conversations) -> None:
    """12 am is the day's first hour."""
    talk = conversations[0]["conversation"]
    talk["session_1_date_time"] = "12:05 am on 9 May, 2023"
    (scenario,) = load_locomo(written(conversations))

    assert datetime(2023, 5, 9, 0, 5, tzinfo=UTC) == turns(scenario)[0].time


def test_time_jumps_between_sessions_and_questions_come_last(scenario: Scenario) -> None:
    """The order in which it is played; questions are asked in turns of their own."""
    kinds = [type(event) for event in scenario.events(1)]
    asks = [event for event in scenario.events(1) if isinstance(event, Ask)]

    assert [GrantEvent, GrantEvent, Turn, Turn, ElapseEvent, Turn, Turn, Turn] + [Ask] * 8 == kinds
    assert {(5, True, "session_10", datetime(2023, 6, 1, 12, 33, tzinfo=UTC))} == {
        (ask.turn, ask.apart, ask.session, ask.time) for ask in asks
    }
    assert tuple(ask.probe for ask in asks) == scenario.probes


def test_a_script_plays_the_same_each_time(scenario: Scenario) -> None:
    """Whatever the seed: nothing in it is left to chance; and it can be sent to another process."""
    assert list(scenario.events(1)) == list(scenario.events(2))
    again: Scenario = pickle.loads(pickle.dumps(scenario))  # noqa: S301 - our own bytes
    assert list(scenario.events(1)) == list(again.events(1))


def test_questions_are_probes(scenario: Scenario) -> None:
    """Counted from 0, asked on behalf of a speaker, with the category by name."""
    assert [f"conv-7:q{n}" for n in range(8)] == [probe.id for probe in scenario.probes]
    assert [
        ("single-hop", "recall"),
        ("temporal", "temporal"),
        ("multi-hop", "multi-session"),
        ("open-domain", "open-domain"),
        ("single-hop", "recall"),
        ("adversarial", "abstain"),
        ("adversarial", "abstain"),
        ("single-hop", "recall"),
    ] == [(probe.labels["category"], probe.ability) for probe in scenario.probes]
    assert ["Ida"] * 3 + ["Odd"] * 5 == [probe.principal for probe in scenario.probes]
    assert {"tokens"} == {probe.match for probe in scenario.probes}


@pytest.mark.parametrize(
    ("question", "speaker"),
    [
        ("What did Ann and Melanie make?", "Ann"),
        ("How long has Mel been married?", "Melanie"),
        ("What was Melanies's reaction?", "Melanie"),
        ("When did mel or M. or Me sail?", "Ann"),
        ("What did the posters say?", "Ann"),
        ("", "Ann"),
    ],
)
def test_a_question_is_asked_on_behalf_of_a_speaker(question: str, speaker: str) -> None:
    """The first that is named, in full or short; of nobody named, the first of all."""
    assert speaker == speaker_named(question, ["Ann", "Melanie"])


def test_a_memory_for_each_person_has_something_to_answer(scenario: Scenario) -> None:
    """AgentScope keeps one memory for each person; a stranger's would be empty."""
    report = run(scenario, "agentscope:scope=principal")

    assert all(probe["context"]["total"] for probe in report.probes)


def test_gold_answers_are_texts(scenario: Scenario) -> None:
    """Numbers too; an adversarial question has none, and its bait is forbidden."""
    probes = by_ask(scenario)

    assert ("300",) == probes["What did Odd get for it?"].expect
    for ask, bait in (("What is Odd's boat called?", "Tern"), ("Is Tern Odd's?", "Yes")):
        assert ((), (bait,), True) == (
            probes[ask].expect,
            probes[ask].forbid,
            probes[ask].unanswerable,
        )


def test_evidence_is_repaired_and_the_rest_excluded(scenario: Scenario) -> None:
    """What cites nothing that exists is not scored, and not forgotten."""
    probes = by_ask(scenario)

    assert ("D10:2",) == probes["When did Ida sail to Moss?"].evidence
    assert ("D1:1", "D1:2") == probes["Who has a boat?"].evidence
    assert ("D10:1",) == probes["What did Odd get for it?"].evidence
    assert {"Would Odd like a kayak?", "Where is Odd?"} == {
        p.ask for p in scenario.probes if p.excluded == "no valid evidence"
    }


def test_an_audit_labels_probes(
    written: Write, conversations: Conversations, audit: Conversations
) -> None:
    """Findings go to the conversation that has those questions, wherever it stands in the file."""
    (scenario,) = load_locomo(written(conversations), audit=written(audit, "known.json"))

    assert {"conv-7:q4"} == {p.id for p in scenario.probes if p.labels["gold"] == "audited-wrong"}
    assert {"conv-7:q0"} == {
        p.id for p in scenario.probes if p.labels["citation"] == "audited-wrong"
    }
    assert ("D1:1",) == scenario.probes[0].evidence


def test_without_an_audit_there_are_no_such_labels(scenario: Scenario) -> None:
    """Nobody looked, so nothing is `ok`."""
    assert all("gold" not in probe.labels for probe in scenario.probes)


def test_an_audit_beside_the_file_is_found(
    written: Write, conversations: Conversations, audit: Conversations, tmp_path: Path
) -> None:
    """A folder is enough."""
    written(conversations)
    written(audit, "audit-errors-small.json")
    (scenario,) = load_locomo(tmp_path)

    assert scenario.probes[4].labels["gold"] == "audited-wrong"


def test_masking_leaves_wrong_gold_out_and_says_so(
    written: Write, conversations: Conversations, audit: Conversations
) -> None:
    """The other questions keep their ids."""
    path, known = written(conversations), written(audit, "known.json")
    (scenario,) = load_locomo(path, audit=known, mask_bad_gold=True)
    (plain,) = load_locomo(path, audit=known)

    assert [f"conv-7:q{n}" for n in (0, 1, 2, 3, 5, 6, 7)] == [p.id for p in scenario.probes]
    assert scenario.about.endswith("1 left out for a wrong gold answer")
    assert scenario.fingerprint != plain.fingerprint


def test_corrected_evidence_replaces_wrong_citations_only(
    written: Write, conversations: Conversations, audit: Conversations
) -> None:
    """A wrong gold answer keeps its citation; a correction that cites nothing excludes."""
    path = written(conversations)
    (scenario,) = load_locomo(path, audit=written(audit, "a.json"), correct_evidence=True)
    audit[1]["correct_evidence"] = ["D8:8"]
    (empty,) = load_locomo(path, audit=written(audit, "b.json"), correct_evidence=True)

    assert ("D1:2",) == scenario.probes[0].evidence
    assert ("D10:1",) == scenario.probes[4].evidence
    assert ((), "no valid evidence") == (empty.probes[0].evidence, empty.probes[0].excluded)


def test_options_are_read_from_words(
    written: Write, conversations: Conversations, audit: Conversations
) -> None:
    """`mask_bad_gold` may also name the audit file."""
    path, known = written(conversations), str(written(audit, "known.json"))

    for options, count in (
        ({}, 8),
        ({"audit": known}, 8),
        ({"audit": known, "mask_bad_gold": "yes"}, 7),
        ({"mask_bad_gold": known}, 7),
        ({"mask_bad_gold": "off", "audit": known, "correct_evidence": "on"}, 8),
    ):
        (scenario,) = load_dataset("locomo", path, options)
        assert count == len(scenario.probes)


def test_a_fingerprint_follows_what_is_said_and_asked(
    written: Write, conversations: Conversations
) -> None:
    """And nothing else in the file."""
    (first,) = load_locomo(written(conversations))
    conversations[0]["observation"] = {"unused": 1}
    (same,) = load_locomo(written(conversations))
    conversations[0]["conversation"]["session_1"][0]["text"] = "I bought a raft."
    (other,) = load_locomo(written(conversations))

    assert first.fingerprint == same.fingerprint != other.fingerprint


# -- bad input


DATE = "conversation.session_1_date_time"
EXAMPLE = "not a date such as '1:56 pm on 8 May, 2023'"
TURN = "conversation.session_1.1"


def spoil(place: str, value: object = None) -> Callable[[Conversations], None]:
    """Sets, or without a value removes, what stands at a dotted place of the first conversation."""

    def change(conversations: Conversations) -> None:
        *path, last = place.split(".")
        inner: Any = conversations[0]
        for step in path:
            inner = inner[int(step) if step.isdecimal() else step]
        if value is None:
            del inner[last]
        else:
            inner[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (spoil("sample_id"), "conversation 1 has no 'sample_id'"),
        (spoil("sample_id", 7), "conversation 1 has a whole number as 'sample_id', not a text"),
        (spoil("sample_id", "a/../b"), "conversation 1 has 'a/../b' as 'sample_id'"),
        (spoil("conversation"), "conv-7 has no 'conversation'"),
        (spoil("conversation", []), "conv-7: conversation is a list, not an object"),
        (spoil("conversation", {}), "conv-7: conversation has no turn"),
        (spoil("conversation.session_1", {}), "has an object as 'session_1', not a list"),
        (spoil("conversation.session_1_date_time"), "has no 'session_1_date_time'"),
        (spoil(DATE, "8 May"), "has '8 May' as 'session_1_date_time'"),
        (spoil(DATE, "1:56 pm on 8 May, 9999"), "has '1:56 pm on 8 May, 9999' as"),
        (spoil(DATE, "1:56 pm on 31 June, 2023"), EXAMPLE),
        (spoil(DATE, "13:56 pm on 3 June, 2023"), EXAMPLE),
        (spoil(DATE, "1:56 pm on 3 Junee, 2023"), EXAMPLE),
        (spoil(f"{TURN}.speaker"), "conv-7: session_1: turn 2 has no 'speaker'"),
        (spoil(f"{TURN}.text"), "conv-7: session_1: turn 2 has no 'text'"),
        (spoil(f"{TURN}.dia_id"), "conv-7: session_1: turn 2 has no 'dia_id'"),
        (spoil(f"{TURN}.dia_id", "D1:1"), "turn 2 has the 'dia_id' 'D1:1' of another"),
        (
            spoil("conversation.session_10.0.dia_id", "D1:1"),
            "conv-7: session_10: turn 1 has the 'dia_id' 'D1:1' of another",
        ),
        (spoil(f"{TURN}.blip_caption", 4), "has a whole number as 'blip_caption'"),
        (spoil("qa"), "conv-7 has no 'qa'"),
        (spoil("qa", [3]), "conv-7: question 0 is a whole number, not an object"),
        (spoil("qa.2.question"), "conv-7: question 2 has no 'question'"),
        (spoil("qa.2.answer"), "conv-7: question 2 has no 'answer'"),
        (spoil("qa.2.answer", ["x"]), "question 2 has a list as 'answer', not a text or a number"),
        (spoil("qa.2.answer", True), "question 2 has true or false as 'answer'"),
        (spoil("qa.2.category"), "conv-7: question 2 has no 'category'"),
        (spoil("qa.2.category", 6), "conv-7: question 2 has the 'category' 6, not 1 to 5"),
        (spoil("qa.2.category", True), "has true or false as 'category', not a whole number"),
        (spoil("qa.2.evidence"), "conv-7: question 2 has no 'evidence'"),
        (spoil("qa.2.evidence", "D1:1"), "has a text as 'evidence', not a list"),
        (spoil("qa.2.evidence", [1]), "has a whole number in 'evidence', not a text"),
    ],
)
def test_a_file_of_another_schema_is_refused(
    written: Write,
    conversations: Conversations,
    change: Callable[[Conversations], None],
    problem: str,
) -> None:
    """In one line, with the file and the place in it."""
    change(conversations)
    path = written(conversations)
    with pytest.raises(ScenarioError) as caught:
        load_locomo(path)

    assert problem in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({}, "not a list of conversations"),
        ([], "holds no conversation"),
        ([1], "conversation 1 is a whole number, not an object"),
        ([None], "conversation 1 is null, not an object"),
    ],
)
def test_a_file_that_is_no_list_of_conversations_is_refused(
    written: Write, value: object, problem: str
) -> None:
    """Whatever it is."""
    with pytest.raises(ScenarioError, match=problem):
        load_locomo(written(value))


def test_a_conversation_twice_is_refused(written: Write, conversations: Conversations) -> None:
    """Scenarios are named after it."""
    with pytest.raises(ScenarioError, match="conversation 2 has the 'sample_id' 'conv-7'"):
        load_locomo(written(conversations * 2))


def test_a_folder_must_hold_exactly_one_file(
    written: Write, conversations: Conversations, tmp_path: Path
) -> None:
    """None and several are told apart."""
    with pytest.raises(ScenarioError, match=r"no locomo\*\.json in this folder"):
        load_locomo(tmp_path)
    written(conversations, "locomo-a.json")
    written(conversations, "locomo-b.json")
    with pytest.raises(ScenarioError, match=r"name one: locomo-a\.json, locomo-b\.json"):
        load_locomo(tmp_path)


def test_several_audits_must_be_chosen_from(
    written: Write, conversations: Conversations, audit: Conversations, tmp_path: Path
) -> None:
    """None of them is guessed."""
    written(conversations)
    written(audit, "audit-errors-a.json")
    written(audit, "audit-errors-b.json")
    with pytest.raises(ScenarioError, match="several audits here"):
        load_locomo(tmp_path)


def test_masking_without_an_audit_is_refused(written: Write, conversations: Conversations) -> None:
    """Rather than masking nothing."""
    path = written(conversations)
    with pytest.raises(ScenarioError, match="no audit-errors"):
        load_locomo(path, mask_bad_gold=True)
    with pytest.raises(ScenarioError, match="no audit-errors"):
        load_locomo(path, correct_evidence=True)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"mask_bad_golt": "yes"},
            r"locomo has no option 'mask_bad_golt'; it has .* \(did you mean 'mask_",
        ),
        ({"correct_evidence": "perhaps"}, "correct_evidence is true or false, not 'perhaps'"),
    ],
)
def test_unknown_options_are_refused(
    written: Write, conversations: Conversations, options: dict[str, str], problem: str
) -> None:
    """With the nearest one."""
    with pytest.raises(ConfigError, match=problem):
        load_dataset("locomo", written(conversations), options)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """With its path."""
    path = tmp_path / "none.json"
    with pytest.raises(ScenarioError, match="cannot be read") as caught:
        load_locomo(path)
    assert str(caught.value).startswith(str(path))


# -- the published data


def test_the_published_conversations_are_whole(data_dir: Path) -> None:
    """Five conversations, 999 questions, 997 with valid evidence, by category as published."""
    scenarios = load_locomo(data_dir / "locomo")
    probes = [probe for scenario in scenarios for probe in scenario.probes]

    assert ["conv-26", "conv-30", "conv-41", "conv-42", "conv-43"] == [s.name for s in scenarios]
    assert [419, 369, 663, 629, 680] == [s.turns for s in scenarios]
    assert [199, 105, 193, 260, 242] == [len(s.probes) for s in scenarios]
    assert (999, 997) == (len(probes), sum(not p.excluded for p in probes))
    assert {
        "multi-hop": 142,
        "temporal": 156,
        "open-domain": 46,
        "single-hop": 418,
        "adversarial": 237,
    } == Counter(p.labels["category"] for p in probes)
    assert 51 == sum(p.labels["gold"] == "audited-wrong" for p in probes)
    assert 34 == sum(p.labels["citation"] == "audited-wrong" for p in probes)


def test_the_published_evidence_exists(data_dir: Path) -> None:
    """Every cited id is a message; the malformed strings are repaired."""
    for scenario in load_locomo(data_dir / "locomo"):
        known = {turn.heard[0].id for turn in turns(scenario)}
        assert all(known.issuperset(probe.evidence) for probe in scenario.probes)
        if scenario.name == "conv-26":
            assert ("D8:6", "D9:17") == scenario.probes[37].evidence
        if scenario.name == "conv-43":
            assert "D11:26" in scenario.probes[18].evidence


def test_the_published_audit_masks_its_wrong_gold(data_dir: Path) -> None:
    """948 questions are left."""
    scenarios = load_locomo(data_dir / "locomo", mask_bad_gold=True, correct_evidence=True)

    assert 948 == sum(len(scenario.probes) for scenario in scenarios)
