"""The way of a fact, turn by turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memsim.report.explanation import story_lines
from memsim.report.layout import UNICODE
from memsim.report.story import story_of

Line = Mapping[str, Any]
Make = Callable[..., dict[str, Any]]


def told(probe: Line, turns: Sequence[Line]) -> str:
    """The story as it is printed, with a newline before the first line."""
    lines = story_lines(story_of(probe, turns, budget=4096), UNICODE, 100)
    return "\n" + "\n".join(line.text for line in lines) + "\n"


def evidence(probe: dict[str, Any], **changed: object) -> dict[str, Any]:
    """The probe with something else in its only piece of evidence."""
    return probe | {"evidence": [probe["evidence"][0] | changed]}


def test_a_lost_fact_is_followed_to_where_it_was_dropped(
    probe_line: Make, turn_lines: list[Line]
) -> None:
    """Planted, dropped with what else, asked, where it is now, answered."""
    expected = """
order_id   "What is my order number?"   ability: recall   asked at turn 40 (37 turns, 5.0k tokens\
 later)
  turn   3  planted     in the window                              212 / 4,096 tokens
  turn  19  dropped     window full, 2 messages                  4,000 / 4,096 tokens
            at the end  nowhere: not in the context, not stored
  turn  40  asked       the context holds 3 of 80 messages       3,812 / 4,096 tokens
  answer    "I don't know."
  expected  "A-17"
  outcome   MISS, evicted
"""
    assert expected == told(probe_line(), turn_lines)


def test_a_stored_fact_shows_its_rank_and_the_cut_off(
    probe_line: Make, turn_lines: list[Line]
) -> None:
    """Kept, but not brought up: the rank says how far away it was."""
    location = {"tier": "store", "rank": 14, "detail": "k 8"}

    text = told(evidence(probe_line(), location=location), turn_lines)

    assert "kept in the store, not in the context; rank 14; k 8" in text


def test_a_rank_that_the_strategy_tells_itself_is_told_once(
    probe_line: Make, turn_lines: list[Line]
) -> None:
    """Its words and the record's say the same; another number is another rank."""
    for detail in ("rank 79, k 10", "rank 79 of 104"):
        location = {"tier": "store", "rank": 79, "detail": detail}
        text = told(evidence(probe_line(), location=location), turn_lines)
        assert f"not in the context; {detail}" in text
        assert 1 == text.count("rank 79")
    other = {"tier": "store", "rank": 7, "detail": "rank 79 of 104"}
    assert "rank 7; rank 79 of 104" in told(evidence(probe_line(), location=other), turn_lines)


def test_a_stranger_is_told_only_of_what_it_may_read(
    probe_line: Make, turn_lines: list[Line]
) -> None:
    """What somebody else said may be in a store that was not looked into."""
    said = [{**turn_lines[0], "principal": "ana"}, *turn_lines[1:]]
    text = told(probe_line(principal="kai"), said)

    assert "not in the context, nor in a store that kai may read; ana said it" in text
    assert text.endswith("MISS, evicted from what kai may read\n")
    own = told(probe_line(principal="ana"), said)
    assert "nowhere: not in the context, not stored" in own
    assert own.endswith("MISS, evicted\n")


def test_a_fact_in_the_context_says_in_which_words(
    probe_line: Make, turn_lines: list[Line]
) -> None:
    """A summary may hold it in other words."""
    text = told(evidence(probe_line(), presence="summary"), turn_lines)

    assert "at the end  in the summary, in other words" in text


def test_a_trimmed_fact_says_so(probe_line: Make, turn_lines: list[Line]) -> None:
    """The strategy had it; the budget cut it."""
    text = told(evidence(probe_line(), trimmed=True), turn_lines)

    assert "was in the context and was cut to fit the budget" in text


def test_a_black_box_is_not_said_to_have_lost_it(probe_line: Make, turn_lines: list[Line]) -> None:
    """What cannot be looked into is not known to be nowhere."""
    text = told(probe_line(inspectable=False), turn_lines)

    assert "the strategy cannot be looked into" in text


def test_stores_that_are_not_reported_are_unknown(probe_line: Make, turn_lines: list[Line]) -> None:
    """The fact is not said to be nowhere: the stores were never looked into."""
    hidden = probe_line(inspectable=False, inspection="context")

    gone = told(hidden, turn_lines)
    never = told(evidence(hidden, path=[[3, "absent", ""]]), turn_lines)

    unreported = "this strategy does not report its stores (implement surfaces())"
    assert f"at the end  left the context; {unreported}" in gone
    assert f"at the end  not in the context; {unreported}" in never
    assert "nowhere" not in gone + never


def test_moves_are_told_in_order(probe_line: Make, turn_lines: list[Line]) -> None:
    """From the window into the summary, and back by retrieval."""
    path = [
        [3, "window", ""],
        [9, "summary", "compaction"],
        [12, "absent", ""],
        [30, "recalled", ""],
    ]

    text = told(
        evidence(probe_line(), path=path, presence="recalled", verbatim=True), turn_lines[:1]
    )

    steps = [line.split()[2] for line in text.splitlines() if line.startswith("  turn")]
    assert steps == ["planted", "compaction", "left", "came", "asked"]
    assert "left the summary" in text


def test_a_changed_fact_is_followed_from_its_last_value(
    probe_line: Make, turn_lines: list[Line]
) -> None:
    """What became of the old value is another story."""
    path = [[3, "window", ""], [9, "absent", ""], [28, "window", ""]]

    text = told(evidence(probe_line(), turn=28, path=path, presence="window"), turn_lines)

    assert "turn   9" not in text
    assert "turn  28  planted     in the window" in text


def test_messages_without_a_planted_fact_are_named(
    probe_line: Make, turn_lines: list[Line]
) -> None:
    """Datasets name messages; each piece says which it is."""
    piece = probe_line()["evidence"][0] | {"fact": None, "path": []}
    pieces = [piece | {"source": "D1:3"}, piece | {"source": "m5"}]

    text = told(probe_line(evidence=pieces), turn_lines)

    assert "said message D1:3" in text
    assert "turn  19  dropped" in text


def test_many_pieces_are_counted(probe_line: Make, turn_lines: list[Line]) -> None:
    """An open question may have twenty pieces of evidence."""
    piece = probe_line()["evidence"][0]

    text = told(probe_line(evidence=[piece] * 9), turn_lines)

    assert "… and 3 more pieces of evidence" in text


def test_an_unanswerable_probe_expects_not_to_be_known(
    probe_line: Make, turn_lines: list[Line]
) -> None:
    """There is no value to quote."""
    line = probe_line(unanswerable=True, evidence=[], age=None, outcome="HALLUCINATED", reason=None)

    text = told(line, turn_lines)

    assert "expected  that it is not known" in text
    assert text.rstrip().endswith("outcome   HALLUCINATED")


def test_a_probe_that_failed_tells_the_error(probe_line: Make, turn_lines: list[Line]) -> None:
    """There is no answer to show."""
    line = probe_line(error="mine.py:3: KeyError: 'x'", context=None, answer=None)

    text = told(line, turn_lines)

    assert "error     mine.py:3: KeyError: 'x'" in text
    assert "there was no context" in text
    assert "answer" not in text


def test_a_long_answer_is_wrapped_under_itself(probe_line: Make, turn_lines: list[Line]) -> None:
    """Some readers quote a whole log."""
    text = told(probe_line(answer="row " * 60), turn_lines)

    answer = [line for line in text.splitlines() if "row" in line]
    assert len(answer) == 3
    assert all(line.startswith("            row") for line in answer[1:])


def test_all_of_several_answers_are_joined_by_and(probe_line: Make, turn_lines: list[Line]) -> None:
    """Any of them would do, or all are needed: the word tells which."""
    either = told(probe_line(expect=["a", "b"]), turn_lines)
    both = told(probe_line(expect=["a", "b"], match="all"), turn_lines)

    assert 'expected  "a" or "b"' in either
    assert 'expected  "a" and "b"' in both


def test_what_an_agent_did_is_told_round_by_round(probe_line: Make, turn_lines: list[Line]) -> None:
    """In the turn of the fact, and for the question; what went wrong says so."""
    store = {"tool": "memory_store", "arguments": '{"key": "order", "value": "A-17, of March"}'}
    search = {"tool": "memory_search", "arguments": '{"query": "order"}', "outcome": "done"}
    rounds = [
        {"round": 1, "said": "Let me see.", "calls": [search | {"result": "A-17\n", "cut": 1200}]},
        {"round": 2, "calls": [store | {"outcome": "unknown", "result": "Error: no"}]},
        {"round": 3, "note": "stopped"},
        {"round": 4},
    ]
    kept = [{"round": 1, "calls": [store | {"outcome": "refused", "result": "Error"}] * 5}]
    turns = [{**t, "agent": kept} if t["turn"] == 3 else t for t in turn_lines]

    text = told(probe_line(agent=rounds), turns)

    called = "memory_store key=order, value=A-17, of March (refused)"
    assert 3 == text.count(f"turn   3  agent       {called}")
    assert "turn   3  agent       and 2 more calls" in text
    assert (
        """
  agent      1 said "Let me see."
               memory_search {"query": "order"}
               got, 1,200 characters had no room: "A-17"
             2 memory_store {"key": "order", "value": "A-17, of March"}
               not called: "Error: no"
             3 stopped
             4 said nothing
"""
        in text
    )
    idle = [{**t, "agent": [{"round": 1}]} if t["turn"] == 3 else t for t in turn_lines]
    assert "turn   3  agent       called no tool" in told(probe_line(), idle)
