"""Makes HTML of which every text is escaped: nothing from a run can become markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

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
