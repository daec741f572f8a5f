"""Talk of other people around a scenario, and more talk and events of its own people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from memsim.message import EPOCH, Message, said
from memsim.scenario.relations.relation import Events
from memsim.scenario.script import Ask, ForgetEvent, Scenario, ScriptEvent, Turn
from memsim.strategy import Forget

STRANGER: Final = "somebody-else"
"""The principal of the conversations that `strangers` adds."""

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

_MORE = 6
"""Times that somebody goes through it who takes part."""


def with_strangers(scenario: Scenario) -> Scenario:
    """Behind the last turn somebody else talks in a session of their own."""
    return replace(
        scenario,
        play=partial(_with_strangers, scenario),
        principals=(*scenario.principals, STRANGER),
    )


def _with_strangers(scenario: Scenario, seed: int) -> Events:
    added = 0
    for event in scenario.events(seed):
        if isinstance(event, Ask) and added:
            yield replace(event, turn=event.turn + added, time=event.time + timedelta(days=1))
            continue
        yield event
        if isinstance(event, Turn) and event.number == scenario.turns:
            start = event.time + timedelta(hours=1)
            for turn in _talk(STRANGER, STRANGER, start, event.number, _TOLD):
                added += 1
                yield turn


def with_strangers_first(scenario: Scenario) -> Scenario:
    """Somebody else talks in a session of their own before the first turn."""
    return replace(
        scenario,
        play=partial(_with_strangers_first, scenario),
        principals=(*scenario.principals, STRANGER),
    )


def _with_strangers_first(scenario: Scenario, seed: int) -> Events:
    before = len(_TALK) * _TOLD
    talked = False
    for event in scenario.events(seed):
        if not talked:
            start = event.time if isinstance(event, Turn) else EPOCH
            yield from _talk(STRANGER, STRANGER, start - timedelta(days=2), 0, _TOLD)
            talked = True
        yield later(event, before)


def later(event: ScriptEvent, turns: int) -> ScriptEvent:
    """The event with other turns before it."""
    if isinstance(event, Ask):
        return replace(event, turn=event.turn + turns)
    if not isinstance(event, Turn):
        return event
    number = event.number + turns
    return replace(
        event,
        number=number,
        heard=tuple(replace(m, turn=number) for m in event.heard),
        reply=tuple(replace(m, turn=number) for m in event.reply),
        facts=tuple(replace(f, turn=number) for f in event.facts),
    )


def _talk(
    who: str, session: str, start: datetime, number: int, times: int, name: str = "x"
) -> Iterator[Turn]:
    time = start
    for pair in _TALK * times:
        number += 1
        time += timedelta(minutes=1)
        heard, reply = (
            said(
                "user" if place == 1 else "assistant",
                text,
                id=f"{name}{number}.{place}",
                principal=who,
                session=session,
                turn=number,
                time=time,
            )
            for place, text in enumerate(pair, start=1)
        )
        yield Turn(
            number=number,
            session=session,
            principal=who,
            time=time,
            heard=(heard,),
            reply=(reply,),
        )


# Another conversation of the same dataset.


def with_others(scenario: Scenario, other: Scenario) -> Scenario:
    """Behind the last turn other people hold a conversation; nobody asks about it."""
    return replace(
        scenario,
        play=partial(_with_others, scenario, other),
        principals=tuple(dict.fromkeys((*scenario.principals, *map(_other, other.principals)))),
    )


def _other(name: str) -> str:
    return f"other-{name}" if name == "user" else name


def _with_others(scenario: Scenario, other: Scenario, seed: int) -> Events:
    added, shift = 0, timedelta()
    for event in scenario.events(seed):
        if isinstance(event, Ask) and added:
            yield replace(event, turn=event.turn + added, time=event.time + shift)
            continue
        yield event
        if isinstance(event, Turn) and event.number == scenario.turns:
            start = event.time + timedelta(hours=1)
            told = [e for e in other.events(seed) if isinstance(e, Turn)]
            added = told[-1].number if told else 0
            shift = told[-1].time - told[0].time + timedelta(days=1) if told else timedelta()
            yield from _strange(told, event.number, start)


def _strange(told: Sequence[Turn], before: int, start: datetime) -> Iterator[Turn]:
    """Another's turns behind those of the scenario, in sessions and with ids of their own."""
    for turn in told:
        number, moved = turn.number + before, start - told[0].time
        who, session = _other(turn.principal), f"other-{turn.session}"
        message = partial(_moved, who=who, session=session, number=number, by=moved)
        yield Turn(
            number=number,
            session=session,
            principal=who,
            time=turn.time + moved,
            heard=tuple(map(message, turn.heard)),
            reply=tuple(map(message, turn.reply)),
        )


def _moved(message: Message, *, who: str, session: str, number: int, by: timedelta) -> Message:
    return replace(
        message,
        id=f"other-{message.id}",
        principal=who,
        session=session,
        turn=number,
        time=message.time + by,
    )


# More talk and events of those who take part.


def with_distance(scenario: Scenario) -> Scenario:
    """The last speaker goes on about other things before the questions."""
    return replace(scenario, play=partial(_with_distance, scenario))


def _with_distance(scenario: Scenario, seed: int) -> Events:
    added, length = 0, len(_TALK) * _MORE
    for event in scenario.events(seed):
        if isinstance(event, Ask) and added:
            later_on = event.time + timedelta(minutes=length)
            yield replace(event, turn=event.turn + added, time=later_on)
            continue
        yield event
        if isinstance(event, Turn) and event.number == scenario.turns:
            added = length
            yield from _talk(
                event.principal, event.session, event.time, event.number, _MORE, name="y"
            )


_SECRET = "My locker in the old gym has the code 55-08-31."  # noqa: S105 - of nobody


def with_forget(scenario: Scenario) -> Scenario:
    """Half-way somebody says something of no matter, and asks for it to be forgotten."""
    return replace(scenario, play=partial(_with_forget, scenario))


def _with_forget(scenario: Scenario, seed: int) -> Events:
    middle, added = (scenario.turns + 1) // 2, 0
    for event in scenario.events(seed):
        yield later(event, added)
        if isinstance(event, Turn) and event.number == middle and not added:
            added, number = 1, event.number + 1
            told = said(
                "user",
                _SECRET,
                id=f"z{number}",
                principal=event.principal,
                session=event.session,
                turn=number,
                time=event.time,
            )
            yield Turn(
                number=number,
                session=event.session,
                principal=event.principal,
                time=event.time,
                heard=(told,),
            )
            text = "Please forget the code of my locker."
            request = Forget(principal=event.principal, text=text, sources=(told.id,))
            yield ForgetEvent(request=request, facts=())


# Facts that change once more.

_NEW = ("ZQ-81", "ZQ-82", "ZQ-83", "ZQ-84", "ZQ-85", "ZQ-86", "ZQ-87", "ZQ-88")


def with_updates(scenario: Scenario) -> Scenario:
    """At the end every fact gets another value, in the words in which it was stated last.

    The answer that is expected stays the old one, so that it may be lost and never gained.
    """
    return replace(scenario, play=partial(_with_updates, scenario))


def _with_updates(scenario: Scenario, seed: int) -> Events:
    stated: dict[str, tuple[Turn, Message]] = {}
    added = 0
    for event in scenario.events(seed):
        if isinstance(event, Ask) and added:
            yield replace(event, turn=event.turn + added)
            continue
        yield event
        if not isinstance(event, Turn):
            continue
        by_id = {m.id: m for m in event.heard}
        for fact in event.facts:
            if fact.source in by_id and fact.value in by_id[fact.source].text:
                stated[fact.id] = event, by_id[fact.source]
        if event.number == scenario.turns:
            for turn in _updated(event, stated):
                added += 1
                yield turn


def _updated(last: Turn, stated: dict[str, tuple[Turn, Message]]) -> Iterator[Turn]:
    number = last.number
    for place, (name, (turn, message)) in enumerate(stated.items()):
        number += 1
        fact = next(f for f in turn.facts if f.id == name)
        new = f"{_NEW[place % len(_NEW)]}-{place}"
        again = said(
            "user",
            f"Update: {message.text.replace(fact.value, new)}",
            id=f"u{number}",
            principal=message.principal,
            session=last.session,
            turn=number,
            time=last.time,
        )
        yield Turn(
            number=number,
            session=last.session,
            principal=message.principal,
            time=last.time,
            heard=(again,),
        )
