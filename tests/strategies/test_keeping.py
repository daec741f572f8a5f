"""What every built-in strategy keeps, tells of it, forgets, and carries over a restart."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.errors import StateError
from memsim.scenario.script import Turn
from memsim.strategy import Forget, State
from tests.strategies.conversations import (
    BY_PRINCIPAL,
    EVERY,
    FIXED,
    PRINCIPALS,
    SCOPED,
    TRACKING,
    ask,
    conversations,
    evidence_of,
    held,
    holding,
    messages_of,
    of_each,
    play,
    probes,
    saved,
    shown,
    strategy,
    talk,
    variants,
    without_others,
)

Turns = tuple[Turn, ...]
every = pytest.mark.parametrize("ref", variants(EVERY))
each = pytest.mark.parametrize("ref", of_each(EVERY))
few = settings(max_examples=8)
APART = [
    *(ref for ref in FIXED if ref in BY_PRINCIPAL and "prx" not in ref),
    "prx:backend=memory,acl=on,fixed=true",
    "prx:backend=memory,acl=on,version=0.3.0,role=guest,fixed=true",
]
KEEPS_ALL = [
    ref
    for ref in EVERY
    if ref.partition(":")[0] in {"full_context", "oracle", "bm25", "vector", "hybrid"}
]


@every
@few
@given(turns=conversations(2), after=st.integers(1, 11))
def test_a_restart_changes_nothing(ref: str, turns: Turns, after: int) -> None:
    """Saved and loaded at any turn, a memory goes on as if it had never stopped."""
    whole, before = strategy(ref), strategy(ref)
    first, rest = turns[:after], turns[after:]
    play(whole, first)
    play(before, first)
    state = json.loads(saved(before))
    restarted = strategy(ref)
    restarted.env.clock.set(first[-1].time)
    restarted.load(state)

    assert saved(before) == saved(restarted)
    assert repr(probes(whole, first)) == repr(probes(restarted, first))
    assert repr(play(whole, rest)) == repr(play(restarted, rest))
    assert repr(probes(whole, turns)) == repr(probes(restarted, turns))
    assert saved(whole) == saved(restarted)


@each
@few
@given(turns=conversations(2), named=st.sets(st.integers(1, 40), max_size=6))
def test_a_restart_after_forgetting_changes_nothing(
    ref: str, turns: Turns, named: set[int]
) -> None:
    """What was forgotten does not come back, and rankings do not move, with a restart."""
    memory, restarted = strategy(ref), strategy(ref)
    play(memory, turns)
    for who in PRINCIPALS:
        request = Forget(principal=who, text="", sources=tuple(f"m{n}" for n in sorted(named)))
        memory.forget(request)
    restarted.env.clock.set(turns[-1].time)

    restarted.load(json.loads(saved(memory)))

    assert saved(memory) == saved(restarted)
    assert repr(probes(memory, turns)) == repr(probes(restarted, turns))


def test_a_turn_that_was_forgotten_is_still_the_turn() -> None:
    """What holds nothing any more is saved and loaded to the letter, too."""
    memory, restarted = strategy("no_memory"), strategy("no_memory")
    play(memory, talk("My order is A-17."))
    memory.forget(Forget(principal="ana", text="", sources=("m1", "m2")))

    restarted.load(json.loads(saved(memory)))

    assert saved(memory) == saved(restarted)


GARBAGE: tuple[State, ...] = ({}, {"unknown": 1})


def damaged(state: Any, at: int, by: object) -> Any:  # noqa: ANN401 - any JSON value
    """The state with its container number `at`, from the outermost, replaced."""
    place = iter(range(10_000))

    def walk(value: Any) -> Any:  # noqa: ANN401 - as above
        if not isinstance(value, dict | list):
            return value
        if next(place) == at:
            return by
        if isinstance(value, list):
            return [walk(each) for each in value]
        return {key: walk(each) for key, each in value.items()}

    return {key: walk(value) for key, value in state.items()}


DAMAGES = tuple((at, by) for at in (0, 1, 2) for by in (None, 7, "text", ["text"], {"key": 7}))


@every
def test_a_damaged_state_is_refused_and_leaves_the_memory_as_it_was(
    ref: str, subtests: pytest.Subtests
) -> None:
    """A state is taken over whole or not at all."""
    memory = strategy(ref)
    turns = talk(*["My order is A-17.", "I live in Bergen.", "Lovely weather."] * 4)
    play(memory, turns)
    expected = saved(memory), repr(probes(memory, turns))

    for at, by in DAMAGES:
        with subtests.test(at=at, by=by):
            with pytest.raises(StateError):
                memory.load(damaged(json.loads(expected[0]), at, by))

            assert expected == (saved(memory), repr(probes(memory, turns)))


@each
def test_a_foreign_state_is_refused(ref: str, subtests: pytest.Subtests) -> None:
    """What another strategy saved is no state."""
    memory = strategy(ref)
    turns = talk("My order is A-17.", "I live in Bergen.")
    play(memory, turns)
    expected = saved(memory), repr(probes(memory, turns))

    for state in GARBAGE:
        with subtests.test(state=state):
            with pytest.raises(StateError):
                memory.load(state)

            assert expected == (saved(memory), repr(probes(memory, turns)))


@pytest.mark.parametrize("ref", of_each(holding("erasure")))
@few
@given(turns=conversations(2), named=st.sets(st.integers(1, 40), min_size=1, max_size=6))
def test_forgetting_takes_ones_own_away_from_everywhere(
    ref: str, turns: Turns, named: set[int]
) -> None:
    """What was named and is one's own stands on no surface and in no context any more."""
    memory = strategy(ref)
    play(memory, turns)
    owner = {m.id: m.principal for m in messages_of(turns)}
    ids = {f"m{n}" for n in named} & set(owner)
    own = {i for i in ids if owner[i] == "ana"}
    before = held(memory)

    outcome = memory.forget(Forget(principal="ana", text="all of it", sources=tuple(sorted(ids))))

    assert outcome.supported
    assert own & before <= set(outcome.removed)
    assert {"ana"} >= {owner[i] for i in outcome.removed}
    assert not own & held(memory)
    for context in probes(memory, turns):
        assert not own & (shown(context) | set(context.ranking))
    assert all(memory.locate(i, ask(memory)) is None for i in own)


@pytest.mark.parametrize("ref", variants(KEEPS_ALL))
@few
@given(turns=conversations(2), named=st.sets(st.integers(1, 40), min_size=1, max_size=6))
def test_forgetting_leaves_what_is_anothers(ref: str, turns: Turns, named: set[int]) -> None:
    """Nobody can make another's messages go, by name or by words."""
    memory = strategy(ref)
    play(memory, turns)
    others = {m.id for m in messages_of(turns) if m.principal != "ana"}

    memory.forget(Forget(principal="ana", text="", sources=tuple(f"m{n}" for n in sorted(named))))
    memory.forget(Forget(principal="ana", text="forget the order and Bergen and the card"))

    assert others <= held(memory)


@pytest.mark.parametrize("ref", of_each(holding("erasure")))
def test_words_alone_say_what_to_forget(ref: str) -> None:
    """A request without ids removes the message that speaks of it, and no other's."""
    memory = strategy(ref)
    mine = talk("My order is A-17 for a red kettle.")
    play(memory, mine)

    outcome = memory.forget(Forget(principal="ana", text="forget my red kettle order"))
    denied = memory.forget(Forget(principal="ben", text="forget the red kettle order"))

    repeated = 1 if "layered" in ref else 0  # which takes what names it as well
    assert 1 + repeated == len(outcome.removed)
    assert () == denied.removed
    assert not set(outcome.removed) & held(memory)


@pytest.mark.parametrize("ref", variants([*SCOPED, "no_memory"]))
@few
@given(turns=conversations(2))
def test_a_scoped_memory_does_not_hear_the_others(ref: str, turns: Turns) -> None:
    """Left out, what others say changes no byte of one's contexts, ranking included."""
    together, alone = strategy(ref), strategy(ref)
    mine = without_others(turns, "ana")

    expected = [c for who, c in play(alone, mine) if who == "ana"]
    actual = [c for who, c in play(together, turns) if who == "ana"]

    assert repr(expected) == repr(actual)
    assert repr(probes(alone, turns, whose=["ana"])) == repr(probes(together, turns, whose=["ana"]))
    if ref != "no_memory":  # which ends a turn when it hears of the next
        assert held(alone, "ana") == held(together, "ana")


@pytest.mark.parametrize("ref", variants([*SCOPED, *APART, "no_memory"]))
@few
@given(turns=conversations(2))
def test_a_scoped_memory_shows_each_their_own_alone(ref: str, turns: Turns) -> None:
    """Surfaces, contexts and places of one principal hold nothing of another's."""
    memory = strategy(ref)
    play(memory, turns)
    owner = {m.id: m.principal for m in messages_of(turns)}

    for who in (*PRINCIPALS, "nobody"):
        assert {who} >= {owner[i] for i in held(memory, who)}
        for context in probes(memory, turns, whose=[who]):
            assert {who} >= {owner[i] for i in (*shown(context), *context.ranking)}
    if ref != "no_memory":  # which tells where everything went, to whoever asks
        for message in messages_of(turns):
            if message.principal != "ana":
                assert memory.locate(message.id, ask(memory)) is None


@each
@few
@given(turns=conversations())
def test_what_is_in_a_context_stands_on_a_surface_and_has_a_place(ref: str, turns: Turns) -> None:
    """Whereabouts are told for all that is shown, and for nothing that was never said."""
    memory = strategy(ref)
    play(memory, turns)

    for who in PRINCIPALS:
        query = ask(memory, who=who, turn=turns[-1].number, evidence=evidence_of(turns))
        context = memory.context(query)
        assert shown(context) <= held(memory)
        assert all(memory.locate(i, query) for i in shown(context))
        assert memory.locate("never said", query) is None


@pytest.mark.parametrize("ref", variants(KEEPS_ALL))
@few
@given(turns=conversations())
def test_what_keeps_everything_shows_everything(ref: str, turns: Turns) -> None:
    """Every message ever said stands on a surface, in its own words."""
    memory = strategy(ref)
    play(memory, turns)

    said = [(m.id, m.text) for m in messages_of(turns)]
    surfaces = [(s.sources[0], s.text) for s in memory.surfaces()]

    assert sorted(said) == sorted(surfaces)


@pytest.mark.parametrize("ref", variants(TRACKING))
@few
@given(turns=conversations(3), words=st.sampled_from(("order A-17 Oslo", "Bergen", "dentist")))
def test_a_rank_is_told_as_the_ranking_has_it(ref: str, turns: Turns, words: str) -> None:
    """Where something was ranked, its place and the cut-off say why it was not brought up."""
    memory = strategy(ref)
    play(memory, turns)
    k = ref.partition("k=")[2][:1] or "10"
    query = ask(memory, words, budget=8192)
    context = memory.context(query).ranked()

    for rank, source in enumerate(context.ranking, 1):
        location = memory.locate(source, query)
        assert location is not None
        if location.tier == "index":
            assert (rank, f"rank {rank}, k {k}") == (location.rank, location.detail)
        else:
            assert ("window", None) == (location.tier, location.rank)
