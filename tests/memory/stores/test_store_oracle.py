"""Every store finds, lists and counts exactly what the plainest memory does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.memory.entry import Entry, entry_id
from memsim.memory.index import Hit
from memsim.memory.permissions import Where
from memsim.memory.stores import EmbedderInfo, Store
from tests.memory.stores import made
from tests.memory.stores.conftest import Fresh
from tests.memory.stores.kinds import Kind
from tests.memory.stores.oracle import Oracle, Vector, assert_best

Written = Sequence[tuple[Entry, Vector]]

ids = st.builds(
    entry_id,
    st.sampled_from(made.OWNERS),
    st.sampled_from(("long_term", "semantic")),
    st.sampled_from(("a", "b", "c", "d")),
)
operations = st.lists(
    st.one_of(
        st.tuples(st.just("write"), made.written),
        st.tuples(st.just("write bare"), made.written),
        st.tuples(st.just("erase"), st.lists(ids, max_size=4)),
        st.tuples(st.just("embed anew"), st.sampled_from(("hash", "other"))),
        st.tuples(st.just("ask"), st.tuples(made.wheres(), made.texts, made.vectors)),
    ),
    max_size=12,
)
questions = st.lists(st.tuples(made.wheres(), made.texts, made.vectors), min_size=1, max_size=3)


def test_agrees_with_the_oracle(kind: Kind, fresh: Fresh, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is written, replaced, moved and erased, and whoever asks for what."""
    monkeypatch.setattr("memsim.memory.stores.sqlite.cache.TOGETHER", 3)  # few are written here

    @settings(max_examples=kind.examples)
    @given(operations, questions)
    def agrees(operations: list[tuple[str, object]], questions: list[object]) -> None:
        with fresh() as store:
            oracle = Oracle()
            store.embedded_by(EmbedderInfo("hash", made.DIMENSION))
            for name, given_ in operations:
                apply(name, given_, store, oracle)
            for question in questions:
                ask(question, store, oracle)

    agrees()


def apply(name: str, given_: object, store: Store, oracle: Oracle) -> None:
    """Do one operation to both."""
    if name == "erase":
        assert isinstance(given_, list)
        assert oracle.erase(given_) == store.erase(given_)
    elif name == "embed anew":
        embedded = EmbedderInfo(str(given_), made.DIMENSION)
        if embedded != store.embedded:
            oracle.vectors.clear()
        store.embedded_by(embedded)
    elif name == "ask":
        ask(given_, store, oracle)
    else:
        assert isinstance(given_, list)
        entries = [e for e, _ in given_]
        vectors = [v for _, v in given_] if name == "write" else None
        oracle.write(entries, vectors)
        store.write(entries, None if vectors is None else made.array(vectors))


def ask(question: object, store: Store, oracle: Oracle) -> None:
    """Both answer alike."""
    assert isinstance(question, tuple)
    where, text, vector = question
    admitted = oracle.admitted(where)
    assert admitted == listed(store, where, 2) == store.find(where)
    assert len(admitted) == store.count(where)
    assert admitted == store.get([e.id for e in admitted])
    assert bool(oracle.lexical(text, where)) == store.mentions(text, where)
    for k in (1, 3, 50):
        assert_best(store.lexical(text, where, k), oracle.lexical(text, where), k, 1e-9)
        if any(vector):
            assert_best(nearest(store, vector, where, k), oracle.nearest(vector, where), k, 1e-6)


def listed(store: Store, where: Where, limit: int) -> list[Entry]:
    """All that is admitted, read a page at a time."""
    pages: list[Entry] = []
    while page := store.find(where, after=pages[-1] if pages else None, limit=limit):
        assert len(page) <= limit
        pages += page
    return pages


def nearest(store: Store, vector: Vector, where: Where, k: int) -> list[Hit]:
    """Nearest to one vector."""
    return store.nearest(made.array([vector])[0], where, k)
