"""The change between two runs: known values, the same everywhere, and honest of few probes."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.stats.interval import t_quantile
from memsim.stats.paired_test import PairedChange, _arranged, paired_change, visible_drop
from memsim.stats.significance import sign_p

DIFFERENCES = st.lists(st.sampled_from([-1.0, -1 / 3, 0.0, 1 / 3, 1.0]), min_size=2, max_size=40)


@pytest.mark.parametrize(
    ("df", "value"),
    [(1, 12.7062047), (2, 4.3026527), (9, 2.2621572), (24, 2.0638986), (5000, 1.9599640)],
)
def test_students_quantiles_are_those_of_the_tables(df: int, value: float) -> None:
    """Two-sided 95 %."""
    assert value == pytest.approx(t_quantile(0.975, df), abs=1e-6)


def test_a_spread_needs_two_values() -> None:
    """There is no quantile without a degree of freedom."""
    with pytest.raises(ValueError, match="at least two"):
        t_quantile(0.975, 0)


def test_one_stratum_gives_students_own_interval() -> None:
    """Mean, standard error and quantile by hand."""
    differences = [0.0, 0.0, 1.0, -1.0, -1.0, -1.0, 0.0, 0.0, -1.0, 0.0]
    mean = -0.3
    error = math.sqrt(sum((d - mean) ** 2 for d in differences) / 9 / 10)

    found = paired_change(differences)

    assert (mean, error) == pytest.approx((found.mean, found.error))
    assert found.low == pytest.approx(mean - 2.2621572 * error, abs=1e-6)
    assert found.high == pytest.approx(mean + 2.2621572 * error, abs=1e-6)


@given(DIFFERENCES)
def test_an_interval_of_shares_ends_where_shares_end(differences: list[float]) -> None:
    """Nothing can fall by more than all of it; everything else stays as it is."""
    free, found = paired_change(differences, draws=20), paired_change(differences, draws=20, most=1)

    assert free.low is not None
    assert free.high is not None
    assert (max(free.low, -1.0), min(free.high, 1.0)) == (found.low, found.high)
    assert (free.mean, free.p, free.error) == (found.mean, found.p, found.error)


def test_what_differs_between_scenarios_is_no_doubt() -> None:
    """Each scenario is resampled in itself, so its own mean is certain."""
    differences = [0.0, 0.0, 0.0, 0.0, 1.0, -1.0, -1.0, -1.0, -1.0, 0.0]
    strata = ["a"] * 5 + ["b"] * 5

    assert paired_change(differences, strata=strata).error < paired_change(differences).error


@pytest.mark.parametrize("value", [0.0, -0.2, 1.0])
def test_without_spread_the_sign_test_decides(value: float) -> None:
    """A bootstrap of constants is no evidence."""
    found = paired_change([value] * 10, strata=[n % 3 for n in range(10)])

    assert (value, value) == (found.low, found.high)
    assert (sign_p([value] * 10) or 1.0) == found.p


def test_one_pair_says_nothing() -> None:
    """Neither does one cluster."""
    alone = paired_change([-1.0])
    together = paired_change([-1.0, 0.0], clusters=["a", "a"])

    assert (None, None, None) == (alone.low, alone.high, alone.p)
    assert together.p is None


@pytest.mark.parametrize(
    ("differences", "strata", "clusters"),
    [([], None, None), ([1.0], ["a", "b"], None), ([1.0], ["a"], ["a"])],
)
def test_what_cannot_be_drawn_from_is_refused(
    differences: list[float], strata: list[str] | None, clusters: list[str] | None
) -> None:
    """Nothing, groups that do not fit, and two ways at once."""
    with pytest.raises(ValueError, match="differences"):
        paired_change(differences, strata=strata, clusters=clusters)


def test_small_scenarios_are_put_together() -> None:
    """Fewer than five probes hardly know their own spread; one that has no like joins another."""
    assert (5, 6) == _arranged([*"aabbb", *"cccccc"])[1]
    assert (8,) == _arranged([*"aa", *"cccccc"])[1]
    assert (2,) == _arranged(["a", "b"])[1]


def test_whole_scenarios_that_moved_as_one_are_not_certain() -> None:
    """Five probes of one scenario of six: within scenarios nothing spreads, and still it may be."""
    found = paired_change([-1.0] * 5 + [0.0] * 25, strata=[n // 5 for n in range(30)])

    assert found.error > 0
    assert found.p is not None
    assert found.p > 0.001


@given(DIFFERENCES, st.integers(1, 4))
def test_a_change_is_the_same_however_it_is_ordered(values: list[float], parts: int) -> None:
    """Mean, interval and word do not hang on the order of the probes within scenarios."""
    strata = [place % parts for place in range(len(values))]
    pairs = sorted(zip(strata, values, strict=True))

    one = paired_change(values, strata=strata, draws=200)
    other = paired_change([v for _, v in pairs], strata=[s for s, _ in pairs], draws=200)

    assert (one.mean, one.low, one.high) == pytest.approx((other.mean, other.low, other.high))
    assert 0 < (one.p or 0) <= 1


@given(DIFFERENCES)
def test_better_is_worse_the_other_way_round(values: list[float]) -> None:
    """Swapping the two runs turns the interval over."""
    there, back = paired_change(values, draws=200), paired_change([-v for v in values], draws=200)

    assert there.low is not None
    assert back.high is not None
    assert there.mean == pytest.approx(-back.mean)
    assert there.low == pytest.approx(-back.high)
    assert there.p == pytest.approx(back.p)


def test_blocks_give_what_one_piece_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large suites are drawn in blocks; the answer stays about the same."""
    values = [(-1.0, 0.0, 0.0, 1 / 3)[n % 4] for n in range(80)]
    strata = [n % 5 for n in range(80)]
    whole = paired_change(values, strata=strata)
    monkeypatch.setattr("memsim.stats.paired_test._KEPT", 8000)

    parts = paired_change(values, strata=strata)

    assert (whole.low, whole.high) == (parts.low, parts.high)
    assert whole.p == pytest.approx(parts.p, abs=0.005)


@pytest.mark.parametrize(
    ("probes", "scenarios", "lost"), [(12, 1, 4), (12, 6, 4), (30, 6, 4), (400, 20, 8)]
)
def test_the_smallest_drop_is_one_that_is_called_worse(
    probes: int, scenarios: int, lost: int
) -> None:
    """So many probes lost and none kept are worse, one fewer is not."""
    strata = [n % scenarios for n in range(probes)]
    still = paired_change([0.0] * probes, strata=strata)

    assert lost / probes == pytest.approx(visible_drop(still, strata=strata, margin=0.02) or 0)


def test_a_tiny_suite_sees_no_drop() -> None:
    """Losing three probes of three could still be chance."""
    still = paired_change([0.0] * 3)

    assert visible_drop(still, strata=["a"] * 3, margin=0.02) is None
    assert visible_drop(paired_change([0.0]), strata=["a"], margin=0.02) is None


def test_more_noise_hides_more() -> None:
    """The drop grows with the spread of the differences."""
    strata = ["a"] * 40
    quiet = PairedChange(mean=0, low=0, high=0, p=1, n=40, error=0.02)
    loud = PairedChange(mean=0, low=0, high=0, p=1, n=40, error=0.08)

    small = visible_drop(quiet, strata=strata, margin=0.02)
    large = visible_drop(loud, strata=strata, margin=0.02)

    assert small is not None
    assert large is not None
    assert small < large
