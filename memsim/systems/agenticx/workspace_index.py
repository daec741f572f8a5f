"""AgenticX's WorkspaceMemoryStore: pieces of files, full text, hashed vectors, and its hybrid."""

from __future__ import annotations

import hashlib
import json
import math
import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from operator import mul
from typing import Any, NamedTuple

from memsim.memory.codec import JSON, reading
from memsim.systems.agenticx.workspace_files import ROOTS, markdown_pieces

# AgenticX's own embedding, `hashing-v1/hashing-64d`: words into 64 buckets, and no meaning.

DIMENSIONS = 64
MOST_SHORT = 4
CJK = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]{2,8}")
_ASCII = re.compile(r"[A-Za-z0-9]")

Vector = tuple[float, ...]


class SparseVector(NamedTuple):
    """A vector by its dimensions that are not 0, which are few."""

    places: tuple[int, ...]
    values: Vector


@lru_cache(maxsize=1 << 12)
def embed_text(text: str, *, cjk: bool = False) -> Vector:
    """Embed the words of a text as a unit vector, or zeros.

    A Chinese sentence is one word; with `cjk`, runs of Chinese characters are words as well (0.6).
    """
    words = text.lower().split()
    if cjk:
        known = set(words)
        words += [t for t in search_terms(text) if CJK.search(t) and t not in known]
    sums = [0.0] * DIMENSIONS
    for word in words:
        digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
        sums[digest[0] % DIMENSIONS] += -1.0 if digest[1] % 2 else 1.0
    norm = math.sqrt(sum(x * x for x in sums))
    return tuple(x / norm for x in sums) if norm else tuple(sums)


@lru_cache(maxsize=1 << 12)  # a file is embedded anew with each line that is appended
def embed_piece(text: str, *, cjk: bool = False) -> tuple[SparseVector, bytes]:
    """The vector of a piece of a file, and how the table of pieces has it."""
    vector = embed_text(text, cjk=cjk)
    places = tuple(place for place, value in enumerate(vector) if value)
    sparse = SparseVector(places, tuple(vector[place] for place in places))
    return sparse, json.dumps(vector).encode()


def cosine(one: Vector, other: SparseVector) -> float:
    """How alike two unit vectors are; 0 where either is zeros."""
    total: float = sum(map(mul, map(one.__getitem__, other.places), other.values))
    return total


def search_terms(text: str) -> list[str]:
    """What a substring search looks for, longest first (0.6)."""
    text = text.strip()
    words = [w.lower() for w in text.split() if len(w) >= 2 and _ASCII.search(w)]
    found = [*words, *_RUN.findall(text)]
    if len(text) <= MOST_SHORT:
        found += CJK.findall(text)
    return sorted(dict.fromkeys(found), key=len, reverse=True)


ROOT = "/workspace"
"""Stands for the folder's path in the ids of pieces."""

PROVIDER = ("hashing-v1", "hashing-64d")
MODEL = "/".join(PROVIDER)
SPARE = 64
"""Vectors of pieces that are gone, beyond which they are let go."""

_SCHEMA = """
CREATE TABLE files (path TEXT PRIMARY KEY, hash TEXT, mtime REAL, size INTEGER);
CREATE TABLE chunks (id TEXT PRIMARY KEY, path TEXT, source TEXT, start_line INTEGER,
    end_line INTEGER, model TEXT, text TEXT, embedding BLOB, created_at REAL);
CREATE TABLE embedding_cache (provider TEXT, model TEXT, hash TEXT, embedding BLOB,
    PRIMARY KEY (provider, model, hash));
CREATE VIRTUAL TABLE chunks_fts USING fts5(text, path UNINDEXED, source UNINDEXED{content});
"""
_COLUMNS = "c.rowid, c.path, c.source, c.start_line, c.end_line, c.text"
_KEPT = "rowid, id, path, source, start_line, end_line, text, created_at"
_ALL = f"SELECT {_COLUMNS} FROM chunks c ORDER BY c.rowid"  # noqa: S608 - all of it is ours


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexMatch:
    """A piece that a search found: lines `start` to `end` of a file, counted from 1.

    Its score is at most 1, or a little more where words are Chinese (0.6).
    """

    row: int
    path: str
    source: str
    start: int
    end: int
    text: str
    score: float = 0.0

    def scored(self, score: float) -> IndexMatch:
        """The same with another score."""
        return replace(self, score=round(score, 4))


class WorkspaceIndex:
    """The index of a workspace, in a database of its own in memory.

    Args:
        cjk: tokens and a substring search for Chinese (0.6).
        raw: the query goes to the full text search as it is, so that a question mark is an error
            in it; otherwise its words do, all of which have to be there.
        fixed: whatever words there are count, the best first, Chinese ones inside others too, and
            a piece that is gone leaves nothing behind.
    """

    def __init__(self, *, cjk: bool = False, raw: bool = True, fixed: bool = False) -> None:
        self._cjk = cjk or fixed
        self._ranked = cjk
        self._raw = raw and not fixed
        self._fixed = fixed
        self._vectors: dict[int, SparseVector] = {}
        self._shared: dict[SparseVector, SparseVector] = {}
        self._posted: list[tuple[int, str, str]] = []
        self._searched: dict[int, str] = {}
        self._opened: sqlite3.Connection | None = None

    @property
    def _database(self) -> sqlite3.Connection:
        if self._opened is None:
            self._opened = sqlite3.connect(":memory:", check_same_thread=False)
            content = "" if self._fixed else ", content=''"
            self._opened.executescript(_SCHEMA.replace("{content}", content))
        return self._opened

    def index(self, files: Iterable[tuple[str, str]], now: datetime) -> dict[str, int]:
        """Index the files that are new or have changed.

        The four root files count in `total_files` whether they are there or not.
        """
        made = skipped = 0
        names: list[str] = []
        for name, text in files:
            names.append(name)
            added = self._file(name, text, now)
            made += added or 0
            skipped += added is None
        total = len({*ROOTS, *names})
        return {"indexed_chunks": made, "skipped_files": skipped, "total_files": total}

    def __len__(self) -> int:
        return len(self._vectors)

    def search(self, query: str, limit: int = 5, mode: str = "hybrid") -> list[IndexMatch]:
        """The pieces that a query finds; a word that is no mode means `hybrid`.

        Raises:
            sqlite3.OperationalError: the full text search does not understand the query.
        """
        query, limit = query.strip(), max(1, int(limit))
        if not query:
            return []
        if mode == "fts":
            return self._full_text(query, limit)
        if mode == "semantic":
            return self._semantic(query, limit)
        return self._hybrid(query, limit)

    def forget(self, name: str) -> None:
        """Drop what is known of a file, so that it is indexed anew."""
        self._database.execute("DELETE FROM files WHERE path = ?", (name,))

    def pieces(self) -> Iterator[IndexMatch]:
        """Every piece, in the order in which they were taken in."""
        if len(self):
            yield from map(_found, self._database.execute(_ALL))

    def count(self, table: str) -> int:
        """Rows of a table."""
        number = self._database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]  # noqa: S608
        return int(number)

    def columns(self, table: str) -> list[str]:
        """Names of a table's columns."""
        rows = self._database.execute(f"PRAGMA table_info({table})")
        return [str(row[1]) for row in rows]

    def close(self) -> None:
        """Release the database."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def save(self) -> JSON:
        """Every row, and what was ever posted to the full text search, as JSON values."""
        if self._opened is None:
            return None
        run = self._database.execute
        return {
            "files": [list(row) for row in run("SELECT * FROM files ORDER BY path")],
            "pieces": [list(row) for row in run(f"SELECT {_KEPT} FROM chunks ORDER BY rowid")],  # noqa: S608
            "embedded": [row[0] for row in run("SELECT hash FROM embedding_cache ORDER BY hash")],
            "posted": [list(posting) for posting in self._posted],
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over saved rows; called on an empty index. Raises StateError if damaged."""
        if saved is None:
            return
        with reading("its index is damaged"):
            try:
                self._restore(saved)
            except sqlite3.Error as error:
                raise ValueError(saved) from error

    def _restore(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file
        run = self._database.execute
        for row in saved["files"]:
            run("INSERT INTO files VALUES (?, ?, ?, ?)", row)
        for number, key, path, source, start, end, text, made in saved["pieces"]:
            vector, blob = embed_piece(text, cjk=self._cjk)
            self._take(number, vector)
            run(
                f"INSERT INTO chunks ({_KEPT}, model, embedding)"  # noqa: S608
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (number, key, path, source, start, end, text, made, MODEL, blob),
            )
        for key in saved["embedded"]:
            run("INSERT INTO embedding_cache VALUES (?, ?, ?, NULL)", (*PROVIDER, key))
        for row, text, path in saved["posted"]:
            self._post(row, text, path)

    def _take(self, row: int, vector: SparseVector) -> None:
        self._vectors[row] = self._shared.setdefault(vector, vector)
        if len(self._shared) > 2 * len(self._vectors) + SPARE:
            self._shared = {v: v for v in self._vectors.values()}

    def _post(self, row: int, text: str, path: str) -> None:
        self._posted.append((row, text, path))
        # Most sections of a file stay when it changes, and the same words again find nothing more.
        if self._searched.get(row) == text:
            return
        self._searched[row] = text
        self._database.execute(
            "INSERT INTO chunks_fts (rowid, text, path, source) VALUES (?, ?, ?, ?)",
            (row, text, path, path.rpartition("/")[2]),
        )

    def _file(self, name: str, text: str, now: datetime) -> int | None:
        """Pieces that were made of a file; None where it is as it was."""
        run = self._database.execute
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        known = run("SELECT hash FROM files WHERE path = ?", (name,)).fetchone()
        if known is not None and known[0] == digest:
            return None
        self._drop(name)
        found = markdown_pieces(text)
        for place, piece in enumerate(found):
            key = hashlib.sha256(
                f"{ROOT}/{name}:{place}:{piece.text}".encode("utf-8", "surrogatepass")
            ).hexdigest()
            vector, blob = embed_piece(piece.text, cjk=self._cjk)
            source = name.rpartition("/")[2]
            lines = (piece.start, piece.end, MODEL, piece.text, blob, now.timestamp())
            made = run(
                "INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (f"ch-{key[:16]}", name, source, *lines),
            )
            row = int(made.lastrowid or 0)
            self._post(row, piece.text, name)
            run(
                "INSERT OR REPLACE INTO embedding_cache VALUES (?, ?, ?, ?)", (*PROVIDER, key, blob)
            )
            self._take(row, vector)
        size = len(text.encode("utf-8", "surrogatepass"))
        run(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)",
            (name, digest, now.timestamp(), size),
        )
        return len(found)

    def _drop(self, name: str) -> None:
        run = self._database.execute
        rows = [r[0] for r in run("SELECT rowid FROM chunks WHERE path = ?", (name,))]
        for row in rows:
            del self._vectors[row]
            # A contentless index cannot be told what a row held: what was posted stays.
            if self._fixed:
                self._searched.pop(row, None)
                run("DELETE FROM chunks_fts WHERE rowid = ?", (row,))
        if self._fixed:
            gone = set(rows)
            self._posted = [posting for posting in self._posted if posting[0] not in gone]
        run("DELETE FROM chunks WHERE path = ?", (name,))

    def _full_text(self, query: str, limit: int) -> list[IndexMatch]:
        if not self._raw:
            words = [w for w in query.split() if any(map(str.isalnum, w))]
            quoted = ['"' + w.replace('"', '""') + '"' for w in words]
            query = (" OR " if self._fixed else " ").join(quoted)
            if not query:
                return []
        order = " ORDER BY chunks_fts.rank, chunks_fts.rowid" if self._fixed else ""
        rows = self._database.execute(
            f"SELECT {_COLUMNS} FROM chunks_fts JOIN chunks c ON c.rowid = chunks_fts.rowid"  # noqa: S608
            f" WHERE chunks_fts MATCH ?{order} LIMIT ?",
            (query, limit),
        )
        return [_found(row).scored(1 - 0.01 * place) for place, row in enumerate(rows)]

    def _semantic(self, query: str, limit: int) -> list[IndexMatch]:
        vector = embed_text(query, cjk=self._cjk)
        # Most sections of a day are alike: each vector that there is is compared once.
        alike = {id(known): cosine(vector, known) for known in self._shared.values()}
        scores = {row: alike[id(known)] for row, known in sorted(self._vectors.items())}
        best = sorted(scores, key=lambda row: -scores[row])[:limit]
        return [self._piece(row).scored(scores[row]) for row in best]

    def _hybrid(self, query: str, limit: int) -> list[IndexMatch]:
        words = self._full_text(query, 2 * limit)
        lists = [words, self._semantic(query, 2 * limit)]
        if self._cjk:
            lists.append(self._substrings(query, limit, found=bool(words)))
        merged: dict[int, IndexMatch] = {}
        for number, found in enumerate(lists):
            for place, hit in enumerate(found):
                floored = self._ranked or number != 1
                score = max(hit.score, 1 - 0.02 * place) if floored else hit.score
                before = merged.get(hit.row)
                merged[hit.row] = hit.scored(max(score, before.score if before else score))
        return sorted(merged.values(), key=lambda hit: -hit.score)[:limit]

    def _substrings(self, query: str, limit: int, *, found: bool) -> list[IndexMatch]:
        terms = search_terms(query)
        if not terms or (found and not any(map(CJK.search, terms))):
            return []
        scores: dict[int, float] = {}
        for term in terms:
            weight = min(1.0, 0.5 + 0.08 * len(term))
            like = "".join(f"\\{c}" if c in "\\%_" else c for c in term)
            rows = self._database.execute(
                "SELECT rowid FROM chunks WHERE text LIKE ? ESCAPE '\\' ORDER BY rowid LIMIT ?",
                (f"%{like}%", max(6 * limit, 20)),
            )
            for (row,) in rows:
                scores[row] = scores[row] + 0.5 * weight if row in scores else weight
        best = sorted(scores, key=lambda row: -scores[row])[: 2 * limit]
        return [self._piece(row).scored(scores[row]) for row in best]

    def _piece(self, row: int) -> IndexMatch:
        told = self._database.execute(
            f"SELECT {_COLUMNS} FROM chunks c WHERE c.rowid = ?",  # noqa: S608
            (row,),
        ).fetchone()
        return _found(told)


def _found(row: tuple[Any, ...]) -> IndexMatch:
    number, path, source, start, end, text = row
    return IndexMatch(row=number, path=path, source=source, start=start, end=end, text=text)
