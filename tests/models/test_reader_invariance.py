"""However a question is written, the reader answers the same: case, punctuation, politeness."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.comparison import written
from benchmarks.reader_checks import CHANGES, MOST_ASTRAY, MOST_FLIPS, astray, flips, questions
from memsim.scenario import load_scenarios
from memsim.scenario.datasets.locomo import load_locomo
from tests.models.test_reader import FOUND, ask, question_of, told

ROOT = Path(__file__).resolve().parents[2]


def test_a_question_may_be_written_otherwise(subtests: pytest.Subtests) -> None:
    """Every fact of the reader's table is found however it is asked for."""
    for name, change in CHANGES.items():
        with subtests.test(change=name):
            for case in FOUND:
                context, asked = told(case["said"]), question_of(case)

                assert ask(asked, *context) == ask(change(asked), *context)


def test_names_need_no_capital() -> None:
    """Who is a person is told by the context: only what she said about herself answers."""
    context = told(["memory: - Ane: I play the cello.", "memory: - Berit: I play the harp."])

    assert "cello" in ask("what does ane play", *context)
    assert "harp" in ask("WHAT DOES BERIT PLAY?", *context)


def test_lists_may_stand_in_another_order() -> None:
    """Lines that name their day, and things that a question names."""
    teas = ((1, "mint"), (2, "assam"), (3, "oolong"))
    lines = [f"[2023-0{n}-01] user: My favourite tea is {tea}." for n, tea in teas]
    for order in (lines, lines[::-1], [*lines[1:], lines[0]]):
        context = told(["memory: " + "\n".join(order)])

        assert "oolong" in ask("What is my favourite tea?", *context)
    for asked in (
        "Is it mint, assam or oolong that I drink?",
        "Is it oolong, mint or assam that I drink?",
    ):
        assert "oolong" in ask(asked, *told(["I drink oolong.", "I like to walk."]))


def test_real_questions_may_be_asked_otherwise(data_dir: Path) -> None:
    """Of LoCoMo's and the scenarios' questions, hardly any is answered otherwise."""
    scripts = list(questions(load_scenarios(ROOT / "scenarios")))[::8]
    real = list(questions(load_locomo(data_dir / "locomo")))[::120]
    for asked in (scripts, real):
        n, found = flips(asked)

        assert max(found.values()) <= MOST_FLIPS * 2 * n, found


def test_more_context_costs_few_answers() -> None:
    """Of the written scenarios' questions that are answered from their evidence alone.

    In the generated ones nearly every message is told to lead astray.
    """
    told_in_all = astray(questions(ref.load() for ref in written()))

    assert told_in_all["astray"] <= 0.09 * told_in_all["asked"]
    assert told_in_all["astray twice"] <= MOST_ASTRAY * told_in_all["asked"]
    assert told_in_all["right among all"] >= 0.9 * told_in_all["asked"]
