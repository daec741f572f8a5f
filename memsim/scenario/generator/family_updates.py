"""Facts that change, and changes that are only talked about."""

from __future__ import annotations

from collections.abc import Mapping

from memsim.scenario.generator.event_log import SessionDays, Story, StoryEvent, StoryQuestion
from memsim.scenario.generator.random_draw import Draw
from memsim.scenario.generator.statement_frames import UPDATED, StatementFrame

DEFAULTS = {"facts": 8, "distance": 80, "updates": 5, "unreal": 2, "unknown": 1}
ABOUT = "What holds now, after it changed several times?"


def story(dials: Mapping[str, int], draw: Draw, _days: SessionDays) -> Story:
    """Each fact changes as often as the others, in turn, a change a session."""
    told = [_Told(draw, number) for number in range(dials["facts"])]
    events: list[StoryEvent] = []
    for session in range(dials["updates"] + 1):
        events += [one.stated(session) for one in draw.shuffled(told)]
    events = _with_unreal(events, told, dials, draw)
    never = [_Told(draw, number) for number in range(dials["unknown"])]
    questions = tuple(one.question() for one in (*told, *never))
    return Story(events=tuple(events), questions=questions, sessions=dials["updates"] + 1)


def _with_unreal(
    events: list[StoryEvent], told: list[_Told], dials: Mapping[str, int], draw: Draw
) -> list[StoryEvent]:
    """Half of what is only talked about comes after the last change."""
    last = dials["updates"]
    unreal = [
        one.unreal(last if number % 2 == 0 else draw.number(0, last))
        for one in told
        for number in range(dials["unreal"])
    ]
    return sorted([*events, *unreal], key=lambda event: event.session)


class _Told:
    """One thing, as it is told."""

    def __init__(self, draw: Draw, number: int) -> None:
        self._draw = draw
        self._frame: StatementFrame = UPDATED[number % len(UPDATED)]
        self._subject = f"{draw.person()}'s {self._frame.thing}"
        self._value = ""

    def _event(self, text: str, session: int, *, real: bool) -> StoryEvent:
        value = self._draw.word()
        said = text.format(s=self._subject, v=value, o=self._draw.person())
        if real:
            self._value = value
        return StoryEvent(
            kind="is" if real else "unreal",
            text=said,
            subject=self._subject,
            attribute=self._frame.thing,
            value=value,
            session=session,
        )

    def stated(self, session: int) -> StoryEvent:
        frame = self._frame
        text = self._draw.pick(frame.changes) if self._value else frame.first
        return self._event(text, session, real=True)

    def unreal(self, session: int) -> StoryEvent:
        return self._event(self._draw.pick(self._frame.unreal), session, real=False)

    def question(self) -> StoryQuestion:
        return StoryQuestion(
            kind="now",
            ask=self._frame.ask.format(s=self._subject),
            subject=self._subject,
            path=(self._frame.thing,),
            expect=(self._value,) if self._value else (),
            ability="update",
        )
