"""Whereabouts: one word for where the evidence was, one for why a probe failed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memsim.scoring.outcomes import WHEREABOUTS, place_of, reason_of, whereabouts
from memsim.strategy import Location
from memsim.trace import EvidenceTrace, ProbeTrace, Stop

Make = Callable[..., ProbeTrace]


def piece(source: str = "m1", **fields: object) -> EvidenceTrace:
    """One piece of evidence, absent unless said otherwise."""
    return EvidenceTrace(source=source, turn=1, **fields)  # type: ignore[arg-type]


IN_WINDOW = piece(presence="window", verbatim=True)
WAS_IN_WINDOW = (Stop(turn=1, presence="window"), Stop(turn=5, presence="absent"))


def path_to(cause: str) -> tuple[Stop, ...]:
    """In the window, then gone for that cause."""
    return Stop(turn=1, presence="window"), Stop(turn=5, presence="absent", cause=cause)


@pytest.mark.parametrize(
    ("evidence", "word", "reason"),
    [
        (IN_WINDOW, "window", "not-read"),
        (piece(presence="summary"), "summary", "not-read"),
        (piece(presence="recalled", verbatim=True), "recalled", "not-read"),
        (piece(presence="core", verbatim=True), "core", "not-read"),
        (piece(trimmed=True), "trimmed", "over-budget"),
        (piece(location=Location(tier="store", rank=14)), "stored", "retrieval-miss"),
        (piece(location=Location(tier="index")), "stored", "retrieval-miss"),
        (piece(location=Location(tier="denied")), "denied", "denied"),
        (piece(location=Location(tier="archive")), "archived", "purged"),
        (piece(location=Location(tier="audit")), "lost", "not-written"),
        (piece(), "lost", "not-written"),
        (piece(path=WAS_IN_WINDOW), "lost", "evicted"),
        (piece(path=path_to("dropped")), "lost", "evicted"),
        (piece(path=path_to("purged")), "lost", "purged"),
        (piece(path=(Stop(turn=1, presence="absent"),)), "lost", "not-written"),
    ],
)
def test_each_place_has_a_word_and_a_reason(
    trace_of: Make, evidence: EvidenceTrace, word: str, reason: str
) -> None:
    """As the trace tells it."""
    trace = trace_of(evidence=(evidence,))

    assert word == whereabouts(trace)
    assert reason == reason_of(trace, {}, value_shown=None)


def test_a_black_box_is_not_inspectable(trace_of: Make) -> None:
    """Never lost: nobody could look."""
    trace = trace_of(evidence=(piece(),), inspection="black-box")

    assert whereabouts(trace) == "not-inspectable"
    assert reason_of(trace, {}, value_shown=None) == "not-inspectable"


@pytest.mark.parametrize(
    ("path", "event", "value_shown", "reason"),
    [
        ((), "", None, "not-in-context"),
        (WAS_IN_WINDOW, "", False, "not-in-context"),
        (WAS_IN_WINDOW, "", True, "not-read"),
        (path_to("dropped"), "", False, "evicted"),
        ((), "purged", None, "purged"),
    ],
)
def test_stores_that_are_not_reported_are_unknown(
    trace_of: Make, path: tuple[Stop, ...], event: str, value_shown: bool | None, reason: str
) -> None:
    """Neither lost nor never written: only what the strategy logged is known."""
    trace = trace_of(evidence=(piece(path=path),), inspection="context")
    discarded = {"m1": event} if event else {}

    assert whereabouts(trace) == "unknown"
    assert reason == reason_of(trace, discarded, value_shown=value_shown)


def test_what_is_in_the_context_of_a_black_box_is_seen(trace_of: Make) -> None:
    """The context itself can always be looked into."""
    assert whereabouts(trace_of(evidence=(IN_WINDOW,), inspection="black-box")) == "window"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("dropped", "evicted"),
        ("compaction", "evicted"),
        ("purged", "purged"),
        ("archived", "purged"),
    ],
)
def test_the_last_event_tells_how_it_got_lost(trace_of: Make, kind: str, reason: str) -> None:
    """Where the probe names messages, only the strategy's own events know."""
    trace = trace_of(evidence=(piece(),))

    assert reason == reason_of(trace, {"m1": kind}, value_shown=None)


def test_a_summary_without_the_value_lost_it(trace_of: Make) -> None:
    """Made from the message, and what was asked for is not in it: compacted away, not misread."""
    trace = trace_of(evidence=(piece(presence="summary"),))

    assert reason_of(trace, {}, value_shown=False) == "evicted"
    assert reason_of(trace, {}, value_shown=True) == "not-read"
    assert reason_of(trace_of(evidence=(IN_WINDOW,)), {}, value_shown=False) == "not-read"


def test_the_worst_kept_piece_gives_the_word(trace_of: Make) -> None:
    """A chain is as long as its weakest link, whatever the order."""
    stored = piece("m2", location=Location(tier="store"))
    for evidence in ((IN_WINDOW, stored, piece("m3")), (piece("m3"), stored, IN_WINDOW)):
        assert whereabouts(trace_of(evidence=evidence)) == "lost"
    assert whereabouts(trace_of(evidence=(IN_WINDOW, stored))) == "stored"


def test_no_evidence_is_nowhere(trace_of: Make) -> None:
    """There is no word for it, and no reason."""
    assert whereabouts(trace_of()) is None
    assert reason_of(trace_of(), {}, value_shown=None) is None


def test_every_word_is_listed() -> None:
    """The list is what tables and plots go by."""
    presences = ("window", "summary", "recalled", "core", "working", "tools", "system")
    for presence in presences:
        assert place_of(piece(presence=presence), "stores") in WHEREABOUTS
    assert len(WHEREABOUTS) == len(set(WHEREABOUTS)) == 15
