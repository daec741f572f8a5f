"""Play the same history in another order, or with restarts between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Final

from memsim.language.anchors import anchors
from memsim.language.dates import DATE_HINT, mentions
from memsim.scenario.relations.relation import Events
from memsim.scenario.script import Ask, Probe, RestartEvent, Scenario, ScriptEvent, Turn

RESTARTS: Final = 8
"""Restarts that are spread over a script."""


def restarted(events: Events, turns: int) -> Events:
    """The process restarts once, half-way."""
    yield from _restarted_after(events, frozenset({(turns + 1) // 2}))


def often_restarted(events: Events, turns: int) -> Events:
    """The process restarts at places that are spread over the script."""
    # Not after equal numbers of turns: what happens every few turns would always be the same.
    places = (turns * (2 * n + 1) ** 2 // (2 * RESTARTS) ** 2 for n in range(RESTARTS))
    yield from _restarted_after(events, frozenset(max(1, place) for place in places))


def _restarted_after(events: Events, places: frozenset[int]) -> Events:
    for event in events:
        yield event
        if isinstance(event, Turn) and event.number in places:
            yield RestartEvent()


def in_other_order(events: Events, _turns: int) -> Events:
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


# Sessions that depend on each other in nothing change their places.


def with_swapped_sessions(scenario: Scenario) -> Scenario:
    """Neighbouring sessions that are independent of each other change places.

    They are where neither names a date, both share no name or number, no fact of one changes one
    of the other, and no question about them asks when or in which order.
    """
    return replace(scenario, play=partial(_swapped, scenario))


_Session = list[Turn]


def _swapped(scenario: Scenario, seed: int) -> Events:
    run: list[_Session] = []
    for event in scenario.events(seed):
        if isinstance(event, Turn) and event.sent is None:
            if not run or run[-1][-1].session != event.session:
                run.append([])
            run[-1].append(event)
            continue
        yield from _reordered(run, scenario.probes)
        run = []
        yield event
    yield from _reordered(run, scenario.probes)


def _reordered(run: list[_Session], probes: Sequence[Probe]) -> Iterator[ScriptEvent]:
    dated = [probe for probe in probes if _asks_when(probe)]
    waiting = list(run)
    while waiting:
        first = waiting.pop(0)
        if waiting and _independent(first, waiting[0], dated):
            yield from _placed(first, waiting.pop(0))
        else:
            yield from first


def _asks_when(probe: Probe) -> bool:
    when = probe.match == "date" or probe.ability in {"temporal", "order"}
    return when or "first" in probe.ask.lower() or "last" in probe.ask.lower()


def _independent(first: _Session, second: _Session, dated: Sequence[Probe]) -> bool:
    if _speaker(first) != _speaker(second) or first[0].session == second[0].session:
        return False
    if any(map(_says_date, (*first, *second))):
        return False
    names = [{a for turn in session for a in _anchors(turn)} for session in (first, second)]
    facts = [{f.id for turn in session for f in turn.facts} for session in (first, second)]
    replaced = {f.replaces for turn in second for f in turn.facts}
    if names[0] & names[1] or facts[0] & (facts[1] | replaced):
        return False
    said = {m.id for turn in (*first, *second) for m in turn.heard}
    told = facts[0] | facts[1]
    return not any(said.intersection(p.evidence) or told.intersection(p.facts) for p in dated)


def _speaker(session: _Session) -> frozenset[str]:
    return frozenset(turn.principal for turn in session)


def _says_date(turn: Turn) -> bool:
    texts = [m.text for m in (*turn.heard, *turn.reply)]
    return any(DATE_HINT.search(text) and mentions(text) for text in texts)


def _anchors(turn: Turn) -> Iterator[str]:
    for message in turn.heard:
        yield from (a.key for a in anchors(message.text) if a.kind != "word")


def _placed(first: _Session, second: _Session) -> Iterator[Turn]:
    """The second before the first, in the numbers and the time of both."""
    gap = second[0].time - first[-1].time
    number, start = first[0].number, first[0].time
    for session in (second, first):
        for before, turn in pairwise([session[0], *session]):
            start += turn.time - before.time
            yield _moved(turn, number, start)
            number += 1
        start += gap


def _moved(turn: Turn, number: int, time: datetime) -> Turn:
    by: timedelta = time - turn.time
    return replace(
        turn,
        number=number,
        time=time,
        heard=tuple(replace(m, turn=number, time=m.time + by) for m in turn.heard),
        reply=tuple(replace(m, turn=number, time=m.time + by) for m in turn.reply),
        facts=tuple(replace(f, turn=number, time=f.time + by) for f in turn.facts),
    )
