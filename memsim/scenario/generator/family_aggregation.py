"""Lists that are told one thing at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from memsim.scenario.generator.event_log import SessionDays, Story, StoryEvent, StoryQuestion
from memsim.scenario.generator.random_draw import Draw

DEFAULTS = {
    "facts": 6,
    "distance": 80,
    "items": 4,
    "removed": 1,
    "look_alikes": 1,
    "aliases": 0,
    "interruptions": 0,
    "notices": 0,
    "result_size": 0,
    "unknown": 1,
}
ABOUT = "What belongs to a list that was never told at once?"


class Collection(NamedTuple):
    """How a list grows, shrinks and is asked for.

    `beside` tells of another list of the same person in almost the same words.
    """

    ask: str
    adds: tuple[str, ...]
    removes: str
    beside: str
    holds: str
    size: str


COLLECTIONS = (
    Collection(
        "List all the plants that {o} grows.",
        (
            "{o} grows a {v} fern by the window.",
            "There is a {v} palm now that {o} grows.",
            "{o} grows some {v} moss in a jar.",
        ),
        "The {v} one died, so {o} grows it no more.",
        "{o} paints a {v} fern by the window.",
        "Is {v} one of the plants that {o} grows?",
        "How many plants does {o} grow?",
    ),
    Collection(
        "List all the languages that {o} studies.",
        (
            "{o} studies {v} in the evening.",
            "At weekends {o} studies {v}.",
            "For the journey {o} studies {v}.",
        ),
        "{o} has given {v} up and studies it no longer.",
        "{o} hears {v} in the evening from the neighbours.",
        "Is {v} one of the languages that {o} studies?",
        "How many languages does {o} study?",
    ),
    Collection(
        "List all the instruments that {o} plays.",
        (
            "{o} plays the {v} horn in a band.",
            "In church {o} plays the {v} organ.",
            "{o} plays a {v} flute as well.",
        ),
        "{o} has sold the {v} thing and plays it no more.",
        "{o} mends the {v} horn of a band.",
        "Is {v} one of the instruments that {o} plays?",
        "How many instruments does {o} play?",
    ),
)


def story(dials: Mapping[str, int], draw: Draw, _days: SessionDays) -> Story:
    """A thing a session; lists of other people are told among them."""
    owners = [
        (COLLECTIONS[n % len(COLLECTIONS)], draw.person())
        for n in range(dials["facts"] * (1 + dials["look_alikes"]))
    ]
    items, removed = dials["items"] + dials["removed"], dials["removed"]
    things = {owner: [draw.word() for _ in range(items)] for _, owner in owners}
    events = [
        _event("adds", draw.pick(kind.adds), owner, things[owner][session], session)
        for session in range(items)
        for kind, owner in draw.shuffled(owners)
    ]
    events += [
        _event("removes", kind.removes, owner, things[owner][place], items)
        for kind, owner in draw.shuffled(owners)
        for place in range(removed)
    ]
    asked = [(kind, owner, things[owner][removed:]) for kind, owner in owners[: dials["facts"]]]
    asked += [
        (COLLECTIONS[n % len(COLLECTIONS)], draw.person(), []) for n in range(dials["unknown"])
    ]
    questions = tuple(_question(kind, owner, left) for kind, owner, left in asked)
    return Story(events=tuple(events), questions=questions, sessions=items + (removed > 0))


def _event(kind: str, text: str, owner: str, value: str, session: int) -> StoryEvent:
    return StoryEvent(
        kind="adds" if kind == "adds" else "removes",
        text=text.format(o=owner, v=value),
        subject=owner,
        attribute="list",
        value=value,
        session=session,
    )


def beside(event: StoryEvent, _number: int, draw: Draw) -> StoryEvent:
    """A thing on another list of the same person."""
    kind = next(kind for kind in COLLECTIONS if event.text in _told(kind, event))
    value = draw.word()
    text = kind.beside.format(o=event.subject, v=value)
    return replace(event, kind="adds", text=text, attribute="other list", value=value)


def _told(kind: Collection, event: StoryEvent) -> set[str]:
    return {t.format(o=event.subject, v=event.value) for t in (*kind.adds, kind.removes)}


def _question(kind: Collection, owner: str, left: list[str]) -> StoryQuestion:
    return StoryQuestion(
        kind="list",
        ask=kind.ask.format(o=owner),
        subject=owner,
        path=("list",),
        expect=tuple(left),
        ability="multi-session",
        match="all",
    )
