"""What was made of messages, in columns, is what tables of it would say."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.recall.made_columns import MadeColumns

OWNERS = st.sampled_from(["ana", "ben"])
SOURCES = st.sampled_from(["m1", "m2", "x"])
FACTS = [f"{n:032x}" for n in range(4)]
STEPS = st.one_of(
    st.tuples(st.just("made"), st.sampled_from(FACTS), st.sampled_from(["s1", "s2"])),
    st.tuples(st.just("state"), st.sampled_from(FACTS), OWNERS, st.none() | SOURCES),
    st.tuples(
        st.just("made_all"),
        st.lists(st.sampled_from(FACTS), unique=True),
        st.lists(st.sampled_from(["s1", "s2"]), min_size=4, max_size=4),
    ),
    st.tuples(st.just("state_all"), OWNERS, st.dictionaries(st.sampled_from(FACTS), SOURCES)),
    st.tuples(st.just("remove"), st.sampled_from(FACTS)),
    st.tuples(st.just("free"), OWNERS, st.sets(SOURCES)),
)


@given(st.lists(STEPS, max_size=30))
def test_facts_are_known_as_in_tables(steps: list[tuple[Any, ...]]) -> None:
    """By their conversations, and by the messages that state them as long as these are there."""
    columns = MadeColumns()
    sessions: dict[str, str] = {}
    stated: dict[str, tuple[str, str]] = {}
    for what, *given_ in steps:
        if what == "made_all":
            given_[1] = given_[1][: len(given_[0])]
            sessions.update(zip(*given_, strict=True))
        getattr(columns, what)(*given_)
        if what == "state_all":
            stated.update({fact: (given_[0], source) for fact, source in given_[1].items()})
        elif what == "made":
            sessions[given_[0]] = given_[1]
        elif what == "state" and given_[2] is not None:
            stated[given_[0]] = (given_[1], given_[2])
        elif what == "free":
            owner, gone = given_
            stated = {i: of for i, of in stated.items() if of[0] != owner or of[1] not in gone}
        elif what != "made_all":
            stated.pop(given_[0], None)
            if what == "remove":
                sessions.pop(given_[0], None)
        assert {i: columns.stated(i) for i in FACTS} == {i: stated.get(i) for i in FACTS}
        assert len(columns._ids) == len(sessions.keys() | stated.keys())

    for session in ("s1", "s2", "none"):
        assert sorted(columns.of(session)) == sorted(i for i, s in sessions.items() if s == session)
