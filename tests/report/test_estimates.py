"""Means, intervals, and who beats whom."""

from __future__ import annotations

from memsim.report.boards import Sample, beaten, estimate, mean_of
from memsim.report.run_summary import Estimate


def sample(*values: float, scenario: str = "s") -> Sample:
    """Scores of one scenario's probes."""
    return {(scenario, f"p{place}"): value for place, value in enumerate(values)}


def test_nothing_scored_has_no_mean() -> None:
    """None, not zero, and n says why."""
    assert Estimate() == mean_of({}) == estimate({}, clustered=False)


def test_an_interval_holds_its_mean() -> None:
    """Ten probes, half right."""
    found = estimate(sample(*[0.0, 1.0] * 5), clustered=False)

    assert found.n == 10
    assert found.mean == 0.5
    assert found.low is not None
    assert found.high is not None
    assert 0.1 < found.low < 0.5 < found.high < 0.9


def test_probes_that_all_pass_leave_doubt() -> None:
    """Four of four is not certainty: the interval is Wilson's, not a bootstrap's of constants."""
    found = estimate(sample(1.0, 1.0, 1.0, 1.0), clustered=False)

    assert found.mean == 1.0
    assert found.low is not None
    assert 0.5 < found.low < 0.55


def test_scenarios_of_one_probe_are_drawn_together() -> None:
    """A stratum of one has no spread; two thousand such would give an interval of no width."""
    ones = {(f"s{place}", "p"): float(place % 2) for place in range(20)}

    found = estimate(ones, clustered=False)

    assert found.low is not None
    assert found.low < 0.45


def test_a_dataset_resamples_conversations() -> None:
    """Probes of one conversation go together, so the interval is wider than over probes."""
    together = {(f"s{c}", f"p{p}"): float(c % 2) for c in range(6) for p in range(30)}

    by_probe = estimate(together, clustered=False)
    by_conversation = estimate(together, clustered=True)

    assert by_probe.low is not None
    assert by_conversation.low is not None
    assert by_conversation.low < by_probe.low


def test_the_better_of_a_clear_pair_beats_the_other() -> None:
    """The winner carries the loser's letter."""
    samples = {"a": sample(*[1.0] * 12), "b": sample(*[0.0] * 12)}

    assert beaten(samples) == {"a": ("b",), "b": ()}


def test_many_rows_have_to_differ_more() -> None:
    """Holm: p = .031 for one pair is not enough among three."""
    a, b = sample(*[1.0] * 6), sample(*[0.0] * 6)

    assert beaten({"a": a, "b": b}) == {"a": ("b",), "b": ()}
    assert beaten({"a": a, "b": b, "c": sample(*[0.5] * 6)})["a"] == ()


def test_equal_rows_beat_nobody() -> None:
    """Without a difference there is nothing to test."""
    assert beaten({"a": sample(1.0, 0.0), "b": sample(1.0, 0.0)}) == {"a": (), "b": ()}


def test_only_probes_that_both_answered_are_paired() -> None:
    """What one could not score says nothing of the other."""
    a = sample(*[1.0] * 12)
    b = dict.fromkeys(list(a)[:2], 0.0)

    assert beaten({"a": a, "b": b}) == {"a": (), "b": ()}
