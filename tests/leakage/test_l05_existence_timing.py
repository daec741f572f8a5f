"""L5: what tells by its time is caught; what does not is safe, in the same bytes each time."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from memsim.leakage.attempt import Attempt
from memsim.leakage.channel import ChannelRun
from memsim.leakage.channels.l05_existence_timing import elapsed_ns, measure_separation
from memsim.leakage.scores import ChannelScore
from tests.doubles.catalogue import HONEST, load
from tests.doubles.read_faults import SleepsOnHit

Play = Callable[..., ChannelRun]
Score = Callable[[str, ChannelRun], ChannelScore]


def test_samples_of_one_kind_are_at_chance() -> None:
    """Interleaved values give one half, and the interval holds it."""
    found = measure_separation([1.0, 3.0, 5.0, 7.0] * 10, [2.0, 4.0, 4.0, 6.0] * 10)

    assert found.low < 0.5 < found.high
    assert not found.plain


@pytest.mark.parametrize("sign", [1, -1])
def test_samples_that_never_meet_are_told_apart(sign: int) -> None:
    """Whichever of the two takes longer."""
    found = measure_separation(
        [sign * (30.0 + n) for n in range(40)], [sign * float(n) for n in range(30)]
    )

    assert (1.0, 1.0, 1.0) == (found.auc, found.low, found.high)
    assert found.plain


def test_a_few_pairs_are_never_enough() -> None:
    """Ten of them may come out one way by chance, where many are tried."""
    assert not measure_separation(
        [float(n) for n in range(10, 20)], [float(n) for n in range(10)]
    ).plain


def test_ties_count_half() -> None:
    """Three of four pairs are larger, and one of them is equal."""
    assert 0.875 == measure_separation([2.0, 3.0], [1.0, 2.0]).auc


def test_an_interval_is_that_of_hanley_and_mcneil() -> None:
    """By hand for an area of 0.75 over four pairs: q1 0.6, q2 0.6429, variance 0.0763."""
    found = measure_separation([2.0, 4.0], [1.0, 3.0])

    assert 0.75 == found.auc
    assert found.low == pytest.approx(0.75 - 1.96 * 0.0763**0.5, abs=1e-3)
    assert 1.0 == found.high


def test_an_empty_sample_cannot_be_measured() -> None:
    """An empty sample is an error, not chance."""
    with pytest.raises(ValueError, match="empty"):
        measure_separation([], [1.0])


def test_time_that_something_takes_is_not_negative() -> None:
    """It is counted in whole nanoseconds."""
    assert elapsed_ns(lambda: None) >= 0


def test_a_memory_that_is_slower_on_a_hit_is_caught(
    play: Play, scored: Score, caplog: pytest.LogCaptureFixture
) -> None:
    """By the operation that is slower, and the area is logged."""
    with caplog.at_level(logging.INFO, logger="memsim.leakage.channels.l05_existence_timing"):
        played = play("L5", SleepsOnHit, 24)

    assert "leak" == scored("L5", played).verdict
    leaked = [f.detail for f in played.findings if isinstance(f, Attempt) and f.state == "leak"]
    assert 24 == len(leaked)
    assert all("memory_get" in detail and "asking" not in detail for detail in leaked)
    assert any("L5 tool memory_get: AUC" in line for line in caplog.messages)


def test_records_hold_no_time(play: Play) -> None:
    """Twice the same, though no two runs take equally long."""
    first, second = (play("L5", load(HONEST), 12) for _ in range(2))

    assert first.findings == second.findings
    assert first.read == second.read


@pytest.mark.parametrize("strategy", ["layered:acl=on", "layered:acl=on,mode=both"])
def test_the_reference_tells_nothing_by_its_time(play: Play, scored: Score, strategy: str) -> None:
    """All planned pairs are eligible."""
    found = scored("L5", play("L5", strategy, 40))

    assert "safe" == found.verdict
    assert 40 == found.leaks.n


def test_an_amnesiac_is_not_called_safe(play: Play, scored: Score) -> None:
    """Nothing was there whose time could have told."""
    assert "n/a" == scored("L5", play("L5", "no_memory", 12)).verdict
