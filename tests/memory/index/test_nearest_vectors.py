"""Vectors in lists: near ones are found, what is removed is gone, and only the order counts."""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.memory.index import nearest_vectors
from memsim.memory.index.clusters import Clusters, centre, halves
from memsim.memory.index.leanings import PARTS, leanings, rounded
from memsim.memory.index.nearest_vectors import NearestVectors
from memsim.memory.index.vector_file import VectorFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memsim.memory.index.forms import Numbers, Scores
    from memsim.models import Vectors

ROOT = Path(__file__).resolve().parents[3]


def spread(count: int, *, centres: int = 40, dimension: int = 96) -> Vectors:
    """Unit vectors in clusters, the same every time."""
    chance = np.random.default_rng(11)
    middles = chance.normal(size=(centres, dimension))
    found = middles[chance.integers(0, centres, count)]
    found = found + 0.7 * chance.normal(size=(count, dimension))
    unit: Vectors = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
    return unit


def small(exact: int = 200, *, centres: int = 4096, folder: Path | None = None) -> NearestVectors:
    """A store with lists from early on; with a folder, vectors in lists are in a file there."""
    new_file = partial(VectorFile, folder=folder) if folder else None
    store = NearestVectors(exact=exact, probed=700, compared=200, new_file=new_file)
    store._clusters = Clusters(limit=16, centres=centres)
    return store


def recall(store: NearestVectors, vectors: Vectors, held: Sequence[int], k: int = 10) -> float:
    """The share of the true best that are among the candidates' best."""
    forms = np.array(held)
    found = 0
    for query in spread(4040)[4000:]:
        true = set(forms[np.argsort(-(vectors[forms] @ query))[:k]].tolist())
        candidates, scores = store.search(query, k)
        found += len(true & set(candidates[np.argsort(-scores)][:k].tolist()))
    return found / (40 * k)


def held_bytes(vectors: Vectors) -> int:
    """The bytes of an array, and of what it is a part of."""
    whole = vectors if vectors.base is None else vectors.base
    return int(whole.nbytes)


def digest(store: NearestVectors, queries: Vectors) -> str:
    """A store's lists, and what it finds for queries, in one short text."""
    lists = store._clusters
    sha = hashlib.sha256(lists._rows[: len(lists)].tobytes())
    sha.update(lists._centres[: len(lists)].tobytes())
    for query in queries:
        forms, scores = store.search(query, 10)
        order = np.argsort(forms)
        sha.update(forms[order].tobytes() + scores[order].tobytes())
    return sha.hexdigest()


def check(clusters: Clusters, rows: set[int], vectors: Vectors) -> None:
    """Every row is in one list, where it says it is, with nothing beside."""
    count = len(clusters)
    held: list[int] = []
    for place in range(count):
        size = int(clusters._sizes[place])
        assert 0 < size <= clusters._limit
        mine = clusters._rows[place, :size].tolist()
        assert [place] * size == clusters._list[mine].tolist()
        assert list(range(size)) == clusters._slot[mine].tolist()
        assert not clusters._rows[place, size:].any()
        assert not clusters._codes[place, :, size:].any()
        held += mine
    for kept in (clusters._sizes, clusters._centres, clusters._rows, clusters._codes):
        assert not kept[count:].any()
    assert np.array_equal(leanings(clusters._centres[:count]), clusters._leanings[:, :count])
    assert not clusters._leanings[:, count:].any()
    assert sorted(rows) == sorted(held)
    if clusters._upper is not None:
        check(clusters._upper, set(range(count)), clusters._centres)


def after_each(
    steps: Sequence[int], store: NearestVectors, held: list[int], vectors: Vectors
) -> Iterator[None]:
    """Add so many of the vectors, in their order, or take so many out; `held` has those there."""
    given_ = 0
    for step in steps:
        if step > 0:
            forms = range(given_, given_ + step)
            store.add(forms, vectors[given_ : given_ + step])
            held += forms
            given_ += step
        for _ in range(min(-step, len(held))):
            store.remove(held.pop((7 * len(held)) // 11))
        yield


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.one_of(st.integers(1, 40), st.integers(-60, -1)), min_size=1, max_size=25),
    st.sampled_from([3, 4096]),
)
def test_whatever_comes_and_goes_the_lists_hold_it(steps: list[int], centres: int) -> None:
    """Each vector that is there is in one list or waits; what left is nowhere."""
    vectors = spread(1000)
    store, held = small(20, centres=centres), list[int]()
    for _ in after_each(steps, store, held, vectors):
        pass
    settled = {store._row[form] for form in held if form not in store._waiting}
    forms_found, rows = store.all()

    check(store._clusters, settled, store._vectors)
    assert sorted(held) == sorted(forms_found.tolist())
    assert not held or np.array_equal(vectors[forms_found], rows)
    assert not store._vectors[len(held) :].any()
    if held:
        found, _ = store.search(vectors[held[0]], len(held))
        assert set(found.tolist()) == set(held)


def scanned() -> NearestVectors:
    """A store that compares how all vectors lean, from early on."""
    return NearestVectors(exact=50, scanned=100_000, compared=40)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(st.integers(1, 200), st.integers(-60, -1)), min_size=1, max_size=20))
def test_what_came_and_went_before_a_scan_makes_no_difference(steps: list[int]) -> None:
    """A store that was searched between finds what one does that holds the same from the first."""
    vectors, query = spread(4000), spread(4040)[4000]
    store, held = scanned(), list[int]()
    for _ in after_each(steps, store, held, vectors):
        if held:
            store.search(query, 2)
    if not held:
        return
    fresh = scanned()
    fresh.add(held, vectors[held])

    found, scores = store.search(query, 2)
    again, same = fresh.search(query, 2)
    assert dict(zip(again, same, strict=True)) == dict(zip(found, scores, strict=True))


def test_a_scan_finds_the_nearest_and_compares_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly all of the true best, of a small part of all vectors."""
    vectors, compared = spread(4000), list[int]()
    closest = nearest_vectors.closest

    def counted(query: Vectors, forms: Numbers, rows: Vectors, k: int) -> tuple[Numbers, Scores]:
        compared.append(len(rows))
        return closest(query, forms, rows, k)

    monkeypatch.setattr(nearest_vectors, "closest", counted)
    store = NearestVectors(exact=50, scanned=100_000)
    store.add(range(4000), vectors)

    assert recall(store, vectors, range(4000)) > 0.95
    assert max(compared) < 400


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 200), st.integers(1, 20), st.integers(0, 39))
def test_up_to_the_bound_every_vector_is_compared(count: int, k: int, which: int) -> None:
    """The search is exact: brute force finds the same."""
    vectors, query = spread(count), spread(4040)[4000 + which]
    store = small()
    store.add(range(count), vectors)
    forms, scores = store.search(query, k)
    exact = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1)

    assert np.argsort(-exact)[:k].tolist() == forms[np.argsort(-scores)][:k].tolist()
    assert np.array_equal(exact[forms], scores)


@pytest.mark.parametrize("centres", [4096, 64])
def test_among_many_nearly_all_of_the_nearest_are_found(centres: int) -> None:
    """With centres in one row or in lists themselves, before and after most have left."""
    vectors = spread(4000)
    store = small(centres=centres)
    for start in range(0, 4000, 50):
        store.add(range(start, start + 50), vectors[start : start + 50])
    assert recall(store, vectors, range(4000)) > 0.95
    for form in range(0, 4000, 3):
        store.remove(form)
    held = [form for form in range(4000) if form % 3]

    assert recall(store, vectors, held) > 0.95
    assert not {0, 3, 6} & set(store.search(vectors[3], 10)[0].tolist())


def test_how_many_came_at_once_changes_nothing() -> None:
    """One batch or many, with searches between or not: the same is found."""
    vectors, queries = spread(3000), spread(4040)[4000:]
    found = set()
    for batch in (1, 37, 3000):
        store = small()
        for start in range(0, 3000, batch):
            store.add(range(start, min(3000, start + batch)), vectors[start : start + batch])
            if batch == 37:
                store.search(queries[0], 5)
        found.add(digest(store, queries))

    assert len(found) == 1


def test_vectors_in_a_file_are_found_as_those_in_memory(tmp_path: Path) -> None:
    """Above `exact` none stays in memory; the same is found, also after others went."""
    vectors, queries = spread(3000), spread(4040)[4000:]
    held, filed = small(), small(folder=tmp_path)
    for store in (held, filed):
        for start in range(0, 3000, 37):
            store.add(range(start, min(3000, start + 37)), vectors[start : start + 37])
        for form in range(0, 3000, 7):
            store.remove(form)

    assert 0 == held_bytes(filed._vectors)
    assert held_bytes(held._vectors) >= vectors.nbytes // 2
    assert digest(filed, queries) == digest(held, queries)
    assert (filed.all()[1] == held.all()[1]).all()


def test_a_form_that_becomes_another_is_found_as_that(tmp_path: Path) -> None:
    """A store may give the number of an entry that is gone to the next one."""
    vectors = spread(300)
    store = small(folder=tmp_path)
    store.add(range(300), vectors)
    store.search(vectors[7], 1)
    store.remove(7)
    store.add([7], -vectors[7:8])

    assert [7] == store.search(-vectors[7], 1)[0][:1].tolist()
    assert 1 == pytest.approx(store.search(-vectors[7], 1)[1].max())


def test_few_vectors_are_kept_in_memory_again(tmp_path: Path) -> None:
    """Where so many went that all are compared again, the file is removed."""
    vectors = spread(300)
    store = small(folder=tmp_path)
    store.add(range(300), vectors)
    file = store._file
    assert file is not None
    for form in range(150):
        store.remove(form)
    best = {int(store.search(vectors[n], 1)[0][0]) for n in (200, 299, 200)}
    store.add([0], vectors[:1])

    assert best == {200, 299}
    assert store._file is None
    with pytest.raises(ValueError, match="closed file"):
        file.write(0, vectors)
    assert (store.all()[1][-1] == vectors[0]).all()
    assert len(store.all()[1]) == 151


@pytest.mark.parametrize("writes", [0, 1, 20, 90])
def test_where_the_disk_is_full_vectors_go_on_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    """From whichever write on, also in the middle of one, the same is found."""
    vectors, queries = spread(3000), spread(4040)[4000:]
    held, filed = small(), small(folder=tmp_path)
    done, write = [], VectorFile.write

    def fail(file: VectorFile, start: int, rows: Vectors) -> None:
        done.append(start)
        if len(done) > writes:
            write(file, start, np.zeros_like(rows[: len(rows) // 2]))
            raise OSError(errno.ENOSPC, "No space left on device")
        write(file, start, rows)

    monkeypatch.setattr(VectorFile, "write", fail)
    for store in (held, filed):
        for start in range(0, 3000, 37):
            store.add(range(start, min(3000, start + 37)), vectors[start : start + 37])
        for form in range(0, 3000, 7):
            store.remove(form)

    assert len(done) == writes + 1
    assert filed._file is None
    assert digest(filed, queries) == digest(held, queries)
    assert (filed.all()[1] == held.all()[1]).all()


def test_more_is_found_where_more_is_wanted() -> None:
    """A search for many gets as many, though the lists that are near hold fewer."""
    store = small()
    store.add(range(3000), spread(3000))

    assert all(len(store.search(q, 2500)[0]) >= 2500 for q in spread(4040)[4030:])


def test_alike_vectors_are_divided_in_their_order() -> None:
    """Hundreds of the same vector do not stop it: the halves are an eighth and the rest."""
    same = rounded(np.repeat(spread(1), 100, axis=0))
    first, second = halves(same)
    store = small()
    store.add(range(900), np.repeat(spread(1), 900, axis=0))

    assert list(range(100)) == [*first.tolist(), *second.tolist()]
    assert min(len(first), len(second)) == 13
    assert len(store._clusters) >= 900 // 16
    assert len(store.search(spread(1)[0], 10)[0]) >= 10


def test_zeros_find_a_place() -> None:
    """An embedder may give zeros, which have no direction."""
    zeros = np.zeros((300, 96), np.float32)
    store = small()
    store.add(range(300), zeros)

    assert not centre(zeros).any()
    assert len(store.search(spread(1)[0], 5)[0]) >= 5


def test_products_of_rounded_vectors_are_exact() -> None:
    """In whatever order they are added, and as whole numbers have it."""
    vectors = rounded(spread(200, dimension=1536))
    whole = np.rint(vectors * PARTS).astype(np.int64)
    exact: NDArray[np.int64] = whole @ whole[0]

    assert np.array_equal(vectors, rounded(vectors))
    for order in (slice(None), slice(None, None, -1)):
        mine = np.ascontiguousarray(vectors[:, order])
        assert (exact / PARTS**2).tolist() == np.vecdot(mine, mine[0]).tolist()


SCRIPT = """
import runpy, sys
names = runpy.run_path(sys.argv[1])
store, vectors = names["small"](centres=64), names["spread"](3000)
store.add(range(3000), vectors)
for form in range(0, 3000, 7):
    store.remove(form)
print(names["digest"](store, names["spread"](4040)[4000:]))
"""


def test_every_process_builds_the_same_lists() -> None:
    """Two processes with other hash seeds and numbers of threads."""

    def found(seed: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}
        environment["OPENBLAS_NUM_THREADS"] = seed
        command = [sys.executable, "-c", SCRIPT, __file__]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        return done.stdout

    assert found("1") == found("2")
