"""Tell statements in two messages, with something that is said by others between.

    I have put Rosa's spare key into the ...
    Postman: There is a parcel for the neighbours.
    ... Domiax drawer.

To the solver the message that begins gives the thing one more name, which only the message that
ends has. Both are evidence: a replay without the first does not know what the second is about.
What is said between belongs to no thing. A statement that has its value before its thing is told
whole.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from memsim.scenario.generator.event_log import Interrupter, Story, StoryEvent

_OPEN = "..."

_SAID: tuple[tuple[Interrupter, str], ...] = (
    ("speaker", "Postman: There is a parcel for the neighbours."),
    ("speaker", "Waiter: The soup of today is lentil, and the fish is out."),
    ("speaker", "Caretaker: I have to get past you with the ladder."),
    ("notification", "[Notification] The battery is low."),
    ("notification", "[Notification] A call was missed, and nobody left a message."),
    ("notification", "[Reminder] The laundry is done."),
    ("assistant", "One moment, the connection was weak. Please go on."),
    ("assistant", "By the way, an update of this program is ready. Please go on."),
    ("tool", "Rain until noon, and then clear."),
    ("tool", "The next tram leaves in a few minutes."),
)


def with_interruptions(story: Story, percent: int, seed: str) -> Story:
    """The same story, in which so many of a hundred statements are interrupted."""
    if not percent:
        return story
    # Each statement draws on its own, so that a higher setting adds to those of a lower one.
    drawn = [random.Random(f"{seed}:{place}") for place in range(len(story.events))]
    events = (
        told
        for number, (event, chance) in enumerate(zip(story.events, drawn, strict=True))
        for told in (
            _interrupted(event, number, chance) if chance.randrange(100) < percent else (event,)
        )
    )
    return replace(story, events=tuple(events))


def _interrupted(event: StoryEvent, number: int, chance: random.Random) -> Iterator[StoryEvent]:
    """What begins, what is said between, and what ends; or the statement as it is."""
    at = event.text.find(event.said or event.value)
    begins, ends = event.text[: max(0, at)].rstrip(), event.text[max(0, at) :]
    shown = _shown(event.subject, begins)
    if event.kind in {"names", "restores"} or not shown or _shown(event.subject, ends):
        yield event
        return
    name = f"{_OPEN} {number}"
    yield replace(
        event,
        kind="unreal" if event.kind == "unreal" else "names",
        text=f"{begins} {_OPEN}",
        attribute="name",
        value=name,
        said=shown,
        day=None,
        part=True,
    )
    by, text = chance.choice(_SAID)
    yield StoryEvent(
        kind="unreal",
        text=text,
        subject="",
        attribute="talk",
        value="",
        session=event.session,
        by=by,
    )
    yield replace(event, text=f"{_OPEN} {ends}", subject=name, part=True)


def _shown(subject: str, text: str) -> str:
    """The words of a thing that stand in a text; a typo may stand in the later ones."""
    words = subject.split()
    if words[0] == "it":
        said = text.replace(".", " ").replace(",", " ").split()
        return next((word for word in ("it", "It") if word in said), "")
    names = (" ".join(words[:count]) for count in range(len(words), 0, -1))
    return next((name for name in names if name in text), "")
