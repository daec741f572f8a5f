"""Which messages state a fact that is in force, as sets of facts would say it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.entry import Entry
from memsim.memory.layers.live_facts import LiveFacts

OWNERS = ("ana", "ben")
SOURCES = ("m1", "m2", "x")
FACTS = st.builds(
    Entry,
    key=st.sampled_from("abc"),
    text=st.just("x"),
    owner=st.sampled_from(OWNERS),
    layer=st.just("semantic"),
    sources=st.lists(st.sampled_from(SOURCES), max_size=2, unique=True).map(tuple),
)


@given(st.lists(st.tuples(FACTS, st.sampled_from(["put", "end", "remove", "free"])), max_size=30))
def test_messages_state_what_sets_of_facts_say(steps: list[tuple[Entry, str]]) -> None:
    """Facts come into force, end for a message, and go; so do messages."""
    facts = LiveFacts()
    live: set[tuple[str, str, str]] = set()
    known: set[str] = set()
    for fact, way in steps:
        here = {(fact.owner, source, fact.id) for source in fact.sources}
        if way == "put":
            facts.put(fact, fact.sources)
            live |= here
            known.add(fact.id)
        elif way == "end":
            for source in fact.sources:
                facts.end(fact, source)
            live -= here
        elif way == "free":
            facts.free(fact.owner, fact.sources)
            live = {of for of in live if (of[0], of[1]) not in {(o, s) for o, s, _ in here}}
        elif {of for of in live if of[2] == fact.id} <= here:
            facts.remove(fact)
            live -= here
            known.discard(fact.id)
        assert len(facts._facts) == len(known)
        stated = {(owner, source) for owner, source, _ in live}
        for owner in OWNERS:
            for source in SOURCES:
                assert facts.states(owner, source) == ((owner, source) in stated)


def test_a_fact_that_is_stated_again_is_noted_once() -> None:
    """Otherwise a fact that is said every day would take more with each."""
    facts = LiveFacts()
    fact = Entry(key="a", text="x", owner="ana", layer="semantic", sources=("m1", "m1"))
    for _ in range(3):
        facts.put(fact, fact.sources)

    assert 1 == len(facts._of["ana"]["m1"])
