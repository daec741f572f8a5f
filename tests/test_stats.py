"""Statistics: known values, what every interval must keep, and the same numbers everywhere."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.stats.bootstrap import differences, mean_interval
from memsim.stats.interval import Interval, clopper_pearson, normal_quantile, wilson
from memsim.stats.significance import holm, permutation_p, sign_p

COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
SHARES = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=2, max_size=40)


def coins(n: int, share: float, seed: int = 1) -> list[float]:
    """Zeros and ones, a given share of them ones."""
    chance = random.Random(seed)
    return [float(chance.random() < share) for _ in range(n)]


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (8, 10, 0.443904537692, 0.974789273673),
        (0, 60, 0.0, 1 - 0.025 ** (1 / 60)),
        (60, 60, 0.025 ** (1 / 60), 1.0),
        (500, 1000, 0.468549172972, 0.531450827028),
        (1, 1, 0.025, 1.0),
    ],
)
def test_clopper_pearson_gives_the_published_values(
    successes: int, n: int, low: float, high: float
) -> None:
    """The exact interval is that of the tables."""
    found = clopper_pearson(successes, n)

    assert found is not None
    assert (low, high) == pytest.approx(found, abs=1e-9)


def test_zero_of_n_is_bounded_by_the_rule_of_the_tail() -> None:
    """No success in 300 leaves at most 1 % at 95 %, one-sided."""
    found = clopper_pearson(0, 300, confidence=0.9)

    assert found is not None
    assert 1 - 0.05 ** (1 / 300) == pytest.approx(found.high, abs=1e-9)


def test_wilson_gives_the_published_values() -> None:
    """The score interval of 8 in 10 is that of the textbooks."""
    assert Interval(0.490162471537, 0.943317848546) == wilson(8, 10)
    assert Interval(0.0, 0.277532799863) == wilson(0, 10)


@given(COUNTS)
def test_share_intervals_hold_the_share_and_lie_in_range(counts: tuple[int, int]) -> None:
    """0 <= low <= share <= high <= 1, and counting failures mirrors the interval."""
    successes, n = counts
    for made in (wilson, clopper_pearson):
        found, mirrored = made(successes, n), made(n - successes, n)
        assert found is not None
        assert mirrored is not None
        assert 0 <= found.low <= successes / n + 1e-12
        assert successes / n - 1e-12 <= found.high <= 1
        assert (1 - found.high, 1 - found.low) == pytest.approx(mirrored, abs=1e-9)


@pytest.mark.parametrize("made", [wilson, clopper_pearson])
def test_a_share_of_nothing_has_no_interval(made: object) -> None:
    """Nothing measured is None, and impossible counts are refused."""
    assert made is wilson or made is clopper_pearson
    for interval in (wilson, clopper_pearson):
        assert interval(0, 0) is None
        with pytest.raises(ValueError, match="5 of 4"):
            interval(5, 4)
        with pytest.raises(ValueError, match="confidence"):
            interval(1, 4, confidence=1.0)


def test_the_exact_interval_covers_as_it_promises() -> None:
    """Summed over every outcome, at least 95 % of the intervals hold the true share."""
    n, share = 20, 0.3
    held = 0.0
    for k in range(n + 1):
        found = clopper_pearson(k, n)
        assert found is not None
        if found.low <= share <= found.high:
            held += math.comb(n, k) * share**k * (1 - share) ** (n - k)

    assert held >= 0.95


def test_the_bootstrap_is_the_same_everywhere() -> None:
    """A seed fixes the interval for good: these figures may never change."""
    values = coins(200, 0.8)

    assert Interval(0.765, 0.87) == mean_interval(values)
    assert mean_interval(values, seed=3) == mean_interval(values, seed=3)


def test_another_seed_draws_anew() -> None:
    """The seed is used."""
    chance = random.Random(5)
    values = [chance.random() for _ in range(30)]

    assert mean_interval(values, seed=1) != mean_interval(values, seed=2)


def test_the_bootstrap_agrees_with_theory() -> None:
    """For many coins the interval is about the normal one."""
    values = coins(1000, 0.5)
    found = mean_interval(values)
    mean = sum(values) / 1000

    assert found is not None
    assert mean - 1.96 * 0.0158 == pytest.approx(found.low, abs=0.004)
    assert mean + 1.96 * 0.0158 == pytest.approx(found.high, abs=0.004)


@given(SHARES)
def test_an_interval_of_shares_lies_between_them(values: list[float]) -> None:
    """No resample has a mean outside the values."""
    found = mean_interval(values, draws=200)

    assert found is not None
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


def test_strata_keep_their_mix() -> None:
    """What differs only between strata adds no spread."""
    values = [0.0] * 10 + [1.0] * 10
    strata = ["hard"] * 10 + ["easy"] * 10

    assert Interval(0.5, 0.5) == mean_interval(values, strata=strata)
    assert mean_interval(values) != Interval(0.5, 0.5)


def test_clusters_widen_what_goes_together() -> None:
    """Values that agree within a conversation are worth fewer than they are."""
    values = [float(n % 2) for n in range(20) for _ in range(10)]
    clusters = [n for n in range(20) for _ in range(10)]
    alone, together = mean_interval(values), mean_interval(values, clusters=clusters)

    assert alone is not None
    assert together is not None
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_clusters_weigh_by_their_size() -> None:
    """The mean is over values, not over clusters."""
    values = [1.0] * 99 + [0.0]
    found = mean_interval(values, clusters=["big"] * 99 + ["small"])

    assert Interval(0.0, 1.0) == found


@pytest.mark.parametrize("values", [[], [0.4]])
def test_too_little_has_no_interval(values: list[float]) -> None:
    """One value says nothing of where another would lie."""
    assert mean_interval(values) is None


def test_one_cluster_has_no_interval() -> None:
    """One conversation says nothing of another."""
    assert mean_interval([0.0, 1.0, 1.0], clusters=["a", "a", "a"]) is None


def test_groups_that_do_not_fit_are_refused() -> None:
    """Strata and clusters exclude each other, and are one for each value."""
    with pytest.raises(ValueError, match="not by both"):
        mean_interval([0.0, 1.0], strata=[1, 2], clusters=[1, 2])
    with pytest.raises(ValueError, match="1 groups for 2 values"):
        mean_interval([0.0, 1.0], strata=[1])
    with pytest.raises(ValueError, match="not finite"):
        mean_interval([0.0, math.nan])


def test_pairing_removes_what_both_share() -> None:
    """A constant gain over very different probes is certain."""
    baseline = [n / 40 for n in range(20)]
    candidate = [value + 0.25 for value in baseline]

    assert Interval(0.25, 0.25) == mean_interval(differences(candidate, baseline))


def test_pairs_need_two_sides() -> None:
    """Lists of different lengths are not pairs."""
    assert [0.5, -0.5] == differences([1.0, 0.0], [0.5, 0.5])
    with pytest.raises(ValueError, match="cannot be paired"):
        differences([1.0], [1.0, 0.0])


def test_sign_test_gives_the_binomial_values() -> None:
    """Ties do not count; 9 of 10 has p 22/1024."""
    assert 22 / 1024 == sign_p([1.0] * 9 + [-1.0] + [0.0] * 50)
    assert sign_p([1.0, -1.0]) == 1.0
    assert sign_p([0.0, 0.0]) is None


def test_sign_test_holds_for_thousands() -> None:
    """Large counts neither overflow nor lose the answer."""
    found = sign_p([1.0] * 2000 + [-1.0] * 2000)

    assert found == 1.0


def test_permutation_is_exact_for_few() -> None:
    """All eight gains in one direction: 2 of 256 sign patterns are as extreme."""
    assert 2 / 256 == permutation_p([0.5] * 8)
    assert permutation_p([0.0] * 5) is None


def test_permutation_drawn_agrees_with_exact() -> None:
    """Beyond the exact size, ones and minus ones are the sign test."""
    values = [1.0] * 14 + [-1.0] * 6
    drawn, exact = permutation_p(values), sign_p(values)

    assert drawn is not None
    assert exact is not None
    assert exact == pytest.approx(drawn, abs=0.01)


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), max_size=30))
def test_p_values_do_not_depend_on_direction(values: list[float]) -> None:
    """Swapping candidate and baseline gives the same two-sided p, in 0..1."""
    swapped = [-value for value in values]
    for test in (sign_p, permutation_p):
        found = test(values)
        assert found == test(swapped)
        assert found is None or 0 < found <= 1


def test_holm_gives_the_worked_example() -> None:
    """Step-down: the smallest times the count, and never less than the one before."""
    assert [0.03, 0.06, 0.06] == pytest.approx(holm([0.01, 0.04, 0.03]))
    assert [] == holm([])


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_only_ever_raises_and_keeps_order(p_values: list[float]) -> None:
    """A corrected p is at least the raw one, at most 1, and in the same order."""
    adjusted = holm(p_values)

    assert all(p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))
    ranked = sorted(range(len(p_values)), key=lambda i: p_values[i])
    assert sorted(adjusted) == [adjusted[i] for i in ranked]


def test_normal_quantiles_are_the_known_ones() -> None:
    """The 97.5 % point is 1.96."""
    assert 1.959963984540054 == pytest.approx(normal_quantile(0.975))
