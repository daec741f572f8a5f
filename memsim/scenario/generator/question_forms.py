"""Ask of the same story in another form: yes or no, how many, when, what came before, all of it.

The form changes questions and never a statement. Of the questions for yes or no, and of those for
the first of two, every other one has each answer, so that guessing is right for half of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from memsim.errors import ScenarioError
from memsim.scenario.generator.event_log import (
    Story,
    StoryEvent,
    StoryQuestion,
    spoken_day,
)
from memsim.scenario.generator.family_aggregation import COLLECTIONS, Collection
from memsim.scenario.generator.statement_frames import UPDATED, StatementFrame

YES, NO = "yes", "no"


class _Asked(NamedTuple):
    """A question of a story, its number, and the events about its subject in order of the days."""

    question: StoryQuestion
    number: int
    about: Sequence[StoryEvent]
    story: Story

    @property
    def affirmed(self) -> bool:
        return self.number % 2 == 0

    def told(self, **changes: object) -> StoryQuestion:
        """The question with changes; what was never told has no answer in any form."""
        if not self.question.expect:
            changes["expect"] = ()
        return replace(self.question, match=None, **changes)  # type: ignore[arg-type]


Form = Callable[[_Asked], StoryQuestion]


def with_form(story: Story, family: str, form: str, line: int | None) -> Story:
    """The same story, asked in a form.

    Raises:
        ScenarioError: the family cannot be asked so.
    """
    known = _FORMS.get(family, {})
    if form == VALUE:
        return story
    if form not in known:
        has = ", ".join((VALUE, *known))
        raise ScenarioError(f"{family} has no form {form}; its forms: {has}", line=line)
    about = _by_subject(story)
    questions = tuple(
        known[form](_Asked(question, number, about.get(question.subject, []), story))
        for number, question in enumerate(story.questions)
    )
    if form in _ONCE:
        questions = tuple(dict.fromkeys(questions))
    # The day of the last statement is the answer, so the questions come on a later day.
    later = (family, form) == ("updates", "when")
    return replace(story, questions=questions, sessions=story.sessions + later)


_ONCE = frozenset({"mentioned"})
"""Forms that ask one question for a whole story, and one about what was never told."""

VALUE = "value"
"""The form in which a family asks by itself."""


def _by_subject(story: Story) -> Mapping[str, list[StoryEvent]]:
    """What is told of each thing and is so, in order of the days."""
    found: dict[str, list[StoryEvent]] = {}
    for event in sorted(story.events, key=lambda event: event.day or date.min):
        if event.kind != "unreal":
            found.setdefault(event.subject, []).append(event)
    return found


# -- facts that change


def _frame(asked: _Asked) -> StatementFrame:
    return next(frame for frame in UPDATED if (frame.thing,) == asked.question.path)


def _values(asked: _Asked) -> list[str]:
    first = asked.about[0].value if asked.about else ""
    return [first if event.kind == "restores" else event.value for event in asked.about]


def _holds(asked: _Asked) -> StoryQuestion:
    """Whether the present value holds, or the one before it."""
    values = _values(asked)
    other = values[-2] if len(values) > 1 else _elsewhere(asked)
    claim = values[-1] if values and asked.affirmed else other
    return asked.told(
        kind="holds",
        ask=_frame(asked).holds.format(s=asked.question.subject, v=claim),
        expect=(YES if asked.affirmed else NO,),
        claim=claim,
        choices=(YES, NO),
    )


def _elsewhere(asked: _Asked) -> str:
    others = (e for e in asked.story.events if e.subject != asked.question.subject)
    return next((e.value for e in others if e.kind == "is"), "Elsewhere")


def _changes(asked: _Asked) -> StoryQuestion:
    count = str(max(0, len(asked.about) - 1))
    ask = _frame(asked).changed.format(s=asked.question.subject)
    return asked.told(kind="changes", ask=ask, expect=(count,))


def _since(asked: _Asked) -> StoryQuestion:
    days = [event.day for event in asked.about if event.day]
    ask = _frame(asked).since.format(s=asked.question.subject)
    return asked.told(kind="since", ask=ask, expect=tuple(map(spoken_day, days[-1:])))


def _before(asked: _Asked) -> StoryQuestion:
    values = _values(asked)
    ask = _frame(asked).before.format(s=asked.question.subject, v="".join(values[-1:]) or "Rimel")
    return asked.told(kind="before", ask=ask, claim="".join(values[-1:]), expect=(*values[-2:-1],))


def _ever(asked: _Asked) -> StoryQuestion:
    expect = tuple(dict.fromkeys(_values(asked)))
    ask = _frame(asked).ever.format(s=asked.question.subject)
    return replace(asked.told(kind="ever", ask=ask, expect=expect), match="all")


def _in_order(asked: _Asked) -> StoryQuestion:
    listed = _ever(asked)
    return replace(listed, ask=f"{listed.ask.removesuffix('.')}, in order.")


# -- things that came up


def _came_up(asked: _Asked) -> StoryQuestion:
    """Which lockers the last conversation was about; nobody ever spoke of a boat."""
    known = bool(asked.question.expect)
    last = asked.story.sessions - 1
    told = (e for e in asked.story.events if (e.attribute, e.session) == ("code", last))
    thing = "lockers" if known else "boats"
    found = asked.told(
        kind="mentioned",
        ask=f"List all the names of {thing} that came up in this conversation.",
        subject=thing,
        path=("locker" if known else "boat", "code"),
        expect=tuple(event.subject for event in told),
    )
    return replace(found, match="all")


# -- lists


def _collection(asked: _Asked) -> Collection:
    owner = asked.question.subject
    return next(c for c in COLLECTIONS if c.ask.format(o=owner) == asked.question.ask)


def _belongs(asked: _Asked) -> StoryQuestion:
    """Whether the last thing of the list belongs to it, or one that has left it."""
    gone = [event.value for event in asked.about if event.kind == "removes"]
    yes = asked.question.expect[-1:] or ("Rimel",)
    claim = yes[0] if asked.affirmed else (gone or yes)[0]
    return asked.told(
        kind="belongs",
        ask=_collection(asked).holds.format(o=asked.question.subject, v=claim),
        expect=(YES if asked.affirmed else NO,),
        claim=claim,
        choices=(YES, NO),
    )


def _size(asked: _Asked) -> StoryQuestion:
    ask = _collection(asked).size.format(o=asked.question.subject)
    return asked.told(kind="size", ask=ask, expect=(str(len(asked.question.expect)),))


# -- days

_DEED = re.compile(r"\b(I .*?)(?: as well)?\.$")


_NEVER = "I mended the Rimel fence"
"""What nobody ever did."""


def _deed(event: StoryEvent) -> str:
    found = _DEED.search(event.text)
    assert found is not None  # noqa: S101 - each of these says what I did
    return found[1]


def _of_day(asked: _Asked) -> list[StoryEvent]:
    return [event for event in asked.about if event.day == asked.question.day]


def _other_days(asked: _Asked) -> list[StoryEvent]:
    return [event for event in asked.about if event.day != asked.question.day]


def _whether_on(asked: _Asked) -> StoryQuestion:
    """Whether something was done on the day, or what was done on another."""
    assert asked.question.day is not None  # noqa: S101 - each of these has its day
    here, others = _of_day(asked), _other_days(asked)
    event = here[0] if here and (asked.affirmed or not others) else (others or here)[0]
    deed, claim = (_deed(event), event.value) if here else (_NEVER, "")
    return asked.told(
        kind="done",
        ask=f"Is it true that {deed} on {spoken_day(asked.question.day)}?",
        expect=(YES if event in here else NO,),
        claim=claim,
        choices=(YES, NO),
    )


def _on_which(asked: _Asked) -> StoryQuestion:
    assert asked.question.day is not None  # noqa: S101 - each of these has its day
    here = _of_day(asked)
    deed = _deed(here[0]) if here else _NEVER
    return asked.told(
        kind="date",
        ask=f"On which day was it that {deed}?",
        claim=here[0].value if here else "",
        expect=(spoken_day(asked.question.day),),
    )


def _how_many_on(asked: _Asked) -> StoryQuestion:
    assert asked.question.day is not None  # noqa: S101 - each of these has its day
    ask = f"How many things did I do on {spoken_day(asked.question.day)}?"
    return asked.told(kind="deeds", ask=ask, expect=(str(len(_of_day(asked))),))


def _which_first(asked: _Asked) -> StoryQuestion:
    """Which of two things came first, each named first in every other question."""
    here, others = _of_day(asked), _other_days(asked)
    if not (here and others):
        return asked.told(
            kind="first",
            ask="Which came first: that I mended the Rimel fence, or that I sold the Sovand cart?",
            choices=("Rimel", "Sovand"),
            expect=(),
        )
    pair = sorted((here[0], others[asked.number % len(others)]), key=lambda e: e.day or date.min)
    first, second = pair if asked.affirmed else pair[::-1]
    return asked.told(
        kind="first",
        ask=f"Which came first: that {_deed(first)}, or that {_deed(second)}?",
        choices=(first.value, second.value),
        expect=(pair[0].value,),
    )


_FORMS: Mapping[str, Mapping[str, Form]] = {
    "updates": {
        "yes_no": _holds,
        "count": _changes,
        "when": _since,
        "before": _before,
        "list": _ever,
        "order": _in_order,
    },
    "look_alikes": {"mentioned": _came_up},
    "aggregation": {"yes_no": _belongs, "count": _size},
    "temporal": {
        "yes_no": _whether_on,
        "count": _how_many_on,
        "when": _on_which,
        "before": _which_first,
    },
}
"""By family, the forms in which it can be asked besides its own."""


def forms_of(family: str) -> tuple[str, ...]:
    """The forms in which a family can be asked."""
    return (VALUE, *_FORMS.get(family, {}))
