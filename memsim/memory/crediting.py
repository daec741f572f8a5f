"""Who is credited with what stands in a context twice: the message itself, not what quotes it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.context import Section
    from memsim.message import Message


def credited_once(section: Section, other: Section) -> Section:
    """A section whose composed messages quote nothing that another section holds verbatim.

    What they quoted and that one holds is told as what they were made from.

    Args:
        section: whose messages give way.
        other: whose messages count.
    """
    there = frozenset(other.verbatim)
    messages = tuple(_without(m, there) if m.composed else m for m in section.messages)
    return replace(section, messages=messages)


def _without(message: Message, there: frozenset[str]) -> Message:
    twice = tuple(i for i in message.quotes if i in there)
    return replace(
        message,
        quotes=tuple(i for i in message.quotes if i not in there),
        derived_from=tuple(dict.fromkeys((*message.derived_from, *twice))),
    )
