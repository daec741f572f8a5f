"""What generated talk can be about: sentence patterns and what fills them, a module per domain.

A pattern's `{slot}` is filled from the domain's own slots, or with something made up on the spot:
`{name}` (a person), `{code}` (an identifier), `{few}` (a small number) and `{many}` (a large one).
Sentences tell of made-up people, never of the speaker, so that no generated line answers what a
probe asks about the user. `listed` makes the fillings of a slot from a text with commas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DOMAINS = ("coding", "cooking", "health", "office", "planning", "smalltalk", "support", "travel")
"""The domains that a script may name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """The patterns of one domain."""

    user: tuple[str, ...]
    assistant: tuple[str, ...]
    asides: tuple[str, ...] = ()
    slots: Mapping[str, tuple[str, ...]]


def listed(text: str) -> tuple[str, ...]:
    """The words or phrases of a text, separated by commas."""
    return tuple(text.split(", "))
