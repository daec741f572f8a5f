"""The rule that scores answers agrees with a judge on real answers, and refuses wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.answer_rule import Judged, agreement, kappa, let_through, made_wrong, read_judged

FIT = frozenset({0, 1, 2})
"""Conversations on which the rule was chosen; the others were held out."""

ROW = Judged(0, "2", "When did she sail?", "3 May 2023", "on 3 May 2023", right=True)


@pytest.fixture(scope="module")
def rows(data_dir: Path) -> list[Judged]:
    """Answers with the judgement of a model."""
    found = sorted((data_dir / "locomo").glob("judged-answers*.jsonl"))
    if not found:
        pytest.skip("needs_data: there are no judged answers")
    return read_judged(found[0])


def test_the_rule_agrees_with_the_judge(rows: list[Judged]) -> None:
    """On the conversations that it was chosen on, and no less on the others."""
    real = [row for row in rows if not row.made]
    assert agreement(real)["all"][1] >= 0.65
    for held in (False, True):
        part = [r for r in real if (r.conversation not in FIT) is held]
        _, agreed, accepted, _ = agreement(part)["all"]

        assert agreed >= 0.64
        assert accepted >= 0.85


def test_what_is_wrong_on_purpose_is_refused(rows: list[Judged]) -> None:
    """One in twenty may pass, of which some are right by chance."""
    wrong = [*(r for r in rows if r.made), *made_wrong(rows)]

    assert let_through(wrong)["all"][1] <= 0.05


def test_wrong_answers_are_made_of_right_ones() -> None:
    """Another question's answer, other numbers and a denial; the rule refuses all three."""
    other = ROW._replace(question="When did he sail?", gold="in June 2021")
    made = list(made_wrong([ROW, other]))

    assert {"of another question", "other numbers", "denied"} == {row.made for row in made}
    assert ("3 May 2023", "It is not 3 May 2023") in {(row.gold, row.answer) for row in made}
    assert (6, 0.0) == let_through(made)["all"]


def test_kappa_leaves_out_what_chance_agrees_on() -> None:
    """Full agreement is 1, that of chance is 0."""
    assert 1.0 == kappa([(True, True), (False, False)])
    assert 0.0 == kappa([(True, True), (True, False), (False, True), (False, False)])
    assert (1, 1.0, 1.0, 0.0) == agreement([ROW])["all"]
