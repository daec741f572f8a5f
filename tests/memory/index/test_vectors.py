"""The vector index: exact where it says so, the same every time, and lazy."""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.memory.index import Hit, chroma_vectors
from memsim.memory.index.chroma_vectors import ChromaVectors
from memsim.memory.index.nearest_vectors import NearestVectors
from memsim.memory.index.vector_index import BATCH, VectorIndex, VectorStore
from memsim.models.embedders import HashEmbedder

if TYPE_CHECKING:
    from memsim.models import Vectors

ROOT = Path(__file__).resolve().parents[3]
WORDS = ("kayak", "red", "river", "tent", "lamp", "oslo", "bread", "piano")

texts = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
scripts = st.lists(st.one_of(texts, st.integers(0, 30)), min_size=1, max_size=30)


class Recording:
    """The hashing embedder, which notes what it was asked to embed."""

    name = "recording"
    dimension = 70

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self._embedder = HashEmbedder(self.dimension)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of the texts."""
        self.asked.append(list(texts))
        return self._embedder.embed(texts)


@contextmanager
def made(kind: str) -> Iterator[VectorStore]:
    """A store of a kind; Chroma is written to early, so that its graph is searched too."""
    store: VectorStore = NearestVectors() if kind == "memory" else ChromaVectors()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chroma_vectors, "BATCH", 4)
        yield store
    store.close()


def built(script: list[str | int], index: VectorIndex) -> dict[str, str]:
    """Plays a script of texts to add and numbers of documents to remove; what is left."""
    held: dict[str, str] = {}
    for place, step in enumerate(script):
        if isinstance(step, str):
            held[f"m{place}"] = step
            index.add(f"m{place}", step)
        elif held:
            gone = list(held)[step % len(held)]
            del held[gone]
            assert index.remove(gone)
    return held


def plain(held: dict[str, str], query: str) -> list[Hit]:
    """Every document that has a text, by its cosine, as pure Python has it."""
    vectors = HashEmbedder(70).embed([query, *held.values()]).astype(float).tolist()
    found = [
        Hit(source, math.fsum(a * b for a, b in zip(vectors[0], vector, strict=True)))
        for source, vector in zip(held, vectors[1:], strict=True)
        if held[source].strip()
    ]
    return sorted(found, key=lambda hit: -round(hit.score, 9))


@pytest.mark.parametrize("kind", ["memory", "chroma"])
@settings(max_examples=25)
@given(scripts, st.sampled_from(WORDS), st.integers(1, 8))
def test_the_nearest_are_found_exactly(
    kind: str, script: list[str | int], query: str, k: int
) -> None:
    """Small conversations are searched exactly, ties go to the earlier, whatever was removed."""
    with made(kind) as store:
        index = VectorIndex(Recording, store)
        held = built(script, index)
        hits, ranking = index.search(query, k), index.ranking(query)
    expected = [hit.id for hit in plain(held, query)]

    assert expected[:k] == [hit.id for hit in hits]
    assert expected == [hit.id for hit in ranking if held[hit.id].strip()]


def test_texts_are_embedded_when_they_are_needed() -> None:
    """Nothing is embedded before a search or a full batch, and equal texts once."""
    embedder = Recording()
    index = VectorIndex(lambda: embedder)
    for place in range(BATCH - 1):
        index.add(f"m{place}", f"text {place}")
    index.add("again", "text 1")
    index.add("blank", "  ")
    assert [] == embedder.asked
    index.add("last", "the last one")
    assert [BATCH] == [len(asked) for asked in embedder.asked]
    index.add("later", "a later one")
    index.search("query", 3)
    index.search("query", 4)

    assert [["a later one"], ["query"]] == embedder.asked[1:]


def test_equal_texts_are_all_found() -> None:
    """A form with many members gives them in the order in which they were said."""
    index = VectorIndex(Recording)
    for place in range(5):
        index.add(f"m{place}", "red kayak")
    index.add("other", "piano")
    index.remove("m1")

    assert ["m0", "m2", "m3"] == [hit.id for hit in index.search("red kayak", 3)]


def test_what_has_no_text_is_never_found() -> None:
    """A blank message or question has no direction."""
    index = VectorIndex(Recording)
    index.add("blank", " \n")
    assert [] == index.search("kayak", 3)
    index.add("m1", "kayak")

    assert ["m1"] == [hit.id for hit in index.search("kayak", 3)]
    assert [] == index.search("  ", 3)
    assert index.rank_of("m1", " ") is None
    assert index.rank_of("unknown", "kayak") is None
    assert index.rank_of("m1", "kayak") == 1


def clustered(count: int) -> Vectors:
    """Unit vectors in clusters, the same every time."""
    chance = np.random.default_rng(7)
    centres = chance.normal(size=(40, 128))
    found = centres[chance.integers(0, 40, count)] + 0.6 * chance.normal(size=(count, 128))
    unit: Vectors = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
    return unit


def test_among_many_vectors_nearly_all_of_the_nearest_are_found() -> None:
    """Choosing by signs first loses hardly anything."""
    vectors = clustered(6000)
    store = NearestVectors(exact=1000, compared=600)
    store.add(range(5900), vectors[:5900])
    found = wanted = 0
    for query in vectors[5900:]:
        nearest = set(np.argsort(-(vectors[:5900] @ query))[:10].tolist())
        forms, scores = store.search(query, 10)
        found += len(nearest & set(forms[np.argsort(-scores)][:10].tolist()))
        wanted += 10

    assert found / wanted > 0.97


def test_removed_vectors_are_overwritten() -> None:
    """What was removed is not found and not kept, and the others are."""
    vectors = clustered(50)
    store = NearestVectors()
    store.add(range(50), vectors)
    for form in (0, 49, 20, 7):
        store.remove(form)
    forms, rows = store.all()

    assert sorted(set(range(50)) - {0, 49, 20, 7}) == sorted(forms.tolist())
    assert np.array_equal(vectors[forms], rows)
    assert not store._vectors[46:].any()


def test_a_collection_is_gone_when_its_store_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases of one process share a Chroma, so each takes its own collection and clears it away."""
    monkeypatch.setattr(chroma_vectors, "BATCH", 4)
    before = {c.name for c in chroma_vectors._client().list_collections()}
    stores = [ChromaVectors(), ChromaVectors()]
    for store in stores:
        store.add(range(10), clustered(10))
    assert len(before) + 2 == len(chroma_vectors._client().list_collections())
    for store in stores:
        store.close()
        store.close()

    assert before == {c.name for c in chroma_vectors._client().list_collections()}


def test_a_collection_is_gone_when_nobody_holds_its_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chroma keeps only so many in memory, and those that nobody closed must not crowd others."""
    monkeypatch.setattr(chroma_vectors, "BATCH", 4)
    before = {c.name for c in chroma_vectors._client().list_collections()}
    ChromaVectors().add(range(10), clustered(10))
    gc.collect()

    assert before == {c.name for c in chroma_vectors._client().list_collections()}


CROWD = """
import resource

import numpy as np

resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
from memsim.errors import StoreError
from memsim.memory.index import chroma_vectors as chroma

chroma.BATCH = 4
vectors = np.eye(12, dtype=np.float32)
stores = [chroma.ChromaVectors() for _ in range(40)]
for store in stores:
    store.add(range(12), vectors)
for store in 2 * stores:
    for read in (lambda: store.search(vectors[3], 5)[0], lambda: store.all()[0]):
        try:
            assert sorted(read().tolist()) == list(range(12))
        except StoreError as error:
            print(error)
"""


def test_vectors_that_chroma_dropped_are_an_error() -> None:
    """Where a process may open few files, Chroma forgets whole collections, and says nothing."""
    assert "has 0 of 12 vectors left: too many strategies with store=chroma" in run_python(CROWD)


SCRIPT = """
import hashlib, sys
from memsim.memory.index.chroma_vectors import ChromaVectors
from memsim.memory.index.vector_index import VectorIndex
from memsim.models.embedders import HashEmbedder
store = ChromaVectors() if sys.argv[1] == "chroma" else None
index = VectorIndex(lambda: HashEmbedder(64), store)
words = "kayak red river tent lamp oslo bread piano moss cloud".split()
for n in range(int(sys.argv[2])):
    picked = (words[n % 10], words[n // 10 % 10], words[n // 100 % 10], str(n))
    index.add(f"m{n}", " ".join(picked))
found = [[hit.id for hit in index.search(f"{a} {b}", 20)] for a in words for b in words]
print(hashlib.sha256(repr(found).encode()).hexdigest())
index.close()
"""


@pytest.mark.parametrize(("store", "count"), [("numpy", 12_000), ("chroma", 900)])
def test_every_process_finds_the_same(store: str, count: int) -> None:
    """Two fresh processes with other hash seeds and threads give one ranking."""
    first, second = (run_python(SCRIPT, store, str(count), seed=seed) for seed in "12")

    assert first == second


def run_python(script: str, *arguments: str, seed: str = "0") -> str:
    """What a script prints in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}
    environment["OPENBLAS_NUM_THREADS"] = seed if int(seed) else "1"
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return done.stdout
