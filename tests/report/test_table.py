"""Whole tables, as a terminal shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from memsim.report import board_tables
from memsim.report.layout import ASCII, UNICODE, TextLine
from memsim.report.run_summary import Board, BoardRow, Estimate, Matrix, Slice


def shown(lines: Sequence[TextLine]) -> str:
    """The bare text, with a newline before the first line."""
    return "\n" + "\n".join(line.text for line in lines) + "\n"


def test_a_wide_terminal_shows_every_column(board: Board) -> None:
    """Ceiling, compared rows by recall, floor; then what it all means; then by scenario."""
    assert shown(board_tables.board_lines(board, UNICODE, 120)) == WIDE


def test_eighty_columns_keep_what_matters_most(board: Board) -> None:
    """What found no room is named."""
    assert shown(board_tables.board_lines(board, UNICODE, 80)) == MIDDLE


def test_what_a_question_took_has_a_column_where_it_is_known(board: Board) -> None:
    """The context that it was answered from, and the question itself."""
    rows = tuple(replace(row, question_mean=123.0) for row in board.rows)

    text = shown(board_tables.board_lines(replace(board, rows=rows), UNICODE, 140))

    assert " mean   peak  tokens  sent " in text
    assert 4 == text.count("  123  ")
    assert "query tokens: tokens sent for a question, itself included" in text


def test_recall_is_told_with_the_bound_by_the_reader(board: Board) -> None:
    """What the reader answers from the evidence alone, where `oracle` was played."""
    oracle = replace(
        board.rows[0], strategy="oracle", control="evidence", recall=Estimate(mean=0.5)
    )
    unscored = replace(oracle, recall=Estimate())

    for rows, said in [
        ((*board.rows, oracle), "bound by the reader: .50 recall from the evidence alone (oracle)"),
        ((*board.rows, unscored), "bound by the reader: unknown; add -s oracle"),
    ]:
        assert said in board_tables.legend(replace(board, rows=rows), UNICODE)


def test_ascii_needs_no_other_sign(board: Board) -> None:
    """Everything but the letters has a plain stand-in."""
    text = shown(board_tables.board_lines(board, ASCII, 120))

    assert text.isascii()
    assert ".91  [.87 .94]  ^b" in text
    assert "\nx b  sliding_window" in text


@pytest.mark.parametrize("width", [1, 2, 20, 40, 79, 81, 1000])
def test_no_width_loses_the_strategy_or_its_recall(board: Board, width: int) -> None:
    """Columns give way; the two that make it a comparison never do."""
    text = shown(board_tables.board_lines(board, UNICODE, width))

    assert "tiered" in text
    assert ".91" in text


def test_controls_are_dim_and_a_broken_bound_is_bad(board: Board) -> None:
    """Tone says what letters cannot: marks of a scale, and what failed."""
    lines = board_tables.board_lines(board, UNICODE, 120)

    tones = {line.text.split()[1]: line.tone for line in lines[4:8]}

    assert tones == {
        "full_context": "dim",
        "tiered": "plain",
        "b": "bad",
        "no_memory": "dim",
    } or [line.tone for line in lines[4:8]] == ["dim", "plain", "bad", "dim"]


def test_n_has_a_column_where_it_differs(board: Board) -> None:
    """A row with unscored probes does not borrow the others' n."""
    row = replace(board.rows[2], recall=Estimate(mean=0.6, n=37), unscored=3)
    rows = (*board.rows[:2], row, board.rows[3])

    text = shown(board_tables.board_lines(replace(board, rows=rows), UNICODE, 160))

    assert "of n answerable probes" in text
    assert "  37  " in text
    assert "unscored" in text


def test_a_ceiling_that_was_cut_says_so(board: Board) -> None:
    """Where all that was said does not fit, the most that fits is no ceiling."""
    rows = (replace(board.rows[0], lost=9), *board.rows[1:])

    text = shown(board_tables.board_lines(replace(board, rows=rows), UNICODE, 120))

    assert "ceiling*" in text
    assert "* all that was said did not fit into the budget" in text


def test_leaks_are_shown_where_something_private_was_planted(board: Board) -> None:
    """Nothing planted is no column, and n/a is not zero."""
    assert "leaks" not in shown(board_tables.board_lines(board, UNICODE, 160))
    rows = (replace(board.rows[0], leaks=3), *board.rows[1:])

    text = shown(board_tables.board_lines(replace(board, rows=rows), UNICODE, 160))

    assert "leaks" in text
    assert "n/a" in text


def test_a_dataset_shows_its_ranking_with_n(board: Board) -> None:
    """Recall of evidence @k, MRR and nDCG, and over how many questions."""
    ranking = {"R@5": 0.4601, "R@10": 0.5409, "R@25": 0.6, "R@50": 0.7, "MRR": 0.3704}
    rows = (board.rows[0], replace(board.rows[1], ranking=ranking, ranked=997), *board.rows[2:])
    locomo = replace(board, dataset="locomo", rows=rows, matrices=())

    text = shown(board_tables.board_lines(locomo, UNICODE, 160))

    assert "locomo · budget 4k · 44 probes in 2 conversations" in text
    assert "conversations resampled" in text
    assert RANKING in text


def test_a_budget_sweep_ends_with_recall_by_budget(board: Board) -> None:
    """One line for each strategy, one column for each budget."""
    small = replace(
        board, budget=1000, rows=tuple(replace(r, recall=Estimate()) for r in board.rows[:2])
    )

    assert shown(board_tables.sweep_lines([board, small], 80)) == SWEEP
    assert board_tables.sweep_lines([board], 80) == []


def test_a_matrix_names_its_columns_by_letter_where_names_find_no_room(board: Board) -> None:
    """Never a column less than there are strategies."""
    text = shown(board_tables.matrix_lines(board.matrices[0], board, UNICODE, 60))

    assert text == NARROW_MATRIX


def test_of_many_slices_the_telling_ones_are_shown() -> None:
    """Scenarios in which all do alike say the least; how many are left out is said."""
    slices = [Slice(name=f"s{n}", n=1, recall=(1.0, 1.0)) for n in range(30)]
    slices[29] = Slice(name="s29", n=1, recall=(1.0, 0.0))

    kept, left_out = board_tables.shown_slices(slices, most=3)

    assert [s.name for s in kept] == ["s0", "s1", "s29"]
    assert left_out == 27


def test_a_matrix_that_is_cut_says_so(board: Board) -> None:
    """The report has the rest."""
    slices = tuple(Slice(name=f"s{n}", n=1, recall=(None,) * 4) for n in range(30))
    many = Matrix(by="scenario", slices=slices)

    text = shown(board_tables.matrix_lines(many, board, UNICODE, 60))

    assert "… 6 more, with less between the strategies, in report.md" in text


def test_a_row_without_numbers_shows_na_and_never_zero(board: Board) -> None:
    """A case that could not be scored has no recall."""
    empty = BoardRow(letter="c", strategy="broken", budget=4096, unscored=40)

    text = shown(board_tables.board_lines(replace(board, rows=(empty,), matrices=()), UNICODE, 160))

    (line,) = [line for line in text.splitlines() if "broken" in line]
    assert line.split()[2] == "n/a"
    assert ".00" not in line


WIDE = """
scenarios · budget 4k · 44 probes in 2 scenarios · 40 answerable

                                         answer in  evidence        context       not
     strategy        recall  95%           context  recall  abst.   mean   peak  sent  comp.
  ·  full_context       .98  [.96 .99]         .99    1.00   1.00  30.5k  60.5k     0      0  ceiling
  a  tiered             .91  [.87 .94]  ᵇ      .95     .90    .75   3.5k   3.8k     4      9
✗ b  sliding_window     .62  [.55 .68]         .64     .60   1.00   3.8k   3.9k    15      0
  ·  no_memory          .05  [.03 .08]         .00     n/a   1.00    200    300    38      0  floor

  recall: answered rightly from the context or the evidence in it, of the 40 answerable probes; 95%: probes resampled
    within scenarios
  bound by the reader: unknown; add -s oracle
  ᵇ beats row b (paired by probe, Holm, p ≤ .05)
  answer in context: probes whose answer stood in what was sent; evidence recall: share of the evidence that was sent,
    40 probes
  abst.: rightly said to be unknown, of 4; context mean: tokens sent, on average
  context peak: tokens sent, at most; not sent: evidence that the context of its question lacked
  comp.: compactions

recall by scenario
  scenario         n  full_context  tiered  sliding_window  no_memory
  support_desk    30          1.00     .97             .70        .07
  coding_session  10           .92     .73             .38        n/a
"""  # noqa: E501 - as wide as a terminal has it
MIDDLE = """
scenarios · budget 4k · 44 probes in 2 scenarios · 40 answerable

                                         answer in  evidence  context  not
     strategy        recall  95%           context  recall   mean  sent
  ·  full_context       .98  [.96 .99]         .99    1.00  30.5k     0  ceiling
  a  tiered             .91  [.87 .94]  ᵇ      .95     .90   3.5k     4
✗ b  sliding_window     .62  [.55 .68]         .64     .60   3.8k    15
  ·  no_memory          .05  [.03 .08]         .00     n/a    200    38  floor

  recall: answered rightly from the context or the evidence in it, of the 40
    answerable probes; 95%: probes resampled within scenarios
  bound by the reader: unknown; add -s oracle
  ᵇ beats row b (paired by probe, Holm, p ≤ .05)
  answer in context: probes whose answer stood in what was sent; evidence
    recall: share of the evidence that was sent, 40 probes
  context mean: tokens sent, on average; not sent: evidence that the context of
    its question lacked
  no room for: abst., context peak, comp. (a wider terminal or --format md has
    them)

recall by scenario
  scenario         n  full_context  tiered  sliding_window  no_memory
  support_desk    30          1.00     .97             .70        .07
  coding_session  10           .92     .73             .38        n/a
"""
RANKING = """
evidence recall of the ranking
     strategy  R@5  R@10  R@25  R@50  MRR    n
  a  tiered    .46   .54   .60   .70  .37  997
"""
SWEEP = """
recall by budget
  strategy        1000   4k
  full_context     n/a  .98
  tiered           n/a  .91
  sliding_window        .62
  no_memory             .05

"""
NARROW_MATRIX = """
recall by scenario
  scenario         n  ceil.    a    b  floor
  support_desk    30   1.00  .97  .70    .07
  coding_session  10    .92  .73  .38    n/a
"""
