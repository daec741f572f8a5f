"""AEGIS's strategy in conversations at random: what every strategy promises holds for it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.scenario.script import Turn
from memsim.strategy import Forget
from tests.strategies.conversations import (
    PRINCIPALS,
    ask,
    conversations,
    held,
    messages_of,
    play,
    probes,
    saved,
    shown,
    strategy,
)

Turns = tuple[Turn, ...]
WAYS = (
    "aegis",
    "aegis:index=exact,every=2,notes=on,limit=500",
    "aegis:lists=2,users=on,entities=3,top=1",
)
each = pytest.mark.parametrize(
    "ref", [*WAYS, *(f"{w}{',' if ':' in w else ':'}fixed=true" for w in WAYS)]
)
few = settings(max_examples=5)


@each
@few
@given(turns=conversations(2), after=st.integers(1, 11))
def test_a_restart_changes_nothing(ref: str, turns: Turns, after: int) -> None:
    """Saved and loaded at any turn, it goes on as if it had never stopped."""
    whole, before, restarted = strategy(ref), strategy(ref), strategy(ref)
    play(whole, turns[:after])
    play(before, turns[:after])
    restarted.env.clock.set(turns[after - 1].time if after <= len(turns) else turns[-1].time)
    restarted.load(json.loads(saved(before)))

    assert saved(before) == saved(restarted)
    assert repr(play(whole, turns[after:])) == repr(play(restarted, turns[after:]))
    assert repr(probes(whole, turns)) == repr(probes(restarted, turns))
    assert saved(whole) == saved(restarted)


@each
@few
@given(turns=conversations(2))
def test_looking_leaves_no_trace(ref: str, turns: Turns) -> None:
    """Questions, surfaces and whereabouts change nothing, and come out the same again."""
    memory = strategy(ref)
    play(memory, turns)
    before = saved(memory)
    first = repr(probes(memory, turns))
    for message in messages_of(turns):
        memory.locate(message.id, ask(memory))
    assert held(memory) <= {m.id for m in messages_of(turns)}
    assert first == repr(probes(memory, turns))
    assert before == saved(memory)


@each
@few
@given(turns=conversations(2))
def test_what_is_shown_is_within_the_budget(ref: str, turns: Turns) -> None:
    """The memory's message gives way first, then the oldest messages."""
    memory = strategy(ref, budget=300)
    play(memory, turns)
    assert all(context.tokens <= 300 for context in probes(memory, turns))


@each
@few
@given(turns=conversations(2))
def test_nothing_is_shown_twice(ref: str, turns: Turns) -> None:
    """A message stands in the window once, and in its own words or not at all."""
    memory = strategy(ref)
    play(memory, turns)
    for context in probes(memory, turns):
        ids = [m.id for s in context.sections for m in s.messages]
        assert len(ids) == len(set(ids))


@each
@few
@given(turns=conversations(2), named=st.sets(st.integers(1, 40), min_size=1, max_size=6))
def test_what_was_deleted_is_shown_no_more_where_it_is_fixed(
    ref: str, turns: Turns, named: set[int]
) -> None:
    """Fixed, nothing of a message is left anywhere; otherwise it is told what was removed."""
    memory = strategy(ref)
    play(memory, turns)
    owners = {m.id: m.principal for m in messages_of(turns)}
    ids = tuple(f"m{n}" for n in sorted(named) if f"m{n}" in owners)
    removed: set[str] = set()
    for who in PRINCIPALS:
        own = tuple(i for i in ids if owners[i] == who)
        if own:
            removed.update(memory.forget(Forget(principal=who, text="", sources=own)).removed)
    assert removed <= set(ids)
    if "fixed" in ref:
        assert set(ids) == removed
        assert set(ids).isdisjoint(held(memory))
        assert all(set(ids).isdisjoint(shown(c)) for c in probes(memory, turns))
