"""What every built-in strategy's contexts keep to, whatever is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.context import Context
from memsim.errors import BudgetUnsatisfiable
from memsim.message import Message
from memsim.scenario.script import Turn
from memsim.strategy import Strategy
from memsim.systems.cogtrix.window_fit import budget_of
from tests.strategies.conversations import (
    BY_PRINCIPAL,
    BY_SESSION,
    EVERY,
    FIXED,
    PRINCIPALS,
    QUESTIONS,
    ask,
    conversations,
    evidence_of,
    holding,
    messages_of,
    of_each,
    play,
    probes,
    saved,
    shown,
    strategy,
    variants,
)

every = pytest.mark.parametrize("ref", variants(EVERY))
each = pytest.mark.parametrize("ref", of_each(EVERY))
few = settings(max_examples=10)
Turns = tuple[Turn, ...]
interruptions = st.dictionaries(
    st.integers(1, 40),
    st.tuples(
        st.one_of(st.sampled_from(QUESTIONS), st.text(max_size=12)),
        st.sampled_from((*PRINCIPALS, "nobody")),
        st.integers(1, 8192),
    ),
    max_size=12,
)


def everything_asked(memory: Strategy, turns: Turns) -> list[Context]:
    """The contexts sent on the way, and those of all questions at the end."""
    sent = play(memory, turns, evidence=evidence_of(turns))
    return [context for _, context in sent] + probes(memory, turns)


@every
@few
@given(turns=conversations(), asked=interruptions)
def test_asking_leaves_no_trace(
    ref: str, turns: Turns, asked: dict[int, tuple[str, str, int]]
) -> None:
    """Whatever is asked at any time, all later contexts and the saved state stay the same.

    One instance is asked and another is not: two instances that hear the same give the same bytes.
    """

    def interrupt(memory: Strategy, step: int) -> None:
        if step in asked:
            text, who, budget = asked[step]
            query = ask(memory, text, who=who, turn=step, budget=budget)
            before = saved(memory)
            # Only a repaired design may refuse what cannot fit; nobody else is excused.
            refused = (BudgetUnsatisfiable,) if ref in FIXED else ()
            with suppress(*refused):
                memory.context(query).ranked()
            with suppress(*refused):
                memory.locate("m1", query)
            assert before == saved(memory)

    plain, asked_often = strategy(ref), strategy(ref)

    evidence = evidence_of(turns)
    expected = play(plain, turns, evidence=evidence), probes(plain, turns), saved(plain)
    sent = play(asked_often, turns, between=interrupt, evidence=evidence)
    actual = sent, probes(asked_often, turns)

    # Compared as such: to show where such long texts differ takes minutes.
    same = repr(expected[:2]) == repr(actual)
    assert same
    same = expected[2] == saved(asked_often)
    assert same


@each
@few
@given(turns=conversations())
def test_contexts_hold_what_was_said_and_whole_pairs(ref: str, turns: Turns) -> None:
    """One play serves all properties of a context that hold whatever is said."""
    said = messages_of(turns)
    for context in everything_asked(strategy(ref), turns):
        check_sources(context, {m.id: m for m in said})
        check_calls(context)
        if ref in PAIRED:
            check_pairs(context, said, by_session=ref in BY_SESSION)


def check_sources(context: Context, said: Mapping[str, Message]) -> None:
    """Ids are of messages that were said, none stands there twice, and quotes are to the letter."""
    whole = [m for s in context.sections for m in s.messages]
    assert len(whole) == len({m.id for m in whole})
    assert len(context.verbatim) == sum(len(m.verbatim) for m in whole)
    assert shown(context) | set(context.ranking) <= set(said)
    assert len(context.ranking) == len(set(context.ranking))
    for message in whole:
        if message.composed:
            assert all(said[source].text in message.text for source in message.quotes)
        else:
            assert said[message.id] == message


def check_calls(context: Context) -> None:
    """A provider is never sent half a pair, but for a call whose results are still to come."""
    sent = context.messages()
    pending = set(sent[-1].calls) if sent else set()
    assert torn(sent) <= pending


def torn(messages: tuple[Message, ...]) -> set[str]:
    """Ids of the calls without result, or of results without call."""
    called = {c for m in messages for c in m.calls}
    return called ^ {r for m in messages for r in m.results}


PAIRED = frozenset(ref for ref in holding("pairs") if ref != "no_memory")


def check_pairs(context: Context, said: tuple[Message, ...], *, by_session: bool) -> None:
    """Sections themselves hold whole pairs: nothing is left for the provider's rules to cut."""
    sent = (m for s in context.sections for m in s.messages)
    whole = {m.id for m in sent if not m.composed or m.calls or m.results}
    latest = max((place for place, m in enumerate(said) if m.id in whole), default=0)
    for call, answer in answered(said):
        if by_session and said[call].session != said[answer].session:
            continue  # which are two conversations
        assert said[answer].id not in whole or said[call].id in whole
        assert said[call].id not in whole or said[answer].id in whole or answer > latest


def answered(said: tuple[Message, ...]) -> Iterator[tuple[int, int]]:
    """Places of each result's call, the nearest before it, and of the result."""
    for answer, message in enumerate(said):
        for result in message.results:
            yield max(at for at in range(answer) if result in said[at].calls), answer


@pytest.mark.parametrize("ref", of_each(holding("budget")))
@pytest.mark.parametrize("tokenizer", ["chars/4", "o200k_base"])
@settings(max_examples=5)
@given(turns=conversations(), budget=st.integers(256, 8192), tighter=st.integers(0, 400))
def test_contexts_keep_to_the_budget_and_tell_their_tokens(
    ref: str, tokenizer: str, turns: Turns, budget: int, tighter: int
) -> None:
    """No context is over its budget, and each section's tokens are what its messages count."""
    memory = strategy(ref, budget=budget, tokenizer=tokenizer)
    contexts = [(budget, c) for _, c in play(memory, turns, evidence=evidence_of(turns))]
    for room in (budget, budget - tighter):
        query = ask(memory, turn=turns[-1].number, budget=room, evidence=evidence_of(turns))
        try:
            contexts.append((room, memory.context(query).ranked()))
        except BudgetUnsatisfiable:
            continue

    for room, context in contexts:
        assert context.tokens <= max(0, room)
        for section in context.sections:
            assert memory.env.build.tokens(section.messages) == section.tokens


WINDOWED = [ref for ref in holding("latest") if ref not in {"oracle", "no_memory"}]


def outlived(memory: Strategy, message: Message) -> bool:
    """Whether the memory's own terms have erased what is so old."""
    terms = [kept for _, kept in memory.retention().values() if kept is not None]
    return bool(terms) and memory.env.clock.now() - message.time >= min(terms)


@pytest.mark.parametrize("ref", of_each(WINDOWED))
@few
@given(turns=conversations(), budget=st.integers(256, 8192))
def test_what_was_said_last_is_always_there(ref: str, turns: Turns, budget: int) -> None:
    """The newest message is in the context, unless it alone is over the budget."""
    memory = strategy(ref, budget=budget)

    play(memory, turns)

    session = turns[-1].session
    there = {turn.principal for turn in turns if turn.session == session}
    for who in PRINCIPALS:
        if ref in BY_SESSION and who not in there:
            continue  # whoever takes no part in a conversation does not see its latest
        mine = ref in BY_PRINCIPAL
        own = [m for m in messages_of(turns) if not mine or m.principal == who]
        if own and ref in BY_SESSION and own[-1].session != session:
            continue  # what was said elsewhere is not shown here
        room = min(budget, 300) if "tokens=" in ref else budget
        room = budget_of(budget) if "cogtrix" in ref else room
        if own and outlived(memory, own[-1]):
            continue
        if own and not own[-1].results and memory.env.build.tokens(own[-1:]) <= room // 2:
            query = ask(memory, who=who, turn=turns[-1].number)
            context = memory.context(replace(query, session=session))
            changed = own[-1].calls or "large_payload" in ref  # sanitised, or offloaded
            assert own[-1].id in (shown(context) if changed else context.verbatim)
