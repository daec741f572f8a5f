"""Probe scores: outcome, reason and numbers of one probe, and what is left unscored."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memsim.context import Context
from memsim.message import said
from memsim.scoring.probes import counted_answer, score_probe
from memsim.scoring.trace_records import record
from memsim.trace import EvidenceTrace, ProbeTrace

Make = Callable[..., ProbeTrace]
READ = ("recall", "answer_share", "stale", "false_answers", "false_abstentions", "locomo_f1")


@pytest.mark.parametrize(
    ("fields", "outcome", "scores"),
    [
        (
            {"answer": "Oslo"},
            "PASS",
            {"recall": 1.0, "answer_share": 1.0, "false_abstentions": 0.0},
        ),
        (
            {"answer": "Bonn"},
            "MISS",
            {"recall": 0.0, "answer_share": 0.0, "false_abstentions": 0.0},
        ),
        ({"answer": "I don't know"}, "MISS", {"recall": 0.0, "false_abstentions": 1.0}),
        ({"answer": "Bonn", "superseded": ("Bonn",)}, "STALE", {"recall": 0.0, "stale": 1.0}),
        ({"answer": "Oslo, Bonn", "forbid": ("Bonn",)}, "MIXED", {"recall": 0.0, "stale": 1.0}),
        ({"answer": "Oslo", "superseded": ("Bonn",)}, "PASS", {"recall": 1.0, "stale": 0.0}),
        (
            {"answer": "Oslo", "unanswerable": True, "expect": ()},
            "HALLUCINATED",
            {"false_answers": 1.0},
        ),
        (
            {"answer": "I don't know", "unanswerable": True, "expect": ()},
            "ABSTAINED",
            {"false_answers": 0.0, "recall": None, "false_abstentions": None},
        ),
        (
            {"answer": "lake", "expect": ("lake",), "labels": {"category": "temporal"}},
            "PASS",
            {"locomo_f1": 1.0},
        ),
    ],
)
def test_outcomes_and_answer_scores(
    trace_of: Make, fields: dict[str, object], outcome: str, scores: dict[str, float | None]
) -> None:
    """Recall is a pass of an answerable probe; the two abstention rates are apart from it."""
    score = score_probe(trace_of(**fields), {})

    assert outcome == score.outcome
    assert scores == {name: score.scores[name] for name in scores}
    assert score.passed == (outcome in {"PASS", "ABSTAINED"})


@pytest.mark.parametrize(
    "fields",
    [
        {"answer": None, "context": None, "error": "it broke"},
        {"answer": None, "error": "the model broke"},
        {"answer": None},
        {"answer": "Oslo", "error": "it broke"},
        {"answer": "Oslo", "context": None},
    ],
)
def test_a_failure_is_its_own_state(trace_of: Make, fields: dict[str, object]) -> None:
    """Never a wrong answer: no answer score, no reason, and the failure is told."""
    score = score_probe(trace_of(**fields), {})

    assert score.outcome == "ERROR"
    assert score.detail == (fields.get("error") or "there is no answer")
    assert {None} == {score.scores[name] for name in READ}
    assert score.reason is None
    assert not score.passed


def test_evidence_is_scored_though_the_reader_failed(trace_of: Make) -> None:
    """What was measured counts."""
    piece = EvidenceTrace(source="m1", turn=1, presence="window", verbatim=True)
    score = score_probe(trace_of(answer=None, error="model", evidence=(piece,)), {})

    assert (1.0, "window") == (score.scores["evidence_recall"], score.whereabouts)


def test_an_empty_answer_to_the_unanswerable_is_unscored(trace_of: Make) -> None:
    """Silence is neither knowing nor not knowing."""
    score = score_probe(trace_of(answer="", unanswerable=True, expect=()), {})

    assert (score.outcome, score.detail) == ("UNSCORED", "the answer is empty")
    assert score.scores["false_answers"] is None


def test_only_failed_probes_have_a_reason(trace_of: Make) -> None:
    """A right answer needs none, and an hallucinated one is not the evidence's fault."""
    lost = (EvidenceTrace(source="m1", turn=1),)
    hallucinated = {"unanswerable": True, "expect": ()}

    assert score_probe(trace_of(evidence=lost, answer="Bonn"), {}).reason == "not-written"
    assert score_probe(trace_of(evidence=lost, answer="Oslo"), {}).reason is None
    assert score_probe(trace_of(evidence=lost, **hallucinated), {}).reason is None


def test_the_answer_is_looked_for_in_the_context(
    trace_of: Make, context_of: Callable[..., Context]
) -> None:
    """For answerable probes only."""
    shown = context_of(window=(said("user", "Off to Oslo!", id="m1"),))

    assert score_probe(trace_of(context=shown), {}).scores["answer_in_context"] == 1.0
    assert score_probe(trace_of(), {}).scores["answer_in_context"] == 0.0
    unanswerable = trace_of(context=shown, unanswerable=True, expect=())
    assert score_probe(unanswerable, {}).scores["answer_in_context"] is None
    assert score_probe(trace_of(context=None), {}).scores["answer_in_context"] is None


@pytest.mark.parametrize(
    ("first", "again", "outcome", "counts"),
    [
        ("Bonn", "Oslo", "PASS", True),
        ("Oslo", "Bonn", "PASS", False),
        ("Oslo", "to Oslo", "PASS", False),
        ("Bonn", "Bonn", "MISS", False),
        ("Bonn", None, "MISS", False),
    ],
)
def test_the_second_answer_counts_where_it_alone_is_right(
    trace_of: Make, first: str, again: str | None, outcome: str, counts: bool
) -> None:
    """It never makes a score worse, and the record has both answers where it counts."""
    trace = trace_of(answer=first, answer_again=again)
    score = score_probe(trace, {})
    line = record(trace, score, "case")

    assert (outcome, counts) == (score.outcome, score.read_again)
    assert score.scores["recall"] == float(outcome == "PASS")
    assert line["answer"] == first
    assert ("answer_again" in line) == counts
    assert counted_answer(trace) == (again if counts else first), "a judge reads what counts"


def test_a_second_answer_does_not_make_up_for_an_unanswerable_question(trace_of: Make) -> None:
    """What was never said has no evidence that could be read again."""
    trace = trace_of(answer="Oslo", answer_again="I don't know.", unanswerable=True, expect=())

    assert score_probe(trace, {}).outcome == "HALLUCINATED"
