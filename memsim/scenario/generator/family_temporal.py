"""Things that happened on a day, told later, out of order and by days of the week."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta

from memsim.scenario.generator.event_log import (
    SessionDays,
    Story,
    StoryEvent,
    StoryQuestion,
    spoken_day,
)
from memsim.scenario.generator.random_draw import Draw

DEFAULTS = {"facts": 10, "distance": 80, "look_alikes": 1, "late": 0, "speakers": 0, "unknown": 1}
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
    """What happened in the days before a session is told in any order.

    Others who take part tell what they did themselves on the same days. What is told late of the
    day that is asked about comes in a later session, with its date.
    """
    others = [draw.person() for _ in range(dials["speakers"])]
    events: list[StoryEvent] = []
    questions: list[StoryQuestion] = []
    for number in range(dials["facts"]):
        told = days.of(number)
        ago = draw.shuffled(range(1, len(_WHEN) + 1))[: 1 + dials["look_alikes"]]
        said = [_event(each, told, number, draw) for each in ago]
        events += _interrupted(said, others, draw) if others else said
        asked = draw.pick(said)
        late = [
            _late(asked, draw.number(number + 1, dials["facts"]), draw)
            for _ in range(dials["late"])
        ]
        events += late
        questions.append(_question(asked, *late))
    # Between what is told of one session and the next, days are left of which nothing is told.
    questions += [_asked(days.of(number) + timedelta(days=1)) for number in range(dials["unknown"])]
    events.sort(key=lambda event: event.session)
    sessions = dials["facts"] + bool(dials["late"])
    return Story(events=tuple(events), questions=tuple(questions), sessions=sessions)


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


def _interrupted(said: list[StoryEvent], others: list[str], draw: Draw) -> list[StoryEvent]:
    """The same, with what others did on those days between."""
    events: list[StoryEvent] = []
    for event in said:
        events.append(event)
        for speaker in draw.shuffled(others):
            value = draw.word()
            when = event.text[: event.text.index(" I ")]
            text = f"{speaker}: {when} {draw.pick(_DONE).format(v=value)}."
            events.append(replace(event, text=text, subject=speaker, value=value))
    return events


def _late(event: StoryEvent, session: int, draw: Draw) -> StoryEvent:
    """Another thing of the same day."""
    assert event.day is not None  # noqa: S101 - each of these has its day
    value = draw.word()
    text = f"On {spoken_day(event.day)} {draw.pick(_DONE).format(v=value)} as well."
    return replace(event, text=text, value=value, session=session)


def beside(event: StoryEvent, _number: int, draw: Draw) -> StoryEvent:
    """What was only dreamt on the same day."""
    value = draw.word()
    done = event.text.replace(event.value, value)
    text = done.replace(" I ", " I dreamt that I ", 1)
    return replace(event, text=text, attribute="dream", value=value)


def elsewhere(event: StoryEvent, draw: Draw) -> StoryEvent:
    """Somebody else who did the same on that day."""
    speaker = draw.person()
    return replace(event, text=f"{speaker}: {event.text}", subject=speaker)


def _question(event: StoryEvent, *late: StoryEvent) -> StoryQuestion:
    assert event.day is not None  # noqa: S101 - each of these has its day
    told = sorted(late, key=lambda one: one.session)
    asked = _asked(event.day, event.value, *(one.value for one in told))
    if not late:
        return asked
    ask = f"List everything that I did on {spoken_day(event.day)}."
    return replace(asked, ask=ask, match="all")


def _asked(day: date, *expect: str) -> StoryQuestion:
    return StoryQuestion(
        kind="day",
        ask=f"What did I do on {spoken_day(day)}?",
        subject="me",
        path=("day",),
        expect=expect,
        day=day,
        ability="temporal",
    )
