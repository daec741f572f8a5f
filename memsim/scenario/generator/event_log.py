"""The records of a generated story: what happens, and what is asked of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from memsim.fast_dataclass import fast_init
from memsim.scenario.script import Ability, Match

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)

EventKind = Literal["is", "adds", "removes", "follows", "restores", "names", "unreal"]
"""What an event does to the world.

`is` gives an attribute its only value. `adds` and `removes` change a list. `follows` says what
comes after a step. `restores` gives an attribute its first value again, which the text need not
say. `names` gives an entity another name, or says what a pronoun stands for,
or begins what the next message ends. `unreal` is denied,
supposed, quoted or joked, and changes nothing.
"""

Interrupter = Literal["user", "speaker", "notification", "assistant", "tool"]
"""Who says something: the user, or who or what interrupts."""

INSTRUCTION = "instruction"
"""The attribute of instructions, a list of what each wants in every answer."""

QuestionKind = Literal[
    "now",
    "instructed",
    "list",
    "path",
    "chain",
    "day",
    "holds",
    "changes",
    "since",
    "before",
    "ever",
    "belongs",
    "size",
    "done",
    "date",
    "deeds",
    "first",
    "mentioned",
]
"""What is asked.

The present value, alone or as instructions want it told, a list, the end of a path or all of it, a
day's events. Of a value: whether it
is `claim`, how often it changed, since when it holds, what came before it, all that it ever was.
Of a list: whether it has `claim`, how long it is. Of events: whether `claim` was on a day, on
which day, how many were on a day, which of two was first. Of the last session: which values of the
path's first attribute were told of, by its second one.
"""


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class StoryEvent:
    """Something that is said of the world.

    Attributes:
        text: how it is told.
        subject: the entity that it is about, by the name that `text` has for it.
        attribute: what of it; for `follows`, the procedure in which `value` follows `subject`.
        value: the value, as `text` spells it; for `restores`, the thing that `text` names.
        said: the form in which `text` has the value, where it is another one.
        by: who says it.
        part: whether it is a half of a statement that is told in two messages.
        session: number of the session in which it is told, from 0.
        day: when it happened; None where the order of telling says enough.
    """

    kind: EventKind
    text: str
    subject: str
    attribute: str
    value: str
    session: int = 0
    day: date | None = None
    said: str = ""
    by: Interrupter = "user"
    part: bool = False


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class StoryQuestion:
    """A question and the answer that the story means.

    Attributes:
        subject: the entity that is asked about.
        path: the attribute; for `path`, each attribute to follow in turn.
        expect: the answer; every part of a list; empty if it was never told.
        day: the day that is asked about.
        claim: the value that the question names.
        choices: the answers of which one is right, where the question says them.
    """

    kind: QuestionKind
    ask: str
    subject: str
    path: tuple[str, ...]
    expect: tuple[str, ...]
    day: date | None = None
    claim: str = ""
    choices: tuple[str, ...] = ()
    ability: Ability = "recall"
    match: Match | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Events in the order in which they are told, and the questions at the end.

    Attributes:
        talk: sentences of other talk in the language of the story; empty for generated English.
    """

    events: tuple[StoryEvent, ...]
    questions: tuple[StoryQuestion, ...]
    sessions: int = 1
    talk: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDays:
    """On which day each session is held.

    Attributes:
        first: the day of the first.
        apart: from one to the next.
    """

    first: date
    apart: timedelta

    def of(self, session: int) -> date:
        """The day of a session, counted from 0."""
        return self.first + session * self.apart


def spoken_day(day: date) -> str:
    """A day as a statement or a question names it: `5 January 2026`."""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
