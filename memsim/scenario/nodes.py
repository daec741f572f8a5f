"""What a script file holds before it means anything: text, lists, mappings, and their lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Mapping as AbstractMapping
from itertools import islice
from typing import NamedTuple, Union

from memsim.errors import ScenarioError, nearest

MAX_DEPTH = 50
"""Levels of nesting; a real script has about eight."""

NULLS = frozenset({"", "~", "null", "Null", "NULL"})

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHOWN = 48
_NAME = 100
_CANDIDATES = 1_000


class Scalar(NamedTuple):
    """One piece of text, exactly as written.

    Attributes:
        plain: written without quotes, so that it may stand for a number, `true` or nothing.
    """

    text: str
    line: int | None
    plain: bool = False

    @property
    def null(self) -> bool:
        """Nothing was written, or a word that means nothing."""
        return self.plain and self.text in NULLS


class Listing(NamedTuple):
    """Items in order."""

    items: tuple[Node, ...]
    line: int | None


class Mapping(NamedTuple):
    """Keys and values in the order written, with the line of each key."""

    entries: AbstractMapping[str, Node]
    lines: AbstractMapping[str, int | None]
    line: int | None

    def line_of(self, key: str) -> int | None:
        """The line of a key, or of the mapping where it has no such key."""
        return self.lines.get(key, self.line)


Node = Union[Scalar, Listing, Mapping]  # noqa: UP007 - the classes above name it before it exists


def scalar(text: str, line: int | None, *, plain: bool = False) -> Scalar:
    """A scalar whose text can be printed and stored.

    Raises:
        ScenarioError: it holds a control character or half of a surrogate pair.
    """
    if not text.isprintable():
        found = _CONTROL.search(text) or _SURROGATE.search(text)
        if found:
            kind = "control character" if found[0] < "\x80" else "surrogate"
            raise ScenarioError(f"text holds the {kind} U+{ord(found[0]):04X}", line=line)
    return Scalar(text, line, plain)


def near(name: str, known: Iterable[str]) -> str | None:
    """The known name that was most likely meant; not sought for a page, nor among thousands."""
    return nearest(name, islice(known, _CANDIDATES)) if len(name) <= _NAME else None


def kind_of(node: Node) -> str:
    """What a node is, in words for a message."""
    if isinstance(node, Scalar):
        return "nothing" if node.null else f"{shown(node.text)}"
    return "a list" if isinstance(node, Listing) else "a mapping"


def shown(text: str) -> str:
    """A text quoted for a one-line message, shortened in its middle when long."""
    if len(text) > _SHOWN:
        text = f"{text[: _SHOWN - 12]}…{text[-11:]}"
    return ascii(text) if not text.isprintable() else repr(text)
