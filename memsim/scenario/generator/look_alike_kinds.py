"""Add look-alikes of two more kinds: of another attribute, and with the same value elsewhere.

Look-alikes of another entity are told by the families themselves. These two are told of each
statement that an answer needs, in the same session. They are events like any other, so that the
solver knows what follows from them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import NamedTuple

from memsim.scenario.generator.event_log import Story, StoryEvent
from memsim.scenario.generator.random_draw import Draw
from memsim.scenario.generator.solver import solved


class LookAlikes(NamedTuple):
    """How many look-alikes of each kind a fact has."""

    entity: int
    attribute: int
    value: int

    @classmethod
    def of(cls, kind: str | None, count: int) -> LookAlikes:
        """So many of a kind; `mixed` takes the kinds in turn, and None is `entity`."""
        if kind == "mixed":
            return cls(*((count + 2 - place) // 3 for place in range(3)))
        return cls(**{**dict.fromkeys(cls._fields, 0), kind or "entity": count})


def with_look_alikes(story: Story, family: ModuleType, wanted: LookAlikes, draw: Draw) -> Story:
    """The same story, with look-alikes of the statements that its answers need."""
    if not (wanted.attribute or wanted.value):
        return story
    beside: Callable[[StoryEvent, int, Draw], StoryEvent] = family.beside
    elsewhere: Callable[[StoryEvent, Draw], StoryEvent] = getattr(family, "elsewhere", _of_another)
    needed = sorted({place for found in solved(story) for place in found.evidence})
    more: list[StoryEvent] = []
    for event in (story.events[place] for place in needed):
        more += [beside(event, number, draw) for number in range(wanted.attribute)]
        more += [elsewhere(event, draw) for _ in range(wanted.value)]
    # Behind the session's other statements: some of those belong together.
    events = sorted([*story.events, *draw.shuffled(more)], key=lambda event: event.session)
    return replace(story, events=tuple(events))


def _of_another(event: StoryEvent, draw: Draw) -> StoryEvent:
    """The same statement about somebody or something else."""
    name = draw.like(event.subject)
    return replace(event, text=event.text.replace(event.subject, name), subject=name)
