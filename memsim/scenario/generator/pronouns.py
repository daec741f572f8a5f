"""Tell of things by a pronoun: the statement before in the same session says which is meant.

    There is something to say about Rosa's spare key.
    I have put it into the Domiax drawer.

To the solver a pronoun is one more name of the thing, which no other statement has. What says the
thing is evidence as well: a replay without it does not know what the pronoun stands for.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from dataclasses import replace

from memsim.scenario.generator.event_log import Story, StoryEvent

_MENTIONED = (
    "There is something to say about {s}.",
    "A word about {s}, before it slips my mind.",
    "You should know one thing about {s}.",
    "Let me come to {s}.",
)


def with_pronouns(story: Story, percent: int, things: Collection[str], seed: str) -> Story:
    """The same story, in which so many of a hundred values are told of `it`.

    `things` are the attributes whose statements are about a thing.
    """
    if not percent:
        return story
    chance = random.Random(seed)
    # Drawn for every statement, so that a higher setting adds statements to those of a lower one.
    drawn = [(chance.randrange(100), chance.choice(_MENTIONED)) for _ in story.events]
    events = (
        told
        for event, (at, mentioned) in zip(story.events, drawn, strict=True)
        for told in (
            _pointed(event, mentioned) if at < percent and _may_point(event, things) else (event,)
        )
    )
    return replace(story, events=tuple(_numbered(events)))


def _may_point(event: StoryEvent, things: Collection[str]) -> bool:
    return event.kind == "is" and event.attribute in things


def _pointed(event: StoryEvent, mentioned: str) -> tuple[StoryEvent, StoryEvent]:
    """What says which thing is meant, and the statement without its name."""
    mention = StoryEvent(
        kind="names",
        text=mentioned.format(s=event.subject),
        subject=event.subject,
        attribute="it",
        value="it",
        said=event.subject,
        session=event.session,
    )
    first = event.text.startswith(event.subject)
    text = event.text.replace(event.subject, "It" if first else "it")
    return mention, replace(event, text=text, subject="it")


def _numbered(events: Iterator[StoryEvent]) -> Iterator[StoryEvent]:
    """Tell each `it` from the others."""
    count = 0
    for event in events:
        if event.attribute == "it":
            count += 1
            yield replace(event, value=f"it {count}")
        elif event.subject == "it":
            yield replace(event, subject=f"it {count}")
        else:
            yield event
