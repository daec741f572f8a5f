"""The columns of facts say what a plain list of them would say."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.entry import Entry
from memsim.memory.layers import fact_matcher
from memsim.memory.layers.fact_columns import FactColumns
from memsim.memory.layers.fact_matcher import FactMatcher
from memsim.message import EPOCH
from tests.memory.layers.test_semantic import BUS_14, BUS_38, Facts

STEMS = "abcd"
FACTS = st.tuples(
    st.integers(0, 9),
    st.integers(-3, 3),
    st.frozensets(st.sampled_from(STEMS), max_size=3),
)


@given(st.lists(st.tuples(st.booleans(), FACTS), max_size=30), st.integers(-4, 4))
def test_columns_say_what_a_list_of_facts_says(
    steps: list[tuple[bool, tuple[int, int, frozenset[str]]]], hour: int
) -> None:
    """Facts come and go; counts, stems, times and the latest are those of the facts there."""
    columns, there = FactColumns(), dict[str, tuple[datetime, frozenset[str]]]()
    for come, (number, since, stems) in steps:
        name = f"f{number}"
        if name in there:
            columns.remove(name, there.pop(name)[1])
        elif come:
            there[name] = EPOCH + timedelta(hours=since), stems
            columns.add(name, *there[name])
        else:
            columns.remove(name, stems)
    time = EPOCH + timedelta(hours=hour)
    assert len(columns) == len(there)
    assert all((f"f{n}" in columns) == (f"f{n}" in there) for n in range(10))
    for root in STEMS:
        having = {name for name, (_, stems) in there.items() if root in stems}
        numbers = [*columns.numbers(root)]
        assert {columns.name(number) for number in numbers} == having
        assert columns.having(root) == len(having)
        for number in numbers:
            said, stems = there[columns.name(number)]
            assert {*columns.stems(number, STEMS)} == stems
            assert columns.is_before(number, time) == (said < time)
    earlier = sorted(((s, n) for n, (s, _) in there.items() if s < time), reverse=True)
    for most in (1, 2, 5):
        assert columns.latest(time, most) == [name for _, name in earlier[:most]]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of hardly any fact are kept."""
    monkeypatch.setattr(fact_matcher, "REMEMBERED", 1)
    monkeypatch.setattr(fact_matcher, "REREAD", 2)


def fact(text: str, source: str, hour: int) -> Entry:
    """A fact that somebody stated."""
    time = EPOCH + timedelta(hours=hour)
    return Entry(
        key=text,
        text=text,
        owner="ana",
        layer="semantic",
        category="conversation",
        session="s1",
        created=time,
        updated=time,
        sources=(source,),
    )


def test_the_matcher_takes_a_fact_as_it_was_put_last() -> None:
    """A fact that is in force no more is not found, nor one that the new message states itself."""
    old, new = fact(BUS_14, "m1", 0), fact(BUS_38, "m2", 2)
    store: dict[str, Entry] = {}

    def put(entry: Entry) -> None:
        matcher.put(entry)
        store[entry.id] = entry

    matcher = FactMatcher(lambda _texts: None, lambda ids: [store[i] for i in ids if i in store])
    put(old)
    put(replace(old, superseded=old.created))
    assert not matcher.replaced([new])
    put(old)
    assert [match.old for match in matcher.replaced([new])] == [old.id]
    put(replace(old, sources=("m1", "m2")))
    assert not matcher.replaced([new])


OTHERS = tuple(
    f"The {place} party is held in the {hall} hall."
    for place, hall in zip(
        ("Riga", "Oslo", "Bern", "Rome"), ("red", "old", "big", "new"), strict=True
    )
)


@pytest.mark.usefixtures("few")
def test_a_fact_is_replaced_whose_words_are_kept_no_more() -> None:
    """Of many facts few are kept with their words; a change finds the others as well."""
    facts = Facts()
    facts.state("I drink coffee every morning.", BUS_14, *OTHERS)
    gone = facts.state("I drink tea every morning instead of coffee.", *OTHERS)
    assert [e.text for e in gone] == ["I drink coffee every morning."]
    assert [e.text for e in facts.state(BUS_38)] == [BUS_14]


@pytest.mark.usefixtures("few")
def test_a_fact_of_a_memory_that_was_opened_again_is_replaced() -> None:
    """What is in the store is read when a change is announced; what is gone is not there."""
    facts = Facts()
    facts.state("I drink coffee every morning.", *OTHERS)
    facts.layer.restore()
    gone = facts.state("I drink tea every morning instead of coffee.")
    assert [e.text for e in gone] == ["I drink coffee every morning."]
    facts.layer.restore()
    held = facts.layer.in_force("ana")
    tea = [e for e in held if "tea" in e.text]
    facts.vault.erase(e.id for e in tea)
    facts.layer.forgotten(tea)
    assert not facts.state("I drink milk every morning instead of tea.")
