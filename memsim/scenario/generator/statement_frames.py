"""Sentences for things that have one value at a time: stated, changed, and only talked about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementFrame:
    """How one kind of thing is told and asked.

    In each text `{s}` stands for the thing, `{v}` for its value, `{o}` for another person and `{d}`
    for a day.
    """

    thing: str
    ask: str
    first: str
    changes: tuple[str, ...]
    unreal: tuple[str, ...]
    restored: str
    late: str


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
    ),
)
"""Things whose value changes."""
