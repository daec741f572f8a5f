"""Facts in almost the same words, of which one is asked for by another name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memsim.scenario.generator.event_log import SessionDays, Story, StoryEvent, StoryQuestion
from memsim.scenario.generator.random_draw import Draw

DEFAULTS = {"facts": 8, "distance": 80, "look_alikes": 6, "unknown": 1}
ABOUT = "Which of many facts in almost the same words is the one?"

_PLACES = ("at the pool", "in the cellar", "at the station", "in the gym", "at the harbour")
_LAST_PLACES = ("behind the stage", "on the ferry", "in the attic")
_ALL = (*_PLACES, *_LAST_PLACES)


_THINGS = ("bench", "stall", "shelf", "rack", "cabin", "mooring", "booth", "store", "desk", "safe")
_COLOURS = ("blue", "grey", "low", "wide", "old")
_PARTS = ("hinge", "handle", "shelf", "hook", "plate", "lamp", "mirror", "rail", "grille", "foot")
_CODES = ("stock", "colour", "repair", "order", "test")


def story(dials: Mapping[str, int], draw: Draw, _days: SessionDays) -> Story:
    """Every other code is told in the next message, and the others later by a nickname."""
    first: list[tuple[StoryEvent, ...]] = []
    later: list[StoryEvent] = []
    questions: list[StoryQuestion] = []
    for number in range(dials["facts"] * (1 + dials["look_alikes"])):
        owner, name, code = draw.person(), draw.word(), draw.code()
        place = _ALL[number % len(_ALL)]
        locker = f"The locker {place} that {owner} rents is the one we call {name}."
        owned = _event(locker, owner, "locker", name, 0)
        if number % 2:
            first.append((owned, _event(f"Its code is {code}.", name, "code", code, 0)))
        else:
            first.append((owned,))
            later.append(_event(f"The code of {name} is {code}.", name, "code", code, 1))
        if number < dials["facts"]:
            questions.append(_question(owner, place, code))
    questions += [
        _question(draw.person(), _ALL[number % len(_ALL)], None)
        for number in range(dials["unknown"])
    ]
    told = [event for events in draw.shuffled(first) for event in events]
    events = (*told, *draw.shuffled(later))
    return Story(events=events, questions=tuple(questions), sessions=2)


def beside(event: StoryEvent, number: int, draw: Draw) -> StoryEvent:
    """Another code of the same locker, or another thing that its owner rents there."""
    of, kind = number % len(_PARTS), number // len(_PARTS) % len(_CODES)
    if event.attribute == "code":
        attribute, value = f"{_CODES[kind]} code of the {_PARTS[of]}", draw.code()
        text = f"The {attribute} of {event.subject} is {value}."
    else:
        attribute, value = f"{_COLOURS[kind]} {_THINGS[of]}", draw.word()
        text = event.text.replace(event.value, value).replace("The locker", f"The {attribute}", 1)
    return replace(event, text=text, attribute=attribute, value=value)


def elsewhere(event: StoryEvent, draw: Draw) -> StoryEvent:
    """The same code of another locker, or somebody else who rents the same one."""
    if event.attribute == "code":
        name = draw.word()
        return replace(event, text=f"The code of {name} is {event.value}.", subject=name)
    owner = draw.person()
    return replace(event, text=event.text.replace(event.subject, owner), subject=owner)


def _event(text: str, subject: str, attribute: str, value: str, session: int) -> StoryEvent:
    return StoryEvent(
        kind="is", text=text, subject=subject, attribute=attribute, value=value, session=session
    )


def _question(owner: str, place: str, code: str | None) -> StoryQuestion:
    return StoryQuestion(
        kind="path",
        ask=f"What is the code of the locker {place} that {owner} rents?",
        subject=owner,
        path=("locker", "code"),
        expect=(code,) if code else (),
        ability="multi-session",
    )
