"""Facts that change, and changes that are only talked about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from memsim.scenario.generator.event_log import (
    SessionDays,
    Story,
    StoryEvent,
    StoryQuestion,
    spoken_day,
)
from memsim.scenario.generator.random_draw import Draw
from memsim.scenario.generator.statement_frames import DEPENDENCES, UPDATED, StatementFrame

DEFAULTS = {
    "facts": 8,
    "distance": 80,
    "updates": 5,
    "unreal": 2,
    "reverted": 0,
    "late": 0,
    "aliases": 0,
    "pronouns": 0,
    "interruptions": 0,
    "notices": 0,
    "depends": 0,
    "result_size": 0,
    "unknown": 1,
}
THINGS = frozenset(frame.thing for frame in UPDATED)
"""Attributes whose statements are about a thing, which may be called it."""
ABOUT = "What holds now, after it changed several times?"


def story(dials: Mapping[str, int], draw: Draw, days: SessionDays) -> Story:
    """Each fact changes as often as the others, in turn, a change a session.

    What is reverted changes once more and, a session later, goes back to its first value. What is
    told late held for some days between two sessions, and is told after all changes.
    """
    depth = dials["depends"]
    told = [_Told(draw, number, days, depth) for number in range(dials["facts"])]
    events: list[StoryEvent] = []
    for session in range(dials["updates"] + 1):
        events += [one.stated(session) for one in draw.shuffled(told)]
    for number in range(2 * dials["reverted"]):
        session = dials["updates"] + 1 + number
        events += [one.reverted(session, number % 2) for one in draw.shuffled(told)]
    last = dials["updates"] + 2 * dials["reverted"]
    events = _with_unreal(events, told, last, dials["unreal"], draw)
    for _ in range(dials["late"]):
        events += [one.late(last + 1, _between(days, last, draw)) for one in draw.shuffled(told)]
    never = [_Told(draw, number, days, depth) for number in range(dials["unknown"])]
    events += [event for one in told for event in one.dependent]
    events.sort(key=lambda event: event.session)
    questions = tuple(one.question() for one in (*told, *never))
    return Story(events=tuple(events), questions=questions, sessions=last + 1 + bool(dials["late"]))


def _between(days: SessionDays, last: int, draw: Draw) -> date:
    """A day after the first statement and before the last change; else one before the first."""
    session = draw.number(0, last - 1) if last else -1
    return days.of(session) + timedelta(days=draw.number(1, 6))


def _with_unreal(
    events: list[StoryEvent], told: list[_Told], last: int, count: int, draw: Draw
) -> list[StoryEvent]:
    """Half of what is only talked about comes after the last change."""
    unreal = [
        one.unreal(last if number % 2 == 0 else draw.number(0, last))
        for one in told
        for number in range(count)
    ]
    return sorted([*events, *unreal], key=lambda event: event.session)


class _Told:
    """One thing, as it is told."""

    def __init__(self, draw: Draw, number: int, days: SessionDays, depth: int) -> None:
        self._draw = draw
        self._days = days
        self._dependences = DEPENDENCES[:depth]
        self.dependent: list[StoryEvent] = []
        self._frame: StatementFrame = UPDATED[number % len(UPDATED)]
        self._subject = f"{draw.person()}'s {self._frame.thing}"
        self._value = self._first = ""

    def _event(self, text: str, session: int, *, real: bool) -> StoryEvent:
        value = self._draw.word()
        said = text.format(s=self._subject, v=value, o=self._draw.person())
        if real:
            self._value = value
            self._first = self._first or value
            self._depend(value, session)
        return StoryEvent(
            kind="is" if real else "unreal",
            text=said,
            subject=self._subject,
            attribute=self._frame.thing,
            value=value,
            session=session,
            day=self._days.of(session),
        )

    def _depend(self, value: str, last: int) -> None:
        """Tell what depends on a value, each in a session by the time that it holds."""
        for kind in self._dependences:
            before, value = value, self._draw.person() if kind.person else self._draw.word()
            self.dependent.append(
                StoryEvent(
                    kind="is",
                    text=kind.told.format(a=before, b=value),
                    subject=before,
                    attribute=kind.attribute,
                    value=value,
                    session=self._draw.number(0, last),
                )
            )

    def late(self, session: int, day: date) -> StoryEvent:
        """Something that held on an earlier day, and never since."""
        value = self._draw.word()
        self._depend(value, session)
        return StoryEvent(
            kind="is",
            text=self._frame.late.format(s=self._subject, v=value, d=spoken_day(day)),
            subject=self._subject,
            attribute=self._frame.thing,
            value=value,
            session=session,
            day=day,
        )

    def stated(self, session: int) -> StoryEvent:
        frame = self._frame
        text = self._draw.pick(frame.changes) if self._value else frame.first
        return self._event(text, session, real=True)

    def reverted(self, session: int, back: int) -> StoryEvent:
        """Another change, or the way back from it."""
        if not back:
            return self.stated(session)
        self._value = self._first
        return StoryEvent(
            kind="restores",
            text=self._frame.restored.format(s=self._subject),
            subject=self._subject,
            attribute=self._frame.thing,
            value=self._subject,
            session=session,
            day=self._days.of(session),
        )

    def unreal(self, session: int) -> StoryEvent:
        return self._event(self._draw.pick(self._frame.unreal), session, real=False)

    def question(self) -> StoryQuestion:
        ask = self._frame.ask.format(s=self._subject)
        if self._dependences:
            about = self._frame.about.format(s=self._subject)
            ask = self._dependences[-1].ask.format(about=about)
        answer = self._answer()
        return StoryQuestion(
            kind="path" if self._dependences else "now",
            ask=ask,
            subject=self._subject,
            path=(self._frame.thing, *(kind.attribute for kind in self._dependences)),
            expect=(answer,) if answer else (),
            ability="update",
        )

    def _answer(self) -> str:
        """The value, or what depends on it at the end."""
        follows = {event.subject: event.value for event in self.dependent}
        answer = self._value
        for _ in self._dependences if answer else ():
            answer = follows[answer]
        return answer
