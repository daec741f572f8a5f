"""LoCoMo's F1: worked examples of each category's rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.scoring.locomo_f1 import CATEGORIES, locomo_f1, token_f1

WORDS = st.lists(
    st.sampled_from(["red", "blue", "car", "boats", "the", "running", "runs", "7"]), max_size=8
)


@pytest.mark.parametrize(
    ("gold", "answer", "f1"),
    [
        ("the red car", "a red car", 1.0),
        ("red car", "red", 2 / 3),
        ("running", "runs", 1.0),
        ("red red", "red", 2 / 3),
        ("1,000", "1000", 1.0),
        ("red and blue", "Blue, red!", 1.0),
        ("red", "blue", 0.0),
        ("", "", 0.0),
        ("the", "the", 0.0),
    ],
)
def test_token_f1(gold: str, answer: str, f1: float) -> None:
    """Commas, case, punctuation, articles and endings go; words count as often as they occur."""
    assert f1 == pytest.approx(token_f1(gold, answer))


def test_multi_hop_averages_the_best_match_of_each_part() -> None:
    """Two of three parts are named."""
    found = locomo_f1("multi-hop", ("chess, tennis, golf",), "golf, chess")

    assert 2 / 3 == pytest.approx(found)
    assert found != pytest.approx(locomo_f1("single-hop", ("chess, tennis, golf",), "golf, chess"))


def test_open_domain_reads_the_gold_answer_to_its_semicolon() -> None:
    """The rest is an explanation."""
    assert locomo_f1("open-domain", ("yes; she likes boats",), "yes") == 1.0
    assert locomo_f1("single-hop", ("yes; she likes boats",), "yes") < 1.0


def test_adversarial_is_right_when_it_does_not_know() -> None:
    """Whatever the gold answer is."""
    assert locomo_f1("adversarial", (), "That is not mentioned.") == 1.0
    assert locomo_f1("adversarial", ("blue",), "blue") == 0.0


def test_the_best_of_several_gold_answers_counts() -> None:
    """Any of them will do."""
    assert locomo_f1("temporal", ("May", "7 June"), "7 June") == 1.0
    assert locomo_f1("temporal", (), "7 June") == 0.0


@given(WORDS, WORDS, st.sampled_from(CATEGORIES))
def test_f1_is_a_share_and_symmetric(gold: list[str], answer: list[str], category: str) -> None:
    """Between 0 and 1; the tokens' own F1 is the same both ways round."""
    one, other = " ".join(gold), " ".join(answer)

    assert 0 <= locomo_f1(category, (one,), other) <= 1
    assert token_f1(one, other) == pytest.approx(token_f1(other, one))


@given(WORDS, WORDS)
def test_words_that_are_not_asked_for_never_raise_it(gold: list[str], answer: list[str]) -> None:
    """Precision pays for every one of them."""
    longer = [*answer, "unrelated"]

    assert token_f1(" ".join(gold), " ".join(longer)) <= token_f1(" ".join(gold), " ".join(answer))
