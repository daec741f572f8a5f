"""Summary: metrics of a case, from its lines alone, each with how much it is taken over."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsim.context import Context
from memsim.message import EPOCH, said
from memsim.scenario.script import Fact
from memsim.scoring.metrics import METRICS, summarise
from memsim.scoring.probes import score_probe, score_probes
from memsim.scoring.trace_records import record, turn_record
from memsim.trace import EvidenceTrace, ProbeTrace, Trace, TurnRecord, json_line

Make = Callable[..., ProbeTrace]
Lines = list[dict[str, object]]
SECRET = Fact(
    id="pin", value="44-11", source="m1", principal="ana", turn=1, time=EPOCH, session="s1"
)


def lines(*traces: ProbeTrace, case: str = "c") -> Lines:
    """Lines of `probes.jsonl`."""
    return [record(trace, score_probe(trace, {}), case) for trace in traces]


def piece(source: str, **fields: object) -> EvidenceTrace:
    """One piece of evidence, absent unless said otherwise."""
    return EvidenceTrace(source=source, turn=1, **fields)  # type: ignore[arg-type]


def test_recall_is_over_answerable_probes(trace_of: Make) -> None:
    """Unanswerable ones have their own rate; failures are left out of both and counted."""
    found = summarise(
        lines(
            trace_of(answer="Oslo"),
            trace_of(answer="Bonn"),
            trace_of(answer="I don't know"),
            trace_of(answer="blue", unanswerable=True, expect=()),
            trace_of(answer="I don't know", unanswerable=True, expect=()),
            trace_of(answer=None, error="broke"),
        ),
        [],
    )

    assert (1 / 3, 3) == (found["recall"].value, found["recall"].n)
    assert (1 / 2, 2) == (found["false_answers"].value, found["false_answers"].n)
    assert (1 / 3, 3) == (found["false_abstentions"].value, found["false_abstentions"].n)
    assert (1 / 6, 6) == (found["unscored"].value, found["unscored"].n)


def test_every_metric_is_there_with_a_value_or_a_reason(trace_of: Make) -> None:
    """Of nothing, of one probe, and of failures alike."""
    for made in (lines(), lines(trace_of()), lines(trace_of(context=None, answer=None))):
        found = summarise(made, [])
        assert list(found) == list(METRICS)
        for name, measure in found.items():
            assert (measure.value is None) == bool(measure.reason), name
            assert measure.n >= 0


def test_excluded_probes_are_not_perfect_ones(trace_of: Make) -> None:
    """They are left out of evidence recall and are no less asked."""
    found = summarise(
        lines(
            trace_of(evidence=(piece("m1"),)),
            trace_of(evidence=(piece("m2"),), excluded="no valid evidence"),
        ),
        [],
    )

    assert (0.0, 1) == (found["evidence_recall"].value, found["evidence_recall"].n)
    assert found["recall"].n == 2
    assert (1, 1) == (found["lost"].value, found["lost"].n)


def test_masked_means_stand_beside_the_others(trace_of: Make) -> None:
    """One run gives both; without an audit there is no masked mean."""
    ok = {"category": "temporal", "gold": "ok", "citation": "ok"}
    made = lines(
        trace_of(
            answer="Oslo", labels=ok, evidence=(piece("m1", presence="window", verbatim=True),)
        ),
        trace_of(answer="Bonn", labels=ok | {"gold": "audited-wrong"}),
        trace_of(answer="Oslo", labels=ok | {"citation": "audited-wrong"}, evidence=(piece("m2"),)),
    )
    found = summarise(made, [])

    assert [2 / 3, 1.0] == [found["recall"].value, found["recall_masked"].value]
    assert [2 / 3, 1.0] == [found["locomo_f1"].value, found["locomo_f1_masked"].value]
    assert [0.5, 1.0] == [found["evidence_recall"].value, found["evidence_recall_masked"].value]
    assert summarise(lines(trace_of()), [])["recall_masked"].value is None


def test_a_piece_lost_to_two_questions_is_lost_once(trace_of: Make) -> None:
    """Pieces are counted, by case."""
    twice = (trace_of(evidence=(piece("m1"),)), trace_of(id="q", evidence=(piece("m1"),)))
    seen = trace_of(evidence=(piece("m2", presence="window"),))
    found = summarise(lines(*twice, seen) + lines(twice[0], case="d"), [])

    assert (2, 3) == (found["lost"].value, found["lost"].n)


def test_leaks_are_counted_over_those_who_could_see_one(
    trace_of: Make, context_of: Callable[..., Context]
) -> None:
    """A strategy that remembers nothing proves nothing."""
    window = context_of(window=(said("user", "Hi", id="m9"),))
    safe, leaky = (
        trace_of(hidden=(SECRET,), context=window, answer=answer) for answer in ("Oslo", "44-11")
    )

    found = summarise(lines(safe, leaky, trace_of()), [])["leaks"]
    assert (1.0, 2) == (found.value, found.n)
    empty = summarise(lines(trace_of(hidden=(SECRET,))), [])["leaks"]
    assert (None, "nothing was remembered, so nothing could leak") == (empty.value, empty.reason)
    assert summarise(lines(trace_of()), [])["leaks"].value is None


@pytest.mark.parametrize(
    ("corpus", "name", "note"),
    [
        (3, "recall@5", "k 5 covers every message of 1 of 1 probes"),
        (5, "recall@5", "k 5 covers every message of 1 of 1 probes"),
        (40, "recall@5", "fewer than 5 were ranked for 1 of 1 probes"),
        (40, "recall@1", ""),
        (40, "session_any@5", "k 5 covers every ranked session of 1 probes"),
        (40, "mrr", ""),
    ],
)
def test_cutoffs_that_say_little_are_flagged(
    trace_of: Make, corpus: int, name: str, note: str
) -> None:
    """A cut-off beyond what was ranked is no feat."""
    trace = trace_of(
        context=Context(ranking=("m2", "m1", "m3")),
        evidence=(piece("m1"),),
        sessions={"m1": "s1", "m2": "s1", "m3": "s2"},
        corpus=corpus,
    )
    found = summarise(lines(trace), [])[name]

    assert note == found.note
    assert found.n == 1


def test_unknown_sessions_are_a_reason_of_their_own(trace_of: Make) -> None:
    """Something was ranked."""
    trace = trace_of(context=Context(ranking=("m1",)), evidence=(piece("m1"),))
    found = summarise(lines(trace), [])

    assert found["session_recall@5"].reason == "the sessions of messages are not known"
    assert summarise([], [])["session_recall@5"].reason == "no probe was asked"


def test_a_case_is_summed_up_from_what_its_file_would_say(
    trace_of: Make, turn_of: Callable[..., TurnRecord], context_of: Callable[..., Context]
) -> None:
    """Live numbers and those read back from JSON are equal to the last digit."""
    window = context_of(window=(said("user", "Oslo!", id="m1"),), ranking=("m2", "m1", "m3"))
    trace = Trace(
        turns=[turn_of(n, tokens={"window": 7 * n}, sent=7 * n, contexts=1) for n in (1, 2, 3)],
        probes=[
            trace_of(context=window, evidence=(piece("m1"), piece("m3"), piece("m7"))),
            trace_of(answer="Bonn", evidence=(piece("m1"),)),
            trace_of(answer=None, context=None, error="broke"),
        ],
        error="the strategy broke",
    )
    pairs = zip(trace.probes, score_probes(trace), strict=True)
    probes = [record(probe, score, "c") for probe, score in pairs]
    turns = [turn_record(turn, "c") for turn in trace.turns]
    live = summarise(probes, turns)
    probes, turns = ([json.loads(json_line(x)) for x in found] for found in (probes, turns))

    assert live == summarise(probes, turns)
    assert live["context_peak"].value == 21


def test_an_empty_case_is_scored() -> None:
    """It measures nothing, and says so."""
    assert score_probes(Trace()) == ()
    assert summarise([], [])["recall"].value is None


ANSWERS = st.lists(
    st.sampled_from(["Oslo lake boat", "Bonn", "Oslo", "lake boat", "boat or Bonn", None]),
    min_size=1,
    max_size=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ANSWERS, st.randoms(use_true_random=False))
def test_the_order_of_probes_does_not_matter(
    trace_of: Make, answers: list[str | None], chance: object
) -> None:
    """Means are exact sums: any order gives the same digits; shares stay in 0..1."""
    expected = {"expect": ("Oslo lake boat",), "forbid": ("Bonn",)}
    made = lines(*(trace_of(answer=a, **expected) for a in answers))
    shuffled = list(made)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    found = summarise(made, [])

    assert found == summarise(shuffled, [])
    for name, metric in METRICS.items():
        value = found[name].value
        assert metric.unit != "share" or value is None or 0 <= value <= 1
