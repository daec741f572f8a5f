"""What a conversation is about: names and identifiers, read by rule from what was said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memsim.memory.state import JSON

MOST = 20
"""Entities that an episode keeps, those mentioned last."""

_CAPITAL = "".join(chr(code) for code in range(0x530) if chr(code).isupper())
"""Of Latin, Greek, Cyrillic and Armenian."""
_NAME = re.compile(
    rf"(?<=[\w,;:)'\u2019] )[{_CAPITAL}][\w\u2019'-]+"
    rf"(?: (?:(?:[{_CAPITAL}]|\d+[{_CAPITAL}])[\w\u2019'-]*))*"
)
_ID = re.compile(r"\b(?=[\w./-]*\d)(?=[\w./-]*[A-Za-z])[A-Za-z0-9](?:[\w./-]{0,38}\w)\b")
_UNITS = re.compile(r"\d+(?:[.,]\d+)*[a-z]{1,3}")
_PRONOUNS = frozenset({"I", "I'm", "I'd", "I'll", "I've", "OK", "Mr", "Mrs", "Dr"})


def entities_in(text: str) -> Iterator[dict[str, JSON]]:
    """The entities that a text mentions, in order: type, id and name of each.

    A name is one or more words with a capital that do not begin a sentence; an identifier holds
    digits and letters.
    """
    found: dict[int, tuple[str, str]] = {}
    for match in _ID.finditer(text):
        if not _UNITS.fullmatch(match[0]):
            found[match.start()] = ("identifier", match[0])
    for match in _NAME.finditer(text):
        if match[0] not in _PRONOUNS and match.start() not in found:
            found[match.start()] = ("name", match[0])
    for _, (kind, name) in sorted(found.items()):
        yield {"type": kind, "id": re.sub(r"\W+", "-", name).strip("-").casefold(), "name": name}
