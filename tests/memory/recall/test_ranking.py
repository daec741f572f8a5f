"""Rankings made into one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.index import Hit
from memsim.memory.recall.ranking import (
    minmax,
    reciprocal_ranks,
    weighted_scores,
    with_neighbours,
    zscore,
)

ORDER = {source: place for place, source in enumerate("abcdefgh")}.__getitem__

rankings = st.lists(
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-5, 5), max_size=8).map(
        lambda found: sorted(
            (Hit(source, score) for source, score in found.items()),
            key=lambda hit: (-hit.score, ORDER(hit.id)),
        )
    ),
    max_size=3,
)


def ids(hits: list[Hit]) -> str:
    """The ids of a ranking as one word."""
    return "".join(hit.id for hit in hits)


def test_reciprocal_ranks_add_up() -> None:
    """A message scores 1 / (60 + rank) in each ranking that holds it."""
    words = [Hit("a", 9.0), Hit("b", 8.0)]
    meaning = [Hit("b", 0.9), Hit("c", 0.8)]

    fused = reciprocal_ranks([words, meaning], ORDER)

    assert "bac" == ids(fused)
    assert [1 / 62 + 1 / 61, 1 / 61, 1 / 62] == pytest.approx([hit.score for hit in fused])


def test_a_weight_decides_between_rankings() -> None:
    """The ranking that counts more prevails."""
    words, meaning = [Hit("b", 1.0), Hit("a", 0.5)], [Hit("a", 1.0), Hit("b", 0.5)]

    assert "ba" == ids(reciprocal_ranks([words, meaning], ORDER, weights=(0.7, 0.3)))
    assert "ab" == ids(reciprocal_ranks([words, meaning], ORDER, weights=(0.3, 0.7)))


@given(rankings)
def test_equal_scores_go_to_the_earlier_message(found: list[list[Hit]]) -> None:
    """Every fusion is sorted by score, and by order where scores are equal; nothing is lost."""
    for fused in (
        reciprocal_ranks(found, ORDER),
        weighted_scores(found, ORDER),
        weighted_scores(found, ORDER, scaling="zscore"),
    ):
        assert sorted(fused, key=lambda hit: (-hit.score, ORDER(hit.id))) == fused
        assert {hit.id for ranking in found for hit in ranking} == {hit.id for hit in fused}


def test_what_a_ranking_does_not_hold_counts_as_its_worst() -> None:
    """An absent message is neither punished nor favoured against the last one."""
    fused = weighted_scores([[Hit("a", 4.0), Hit("b", 2.0)], [Hit("c", 1.0), Hit("a", 0.0)]], ORDER)

    assert [Hit("a", 1.0), Hit("c", 1.0), Hit("b", 0.0)] == fused


def test_what_a_ranking_does_not_hold_is_not_taken_for_its_mean() -> None:
    """In standard deviations the worst is below zero, and so is what is absent."""
    words, meaning = [Hit("a", 3.0), Hit("b", 1.0)], [Hit("c", 3.0), Hit("b", 2.9), Hit("a", 1.0)]

    assert "acb" == ids(weighted_scores([words, meaning], ORDER, scaling="zscore", weights=(2, 1)))


def test_scores_are_scaled() -> None:
    """Smallest and largest become 0 and 1; the mean becomes 0 and the deviation 1."""
    assert [1.0, 0.5, 0.0] == minmax([3.0, 2.0, 1.0])
    assert [pytest.approx(1.2247, abs=1e-4), 0.0, pytest.approx(-1.2247, abs=1e-4)] == zscore(
        [3.0, 2.0, 1.0]
    )


def test_equal_scores_are_scaled_alike() -> None:
    """Where all are equal there is nothing to divide by."""
    assert [1.0, 1.0] == minmax([0.3, 0.3])
    assert [0.0, 0.0] == zscore([0.3, 0.3])


def test_neighbours_are_lent_a_share() -> None:
    """An answer without a word of the question rises through the question beside it."""
    beside = {"a": ["b"], "b": ["a", "c"], "c": ["b", "d"], "d": ["c"]}

    lifted = with_neighbours([Hit("b", 4.0), Hit("d", 1.0)], beside.__getitem__, ORDER, share=0.5)

    assert [Hit("b", 4.0), Hit("c", 2.5), Hit("a", 2.0), Hit("d", 1.0)] == lifted


def test_no_share_changes_nothing() -> None:
    """A share of nothing keeps the order."""
    hits = [Hit("b", 4.0), Hit("d", 1.0)]

    assert hits == with_neighbours(hits, lambda _source: (), ORDER, share=0.5)
