"""The sliding window, and the floor and ceilings that every memory is measured against."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.message import Message, Text, ToolResult, ToolUse, said
from memsim.scenario.script import Turn
from memsim.strategy import Event, Strategy
from tests.strategies.conversations import (
    ask,
    conversations,
    held,
    messages_of,
    play,
    shown,
    strategy,
    talk,
)

Turns = tuple[Turn, ...]


def shown_in_order(memory: Strategy, budget: int) -> list[str]:
    """Ids of what a context holds, as it reads."""
    context = memory.context(ask(memory, budget=budget))
    return [m.id for s in context.sections for m in s.messages]


def bound(messages: tuple[Message, ...]) -> list[list[Message]]:
    """The messages in groups: a call with everything up to its last result, else one alone."""
    groups: list[list[Message]] = []
    for message in messages:
        group = [message]
        while any(set(m.calls) & set(message.results) for g in groups for m in g):
            group = groups.pop() + group
            if any(set(m.calls) & set(message.results) for m in group):
                break
        groups.append(group)
    return groups


@settings(max_examples=60)
@given(turns=conversations(), count=st.integers(1, 12))
def test_the_window_holds_the_newest_messages(turns: Turns, count: int) -> None:
    """Exactly so many, unless that would tear a call from its results: then fewer, whole."""
    memory = strategy(f"sliding_window:messages={count}")
    play(memory, turns)

    expected: list[str] = []
    for place, group in enumerate(reversed(bound(messages_of(turns)))):
        if place and len(expected) + len(group) > count:
            break
        expected = [m.id for m in group] + expected

    assert expected == shown_in_order(memory, 10**9)
    assert set(expected) == held(memory)


@settings(max_examples=40)
@given(turns=conversations(), tokens=st.integers(1, 600))
def test_a_window_of_tokens_holds_as_many_as_fit(turns: Turns, tokens: int) -> None:
    """The longest run of newest whole groups that has so many tokens, and the newest always."""
    memory = strategy(f"sliding_window:tokens={tokens}")
    play(memory, turns)

    groups = bound(messages_of(turns))
    runs = [[m for g in groups[at:] for m in g] for at in range(len(groups))]
    fitting = [run for run in runs if memory.env.build.tokens(run) <= tokens] or [groups[-1]]

    assert {m.id for m in fitting[0]} == held(memory)


def test_what_leaves_the_window_is_told() -> None:
    """Each message that is gone was dropped in an event, once."""
    events: list[Event] = []
    memory = strategy("sliding_window:messages=4", log=events.append)
    turns = talk(*"abcdefgh")
    play(memory, turns)

    gone = [source for event in events for source in event.sources]

    assert {"dropped"} == {event.kind for event in events}
    assert [m.id for m in messages_of(turns)][:-4] == gone
    assert memory.locate("m1", ask(memory)) is None


def test_a_call_leaves_with_its_results() -> None:
    """Two results of one call are not torn apart by a window that ends between them."""
    memory = strategy("sliding_window:messages=3")
    uses = (ToolUse(id="a", name="f", arguments="{}"), ToolUse(id="b", name="f", arguments="{}"))
    traffic = (
        Message(id="m1", role="assistant", blocks=uses),
        Message(id="m2", role="tool", blocks=(ToolResult(id="a", text="one"),)),
        Message(id="m3", role="tool", blocks=(ToolResult(id="b", text="two"),)),
    )
    seen = []
    for message in (*traffic, said("user", "thanks", id="m4")):
        memory.observe(message)
        seen.append(shown_in_order(memory, 10**6))

    assert [["m1"], ["m1", "m2"], ["m1", "m2", "m3"], ["m4"]] == seen


@settings(max_examples=40)
@given(turns=conversations(), budget=st.integers(64, 4096))
def test_everything_is_shown_that_fits(turns: Turns, budget: int) -> None:
    """The oldest are left out only where all of it is over the budget, and no more than needed."""
    memory = strategy("full_context", budget=budget)
    play(memory, turns)

    groups = bound(messages_of(turns))
    runs = [[m for g in groups[at:] for m in g] for at in range(len(groups) + 1)]
    expected = next(run for run in runs if memory.env.build.tokens(run) <= budget)

    assert [m.id for m in expected] == shown_in_order(memory, budget)
    assert {m.id for m in messages_of(turns)} == held(memory)


def with_partners(group: list[Message], told: set[str]) -> list[str]:
    """Ids of those of a group that are told of, and of what belongs to the same calls."""
    calls = {c for m in group if m.id in told for c in (*m.calls, *m.results)}
    calls |= {c for m in group if calls & set(m.calls) for c in m.calls}
    return [m.id for m in group if m.id in told or calls & {*m.calls, *m.results}]


@settings(max_examples=40)
@given(turns=conversations(), data=st.data())
def test_the_oracle_shows_the_evidence_alone(turns: Turns, data: st.DataObject) -> None:
    """Just the messages that it is told of, in their order, and what a tool call needs."""
    memory = strategy("oracle")
    play(memory, turns)
    everything = messages_of(turns)
    told = data.draw(st.sets(st.sampled_from([m.id for m in everything])))
    query = ask(memory, budget=10**6, evidence=(*sorted(told), "unknown"))

    expected = [i for group in bound(everything) for i in with_partners(group, told)]

    assert expected == [m.id for s in memory.context(query).sections for m in s.messages]
    assert not memory.context(ask(memory)).sections


def test_the_oracle_quotes_what_is_over_the_budget() -> None:
    """Evidence longer than the budget is clipped, never left out whole, and nothing else comes."""
    memory = strategy("oracle")
    play(memory, talk("filler " * 400 + "the pin is 1234 " + "filler " * 400, "Lovely weather."))

    context = memory.context(ask(memory, "What is the pin?", budget=128, evidence=("m1",)))

    assert {"m1"} == shown(context)
    assert "1234" in context.text()
    assert context.tokens <= 128


def test_without_a_memory_only_the_turn_itself_is_known() -> None:
    """What was said before it is gone, and what others say in it is not one's own."""
    memory = strategy("no_memory")
    turns = talk("My order is A-17.", "Lovely weather.")
    sent = play(memory, turns)
    memory.observe(said("user", "Hello.", id="x1", principal="ben", turn=2))

    assert [["m1"], ["m3"]] == [sorted(shown(context)) for _, context in sent]
    assert {"m3", "m4"} == shown(memory.context(ask(memory, who="ana", turn=2)))
    assert {"x1"} == shown(memory.context(ask(memory, who="ben", turn=2)))
    assert not memory.context(ask(memory, who="ana", turn=3)).sections


@pytest.mark.parametrize("ref", ["sliding_window", "full_context"])
def test_what_is_held_but_over_the_budget_is_told(ref: str) -> None:
    """A message that the budget leaves out is not lost, and its place says so."""
    memory = strategy(ref)
    play(memory, talk("My order is A-17. " * 20, "Lovely weather."))
    tight = ask(memory, budget=60)

    first, last = memory.locate("m1", tight), memory.locate("m4", tight)

    assert first is not None
    assert last is not None
    assert ("window", "over budget") == (first.tier, first.detail)
    assert ("window", "") == (last.tier, last.detail)


def test_a_group_larger_than_a_window_of_tokens_is_shown_where_the_budget_has_room() -> None:
    """The newest message is never kept from the model by the window's own limit."""
    memory = strategy("sliding_window:tokens=20")
    memory.observe(Message(id="m1", role="user", blocks=(Text("My order is A-17. " * 20),)))

    assert ["m1"] == shown_in_order(memory, 8192)
