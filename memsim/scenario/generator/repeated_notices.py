"""Let a machine send a notice again and again, word for word, around what is told in a session.

    [Monitor] The Trikoland pump: pressure is within its limits, ...

It says the same all the time and has no part in any answer, but it fills a window, and whatever
quotes all that was said.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from memsim.scenario.generator.event_log import Story, StoryEvent
from memsim.scenario.generator.random_draw import Draw

_NOTICES = (
    "[Monitor] The {v} pump: pressure is within its limits, the valves are open, {e}",
    "[Monitor] The {v} freezer: the temperature is steady, the fan runs at half of its speed, {e}",
    "[Monitor] The {v} greenhouse: the soil is moist, the roof is open, the lamps are off, {e}",
)
_END = "no alarm is pending, and the next report follows in ten minutes."


def with_notices(story: Story, count: int, draw: Draw) -> Story:
    """The same story, with so many notices a session: half before what is told, half after."""
    if not count:
        return story
    text = draw.pick(_NOTICES).format(v=draw.word(), e=_END)
    events: list[StoryEvent] = []
    for session, told in groupby(story.events, key=lambda event: event.session):
        notice = StoryEvent(
            kind="unreal",
            text=text,
            subject="",
            attribute="talk",
            value="",
            session=session,
            by="notification",
        )
        events += [*[notice] * (count // 2), *told, *[notice] * (count - count // 2)]
    return replace(story, events=tuple(events))
