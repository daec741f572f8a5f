"""Usage: what remembering took, added up from the run's lines."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memsim.context import Context
from memsim.message import said
from memsim.scoring.metric import CaseRecords, Measure
from memsim.scoring.metrics import caching, compactions, context_tokens, cost, model_calls
from memsim.scoring.probes import score_probe
from memsim.scoring.trace_records import record, turn_record
from memsim.strategy import Event
from memsim.trace import CallRecord, Phase, ProbeTrace, TurnRecord

FAMILIES = (context_tokens, caching, compactions, model_calls, cost)
Lines = list[dict[str, object]]
MakeTurn = Callable[..., TurnRecord]


def lines(*turns: TurnRecord, case: str = "c", repeat: int = 0) -> Lines:
    """Lines of `turns.jsonl`."""
    return [turn_record(turn, case, repeat) for turn in turns]


def usage(turns: Lines, probes: Lines) -> dict[str, Measure]:
    """Every metric of usage."""
    records = CaseRecords(probes, turns)
    return {name: m for family in FAMILIES for name, m in family.measure(records).items()}


def values(measures: dict[str, Measure], *names: str) -> list[float | None]:
    """Bare values by name."""
    return [measures[name].value for name in names]


def call(phase: Phase, *, cost: float | None = 0.0) -> CallRecord:
    """A call of 100 tokens in and 10 out."""
    return CallRecord(phase=phase, task="summarise", input=100, output=10, cost=cost)


@pytest.fixture
def sent(turn_of: MakeTurn) -> Callable[..., TurnRecord]:
    """Makes a turn that sent one context."""

    def make(turn: int, cached: int = 0, **tokens: int) -> TurnRecord:
        total = sum(tokens.values())
        return turn_of(turn, tokens=tokens, sent=total, contexts=1, cached=cached)

    return make


def test_contexts_by_section(turn_of: MakeTurn, sent: MakeTurn) -> None:
    """Mean and peak are over the turns that asked for a context; sections sum to the total."""
    found = usage(lines(sent(1, window=100), turn_of(2), sent(3, window=200, summary=60)), [])

    assert [180.0, 260, 360] == values(found, "context_mean", "context_peak", "context_total")
    assert [150.0, 30.0, 0.0] == values(found, "context_window", "context_summary", "context_core")
    assert found["context_mean"].n == 2


def test_probes_stand_in_where_no_turn_asked(
    turn_of: MakeTurn, trace_of: Callable[..., ProbeTrace], context_of: Callable[..., Context]
) -> None:
    """As in a recorded conversation between people; the largest of all is the peak either way."""
    context = context_of(window=(said("user", "Hi", id="m1"), said("user", "Oslo", id="m2")))
    trace = trace_of(context=context, overflow=7)
    probes = [record(trace, score_probe(trace, {}), "c")]

    apart = usage(lines(turn_of(1)), probes)
    beside = usage(lines(turn_of(1, tokens={"window": 5}, sent=5, contexts=1)), probes)

    assert [20.0, 20, 7] == values(apart, "context_mean", "context_peak", "overflow")
    assert [5.0, 20, 0] == values(beside, "context_mean", "context_peak", "overflow")


def test_cached_starts_and_breaks(sent: MakeTurn) -> None:
    """A context that does not repeat the whole one before breaks the provider's cache."""
    found = usage(
        lines(
            sent(1, window=100),
            sent(2, 100, window=150),
            sent(3, 40, window=120),
            sent(4, 120, window=130),
        ),
        [],
    )

    assert [260 / 500, 1] == values(found, "cached_share", "cache_breaks")


def test_another_case_does_not_break_the_cache(sent: MakeTurn) -> None:
    """Cases and repeats have caches of their own."""
    first, second = lines(sent(1, window=100)), lines(sent(1, window=90), case="d")
    third = lines(sent(1, window=90), case="d", repeat=1)

    assert [0] == values(usage(first + second + third, []), "cache_breaks")


def test_compactions(turn_of: MakeTurn) -> None:
    """Their number, what they freed, and those that ended larger than they began."""
    events = (
        Event(kind="compaction", before=900, after=300),
        Event(kind="compaction", before=300, after=340),
        Event(kind="compaction"),
        Event(kind="dropped", before=900, after=1),
    )
    found = usage(lines(turn_of(1, events=events), turn_of(2)), [])

    assert [3, 600, 1] == values(found, "compactions", "tokens_freed", "summaries_grew")


def test_model_calls_by_phase(turn_of: MakeTurn, trace_of: Callable[..., ProbeTrace]) -> None:
    """Turns and probes together, in tokens in and out, with their price."""
    trace = trace_of(calls=(call("search", cost=0.25), call("answer", cost=0.25)))
    probes = [record(trace, score_probe(trace, {}), "c")]
    found = usage(lines(turn_of(1, calls=(call("maintain", cost=0.5),)), turn_of(2)), probes)

    assert [3, 330, 1.0, 50.0] == values(
        found, "model_calls", "model_tokens", "cost", "cost_per_100_turns"
    )
    assert [0, 1, 1, 1, 0] == values(
        found, "calls_write", "calls_maintain", "calls_search", "calls_answer", "calls_judge"
    )
    assert [110, 110] == values(found, "tokens_maintain", "tokens_answer")


def test_an_unknown_price_is_no_price(turn_of: MakeTurn) -> None:
    """Never the sum of the known ones."""
    calls = (call("write", cost=0.5), call("write", cost=None))
    found = usage(lines(turn_of(1, calls=calls)), [])

    assert [None, None] == values(found, "cost", "cost_per_100_turns")
    assert found["cost"].reason == "no price is known for 1 of 2 model calls"


def test_nothing_measured_is_none_with_a_reason() -> None:
    """Calls can be counted to none; contexts, caches and compactions of nothing cannot be told."""
    found = usage([], [])

    assert list(found) == [name for family in FAMILIES for name in family.METRICS]
    for name, value in found.items():
        assert (value.value is None) == bool(value.reason), name
    assert [None, None, None, 0] == values(
        found, "context_mean", "cached_share", "compactions", "model_calls"
    )
