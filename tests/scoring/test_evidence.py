"""Evidence: what of it stood in the context, and how far up a ranker put it."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.context import Context
from memsim.scoring.evidence import CUTOFFS, Ranks, evidence_scores, rank_scores, ranks
from memsim.trace import EvidenceTrace, ProbeTrace

Make = Callable[..., ProbeTrace]
WINDOW = {"presence": "window", "verbatim": True}
RANKS = st.lists(
    st.none() | st.integers(1, 60), min_size=1, max_size=6, unique_by=lambda r: r or object()
)


def piece(source: str, **fields: object) -> EvidenceTrace:
    """One piece of evidence, absent unless said otherwise."""
    return EvidenceTrace(source=source, turn=1, **fields)  # type: ignore[arg-type]


def test_only_its_own_words_are_recall(trace_of: Make) -> None:
    """Verbatim counts; what stands there in other words is told apart; absent is neither."""
    found = evidence_scores(
        trace_of(
            evidence=(
                piece("m1", **WINDOW),
                piece("m2", presence="summary"),
                piece("m3"),
                piece("m4"),
            )
        )
    )

    assert {
        "evidence_recall": 0.25,
        "evidence_any": 1.0,
        "evidence_all": 0.0,
        "evidence_derived": 0.25,
    } == found


def test_two_facts_of_one_message_are_one_piece(trace_of: Make) -> None:
    """Messages are counted, not facts."""
    found = evidence_scores(
        trace_of(
            evidence=(piece("m1", fact="a", **WINDOW), piece("m1", fact="b", **WINDOW), piece("m2"))
        )
    )

    assert 0.5 == found["evidence_recall"]


@pytest.mark.parametrize(
    "fields",
    [
        {"evidence": ()},
        {"evidence": (piece("m1"),), "excluded": "no valid evidence"},
        {"evidence": (piece("m1"),), "context": None},
    ],
)
def test_nothing_to_look_for_is_none(trace_of: Make, fields: dict[str, object]) -> None:
    """No evidence, none that is valid, or no context to look in: never 0 and never 1."""
    assert {None} == set(evidence_scores(trace_of(**fields)).values())
    assert ranks(trace_of(**fields)) is None


def test_ranks_are_places_of_the_gold_messages(trace_of: Make) -> None:
    """From 1; a message named twice counts once; sessions go by their best message."""
    found = ranks(
        trace_of(
            context=Context(ranking=("m4", "m4", "m1", "m3", "m2")),
            evidence=(piece("m3"), piece("m1"), piece("m9")),
            sessions={"m1": "s1", "m2": "s1", "m3": "s2", "m4": "s2", "m9": "s3"},
        )
    )

    assert Ranks(looked=4, turns=(3, 2, None), sessions=(1, 2, None), sessions_looked=2) == found


def test_what_does_not_rank_has_no_ranks(trace_of: Make) -> None:
    """A window is no ranker."""
    assert ranks(trace_of(evidence=(piece("m1", **WINDOW),))) is None
    assert {None} == set(rank_scores(None).values())


def test_unknown_sessions_leave_session_recall_unscored(trace_of: Make) -> None:
    """Ranks of messages are scored all the same."""
    found = ranks(trace_of(context=Context(ranking=("m1",)), evidence=(piece("m1"),)))
    scores = rank_scores(found)

    assert scores["recall@1"] == 1.0
    assert scores["session_recall@1"] is None


def test_scores_of_a_worked_ranking() -> None:
    """Gold at ranks 2 and 7, and one that was not ranked."""
    scores = rank_scores(Ranks(looked=20, turns=(2, 7, None), sessions=(1, 6)))

    assert [0.0, 1 / 3, 2 / 3, 2 / 3, 2 / 3] == [scores[f"recall@{k}"] for k in CUTOFFS]
    assert [0.0, 1.0, 1.0, 1.0, 1.0] == [scores[f"any@{k}"] for k in CUTOFFS]
    assert [0.0, 0.0, 0.0, 0.0, 0.0] == [scores[f"all@{k}"] for k in CUTOFFS]
    assert [0.5, 0.5, 1.0, 1.0, 1.0] == [scores[f"session_recall@{k}"] for k in CUTOFFS]
    assert [0.0, 0.0, 1.0, 1.0, 1.0] == [scores[f"session_all@{k}"] for k in CUTOFFS]
    assert scores["mrr"] == 0.5
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert (1 / math.log2(3) + 1 / math.log2(8)) / ideal == pytest.approx(scores["ndcg@10"])


def test_ndcg_tells_the_first_two_ranks_apart() -> None:
    """The discount is log2(rank + 1), from the first rank on."""
    first, second = (rank_scores(Ranks(looked=9, turns=(r,)))["ndcg@10"] for r in (1, 2))

    assert first == 1.0
    assert 1 / math.log2(3) == pytest.approx(second)


def test_ndcg_of_more_gold_than_ranks_can_be_whole() -> None:
    """The ideal fills the ten ranks there are."""
    places = tuple(range(1, 13))

    assert 1.0 == pytest.approx(rank_scores(Ranks(looked=20, turns=places))["ndcg@10"])


@given(RANKS)
def test_rank_scores_are_shares_that_grow_with_k(places: list[int | None]) -> None:
    """0..1; all <= recall <= any at each k; nothing falls as k grows."""
    scores = rank_scores(Ranks(looked=60, turns=tuple(places)))
    known = {k: v for k, v in scores.items() if v is not None}

    assert all(0 <= v <= 1 + 1e-12 for v in known.values())
    for k in CUTOFFS:
        assert known[f"all@{k}"] <= known[f"recall@{k}"] <= known[f"any@{k}"]
    for name in ("recall", "any", "all"):
        row = [known[f"{name}@{k}"] for k in CUTOFFS]
        assert row == sorted(row)


@given(RANKS, st.randoms(use_true_random=False))
def test_the_order_of_the_evidence_does_not_matter(
    places: list[int | None], chance: object
) -> None:
    """Gold messages are a set."""
    shuffled = list(places)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]

    assert rank_scores(Ranks(looked=60, turns=tuple(places))) == pytest.approx(
        rank_scores(Ranks(looked=60, turns=tuple(shuffled)))
    )
