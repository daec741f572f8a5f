"""Tell stories in other languages than English: who keeps which thing at which place.

The owner, the thing and the place take the forms that their sentences need, and the question has
other ones. The value of a fact is the name of the place as a dictionary has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memsim.errors import ScenarioError
from memsim.scenario.generator.dials import ENGLISH, Generate
from memsim.scenario.generator.event_log import (
    EventKind,
    SessionDays,
    Story,
    StoryEvent,
    StoryQuestion,
)
from memsim.scenario.generator.language_frames import (
    LanguageFrames,
    NoNameLeftError,
    ThingForms,
    frames_of,
)
from memsim.scenario.generator.question_forms import VALUE
from memsim.scenario.generator.random_draw import Draw
from memsim.scenario.script import Ability

_ENGLISH_ONLY = (
    "late",
    "aliases",
    "pronouns",
    "interruptions",
    "notices",
    "depends",
    "noise",
    "code_switching",
)
"""Dials whose sentences are English."""


def is_foreign(step: Generate) -> bool:
    """Whether a story is told in another language than English."""
    return step.language not in {None, ENGLISH}


def check_language(step: Generate, dials: Mapping[str, int]) -> None:
    """Refuse what is told in English alone.

    Raises:
        ScenarioError: the family, its form or one of its dials is.
    """
    if step.family not in TOLD:
        raise ScenarioError(
            f"{step.family} has no language {step.language}; families that have: {', '.join(TOLD)}",
            line=step.line_of("language"),
        )
    besides = [dial for dial in _ENGLISH_ONLY if dials.get(dial)]
    if step.look_alike_kind not in {None, "entity"}:
        besides.append(f"look_alike_kind {step.look_alike_kind}")
    besides += [f"form {step.form}"] if step.form not in {None, VALUE} else []
    if besides:
        raise ScenarioError(
            f"{besides[0]} is told in {ENGLISH} alone, and language is {step.language}; "
            "give one of them",
            line=step.line_of(besides[0].split()[0]),
        )


def told_in_language(
    step: Generate, dials: Mapping[str, int], draw: Draw, days: SessionDays
) -> Story:
    """The story of a family in a language.

    Raises:
        ScenarioError: the language has not so many things, or names of places.
    """
    frames = frames_of(step.language or ENGLISH)
    things = draw.shuffled(frames.things_of_all())
    wanted = dials["facts"] * (1 + dials.get("look_alikes", 0)) + dials["unknown"]
    if wanted > len(things):
        named = ", ".join(dial for dial in ("facts", "look_alikes", "unknown") if dial in dials)
        raise ScenarioError(
            f"{step.language} has {len(things)} things to tell of, and {named} need {wanted}",
            line=step.line,
        )
    kept = [_Kept(thing, frames, draw, days) for thing in things[:wanted]]
    try:
        return _STORIES[step.family](kept, dials, frames, draw)
    except NoNameLeftError:
        raise ScenarioError(
            f"{frames.language} has no more names of places; give fewer facts, updates or unreal",
            line=step.line,
        ) from None


def _updates(
    kept: Sequence[_Kept], dials: Mapping[str, int], frames: LanguageFrames, draw: Draw
) -> Story:
    """Each thing is carried from place to place, and some of it is only talked about."""
    told = kept[: dials["facts"]]
    last = dials["updates"] + 2 * dials["reverted"]
    events = [
        one.restored(session) if _goes_back(session, dials) else one.stated(session)
        for session in range(last + 1)
        for one in draw.shuffled(told)
    ]
    # Half of what is only talked about comes after the last change.
    events += [
        one.unreal(last if number % 2 == 0 else draw.number(0, last))
        for one in told
        for number in range(dials["unreal"])
    ]
    events.sort(key=lambda event: event.session)
    questions = tuple(one.question("update") for one in kept)
    return Story(events=tuple(events), questions=questions, sessions=last + 1, talk=frames.talk)


def _goes_back(session: int, dials: Mapping[str, int]) -> bool:
    return session > dials["updates"] and (session - dials["updates"]) % 2 == 0


def _look_alikes(
    kept: Sequence[_Kept], dials: Mapping[str, int], frames: LanguageFrames, draw: Draw
) -> Story:
    """Each owner has several things, and each thing several owners; few are asked about."""
    never = len(kept) - dials["unknown"]
    events = [one.told(number % 2) for number, one in enumerate(draw.shuffled(kept[:never]))]
    events.sort(key=lambda event: event.session)
    asked = (*kept[: dials["facts"]], *kept[never:])
    questions = tuple(one.question("recall") for one in asked)
    return Story(events=tuple(events), questions=questions, sessions=2, talk=frames.talk)


class _Kept:
    """A thing of somebody, and where it is kept."""

    def __init__(
        self, thing: ThingForms, frames: LanguageFrames, draw: Draw, days: SessionDays
    ) -> None:
        self._thing = thing
        self._frames = frames
        self._draw = draw
        self._days = days
        self._value = self._first = ""

    def _placed(self, sentence: str, session: int, kind: EventKind) -> StoryEvent:
        place = self._frames.place(self._draw)
        if kind == "is":
            self._value = place.name
            self._first = self._first or place.name
        return StoryEvent(
            kind=kind,
            text=sentence.format(**self._thing._asdict(), at=place.at, to=place.to),
            subject=self._thing.q,
            attribute="place",
            value=place.name,
            said=place.at if "{at}" in sentence else place.to,
            session=session,
            day=self._days.of(session),
        )

    def stated(self, session: int) -> StoryEvent:
        frames = self._frames
        sentence = self._draw.pick(frames.changes) if self._value else frames.first
        return self._placed(sentence, session, "is")

    def told(self, session: int) -> StoryEvent:
        """Where it is, in any of the sentences that say so."""
        return self._placed(
            self._draw.pick((self._frames.first, *self._frames.changes)), session, "is"
        )

    def unreal(self, session: int) -> StoryEvent:
        return self._placed(self._draw.pick(self._frames.unreal), session, "unreal")

    def restored(self, session: int) -> StoryEvent:
        self._value = self._first
        return StoryEvent(
            kind="restores",
            text=self._frames.restored.format(**self._thing._asdict()),
            subject=self._thing.q,
            attribute="place",
            value=self._thing.o,
            session=session,
            day=self._days.of(session),
        )

    def question(self, ability: Ability) -> StoryQuestion:
        return StoryQuestion(
            kind="now",
            ask=self._frames.ask.format(**self._thing._asdict()),
            subject=self._thing.q,
            path=("place",),
            expect=(self._value,) if self._value else (),
            ability=ability,
        )


_STORIES = {"updates": _updates, "look_alikes": _look_alikes}

TOLD: tuple[str, ...] = tuple(_STORIES)
"""Families that are told in every language."""
