"""How numbers are written."""

from __future__ import annotations

import pytest

from memsim.report import number_format


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "n/a"),
        (0.0, ".00"),
        (0.914, ".91"),
        (1.0, "1.00"),
        (0.999, ".99"),
        (0.001, "<.01"),
        (0.005, ".01"),
    ],
)
def test_a_share_has_two_digits_and_never_looks_like_all_or_none(
    value: float | None, written: str
) -> None:
    """What is not quite 1 is not printed as 1, what is not quite 0 not as 0, nothing as n/a."""
    assert written == number_format.share(value)


@pytest.mark.parametrize(
    ("value", "written"),
    [(None, "n/a"), (0, "0"), (999, "999"), (4096, "4.0k"), (31_949, "31.2k"), (2.62e6, "2.5M")],
)
def test_tokens_are_counted_in_the_k_of_budgets(value: float | None, written: str) -> None:
    """A context of 4,096 tokens is what a budget of 4k allows, and looks like it."""
    assert written == number_format.tokens(value)


@pytest.mark.parametrize(("value", "written"), [(4096, "4k"), (4000, "4000"), (512, "512")])
def test_a_budget_is_written_as_in_ids(value: int, written: str) -> None:
    """4k is 4096 and nothing else."""
    assert written == number_format.budget(value)


@pytest.mark.parametrize(
    ("value", "written"), [(0.04, "0.0 s"), (9.9, "9.9 s"), (41.2, "41 s"), (200, "3 min 20 s")]
)
def test_seconds_are_rounded_as_people_do(value: float, written: str) -> None:
    """Tenths up to ten seconds, minutes from two on."""
    assert written == number_format.seconds(value)


def test_an_interval_without_edges_is_empty() -> None:
    """There is no interval of one probe."""
    assert number_format.interval(None, None) == ""
    assert number_format.interval(0.874, 1.0) == "[.87 1.00]"


def test_nouns_agree_with_their_count() -> None:
    """One probe, two probes."""
    counts = [number_format.plural(1, "probe"), number_format.plural(1200, "probe")]

    assert counts == ["1 probe", "1,200 probes"]
