"""Answers: each gets its one word, whatever way the question is matched."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.scenario.script import Match, Probe
from memsim.scoring.answer_score import judge_answer
from memsim.scoring.outcomes import OUTCOMES


def probe(*expect: str, match: Match = "tokens", **fields: Any) -> Probe:  # noqa: ANN401
    """A question with these expected answers."""
    return Probe(id="p", ask="Where to?", expect=expect, match=match, **fields)


def test_a_changed_fact(subtests: pytest.Subtests) -> None:
    """The current value passes beside an old one only when that is marked old."""
    for answer, outcome in [
        ("Oslo", "PASS"),
        ("Oslo, not Bergen.", "PASS"),
        ("Oslo instead of Bergen", "PASS"),
        ("It used to be Bergen, now it's Oslo", "PASS"),
        ("changed from Bergen to Oslo", "PASS"),
        ("Bergen was changed to Oslo", "PASS"),
        ("Previously Bergen, currently Oslo", "PASS"),
        ("It's no longer Bergen; Oslo", "PASS"),
        ("Oslo (was Bergen)", "PASS"),
        ("I'm not sure, but I think it is Oslo", "PASS"),
        ("Bergen", "STALE"),
        ("It was Bergen", "STALE"),
        ("Not Oslo but Bergen", "STALE"),
        ("changed from Oslo to Bergen", "STALE"),
        ("It used to be Oslo, now it's Bergen", "STALE"),
        ("Oslo and Bergen", "MIXED"),
        ("Bergen. Oslo.", "MIXED"),
        ("Stavanger", "MISS"),
        ("not Bergen", "MISS"),
        ("It isn't Oslo", "MISS"),
        ("Bergen is outdated", "MISS"),
        ("I don't know", "MISS"),
        ("I don't know whether it is Oslo", "MISS"),
        ("", "MISS"),
    ]:
        with subtests.test(answer=answer, outcome=outcome):
            assert outcome == judge_answer(probe("Oslo"), answer, ["Bergen"]).outcome
            assert outcome == judge_answer(probe("Oslo", forbid=("Bergen",)), answer).outcome


@pytest.mark.parametrize(
    ("expected", "old", "answer", "outcome"),
    [
        ("Oslo West", "Oslo", "Oslo West", "PASS"),
        ("Oslo West", "Oslo", "Oslo", "STALE"),
        ("Oslo", "Oslo West", "Oslo West", "STALE"),
        ("Oslo", "Oslo West", "Oslo", "PASS"),
        ("Oslo", "oslo", "Oslo", "PASS"),
        ("red shoes", "blue shoes", "blue shoes", "STALE"),
        ("8 May 2023", "7 May 2023", "7 May 2023", "STALE"),
        ("A-18", "A-17", "A-17", "STALE"),
    ],
)
def test_values_that_hold_each_other(expected: str, old: str, answer: str, outcome: str) -> None:
    """The longer one is meant where both are found; an old value that is current is not old."""
    assert outcome == judge_answer(probe(expected), answer, [old]).outcome


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("I don't know", "ABSTAINED"),
        ("You never told me; Ben's is blue.", "ABSTAINED"),
        ("Blue", "HALLUCINATED"),
        ("I'm not sure, but maybe blue", "HALLUCINATED"),
        ("", "UNSCORED"),
        ("  \n", "UNSCORED"),
    ],
)
def test_something_never_planted(answer: str, outcome: str) -> None:
    """Only saying so is right; silence cannot be judged."""
    found = judge_answer(Probe(id="p", ask="?", unanswerable=True, forbid=("blue",)), answer)

    assert outcome == found.outcome
    assert found.score is None


def test_nothing_expected_cannot_be_judged() -> None:
    """An answerable probe without an expected answer is nobody's fault."""
    assert judge_answer(probe(), "Oslo").outcome == "UNSCORED"


@pytest.mark.parametrize(
    ("match", "answer", "outcome"),
    [
        ("exact", "a red lamp", "PASS"),
        ("exact", "Red lamp!", "PASS"),
        ("exact", "my red lamp", "MISS"),
        ("any", "a red lamp, maybe", "PASS"),
        ("any", "lamp, red", "MISS"),
        ("tokens", "lamp, red", "PASS"),
        ("locomo", "red lamp", "PASS"),
        ("locomo", "red lamp lamp lamp lamp lamp lamp", "MISS"),
    ],
)
def test_ways_to_match_a_text(match: Match, answer: str, outcome: str) -> None:
    """Exactly, as a sequence, by words, or by F1."""
    assert outcome == judge_answer(probe("red lamp", match=match), answer).outcome


def test_all_needs_every_one_and_any_needs_one() -> None:
    """The score of half is a half, and it is not enough."""
    both = judge_answer(probe("cat", "dog", match="all"), "a cat")

    assert (both.outcome, both.score) == ("MISS", 0.5)
    assert judge_answer(probe("cat", "dog", match="all"), "a dog and a cat").outcome == "PASS"
    animals = [f"beast{n}" for n in range(12)]
    told = " ".join(f"My uncle once kept a beast{n} at home." for n in range(12))
    assert judge_answer(probe(*animals, match="all"), told).outcome == "PASS"
    assert judge_answer(probe(animals[0], match="all"), told).outcome == "MISS"
    assert judge_answer(probe("cat", "dog", match="any"), "a cat").outcome == "PASS"


def test_an_answer_may_be_told_otherwise(subtests: pytest.Subtests) -> None:
    """A part that tells, a short form, other forms of a word and the bare verdict are right."""
    for ask, expected, answer, right in [
        (
            "What did she get?",
            "a handwritten letter about her childhood",
            "Handwritten letters",
            True,
        ),
        ("What does she feel?", "freedom and expressing herself", "Freedom", True),
        ("What did he do?", "went to the harbour festival", "He goes to a harbour festival", True),
        ("What is she?", "creative and patient", "She has creativity and patience", True),
        (
            "Why does she run?",
            "to clear her mind after long days at the hospital",
            "Clear mind",
            True,
        ),
        ("Would she move?", "Likely no; she likes her garden", "No, she feels settled.", True),
        ("Would she move?", "Likely no; she likes her garden", "She would not leave.", True),
        ("What won't he do?", "quit", "He won't quit.", True),
        ("Would she move?", "Likely no; she likes her garden", "Yes, for her garden.", False),
        ("Would she move?", "Yes, she likes boats", "Probably not, though she likes boats", False),
        ("Which lamp was it?", "the red lamp", "the blue lamp", False),
        ("Which shoes?", "red shoes", "blue shoes", False),
        ("What did she paint?", "a horse, a boat and a lake", "a sunset", False),
        ("What did she paint?", "a horse, a boat and a lake", "many things that she likes", False),
        ("What does he play?", "the cello in an orchestra", "not the cello", False),
        ("What pets has she?", "two cats and a dog", "a horse and two goats", False),
        ("Where did they meet?", "at a harbour in Moss", "somewhere by the sea", False),
    ]:
        with subtests.test(ask=ask, answer=answer):
            asked = Probe(id="p", ask=ask, expect=(expected,))
            assert right == judge_answer(asked, answer).right


def test_of_a_long_answer_the_first_sentences_are_read() -> None:
    """As many as have no more content words than the limit."""
    padding = "Every lake has a boat. " * 14

    assert judge_answer(probe("Oslo"), f"It is Oslo. {padding}").right
    assert not judge_answer(probe("Oslo"), f"{padding} It is Oslo.").right


def test_beside_an_old_value_a_part_of_the_current_one_is_not_enough() -> None:
    """Both may share it."""
    asked = probe("the tall house by the harbour gate", forbid=("the old house by the harbour",))

    assert judge_answer(asked, "the old house by the harbour").outcome == "STALE"


@pytest.mark.parametrize(
    ("match", "expected", "answer"),
    [("number", "7", "seven"), ("date", "8 May 2023", "2023-05-08"), ("choice", "red", "a")],
)
def test_values_are_matched_by_meaning(match: Match, expected: str, answer: str) -> None:
    """Each kind by its own rule."""
    asked = probe(expected, match=match, choices=("red", "blue"))

    assert judge_answer(asked, answer).outcome == "PASS"
    assert judge_answer(asked, "nothing of the kind").outcome == "MISS"


@pytest.mark.parametrize("match", ["tokens", "any", "all", "number", "date", "locomo"])
def test_an_answer_that_says_everything_says_nothing(match: Match) -> None:
    """Beyond the limit no answer is right, however much it holds."""
    everything = "7 and 8 May 2023. " + "lake " * 60
    expected = {"number": "7", "date": "8 May 2023"}.get(match, "lake")
    found = judge_answer(probe(expected, match=match), everything)

    assert found.outcome == "MISS"
    assert found.score == 0.0


def test_a_choice_may_be_explained_at_length() -> None:
    """It is one of a few however many words stand around it."""
    asked = probe("red", match="choice", choices=("red", "blue"))

    assert judge_answer(asked, "red, because " + "lake " * 60).outcome == "PASS"


def test_false_abstentions_are_told_from_wrong_answers() -> None:
    """Not knowing what was planted is a miss of its own kind."""
    assert judge_answer(probe("Oslo"), "I don't know").abstained
    assert not judge_answer(probe("Oslo"), "Stavanger").abstained
    assert not judge_answer(probe("Oslo"), "I'm not sure, but Oslo").abstained


def test_locomo_f1_stands_beside_for_its_categories_only() -> None:
    """Other probes have none."""
    labelled = probe("red lamp", labels={"category": "single-hop"})

    assert judge_answer(labelled, "lamp").locomo_f1 == pytest.approx(2 / 3)
    assert judge_answer(probe("red lamp"), "lamp").locomo_f1 is None
    assert judge_answer(probe("red", labels={"category": "own"}), "red").locomo_f1 is None


@given(
    st.text(),
    st.lists(st.text(min_size=1), max_size=3),
    st.lists(st.text(min_size=1), max_size=3),
    st.sampled_from(["tokens", "exact", "any", "all", "number", "date", "choice", "locomo"]),
)
def test_any_answer_gets_a_word(
    answer: str, expect: list[str], old: list[str], match: Match
) -> None:
    """No texts break it, and a pass is a right answer with a whole score or enough of one."""
    asked = probe(*expect, match=match, choices=tuple(expect))
    found = judge_answer(asked, answer, old)

    assert found.outcome in OUTCOMES
    assert found.score is None or 0 <= found.score <= 1
    assert found.outcome not in {"PASS", "MIXED"} or found.right


@given(st.permutations(["Oslo", "Bergen", "Stavanger"]), st.sampled_from(["Oslo", "Tromsø", "no"]))
def test_the_order_of_expected_answers_does_not_matter(expect: list[str], answer: str) -> None:
    """Any of them will do, whichever stands first."""
    assert judge_answer(probe(*expect), answer) == judge_answer(probe(*sorted(expect)), answer)
