"""Statements that share no word with the question that they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from memsim.scenario.generator.event_log import SessionDays, Story, StoryEvent, StoryQuestion
from memsim.scenario.generator.random_draw import Draw
from memsim.scenario.script import IN_CONTEXT

DEFAULTS = {"facts": 10, "distance": 80, "look_alikes": 3, "unknown": 1}
MOST = {"facts": 10, "unknown": 2}
ABOUT = "What was said without the words of the question?"


class Hint(NamedTuple):
    """A statement, the question that it answers, and statements of the same form that do not.

    `also` is something else that the user says of themselves.
    """

    told: str
    ask: str
    beside: str
    also: str


HINTS = (
    Hint(
        "My throat swells up within minutes when there is {v} in a cake.",
        "Which food am I allergic to?",
        "The baker next door puts {v} into everything.",
        "I had {v} in a cake once and asked for more.",
    ),
    Hint(
        "She said yes on the top step of the {v} tower, and I cried.",
        "Where did I get engaged?",
        "The scaffolding around the {v} tower has come down.",
        "I counted every step of the {v} tower as a child.",
    ),
    Hint(
        "After nine years I hand in my badge at {v} on Friday.",
        "Which employer am I leaving?",
        "The shares of {v} went up again.",
        "After nine years I still phone {v} when a tap drips.",
    ),
    Hint(
        "Little {v} wagged all the way home from the vet.",
        "Which dog is mine?",
        "The poet {v} has a new book out.",
        "Little {v} next door calls for me when she is at the window.",
    ),
    Hint(
        "I was first across the line at {v}, with a minute to spare.",
        "Which race have I won?",
        "The road to {v} is closed for repairs.",
        "I came in last at {v}, and the line was gone by then.",
    ),
    Hint(
        "Mum pushed the pram along {v} Quay before I could walk.",
        "Where did I grow up?",
        "They are dredging the water along {v} Quay.",
        "I push a pram along {v} Quay for my sister.",
    ),
    Hint(
        "I have not touched the pedals since the accident near {v}.",
        "Where did I crash my bike?",
        "There is good cheese to be had near {v}.",
        "I touched the pedals of an organ once, near {v}.",
    ),
    Hint(
        "My ring finger has been empty since the summer in {v}.",
        "Where did my marriage end?",
        "A new hotel has opened in {v}.",
        "My ring finger was in a bandage all summer in {v}.",
    ),
    Hint(
        "I whisper to the strings of old {v} before each concert.",
        "What do I call my cello?",
        "The critic {v} liked the concert.",
        "I whisper to old {v} in the seat beside me at each concert.",
    ),
    Hint(
        "The bank owns less of our place on {v} Hill every month.",
        "Where did we buy a house?",
        "Fog lay on {v} Hill all morning.",
        "I see the bank from our bench on {v} Hill.",
    ),
)


_NEVER = ("Which instrument did I give up?", "Where will I retire?")


def story(dials: Mapping[str, int], draw: Draw, _days: SessionDays) -> Story:
    """Each hint once. Answers are looked for in the context: only a model could read them out."""
    hints = draw.shuffled(HINTS)[: dials["facts"]]
    events: list[StoryEvent] = []
    questions: list[StoryQuestion] = []
    for place, hint in enumerate(hints):
        value = draw.word()
        events.append(_event("is", hint.told, str(place), value))
        events += [
            _event("unreal", hint.beside, str(place), draw.word())
            for _ in range(dials["look_alikes"])
        ]
        questions.append(_question(hint, str(place), value))
    questions += [_never_told(ask) for ask in _NEVER[: dials["unknown"]]]
    return Story(events=tuple(draw.shuffled(events)), questions=tuple(questions))


def beside(event: StoryEvent, _number: int, draw: Draw) -> StoryEvent:
    """Something else of the user."""
    value = draw.word()
    text = _hint(event).also.format(v=value)
    return replace(event, kind="adds", text=text, attribute="other", value=value)


def elsewhere(event: StoryEvent, draw: Draw) -> StoryEvent:
    """The same value in what somebody else says, of something else."""
    speaker = draw.person()
    text = f"{speaker}: {_hint(event).beside.format(v=event.value)}"
    return replace(event, text=text, subject=speaker, attribute="other")


def _hint(event: StoryEvent) -> Hint:
    return next(hint for hint in HINTS if hint.told.format(v=event.value) == event.text)


def _event(kind: str, text: str, subject: str, value: str) -> StoryEvent:
    return StoryEvent(
        kind="is" if kind == "is" else "unreal",
        text=text.format(v=value),
        subject=subject,
        attribute="hint",
        value=value,
    )


def _question(hint: Hint, subject: str, value: str) -> StoryQuestion:
    return StoryQuestion(
        kind="now",
        ask=hint.ask,
        subject=subject,
        path=("hint",),
        expect=(value,),
        match=IN_CONTEXT,
    )


def _never_told(ask: str) -> StoryQuestion:
    return StoryQuestion(kind="now", ask=ask, subject=ask, path=("hint",), expect=())
