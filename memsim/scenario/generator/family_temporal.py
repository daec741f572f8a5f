"""Things that happened on a day, told later, out of order and by days of the week."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from memsim.scenario.generator.event_log import SessionDays, Story, StoryEvent, StoryQuestion
from memsim.scenario.generator.random_draw import Draw

DEFAULTS = {"facts": 10, "distance": 80, "look_alikes": 1, "unknown": 1}
MOST = {"look_alikes": 3}
ABOUT = "What happened on a day that nobody named?"

_DONE = (
    "I repaired the {v} clock",
    "I walked along the {v} ridge",
    "I took my mother to the {v} museum",
    "I painted the {v} gate",
    "I swam across the {v} pond",
    "I baked a {v} loaf",
    "I saw a play at the {v} theatre",
    "I planted a {v} rose",
)
_WHEN = ("Yesterday", "The day before yesterday", "Three days ago", "Four days ago")


def story(dials: Mapping[str, int], draw: Draw, days: SessionDays) -> Story:
    """What happened in the days before a session is told in any order."""
    events: list[StoryEvent] = []
    questions: list[StoryQuestion] = []
    for number in range(dials["facts"]):
        told = days.of(number)
        ago = draw.shuffled(range(1, len(_WHEN) + 1))[: 1 + dials["look_alikes"]]
        said = [_event(each, told, number, draw) for each in ago]
        events += said
        questions.append(_question(draw.pick(said)))
    # Between what is told of one session and the next, days are left of which nothing is told.
    questions += [_asked(days.of(number) + timedelta(days=1)) for number in range(dials["unknown"])]
    return Story(events=tuple(events), questions=tuple(questions), sessions=dials["facts"])


def _event(days: int, told: date, session: int, draw: Draw) -> StoryEvent:
    value = draw.word()
    done = draw.pick(_DONE).format(v=value)
    return StoryEvent(
        kind="adds",
        text=f"{_WHEN[days - 1]} {done}.",
        subject="me",
        attribute="day",
        value=value,
        session=session,
        day=told - timedelta(days=days),
    )


def _question(event: StoryEvent) -> StoryQuestion:
    assert event.day is not None  # noqa: S101 - each of these has its day
    return _asked(event.day, event.value)


def _asked(day: date, *expect: str) -> StoryQuestion:
    return StoryQuestion(
        kind="day",
        ask=f"What did I do on {day.day} {day:%B} {day.year}?",
        subject="me",
        path=("day",),
        expect=expect,
        day=day,
        ability="temporal",
    )
