"""What is Chroma's own: its graphs are used, given numbers alone, and made anew when in doubt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memsim.errors import StoreError
from memsim.memory.stores.chroma import ChromaEntries
from memsim.memory.stores.in_memory import InMemory
from tests.memory.stores.made import ALL, entry, seen_by


def test_its_graphs_find_what_comparison_finds(tmp_path: Path) -> None:
    """At least 95 of 100, by Chroma itself, before and after the folder is opened again."""
    vectors = np.random.default_rng(7).normal(size=(600, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    entries = [entry(f"secret {i}", owner="ann" if i % 3 else "bob", minute=i) for i in range(600)]
    store, reference = ChromaEntries(tmp_path, written_at=50), InMemory()
    for kept in (store, reference):
        kept.write(entries, vectors)
        kept.write(entries[:20], vectors[20:40])

    for _ in range(2):
        found = 0
        for query in vectors[:20]:
            right = {hit.id for hit in reference.nearest(query, seen_by("ann"), 10)}
            found += len(right & {hit.id for hit in store.nearest(query, seen_by("ann"), 10)})
        assert 0.95 <= found / 200
        assert store._graphs.whole
        assert 500 < sum(store._graphs._written.values()) <= 600
        files = [p for p in tmp_path.glob("vectors-*/**/*") if p.is_file()]
        assert files
        assert not any(b"secret" in p.read_bytes() for p in files)
        store.close()
        store = ChromaEntries(tmp_path, written_at=50)
    assert 1 == store.erase([entries[0].id])
    assert [] == list(tmp_path.glob("vectors-*"))
    assert 599 == len(store.nearest(vectors[0], ALL, 600))
    store.close()


def test_one_process_at_a_time(tmp_path: Path) -> None:
    """Chroma's files take one; who comes second is told."""
    store = ChromaEntries(tmp_path)
    with pytest.raises(StoreError, match="open already"):
        ChromaEntries(tmp_path)
    store.close()
    ChromaEntries(tmp_path).close()


def test_an_index_that_fell_behind_is_made_anew(tmp_path: Path) -> None:
    """A process that died between the two writes leaves nothing that is searched."""
    vectors = np.eye(4, dtype=np.float32)
    store = ChromaEntries(tmp_path, written_at=2)
    store.write([entry(str(i)) for i in range(4)], vectors)
    store.nearest(vectors[0], ALL, 1)
    store.close()
    (made,) = tmp_path.glob("vectors-*")
    made.with_suffix(".behind").touch()
    store = ChromaEntries(tmp_path, written_at=2)

    assert not made.exists()
    assert [entry("3").id] == [hit.id for hit in store.nearest(vectors[3], ALL, 1)]
    store.close()
