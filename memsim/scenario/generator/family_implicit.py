"""Statements that share no word with the question that they answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from memsim.scenario.generator.event_log import SessionDays, Story, StoryEvent, StoryQuestion
from memsim.scenario.generator.random_draw import Draw
from memsim.scenario.script import IN_CONTEXT

DEFAULTS = {"facts": 10, "distance": 80, "look_alikes": 3, "unknown": 1}
MOST = {"facts": 10, "unknown": 2}
ABOUT = "What was said without the words of the question?"


class Hint(NamedTuple):
    """A statement, the question that it answers, and statements of the same form that do not."""

    told: str
    ask: str
    beside: str


HINTS = (
    Hint(
        "My throat swells up within minutes when there is {v} in a cake.",
        "Which food am I allergic to?",
        "The baker next door puts {v} into everything.",
    ),
    Hint(
        "She said yes on the top step of the {v} tower, and I cried.",
        "Where did I get engaged?",
        "The scaffolding around the {v} tower has come down.",
    ),
    Hint(
        "After nine years I hand in my badge at {v} on Friday.",
        "Which employer am I leaving?",
        "The shares of {v} went up again.",
    ),
    Hint(
        "Little {v} wagged all the way home from the vet.",
        "Which dog is mine?",
        "The poet {v} has a new book out.",
    ),
    Hint(
        "I was first across the line at {v}, with a minute to spare.",
        "Which race have I won?",
        "The road to {v} is closed for repairs.",
    ),
    Hint(
        "Mum pushed the pram along {v} Quay before I could walk.",
        "Where did I grow up?",
        "They are dredging the water along {v} Quay.",
    ),
    Hint(
        "I have not touched the pedals since the accident near {v}.",
        "Where did I crash my bike?",
        "There is good cheese to be had near {v}.",
    ),
    Hint(
        "My ring finger has been empty since the summer in {v}.",
        "Where did my marriage end?",
        "A new hotel has opened in {v}.",
    ),
    Hint(
        "I whisper to the strings of old {v} before each concert.",
        "What do I call my cello?",
        "The critic {v} liked the concert.",
    ),
    Hint(
        "The bank owns less of our place on {v} Hill every month.",
        "Where did we buy a house?",
        "Fog lay on {v} Hill all morning.",
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
