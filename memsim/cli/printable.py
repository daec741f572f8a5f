"""Texts of users' own as a terminal may be given them: it obeys nothing that stands in them."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.memory.state import JSON

JOINER = "\u200d"
"""Holds emoji together, and does nothing else to a terminal."""


def printable(text: object) -> str:
    """A text on one line, with nothing in it that a terminal obeys or that reorders its letters."""
    return "".join(c if _harmless(c) else _escaped(c) for c in str(text))


def calm(text: str) -> str:
    """The same for a text of several lines, which stay lines."""
    return "\n".join(line if _plain(line) else printable(line) for line in text.split("\n"))


def safe_json(value: JSON) -> str:
    """Canonical JSON, in which what a terminal would obey is written as escapes."""
    from memsim.memory.canonical import canonical

    return "".join(c if _harmless(c) else json.dumps(c)[1:-1] for c in canonical(value))


def _plain(line: str) -> bool:
    return line.isascii() and line.isprintable()


def _harmless(character: str) -> bool:
    if " " <= character <= "~" or character == JOINER:
        return True
    kind = unicodedata.category(character)
    return kind[0] != "C" and kind not in {"Zl", "Zp"}


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
