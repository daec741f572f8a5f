"""Facts in almost the same words, of which one is asked for by another name."""

from __future__ import annotations

from collections.abc import Mapping

from memsim.scenario.generator.event_log import SessionDays, Story, StoryEvent, StoryQuestion
from memsim.scenario.generator.random_draw import Draw

DEFAULTS = {"facts": 8, "distance": 80, "look_alikes": 6}
ABOUT = "Which of many facts in almost the same words is the one?"

_PLACES = ("at the pool", "in the cellar", "at the station", "in the gym", "at the harbour")
_LAST_PLACES = ("behind the stage", "on the ferry", "in the attic")
_ALL = (*_PLACES, *_LAST_PLACES)


def story(dials: Mapping[str, int], draw: Draw, _days: SessionDays) -> Story:
    """Each asked locker has an owner told first, and a code told later by its nickname."""
    owned: list[StoryEvent] = []
    coded: list[StoryEvent] = []
    questions: list[StoryQuestion] = []
    for number in range(dials["facts"] * (1 + dials["look_alikes"])):
        owner, name, code = draw.person(), draw.word(), draw.code()
        place = _ALL[number % len(_ALL)]
        owned.append(
            _event(
                f"The locker {place} that {owner} rents is the one we call {name}.",
                owner,
                "locker",
                name,
                0,
            )
        )
        coded.append(_event(f"The code of {name} is {code}.", name, "code", code, 1))
        if number < dials["facts"]:
            questions.append(_question(owner, place, code))
    events = [*draw.shuffled(owned), *draw.shuffled(coded)]
    return Story(events=tuple(events), questions=tuple(questions), sessions=2)


def _event(text: str, subject: str, attribute: str, value: str, session: int) -> StoryEvent:
    return StoryEvent(
        kind="is", text=text, subject=subject, attribute=attribute, value=value, session=session
    )


def _question(owner: str, place: str, code: str) -> StoryQuestion:
    return StoryQuestion(
        kind="path",
        ask=f"What is the code of the locker {place} that {owner} rents?",
        subject=owner,
        path=("locker", "code"),
        expect=(code,),
        ability="multi-session",
    )
