"""Tables of a report as HTML: the same columns and cells as on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memsim.report.html.markup import Markup, Value, breakable, element, joined

if TYPE_CHECKING:
    from memsim.report.layout import Column
    from memsim.report.matrix import Table

Cell = Callable[[int, int, str], Markup | str]
"""What stands in a row's column, from its text."""


def table(
    made: Table,
    caption: str,
    *,
    tones: Sequence[str] = (),
    cell: Cell | None = None,
    heading: int = 1,
    name: str = "",
) -> Markup:
    """A table that can be sorted by any of its columns, and scrolls inside itself.

    Args:
        made: columns with their cells.
        caption: what it shows; also the name of the place that scrolls.
        tones: a class for each row; empty for none.
        cell: what to put into a cell instead of its text.
        heading: the column that names a row.
        name: the table's id.
    """
    columns = [column for column, _ in made]
    last = len(columns) - 1
    heads = [
        element("th", _head(c) or _unseen(i, last), scope="col", class_=_side(c))
        for i, c in enumerate(columns)
    ]
    show = cell or (lambda _row, _column, text: text)
    rows = zip(*(cells for _, cells in made), strict=True)
    body = [
        _row(i, [str(c) for c in cells], columns, show, tones[i] if tones else "", heading)
        for i, cells in enumerate(rows)
    ]
    inner = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *heads)),
        element("tbody", *body),
        class_="sortable",
        id=name or None,
    )
    return scrolling(inner, caption)


def scrolling(inside: Markup, label: str, **attributes: Value) -> Markup:
    """Something wide, which scrolls within the page and never makes it wider."""
    return element(
        "div", inside, class_="scroll", tabindex=0, role="region", aria_label=label, **attributes
    )


def _unseen(place: int, last: int) -> Markup:
    # What needs no word to the eye has one for the ear.
    word = {0: "row", last: "remark"}.get(place, "beats")
    return element("span", word, class_="unseen")


def _head(column: Column) -> str:
    return f"{column.group} {column.head}".strip()


def _side(column: Column) -> str | None:
    return "number" if column.right else None


def _row(
    place: int,
    cells: Sequence[str],
    columns: Sequence[Column],
    show: Cell,
    tone: str,
    heading: int,
) -> Markup:
    made = []
    for i, (column, text) in enumerate(zip(columns, cells, strict=True)):
        shown = show(place, i, text.strip())
        if i == heading:
            made.append(element("th", breakable(shown), scope="row"))
        else:
            made.append(element("td", shown, class_=_side(column)))
    return element("tr", joined(made), class_=tone or None)
