"""Columns that fit, whatever the width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memsim.report.layout import Column, Table, Tone, cells_wide, clip, pad, terminal_table

COLUMNS = [
    Column("name", right=False),
    Column("n", rank=1),
    Column("mean", group="size", rank=2),
    Column("peak", group="size", rank=3),
]
ROWS: list[tuple[tuple[str, ...], Tone]] = [
    (("one", "1", "10", "12"), ""),
    (("three", "300", "7", "9"), ""),
]


def texts(width: int) -> list[str]:
    """The table as bare lines."""
    return [line.text for line in terminal_table(Table(COLUMNS, ROWS), width, indent="").lines]


def test_texts_stand_left_and_numbers_right_under_their_heads() -> None:
    """A group's word stands over its first column."""
    assert texts(80) == [
        "            size",
        "name     n  mean  peak",
        "one      1    10    12",
        "three  300     7     9",
    ]


def test_the_highest_rank_gives_way_first() -> None:
    """Rank 0 stays even where it does not fit."""
    assert texts(16)[0] == "            size"
    assert texts(10)[0] == "name     n"
    assert texts(1)[0] == "name"


def test_what_found_no_room_is_named_in_full() -> None:
    """So that a reader knows what to widen the terminal for."""
    laid = terminal_table(Table(COLUMNS, ROWS), 12)

    assert laid.hidden == ("size mean", "size peak")


def test_a_wide_character_takes_two_cells() -> None:
    """Columns line up whatever script a name is in."""
    assert cells_wide("日本") == 4
    assert cells_wide("e\u0301") == 1
    assert pad("日", 4) == "日  "


def test_a_clipped_column_is_cut_before_any_other_goes() -> None:
    """A long description must not cost a number."""
    columns = [Column("n"), Column("about", right=False, rank=1, clip=True)]
    rows: list[tuple[tuple[str, ...], Tone]] = [(("1", "x" * 100), "")]

    laid = terminal_table(Table(columns, rows), 40, indent="")

    assert laid.lines[1].text == "1  " + "x" * 35 + ".."
    assert laid.hidden == ()


def test_clipping_never_splits_a_wide_character() -> None:
    """The cut text is at most as wide as asked."""
    assert clip("日本語日本語", 7) == "日本.."


@given(st.integers(min_value=0, max_value=60), st.lists(st.text(max_size=9), max_size=4))
def test_no_width_and_no_text_is_too_strange(width: int, names: list[str]) -> None:
    """Whatever is printed on whatever terminal, there is a line for each row."""
    rows: list[tuple[tuple[str, ...], Tone]] = [((name, "1", "2", "3"), "") for name in names]

    laid = terminal_table(Table(COLUMNS, rows), width)

    heads = 2 if "size mean" not in laid.hidden else 1
    assert len(laid.lines) == len(rows) + heads
