"""Makes HTML of which every text is escaped: nothing from a run can become markup."""

from __future__ import annotations

import base64
import bz2
import html
import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.report.layout import Column, Table


_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_JOINTS = re.compile("[_:=@/,.]+(?=[^_:=@/,.])")
_EMPTY = frozenset({"br", "col", "hr", "input", "meta"})

Value = str | int | bool | None


class Markup(str):
    """Text that is HTML already; any other text is escaped wherever it is put."""

    __slots__ = ()


def text(value: str) -> Markup:
    """A text as it reads, with nothing in it that means anything to a browser."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(legible(value), quote=True))


def legible(value: str) -> str:
    """A text with a sign of replacement for what has no place in a page."""
    return _CONTROLS.sub("\ufffd", value)


def joined(parts: Iterable[str], between: str = "") -> Markup:
    """Parts in a row."""
    return Markup(text(between).join(map(text, parts)))


def element(name: str, /, *children: str, **attributes: Value) -> Markup:
    """An element.

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
    """A name that may go on in the next line after a sign, and not within a word of it."""
    if isinstance(name, Markup):
        return name
    parts = _JOINTS.sub("\\g<0>\n", legible(name).replace("\n", " ")).split("\n")
    return joined(parts, Markup("<wbr>"))


def code(value: str) -> Markup:
    """A text as code."""
    return element("code", value)


def items(texts: Iterable[str], **attributes: Value) -> Markup:
    """A list; nothing for no texts."""
    found = [element("li", entry) for entry in texts]
    return element("ul", *found, **attributes) if found else Markup()


def folded(summary: str, *children: str, **attributes: Value) -> Markup:
    """Something that opens when it is asked for."""
    return element("details", element("summary", summary), *children, **attributes)


def unmeasured(what: str, how: str = "") -> Markup:
    """Says plainly that something was not measured, and the command that would."""
    more = [" ", code(how)] if how else []
    return element("p", element("strong", "Not measured."), " ", what, *more, class_="unmeasured")


# Puts data into the page as blocks of JSON that nothing runs, packed where they are large.


PACKED = 16_384
"""Characters from which on a block is packed."""

_BLOCK_NAME = re.compile(r"[a-z][a-z0-9-]*")
_PACKED_BLOCK = re.compile(r'(<script type="text/plain" id="data-[a-z0-9-]+">)([A-Za-z0-9+/=]+)<')
_UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def compact_json(value: object) -> str:
    """A value as JSON of ASCII alone."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def packed_size(text: str) -> int:
    """Characters that a block with a text takes up in the page, more or less.

    zlib packs a little better or worse from one build to the next; what finds room must not depend
    on that, so the size is told from bzip2's, which is the same everywhere and mostly an eighth
    less.
    """
    if len(text) < PACKED:
        return len(text)
    return len(bz2.compress(text.encode(errors="backslashreplace"))) * 8 // 5


def unpacked(page: str) -> str:
    """A page with every packed block as the text that it stands for: what two pages have alike."""
    return _PACKED_BLOCK.sub(lambda found: f"{found[1]}{_inflated(found[2])}<", page)


def _inflated(text: str) -> str:
    return zlib.decompress(base64.b64decode(text)).decode()


def data_block(name: str, text: str) -> Markup:
    """A block that `Page.data(name)` reads.

    Args:
        name: a letter, then letters, digits and dashes.
        text: JSON.

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
    """All blocks, in their order."""
    return Markup("".join(data_block(name, text) for name, text in data.items()))


CellContent = Callable[[int, int, str], Markup | str]
"""What stands in a row's column, from its text."""


def table(
    made: Table,
    caption: str,
    *,
    tones: Sequence[str] = (),
    cell: CellContent | None = None,
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
    """Something wide, which scrolls within the page and never makes it wider."""
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
