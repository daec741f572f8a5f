"""Tell the same history in other messages: split, merged, in batches, twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from memsim.language.text import content
from memsim.message import Message, Text
from memsim.scenario.relations.relation import Events
from memsim.scenario.script import Ask, Fact, Probe, Scenario, Turn

BATCH: Final = 20
"""Turns that are told at once at most."""

_SHORTEST: Final = 40
"""Characters below which a message is not split."""

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s{1,4}(?=[A-Z\d])")


def told_twice(events: Events, _turns: int) -> Events:
    """What is heard is delivered again by the same id, as by a retry."""
    for event in events:
        if isinstance(event, Turn):
            yield replace(event, heard=tuple(m for one in event.heard for m in (one, one)))
        else:
            yield event


def _citing(probe: Probe, sources: Callable[[str], tuple[str, ...]]) -> Probe:
    if not probe.evidence:
        return probe
    named = (new for old in probe.evidence for new in sources(old))
    return replace(probe, evidence=tuple(dict.fromkeys(named)))


# Messages split in two.


def split(scenario: Scenario) -> Scenario:
    """Every longer message of a user comes as two, which are cut between sentences."""
    either = partial(_citing, sources=lambda old: (old, second_half(old)))
    return replace(
        scenario,
        play=partial(_split, scenario),
        probes=tuple(map(either, scenario.probes)),
    )


def second_half(source: str) -> str:
    """The id of the second half of a message."""
    return f"{source}+"


def _split(scenario: Scenario, seed: int) -> Events:
    halves: dict[str, tuple[Message, Message]] = {}
    for event in scenario.events(seed):
        if isinstance(event, Turn):
            yield _split_turn(event, halves)
        elif isinstance(event, Ask):
            probe = event.probe
            yield replace(event, probe=_citing(probe, partial(_nearer, probe, halves)))
        else:
            yield event


def _split_turn(turn: Turn, halves: dict[str, tuple[Message, Message]]) -> Turn:
    heard: list[Message] = []
    for message in turn.heard:
        two = _halves(message, [f for f in turn.facts if f.source == message.id])
        heard += two or (message,)
        if two:
            halves[message.id] = two
    if len(heard) == len(turn.heard):
        return turn
    return replace(turn, heard=tuple(heard), facts=tuple(_stated(f, halves) for f in turn.facts))


def _halves(message: Message, facts: list[Fact]) -> tuple[Message, Message] | None:
    text = message.text
    plain = len(message.blocks) == 1 and isinstance(message.blocks[0], Text)
    if not plain or len(text) < _SHORTEST or message.role != "user":
        return None
    cuts = [match.span() for match in _SENTENCE.finditer(text)]
    # A value that both halves together say would be said by neither.
    cuts = [cut for cut in cuts if all(_whole(f.value, text, cut) for f in facts)]
    if not cuts:
        return None
    first, rest = min(cuts, key=lambda cut: (abs(cut[0] - len(text) // 2), cut))
    other = replace(message, id=second_half(message.id), blocks=(Text(text[rest:]),))
    return replace(message, blocks=(Text(text[:first]),)), other


def _whole(value: str, text: str, cut: tuple[int, int]) -> bool:
    return value in text[: cut[0]] or value in text[cut[1] :]


def _stated(fact: Fact, halves: dict[str, tuple[Message, Message]]) -> Fact:
    two = halves.get(fact.source)
    if two is None or fact.value in two[0].text:
        return fact
    return replace(fact, source=two[1].id)


def _nearer(
    probe: Probe, halves: dict[str, tuple[Message, Message]], source: str
) -> tuple[str, ...]:
    """The half that says more of a question and its answer."""
    two = halves.get(source)
    if two is None:
        return (source,)
    wanted = frozenset(content(" ".join((probe.ask, *probe.expect))))
    first, second = (len(wanted.intersection(content(half.text))) for half in two)
    return (two[0].id,) if first >= second else (two[1].id,)


# Turns told as one.


def merged(scenario: Scenario) -> Scenario:
    """Two plain turns of one speaker after each other come as one, in one message."""
    return _together(scenario, _merged_pairs)


def batched(scenario: Scenario) -> Scenario:
    """The turns of a speaker in a session are told at once, without a call of the model between."""
    return _together(scenario, _batches)


_Moved = dict[str, str]
"""Ids of messages that are told as a part of another."""


def _together(scenario: Scenario, join: Callable[[Events, _Moved], Events]) -> Scenario:
    moved: _Moved = {}
    # Which messages are joined depends on who says them and on no seed.
    for _event in join(scenario.events(0), moved):
        pass
    cite = partial(_citing, sources=lambda old: (moved.get(old, old),))
    return replace(
        scenario,
        play=partial(_joined, scenario, join),
        probes=tuple(map(cite, scenario.probes)),
    )


def _joined(scenario: Scenario, join: Callable[[Events, _Moved], Events], seed: int) -> Events:
    moved: _Moved = {}
    for event in join(scenario.events(seed), moved):
        if isinstance(event, Ask):
            probe = _citing(event.probe, lambda old: (moved.get(old, old),))
            yield replace(event, probe=probe)
        else:
            yield event


def _merged_pairs(events: Events, moved: _Moved) -> Events:
    waiting: Turn | None = None
    for event in events:
        if waiting is not None and isinstance(event, Turn) and _mergeable(waiting, event):
            yield _merge(waiting, event, moved)
            waiting = None
            continue
        if waiting is not None:
            yield waiting
            waiting = None
        if isinstance(event, Turn) and _plain(event):
            waiting = event
        else:
            yield event
    if waiting is not None:
        yield waiting


def _plain(turn: Turn) -> bool:
    said = (*turn.heard, *turn.reply)
    spoken = all(len(m.blocks) == 1 and isinstance(m.blocks[0], Text) for m in said)
    roles = all(m.role == "assistant" for m in turn.reply)
    return spoken and roles and len(turn.heard) == 1 and len(turn.reply) <= 1 and turn.sent is None


def _mergeable(first: Turn, second: Turn) -> bool:
    same = (first.principal, first.session) == (second.principal, second.session)
    return same and _plain(second) and len(first.reply) == len(second.reply)


def _merge(first: Turn, second: Turn, moved: _Moved) -> Turn:
    heard = tuple(map(partial(_one, moved), first.heard, second.heard))
    reply = tuple(map(partial(_one, moved), first.reply, second.reply))
    facts = (*first.facts, *second.facts)
    return replace(
        second,
        heard=heard,
        reply=reply,
        facts=tuple(replace(f, source=moved.get(f.source, f.source)) for f in facts),
    )


def _one(moved: _Moved, first: Message, second: Message) -> Message:
    moved[second.id] = first.id
    return replace(second, id=first.id, blocks=(Text(f"{first.text} {second.text}"),))


def _batches(events: Events, _moved: _Moved) -> Events:
    batch: list[Turn] = []
    for event in events:
        if isinstance(event, Turn) and event.sent is None:
            if batch and (len(batch) == BATCH or _apart(batch[-1], event)):
                yield _at_once(batch)
                batch = []
            batch.append(event)
            continue
        if batch:
            yield _at_once(batch)
            batch = []
        yield event
    if batch:
        yield _at_once(batch)


def _apart(turn: Turn, after: Turn) -> bool:
    return (turn.principal, turn.session) != (after.principal, after.session)


def _at_once(batch: list[Turn]) -> Turn:
    if len(batch) == 1:
        return batch[0]
    return replace(
        batch[-1],
        heard=tuple(_messages(batch)),
        reply=(),
        facts=tuple(fact for turn in batch for fact in turn.facts),
    )


def _messages(batch: list[Turn]) -> Iterator[Message]:
    for turn in batch:
        yield from turn.heard
        yield from turn.reply
