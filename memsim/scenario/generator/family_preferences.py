"""Tastes that drift, and are asked for by the occasion and not by their words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from memsim.scenario.generator.event_log import SessionDays, Story, StoryEvent, StoryQuestion
from memsim.scenario.generator.random_draw import Draw

DEFAULTS = {
    "facts": 8,
    "distance": 80,
    "updates": 3,
    "speakers": 0,
    "instructions": 0,
    "unknown": 1,
}
MOST = {"facts": 10, "unknown": 2}
ABOUT = "What would the user want now?"


class Taste(NamedTuple):
    """A preference: stated, changed, and the occasion at which it counts."""

    first: str
    changes: tuple[str, ...]
    ask: str


TASTES = (
    Taste(
        "I drink nothing but {v} tea.",
        ("I have gone off the old tea; {v} tea it is.", "The doctor put me on {v} tea."),
        "You are at the shop: which tea should you get me?",
    ),
    Taste(
        "I write with {v} pens.",
        ("My hand hurt, so I write with {v} pens by now.", "{v} pens have won me over."),
        "Which pens should you put on my desk?",
    ),
    Taste(
        "I fly with {v} whenever I can.",
        ("They lost my bag, so I fly with {v} from now on.", "For the legroom I fly with {v}."),
        "I have to fly to a meeting: which airline should you book?",
    ),
    Taste(
        "I relax to {v} music.",
        ("That music bores me by now, I relax to {v} music.", "Since spring it is {v} music."),
        "Which music should you play for me tonight?",
    ),
    Taste(
        "I run in {v} shoes.",
        ("My knees gave up on those, I run in {v} shoes.", "{v} shoes feel better to run in."),
        "Which shoes should you order for my next run?",
    ),
    Taste(
        "I have my hair cut at {v}.",
        ("He retired, so I have my hair cut at {v}.", "I have my hair cut at {v}, it is nearer."),
        "Where should you make me an appointment for a cut of my hair?",
    ),
    Taste(
        "My bread is the {v} loaf.",
        ("I bake no more, my bread is the {v} loaf.", "My bread is the {v} loaf, without salt."),
        "Which loaf of bread should you bring me?",
    ),
    Taste(
        "I read the {v} paper at breakfast.",
        ("I read the {v} paper now, for the crossword.", "I read the {v} paper since the strike."),
        "Which paper should lie beside my breakfast?",
    ),
    Taste(
        "I cook with {v} oil.",
        ("{v} oil is what I cook with since we moved.", "I cook with {v} oil now, it burns less."),
        "Which oil should you buy for me to cook with?",
    ),
    Taste(
        "I brush my teeth with {v} paste.",
        ("My dentist gave me {v} paste for my teeth.", "I brush my teeth with {v} paste by now."),
        "Which paste for my teeth should you pack?",
    ),
)
_NEVER = (
    "Which soap should you put into my bathroom?",
    "At which hotel should you get me a room?",
)


ME = "me"


def story(dials: Mapping[str, int], draw: Draw, _days: SessionDays) -> Story:
    """Each taste drifts as often, a change a session.

    Others who take part say their own tastes among these, and ask every other question.
    """
    tastes = TASTES[: dials["facts"]]
    others = [draw.person() for _ in range(dials["speakers"])]
    last: dict[tuple[str, str], str] = {}
    events: list[StoryEvent] = []
    for session in range(dials["updates"] + 1):
        for taste in draw.shuffled(tastes):
            speakers = draw.shuffled([ME, *others]) if others else [ME]
            events += [_stated(one, taste, session, last, draw) for one in speakers]
    asks = (*(taste.ask for taste in tastes), *_NEVER[: dials["unknown"]])
    askers = [ME, draw.pick(others)] if others else [ME]
    questions = tuple(
        _question(askers[number % len(askers)], ask, last) for number, ask in enumerate(asks)
    )
    return Story(events=tuple(events), questions=questions, sessions=dials["updates"] + 1)


def _said_by(speaker: str, text: str) -> str:
    return text if speaker == ME else f"{speaker}: {text}"


def _stated(
    speaker: str, taste: Taste, session: int, last: dict[tuple[str, str], str], draw: Draw
) -> StoryEvent:
    """What a speaker likes by now, as another change if they said so before."""
    key = speaker, taste.ask
    text = draw.pick(taste.changes) if key in last else taste.first
    last[key] = value = draw.word()
    return StoryEvent(
        kind="is",
        text=_said_by(speaker, text.format(v=value)),
        subject=speaker,
        attribute=taste.ask,
        value=value,
        session=session,
    )


def _question(speaker: str, ask: str, last: Mapping[tuple[str, str], str]) -> StoryQuestion:
    key = speaker, ask
    return StoryQuestion(
        kind="now",
        ask=_said_by(speaker, ask),
        subject=speaker,
        path=(ask,),
        expect=(last[key],) if key in last else (),
        ability="preference",
    )
