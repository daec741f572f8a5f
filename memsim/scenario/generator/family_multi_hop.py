"""Answers that several facts lead to, each told in a session of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from memsim.scenario.generator.event_log import SessionDays, Story, StoryEvent, StoryQuestion
from memsim.scenario.generator.random_draw import Draw

DEFAULTS = {
    "facts": 8,
    "distance": 80,
    "hops": 3,
    "look_alikes": 2,
    "aliases": 0,
    "interruptions": 0,
    "notices": 0,
    "result_size": 0,
    "unknown": 1,
}
ABOUT = "What follows from facts that were told apart?"


class Link(NamedTuple):
    """A relation: how it is told, how it is asked last, and how it stands inside of a question.

    `beside` tells another relation of the same entity in almost the same words.
    """

    attribute: str
    told: str
    ask: str
    inside: str
    beside: str
    person: bool


LINKS = (
    Link(
        "employer",
        "{a} has found a job at {b}.",
        "At which company does {x} work?",
        "the company that employs {x}",
        "{a} has found a tailor at {b}.",
        person=False,
    ),
    Link(
        "office",
        "{b} is the town where {a} has its offices.",
        "In which town are the offices of {x}?",
        "the town with the offices of {x}",
        "{b} is the town where {a} has its warehouses.",
        person=False,
    ),
    Link(
        "mayor",
        "The people of {a} have chosen {b} as mayor.",
        "Who is mayor of {x}?",
        "the mayor of {x}",
        "The people of {a} have chosen {b} as beekeeper.",
        person=True,
    ),
    Link(
        "boat",
        "{a} sails on a boat called {b}.",
        "On which boat does {x} sail?",
        "the boat of {x}",
        "{a} dives from a boat called {b}.",
        person=False,
    ),
    Link(
        "builder",
        "{a} was built by {b}.",
        "Who built {x}?",
        "the builder of {x}",
        "{a} was painted by {b}.",
        person=True,
    ),
    Link(
        "street",
        "{a} lives in a house on {b} Lane.",
        "On which lane does {x} live?",
        "the lane of {x}",
        "{a} lets out a house on {b} Lane.",
        person=False,
    ),
)


def story(dials: Mapping[str, int], draw: Draw, _days: SessionDays) -> Story:
    """Chains of so many links; those besides are never asked about."""
    hops = dials["hops"]
    chains = [_chain(hops, draw) for _ in range(dials["facts"] * (1 + dials["look_alikes"]))]
    asked = chains[: dials["facts"]]
    order = draw.shuffled(range(hops))
    events = [
        event
        for session, place in enumerate(order)
        for chain in draw.shuffled(chains)
        for event in (_told(chain, place, session),)
    ]
    questions = [_question(chain, told=True) for chain in asked]
    questions += [_question(_chain(hops, draw), told=False) for _ in range(dials["unknown"])]
    return Story(events=tuple(events), questions=tuple(questions), sessions=hops)


def _chain(hops: int, draw: Draw) -> list[str]:
    return [draw.person(), *(draw.person() if k.person else draw.word() for k in LINKS[:hops])]


def _told(chain: list[str], place: int, session: int) -> StoryEvent:
    link, (a, b) = LINKS[place], chain[place : place + 2]
    return StoryEvent(
        kind="is",
        text=link.told.format(a=a, b=b),
        subject=a,
        attribute=link.attribute,
        value=b,
        session=session,
    )


def beside(event: StoryEvent, _number: int, draw: Draw) -> StoryEvent:
    """Another relation of the same entity."""
    (link,) = (link for link in LINKS if link.attribute == event.attribute)
    value = draw.person() if link.person else draw.word()
    return replace(
        event,
        kind="adds",
        text=link.beside.format(a=event.subject, b=value),
        attribute=f"other {link.attribute}",
        value=value,
    )


def _question(chain: list[str], *, told: bool) -> StoryQuestion:
    links = LINKS[: len(chain) - 1]
    about = chain[0]
    for link in links[:-1]:
        about = link.inside.format(x=about)
    return StoryQuestion(
        kind="path",
        ask=links[-1].ask.format(x=about),
        subject=chain[0],
        path=tuple(link.attribute for link in links),
        expect=(chain[-1],) if told else (),
        ability="multi-session",
    )
