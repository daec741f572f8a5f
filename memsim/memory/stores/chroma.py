"""Entries whose vectors are searched by Chroma, for those who run it: one process at a time.

Chroma keeps deleted documents in its files, so it gets none: what was written is kept, vectors
included, by the SQLite store beside it, which also lists, counts and searches words. Chroma holds
numbers, by ids, and can be made from the rest at any time::

    entries.sqlite3  the truth
    vectors-3/       Chroma's files, of the third making
    in-use           empty; locked by the process that has the folder open
    vectors-3.behind while entries are written that Chroma has not got yet

Vectors wait in memory, searched exactly, until a shelf has `BATCH` of them to write together.
A collection holds the vectors of one shelf, so permission comes before the search and nobody's
vectors lead through another's graph. What it finds is scored anew, exactly; where it finds fewer
than there are, or fails, the SQLite store answers. `erase` throws Chroma's files away, and the next
search makes them anew, at a cost that grows with the memory.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from memsim.atomic_files import try_lock, unwritable
from memsim.errors import StoreError
from memsim.memory.entry import decode_shelf
from memsim.memory.index import Hit
from memsim.memory.index.chroma_vectors import BATCH, GRAPH, WIDER
from memsim.memory.index.nearest_vectors import check_query, closest, products
from memsim.memory.stores import PAGE, EmbedderInfo
from memsim.memory.stores.sqlite.rows import WITH_BESIDE, unpack
from memsim.memory.stores.sqlite.store import SQLite

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from memsim.memory.entry import Entry
    from memsim.memory.permissions import Where
    from memsim.models import Vectors

_ASKED_AT_ONCE = 500


class ChromaEntries:
    """Entries in a folder; see `Store` for what every method promises.

    The folder is made where there is none; `written_at` is how many vectors of a shelf wait before
    Chroma gets them. Raises `SchemaError` if a newer memsim wrote them. Raises `StoreError` if they
    are damaged, cannot be opened, or are open already.
    """

    name = "chroma"
    exact = False

    def __init__(self, folder: Path | str, *, written_at: int = BATCH) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = RLock()
        self._held = _hold(self._folder)
        try:
            self._kept = SQLite(self._folder / "entries.sqlite3")
            self._rows = sqlite3.connect(
                self._folder / "entries.sqlite3", isolation_level=None, check_same_thread=False
            )
            self._graphs = _Graphs(self._folder, written_at)
        except BaseException:
            os.close(self._held)
            raise
        self._closed = False

    @property
    def embedded(self) -> EmbedderInfo | None:
        """What its vectors were made with."""
        return self._kept.embedded

    def write(self, entries: Sequence[Entry], vectors: Vectors | None = None) -> None:
        """Take entries in; see `Store`."""
        with self._lock, self._graphs.behind():
            self._kept.write(entries, vectors)
            ids = [entry.id for entry in entries]
            with self._graphs.or_none():
                self._graphs.drop(ids)
                if self._graphs.whole:
                    self._graphs.take(self._with_vectors(ids))

    def embedded_by(self, made: EmbedderInfo | None) -> None:
        """Note what vectors are made with; see `Store`."""
        with self._lock:
            if made != self._kept.embedded:
                self._graphs.throw_away()
                self._kept.embedded_by(made)

    def erase(self, ids: Collection[str]) -> int:
        """Take entries out for good; see `Store`."""
        with self._lock:
            if self._kept.get(list(ids)):
                self._graphs.throw_away()
            return self._kept.erase(ids)

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """The entries with these ids; see `Store`."""
        return self._kept.get(ids)

    def find(self, where: Where, *, after: Entry | None = None, limit: int = PAGE) -> list[Entry]:
        """Admitted entries, a page at a time; see `Store`."""
        return self._kept.find(where, after=after, limit=limit)

    def count(self, where: Where) -> int:
        """How many entries are admitted; see `Store`."""
        return self._kept.count(where)

    def lexical(self, text: str, where: Where, k: int) -> list[Hit]:
        """The best by words; see `Store`."""
        return self._kept.lexical(text, where, k)

    def mentions(self, text: str, where: Where) -> bool:
        """Whether an entry holds a word of a text; see `Store`."""
        return self._kept.mentions(text, where)

    def nearest(self, vector: Vectors, where: Where, k: int) -> list[Hit]:
        """The best by vectors; see `Store`."""
        with self._lock:
            embedded = self._kept.embedded
            if embedded is None or k <= 0:
                return []
            check_query(vector, embedded.dimension)
            found = self._by_graphs(vector, where, k)
            return self._kept.nearest(vector, where, k) if found is None else found

    def close(self) -> None:
        """Close the files; see `Store`."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._graphs.close()
                self._rows.close()
                self._kept.close()
                os.close(self._held)

    def _by_graphs(self, vector: Vectors, where: Where, k: int) -> list[Hit] | None:
        """What Chroma finds; None where it fails, or brings up fewer than there are."""
        listed = self._rows.execute("SELECT number, record FROM shelves").fetchall()
        admitted = [n for n, record in listed if where.admits(decode_shelf(record, f"shelf {n}"))]
        scores: dict[str, float] = {}
        with self._graphs.or_none():
            if not self._graphs.whole:
                self._graphs.fill(self._with_vectors(None))
            for number in admitted:
                near = self._graphs.near(number, vector, k)
                if near is None:
                    return None
                scores |= near
            return self._ranked(scores, k)
        return None

    def _ranked(self, scores: dict[str, float], k: int) -> list[Hit]:
        ranked = [
            (-scores[source], created, source)
            for source, created in self._rows_of("id, created", list(scores))
        ]
        return [Hit(source, -score) for score, _, source in sorted(ranked)[:k]]

    def _with_vectors(self, ids: Sequence[str] | None) -> Iterator[tuple[str, int, Vectors]]:
        """Id, shelf and vector of these entries, or of all, as far as they have one."""
        embedded = self._kept.embedded
        if embedded is None:
            return
        found: Iterable[Any] = (
            self._rows.execute(f"SELECT id, shelf, vector FROM {WITH_BESIDE} ORDER BY number")  # noqa: S608 - no value
            if ids is None
            else self._rows_of("id, shelf, vector", ids, WITH_BESIDE)
        )
        for source, shelf, packed in found:
            if packed is not None:
                yield source, shelf, unpack([packed], embedded.dimension)[0]

    def _rows_of(self, columns: str, ids: Sequence[str], table: str = "entries") -> Iterator[Any]:
        for start in range(0, len(ids), _ASKED_AT_ONCE):
            asked = ids[start : start + _ASKED_AT_ONCE]
            marks = ",".join("?" * len(asked))
            yield from self._rows.execute(
                f"SELECT {columns} FROM {table} WHERE id IN ({marks})",  # noqa: S608 - only marks
                asked,
            ).fetchall()


class _Graphs:
    """Vectors by shelf: those that wait in memory, and Chroma's collections of one making."""

    def __init__(self, folder: Path, written_at: int) -> None:
        self._folder = folder
        self._written_at = written_at
        found = sorted(folder.glob("vectors-*/"), key=_making)
        behind = list(folder.glob("vectors-*.behind"))
        self._making = _making(found[-1]) if found else 0
        self._client: Any = None
        self._collections: dict[int, Any] = {}
        self._written: dict[int, int] = defaultdict(int)
        self._waiting: dict[int, dict[str, Vectors]] = defaultdict(dict)
        self._shelf: dict[str, int] = {}
        self.whole = False
        """Whether every vector is here."""
        if len(found) != 1 or behind:
            self.throw_away()
        else:
            self._reopen()

    def throw_away(self) -> None:
        """Remove the index with all that Chroma wrote."""
        self.close()
        for path in sorted(self._folder.glob("vectors-*")):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()

    def close(self) -> None:
        """Let go of Chroma; its files stay."""
        if self._client is not None:
            self._client.close()
            self._client = None
        for held in (self._collections, self._written, self._waiting, self._shelf):
            held.clear()
        self.whole = False

    @contextmanager
    def behind(self) -> Iterator[None]:
        """Marks the index as one that has to be made anew, if what is inside does not end well."""
        mark = self._at().with_suffix(".behind")
        if self._client is not None:
            mark.touch()
        try:
            yield
        except StoreError:
            mark.unlink(missing_ok=True)
            raise
        except BaseException:
            self.throw_away()
            raise
        mark.unlink(missing_ok=True)

    @contextmanager
    def or_none(self) -> Iterator[None]:
        """Throws the index away where Chroma fails: the next search makes a new one."""
        from chromadb.errors import ChromaError

        try:
            yield
        except (ChromaError, RuntimeError, OSError):
            self.throw_away()

    def fill(self, rows: Iterable[tuple[str, int, Vectors]]) -> None:
        """Take in what is not here yet."""
        self.take(row for row in rows if row[0] not in self._shelf)
        self.whole = True

    def drop(self, ids: Iterable[str]) -> None:
        """Take vectors out."""
        written: dict[int, list[str]] = defaultdict(list)
        for source in ids:
            shelf = self._shelf.pop(source, None)
            if shelf is not None and self._waiting[shelf].pop(source, None) is None:
                written[shelf].append(source)
        for shelf, sources in written.items():
            self._collections[shelf].delete(ids=sources)
            self._written[shelf] -= len(sources)

    def take(self, rows: Iterable[tuple[str, int, Vectors]]) -> None:
        """Take vectors in, each with its id and shelf."""
        for source, shelf, vector in rows:
            self._shelf[source] = shelf
            waiting = self._waiting[shelf]
            waiting[source] = vector
            if len(waiting) >= self._written_at:
                self._flush(shelf)

    def near(self, shelf: int, query: Vectors, k: int) -> dict[str, float] | None:
        """Candidates of a shelf with their scores; None where Chroma brings up too few."""
        waiting, written = self._waiting[shelf], self._written[shelf]
        scores: dict[str, float] = {}
        if waiting:
            rows, some = closest(
                query, np.arange(len(waiting)), np.stack(list(waiting.values())), k
            )
            ids = list(waiting)
            scores = {ids[row]: score for row, score in zip(rows, some.tolist(), strict=True)}
        if not written:
            return scores
        found = self._collections[shelf].query(
            query_embeddings=[query], n_results=min(written, WIDER * k), include=["embeddings"]
        )
        if len(found["ids"][0]) < min(written, k):
            return None
        exact = products(query, np.asarray(found["embeddings"][0], np.float32))
        return scores | dict(zip(found["ids"][0], exact.tolist(), strict=True))

    def _flush(self, shelf: int) -> None:
        if self._client is None:
            self._making += 1
            self._client = _client(self._at())
        if shelf not in self._collections:
            self._collections[shelf] = self._client.create_collection(
                f"shelf-{shelf}", configuration={"hnsw": GRAPH}, embedding_function=None
            )
        waiting = self._waiting.pop(shelf)
        self._collections[shelf].add(ids=list(waiting), embeddings=np.stack(list(waiting.values())))
        self._written[shelf] += len(waiting)

    def _reopen(self) -> None:
        """Find again what Chroma has."""
        with self.or_none():
            self._client = _client(self._at())
            for collection in self._client.list_collections():
                shelf = int(collection.name.removeprefix("shelf-"))
                ids = collection.get(include=[])["ids"]
                self._collections[shelf] = collection
                self._shelf |= dict.fromkeys(ids, shelf)
                self._written[shelf] = len(ids)

    def _at(self) -> Path:
        return self._folder / f"vectors-{self._making}"


def _making(path: Path) -> int:
    number = path.stem.removeprefix("vectors-")
    return int(number) if number.isascii() and number.isdigit() else 0


def _hold(folder: Path) -> int:
    """Be the one process that uses a folder, until the descriptor is closed."""
    place = folder / "in-use"
    try:
        held = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600)
    except OSError as error:
        raise unwritable(place, error) from error
    if not try_lock(held):
        os.close(held)
        raise StoreError(f"{folder} is open already, and Chroma takes one at a time")
    return held


def _client(folder: Path) -> Any:  # noqa: ANN401 - its type would import it
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    import chromadb

    return chromadb.PersistentClient(str(folder))
