"""Twist a scenario in ways that must not change what a memory answers.

A relation needs no gold answer: the twisted scenario is held against the plain one, question by
question. Each works on the events of any script or dataset, whatever wrote them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Final, Literal

from memsim.message import Message, Text
from memsim.scenario.script import Ask, RestartEvent, Scenario, ScriptEvent, Turn

Expected = Literal["same", "no worse"]
Events = Iterator[ScriptEvent]

STRANGER: Final = "somebody-else"
"""The principal of the conversations that `strangers` adds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A twist, and what it may do to the outcome of a question.

    Attributes:
        about: what is changed, in a few words.
        expected: whether an answer may be gained.
        ask: the question as it is put instead; None where it stays.
        retell: the events as they are played instead, by the number of turns; None where they stay.
        budget: by how much the budget is multiplied.
    """

    about: str
    expected: Expected = "same"
    ask: Callable[[str], str] | None = None
    retell: Callable[[Events, int], Events] | None = None
    budget: int = 1


def twisted(scenario: Scenario, name: str) -> Scenario:
    """The scenario with one relation applied.

    Raises:
        KeyError: there is no such relation.
    """
    relation = RELATIONS[name]
    probes = scenario.probes
    people = scenario.principals
    if relation.ask is not None:
        probes = tuple(replace(probe, ask=relation.ask(probe.ask)) for probe in probes)
    if relation.retell is _with_strangers:
        people = (*people, STRANGER)
    return replace(
        scenario,
        name=f"{scenario.name}~{name}",
        play=partial(_play, scenario, name),
        probes=probes,
        principals=people,
        expect={},
        fingerprint=hashlib.sha256(f"{scenario.fingerprint}~{name}".encode()).hexdigest(),
    )


def _play(scenario: Scenario, name: str, seed: int) -> Events:
    relation = RELATIONS[name]
    events = scenario.events(seed)
    if relation.retell is not None:
        events = relation.retell(events, scenario.turns)
    if relation.ask is None:
        return events
    return _asked(events, relation.ask)


def _asked(events: Events, ask: Callable[[str], str]) -> Events:
    for event in events:
        if isinstance(event, Ask):
            yield replace(event, probe=replace(event.probe, ask=ask(event.probe.ask)))
        else:
            yield event


# Questions in other words.

_WORD = re.compile(r"[^\W\d_]+")


def _behind(words: str, ask: str) -> str:
    return f"{ask} {words}"


def _before(words: str, ask: str) -> str:
    return f"{words} {ask}"


def _plain_case(ask: str) -> str:
    return ask.lower().rstrip("?")


def with_typo(ask: str) -> str:
    """The question with two letters of its longest word changed over; the first such word."""
    longest = max(_WORD.finditer(ask), key=lambda match: len(match.group()), default=None)
    if longest is None or len(longest.group()) < 4:
        return ask
    middle = (longest.start() + longest.end()) // 2
    return f"{ask[: middle - 1]}{ask[middle]}{ask[middle - 1]}{ask[middle + 1 :]}"


# Histories told in another way.


def _restarted(events: Events, turns: int) -> Events:
    for event in events:
        yield event
        if isinstance(event, Turn) and event.number == (turns + 1) // 2:
            yield RestartEvent()


def _in_other_order(events: Events, _turns: int) -> Events:
    """Questions that follow one another are asked from the last to the first."""
    waiting: list[Ask] = []
    for event in events:
        if isinstance(event, Ask):
            waiting.append(event)
            continue
        yield from reversed(waiting)
        waiting.clear()
        yield event
    yield from reversed(waiting)


_TALK = (
    ("Which way is it to the river?", "Down the hill and left."),
    ("I had porridge again.", "With honey, I hope."),
    ("The neighbours have painted their fence.", "What colour did they take?"),
    ("My umbrella has a hole.", "Rain is announced for tomorrow."),
    ("Is there a train on Sundays?", "Every two hours."),
    ("I cannot find my other glove.", "Have you looked in the coat?"),
    ("The cat next door sleeps on our car.", "It is warm there."),
    ("We sang the old songs last night.", "How did that feel?"),
)
"""What somebody else says; none of it answers anything."""

_TOLD = 20
"""Times that the strangers' talk is gone through."""


def _with_strangers(events: Events, turns: int) -> Events:
    """Behind the last turn somebody else talks in a session of their own."""
    added = 0
    for event in events:
        if isinstance(event, Ask) and added:
            yield replace(event, turn=event.turn + added, time=event.time + timedelta(days=1))
            continue
        yield event
        if isinstance(event, Turn) and event.number == turns:
            for turn in _strangers(event):
                added += 1
                yield turn


def _strangers(last: Turn) -> Iterator[Turn]:
    number = last.number
    time = last.time + timedelta(hours=1)
    for pair in _TALK * _TOLD:
        number += 1
        time += timedelta(minutes=1)
        said = [
            Message(
                id=f"x{number}.{place}",
                role="user" if place == 1 else "assistant",
                blocks=(Text(text),),
                principal=STRANGER,
                session=STRANGER,
                turn=number,
                time=time,
            )
            for place, text in enumerate(pair, start=1)
        ]
        yield Turn(
            number=number,
            session=STRANGER,
            principal=STRANGER,
            time=time,
            heard=(said[0],),
            reply=(said[1],),
        )


RELATIONS: Final[Mapping[str, Relation]] = {
    "thanks": Relation(
        about="thanks stand behind the question",
        ask=partial(_behind, "Thanks a lot, have a nice day!"),
    ),
    "polite": Relation(
        about="an apology stands before the question",
        ask=partial(_before, "Sorry to bother you again, but could you please tell me:"),
    ),
    "quick": Relation(
        about="two words stand before the question", ask=partial(_before, "Quick question.")
    ),
    "lower_case": Relation(
        about="the question is in lower case, without its mark", ask=_plain_case
    ),
    "typo": Relation(about="two letters of its longest word change places", ask=with_typo),
    "order": Relation(
        about="questions are asked from the last to the first", retell=_in_other_order
    ),
    "restart": Relation(about="the process restarts half-way", retell=_restarted),
    "strangers": Relation(about="somebody else talks behind it all", retell=_with_strangers),
    "budget": Relation(about="the budget is doubled", expected="no worse", budget=2),
}
"""Every relation, by name."""
