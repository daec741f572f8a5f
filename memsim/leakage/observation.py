"""What a viewer gets out of a memory: contexts, answers and tiers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One observation: what a viewer got out of a memory at one point.

    Attributes:
        surface: context, answer, tool, error, or the tier of a surface.
        parts: the same by section, for the trail of a leak: (section, text).
        failed: the read path raised: what is not seen then proves nothing.
        made: what in it the strategy wrote itself, as far as it says when: (section, turn, text).
        voices: a context message by message: (role, text, whether the strategy wrote it itself).
        claimed: the messages whose own words are said to stand in a context, each as often as it is
            said: (id, text of where they are said to stand).
        beneath: of an error, its notes and causes; searched, and not compared.
        raw: the bytes of a file.
    """

    surface: str
    viewer: str
    turn: int
    text: str
    parts: tuple[tuple[str, str], ...] = ()
    failed: bool = False
    made: tuple[tuple[str, int, str], ...] = ()
    voices: tuple[tuple[str, str, bool], ...] = ()
    claimed: tuple[tuple[str, str], ...] = ()
    beneath: str = ""
    raw: bytes = b""

    @property
    def searched(self) -> str:
        """Everything in which a secret is looked for."""
        return f"{self.text}\n{self.beneath}" if self.beneath else self.text

    def bytes(self) -> bytes:
        """Everything as canonical JSON, for comparing two worlds byte by byte."""
        seen = [self.surface, self.viewer, self.turn, self.text, self.parts, self.failed]
        return json.dumps(seen, ensure_ascii=True, separators=(",", ":")).encode()


def parts_of(context: Context | None) -> tuple[tuple[str, str], ...]:
    """A context by section: (section, text)."""
    if context is None:
        return ()
    return tuple(
        (section.layer, "\n".join(f"{m.role}: {m.text}" for m in section.messages))
        for section in context.sections
    )


def voices_of(context: Context | None) -> tuple[tuple[str, str, bool], ...]:
    """A context message by message: (role, text, whether the strategy wrote it itself)."""
    sections = context.sections if context else ()
    return tuple((m.role, m.text, m.composed) for s in sections for m in s.messages)


def claimed_in(context: Context | None) -> tuple[tuple[str, str], ...]:
    """The messages whose own words are said to stand in a context: (id, text of where)."""
    sections = context.sections if context else ()
    return tuple((i, m.text) for s in sections for m in s.messages for i in m.verbatim)
