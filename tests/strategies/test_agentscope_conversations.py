"""AgentScope's strategy in conversations at random: what every strategy promises holds for it."""

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
SMALL = "memory=autocontext,msg_threshold=6,last_keep=3,large_payload_threshold=60"
WAYS = (
    "agentscope",
    f"agentscope:{SMALL}",
    f"agentscope:{SMALL},longterm=mem0,mode=both,scope=session",
    f"agentscope:{SMALL},version=1.0.12,longterm=store,min_compression_token_threshold=5",
    f"agentscope:{SMALL},version=1.0.12,scope=shared,min_consecutive_tool_messages=1",
    "agentscope:memory=autocontext,version=1.0.21,max_token=60,keep_recent=2,longterm=reme",
    "agentscope:window=truncation,msg_threshold=5,last_keep=2,longterm=store",
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
def test_what_is_shown_is_within_the_budget_or_must_stay(ref: str, turns: Turns) -> None:
    """The window gives way to the summary and to what is remembered."""
    memory = strategy(ref, budget=300)
    play(memory, turns)
    for context in probes(memory, turns):
        window = sum(s.tokens for s in context.sections if s.layer == "window")
        rest = context.tokens - window
        assert window <= max(0, 300 - rest)


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
