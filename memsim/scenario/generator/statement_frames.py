"""Sentences for things that have one value at a time: stated, changed, and only talked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementFrame:
    """How one kind of thing is told and asked.

    In each text `{s}` stands for the thing, `{v}` for its value, `{o}` for another person and `{d}`
    for a day. `about` is what `{s}` is at, as a noun of a question.
    """

    thing: str
    ask: str
    first: str
    changes: tuple[str, ...]
    unreal: tuple[str, ...]
    restored: str
    late: str
    about: str
    holds: str
    changed: str
    since: str
    before: str
    ever: str


UPDATED = (
    StatementFrame(
        thing="spare key",
        ask="Where is {s} now?",
        first="I have put {s} into the {v} drawer.",
        changes=(
            "I have carried {s} over to the {v} drawer.",
            "From today on {s} lies in the {v} drawer.",
            "Somebody needed the room, so {s} went to the {v} drawer.",
        ),
        unreal=(
            "If we ever sell the house, {s} goes to the {v} drawer.",
            "{o} joked that {s} had better go to the {v} drawer.",
            "No, {s} never went to the {v} drawer, whatever {o} says.",
            "{o} asked whether {s} should go to the {v} drawer, and I said no.",
        ),
        restored="{s} is back in the drawer that it lay in at the very first.",
        late="I never told you: on {d} I had laid {s} into the {v} drawer for a while.",
        about="the drawer with {s}",
        holds="Does {s} lie in the {v} drawer now?",
        changed="How many times was {s} moved to another drawer?",
        since="On which day was {s} put where it lies now?",
        before="In which drawer did {s} lie just before the {v} drawer?",
        ever="List all the drawers in which {s} has lain.",
    ),
    StatementFrame(
        thing="bicycle",
        ask="Where is {s} parked?",
        first="{s} is parked behind the {v} bakery.",
        changes=(
            "{s} is parked in front of the {v} library these days.",
            "They dug up the street, and {s} is now parked at the {v} fountain.",
            "We found a better place: {s} is parked under the {v} bridge.",
        ),
        unreal=(
            "If it snowed, {s} would be parked at the {v} depot.",
            "{o} claims that {s} is parked at the {v} depot, which is not true.",
            "{o} dreamt that {s} is parked on the {v} roof.",
        ),
        restored="{s} is parked again where it stood at the very first.",
        late="I never told you: from {d} {s} had been parked behind the {v} school for a while.",
        about="the place where {s} is parked",
        holds="Is {s} parked at the place called {v} now?",
        changed="How many times did {s} get another place to be parked at?",
        since="On which day was {s} brought to the place where it is parked now?",
        before="Where was {s} parked just before {v}?",
        ever="List all the places where {s} has been parked.",
    ),
    StatementFrame(
        thing="landlord",
        ask="Who is {s}?",
        first="{s} is {v}.",
        changes=(
            "The building was sold, and {s} is {v} now.",
            "{s} is no longer the old one but {v}.",
        ),
        unreal=(
            "Suppose {s} is {v} one day; what would change?",
            "{o} thought that {s} is {v}, but that is wrong.",
        ),
        restored="{s} is once more the person who it was at the very first.",
        late="I never told you: from {d} {s} had been {v} for a while.",
        about="{s}",
        holds="Is {v} the person who is {s} now?",
        changed="How many times did somebody else become {s}?",
        since="On which day did the person who is {s} now become it?",
        before="Who was {s} just before {v}?",
        ever="List everybody who has been {s}.",
    ),
    StatementFrame(
        thing="orchestra",
        ask="In which hall does {s} rehearse?",
        first="{s} rehearses in the {v} hall.",
        changes=(
            "{s} has changed rooms and rehearses in the {v} hall.",
            "The old hall was too cold, so {s} rehearses in the {v} hall.",
        ),
        unreal=(
            "{s} would rehearse in the {v} hall if it were cheaper.",
            "{o} told everybody that {s} rehearses in the {v} hall, as a joke.",
        ),
        restored="{s} has gone back to the hall that it had at the very first.",
        late="I never told you: from {d} {s} had rehearsed in the {v} hall for a while.",
        about="the hall where {s} rehearses",
        holds="Does {s} rehearse in the {v} hall now?",
        changed="How many times did {s} go to another hall?",
        since="On which day did {s} go to the hall where it rehearses now?",
        before="In which hall did {s} rehearse just before the {v} hall?",
        ever="List all the halls where {s} has rehearsed.",
    ),
)
"""Things whose value changes."""


class Dependence(NamedTuple):
    """A fact that depends on the one before it: how it is told, and what then is asked.

    In `told`, `{a}` stands for what it depends on and `{b}` for its value.
    """

    attribute: str
    told: str
    ask: str
    person: bool


DEPENDENCES = (
    Dependence("carer", "{b} looks after {a} for us.", "Who looks after {about} now?", person=True),
    Dependence(
        "room",
        "{a} sits in the {b} room.",
        "In which room sits the person who looks after {about} now?",
        person=False,
    ),
    Dependence(
        "badge",
        "The {a} room opens with the {b} badge.",
        "Which badge opens the room of the person who looks after {about} now?",
        person=False,
    ),
)
"""What depends on a value: on a place its carer, on the carer a room, on the room a badge."""
