"""Build HTML in which every text is escaped: no text of a run can become markup."""

from __future__ import annotations

import base64
import bz2
import html
import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from memsim.report.layout import Column, Table

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_JOINTS = re.compile("[_:=@/,.]+(?=[^_:=@/,.])")
_EMPTY = frozenset({"br", "col", "hr", "input", "meta"})

Value = str | int | bool | None


class Markup(str):
    """Text that is HTML already; any other text is escaped."""

    __slots__ = ()


def text(value: str) -> Markup:
    """Escape a text for HTML."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(legible(value), quote=True))


def legible(value: str) -> str:
    """Replace the characters that HTML does not allow."""
    return _CONTROLS.sub("\ufffd", value)


def joined(parts: Iterable[str], between: str = "") -> Markup:
    """Join parts into one markup, escaping texts."""
    return Markup(text(between).join(map(text, parts)))


def element(name: str, /, *children: str, **attributes: Value) -> Markup:
    """Build an HTML element.

    Args:
        name: of the tag.
        children: texts are escaped, markup is not.
        attributes: by name; `class_` is `class`, and `aria_label` is `aria-label`. True stands for
            an attribute without a value, False and None for none.
    """
    inside = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _EMPTY:
        return Markup(f"<{name}{inside}>")
    return Markup(f"<{name}{inside}>{joined(children)}</{name}>")


def _attribute(key: str, value: Value) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'


def breakable(name: str) -> Markup:
    """Allow line breaks in a name after its signs, and not within its words."""
    if isinstance(name, Markup):
        return name
    parts = _JOINTS.sub("\\g<0>\n", legible(name).replace("\n", " ")).split("\n")
    return joined(parts, Markup("<wbr>"))


def code(value: str) -> Markup:
    """Render a text as code."""
    return element("code", value)


def items(texts: Iterable[str], **attributes: Value) -> Markup:
    """Render a list; no texts give nothing."""
    found = [element("li", entry) for entry in texts]
    return element("ul", *found, **attributes) if found else Markup()


def folded(summary: str, *children: str, **attributes: Value) -> Markup:
    """Render a block that opens on a click."""
    return element("details", element("summary", summary), *children, **attributes)


def unmeasured(what: str, how: str = "") -> Markup:
    """Render a note that something was not measured, and the command that measures it."""
    more = [" ", code(how)] if how else []
    return element("p", element("strong", "Not measured."), " ", what, *more, class_="unmeasured")


# Blocks of JSON that no browser runs, packed where they are large.

PACKED = 16_384
"""Blocks of at least this many characters are packed."""

_BLOCK_NAME = re.compile(r"[a-z][a-z0-9-]*")
_PACKED_BLOCK = re.compile(r'(<script type="text/plain" id="data-[a-z0-9-]+">)([A-Za-z0-9+/=]+)<')
_UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def compact_json(value: object) -> str:
    """Encode a value as compact ASCII JSON."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def packed_size(text: str) -> int:
    """Estimate how many characters a block with this text takes in the page.

    zlib packs a little better or worse from one build to the next; what finds room must not depend
    on that, so the size is told from bzip2's, which is the same everywhere and mostly an eighth
    less.
    """
    if len(text) < PACKED:
        return len(text)
    return len(bz2.compress(text.encode(errors="backslashreplace"))) * 8 // 5


def unpacked(page: str) -> str:
    """Unpack every block of a page, so that two pages can be compared."""
    return _PACKED_BLOCK.sub(lambda found: f"{found[1]}{_inflated(found[2])}<", page)


def _inflated(text: str) -> str:
    return zlib.decompress(base64.b64decode(text)).decode()


def data_block(name: str, text: str) -> Markup:
    """Render a block of data that `Page.data(name)` reads.

    Raises:
        ValueError: the name is another.
    """
    if not _BLOCK_NAME.fullmatch(name):
        raise ValueError(f"a block of data cannot be called {name!r}")
    if len(text) < PACKED:
        # Within strings only: JSON has none of these signs elsewhere.
        inside = text.translate(_UNSAFE)
        return Markup(f'<script type="application/json" id="data-{name}">{inside}</script>\n')
    packed = base64.b64encode(zlib.compress(text.encode(errors="backslashreplace"), 9)).decode()
    return Markup(f'<script type="text/plain" id="data-{name}">{packed}</script>\n')


def data_blocks(data: Mapping[str, str]) -> Markup:
    """Render all blocks of data, in their order."""
    return Markup("".join(data_block(name, text) for name, text in data.items()))


CellContent = Callable[[int, int, str], Markup | str]
"""Makes the content of a cell from its row, its column and its text."""


def table(
    made: Table,
    caption: str,
    *,
    tones: Sequence[str] = (),
    cell: CellContent | None = None,
    heading: int = 1,
    name: str = "",
) -> Markup:
    """Render a table that sorts by any column and scrolls inside itself.

    Args:
        made: columns with their cells.
        caption: what it shows; also the name of the place that scrolls.
        tones: a class for each row; empty for none.
        cell: what to put into a cell instead of its text.
        heading: the column that names a row.
        name: the table's id.
    """
    columns = made.columns
    last = len(columns) - 1
    heads = [
        element(
            "th",
            c.name or _unseen_head(i, last),
            scope="col",
            class_=_column_side(c),
            title=c.meaning or None,
        )
        for i, c in enumerate(columns)
    ]
    show = cell or (lambda _row, _column, text: text)
    body = [
        _table_row(i, cells, columns, show, tones[i] if tones else "", heading)
        for i, (cells, _) in enumerate(made.rows)
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
    """Render wide content that scrolls and never widens the page."""
    return element(
        "div", inside, class_="scroll", tabindex=0, role="region", aria_label=label, **attributes
    )


def _unseen_head(place: int, last: int) -> Markup:
    # What needs no word to the eye has one for the ear.
    word = {0: "row", last: "remark"}.get(place, "beats")
    return element("span", word, class_="unseen")


def _column_side(column: Column) -> str | None:
    return "number" if column.right else None


def _table_row(
    place: int,
    cells: Sequence[str],
    columns: Sequence[Column],
    show: CellContent,
    tone: str,
    heading: int,
) -> Markup:
    made = []
    for i, (column, text) in enumerate(zip(columns, cells, strict=True)):
        shown = show(place, i, text.strip())
        if i == heading:
            made.append(element("th", breakable(shown), scope="row"))
        else:
            made.append(element("td", shown, class_=_column_side(column)))
    return element("tr", joined(made), class_=tone or None)
