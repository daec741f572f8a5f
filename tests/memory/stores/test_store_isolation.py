"""What others keep changes nothing of what I see: ids, order and scores are the same bytes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.memory.entry import Entry
from memsim.memory.permissions import ReadGrant
from memsim.memory.stores import Store
from tests.memory.stores import made
from tests.memory.stores.conftest import Fresh
from tests.memory.stores.kinds import Kind
from tests.memory.stores.oracle import Vector

Batches = list[list[tuple[Entry, Vector]]]

mine = st.lists(
    st.lists(st.tuples(made.entries(("ann",)), made.vectors), min_size=1, max_size=3), max_size=5
)
theirs = st.lists(
    st.lists(
        st.tuples(made.entries(("bob", "cem"), private=True), made.vectors), min_size=1, max_size=3
    ),
    max_size=5,
)


def observed(store: Store, queries: list[str], vector: Vector) -> str:
    """Everything that ann can learn, every digit of it."""
    where = made.seen_by("ann", ReadGrant(owner="bob", reader="cem"))
    seen: list[object] = [store.find(where), store.count(where)]
    for k in (1, 2, 10):
        seen += [store.lexical(query, where, k) for query in queries]
        if any(vector):
            seen.append(store.nearest(made.array([vector])[0], where, k))
    return repr(seen)


def write(store: Store, batch: list[tuple[Entry, Vector]]) -> None:
    """One call."""
    store.write([e for e, _ in batch], made.array([v for _, v in batch]))


def test_what_others_write_cannot_be_noticed(kind: Kind, fresh: Fresh) -> None:
    """The same life twice, once alone and once among others who use the same words and keys."""

    @settings(max_examples=kind.examples)
    @given(mine, theirs, st.lists(made.texts, min_size=1, max_size=2), made.vectors, st.booleans())
    def alike(
        mine: Batches, theirs: Batches, queries: list[str], vector: Vector, erased: bool
    ) -> None:
        with fresh() as alone, fresh() as among:
            for place in range(max(len(mine), len(theirs))):
                for batch in theirs[place : place + 1]:
                    write(among, batch)
                for batch in mine[place : place + 1]:
                    write(alone, batch)
                    write(among, batch)
                assert observed(alone, queries, vector) == observed(among, queries, vector)
            if erased:
                among.erase([e.id for batch in theirs for e, _ in batch])
            assert observed(alone, queries, vector) == observed(among, queries, vector)

    alike()


def test_a_thousand_strangers_change_no_digit(fresh: Fresh) -> None:
    """Neither more lists of the same words, nor nearer vectors."""
    own = [made.entry(f"{n}", f"{made.WORDS[n % 9]} falcon lunch {n}", minute=n) for n in range(30)]
    others = [
        made.entry(f"{n}", f"falcon {made.WORDS[n % 7]} {n % 11}", "bob", n) for n in range(1000)
    ]
    near = made.unit(1, 0, 0, 0)
    with fresh() as alone, fresh() as among:
        among.write(others[:500], made.array([near] * 500))
        for store in (alone, among):
            store.write(own, made.array([made.unit(1, n, 0, 1) for n in range(30)]))
        among.write(others[500:], made.array([near] * 500))

        queries = ["falcon", "lunch blue falcon", "river tea"]
        assert observed(alone, queries, near) == observed(among, queries, near)


def test_nobody_sees_nothing(store: Store) -> None:
    """An empty or blank principal is nobody, whom even what is public is kept from."""
    store.write([made.entry("a", visibility="public")], made.array([made.unit(1, 0, 0, 0)]))
    for nobody in map(made.seen_by, ("", " ")):
        assert [] == store.find(nobody)
        assert 0 == store.count(nobody)
        assert [] == store.lexical("a", nobody, 5)
        assert not store.mentions("a", nobody)
        assert [] == store.nearest(made.array([made.unit(1, 0, 0, 0)])[0], nobody, 5)
