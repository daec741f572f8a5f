"""A workspace of PRX as whoever looks into it from outside sees it: its rows, and its settings.

The rows are read into a database of this process, so that nothing of the workspace changes, and
whoever has it open is not in the way.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from memsim.errors import LocatedError, StoreError
from memsim.json_input import is_regular, read_bytes
from memsim.memory.codec import JSON, reading
from memsim.memory.deletion import ErasureReport
from memsim.memory.entry import Entry
from memsim.memory.permissions import Reader
from memsim.systems.prx.brain import BRAIN, Brain
from memsim.systems.prx.markdown_files import SNAPSHOT, MarkdownFiles
from memsim.systems.prx.recall import Recall
from memsim.systems.prx.row_index import digest_of
from memsim.systems.prx.schema import Clause, MemoryRow, timestamp
from memsim.systems.prx.settings import PrxSettings, defaults, read_settings
from memsim.systems.prx.storage import entry_of, export_snapshot
from memsim.systems.prx.tool_versions import accessible


def entries_of(brain: Brain) -> dict[int, Entry]:
    """All rows by number, as entries that those may read who have access to them."""
    readers = _readers(brain)
    rows = brain.rows(order="m.rowid")
    return {
        row.number: _public(row, _open(row).shared_with(*readers.get(row.number, ())))
        for row in rows
    }


def _open(row: MemoryRow) -> Entry:
    texts = (row.key, row.content, row.category, row.visibility, row.sender or "", *row.sources)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a column is no text")
    return replace(entry_of(row), key=row.key, attributes=())


def _public(row: MemoryRow, entry: Entry) -> Entry:
    if row.visibility != "public":
        return entry
    return replace(entry, visibility="public", readers=())


def _readers(brain: Brain) -> dict[int, list[str]]:
    readers: dict[int, list[str]] = {}
    for (reader,) in brain.connection.execute("SELECT DISTINCT reader FROM shared ORDER BY 1"):
        clause = accessible(reader)
        for row in brain.rows(clause.sql, clause.given, order="m.rowid"):
            readers.setdefault(row.number, []).append(reader)
    return readers


CONFIG = "config.toml"
"""Where PRX's settings are: in the workspace, or beside it."""

_OURS = "memory.sqlite3"


class PrxWorkspace:
    """What stands in a workspace; `find_workspace` opens one.

    It waits `wait` seconds for another process that writes.

    Raises:
        StoreError: it cannot be read.
        StateError: a row is damaged.
    """

    def __init__(
        self, folder: Path, settings: PrxSettings, *, now: Callable[[], datetime], wait: float
    ) -> None:
        if settings.backend not in {"sqlite", "markdown"}:
            raise StoreError(f"{folder}: its backend is {settings.backend}: nothing is kept here")
        self.folder = folder
        self.acl = settings.acl_enabled
        self._settings = settings
        self._now = now
        self._wait = wait
        self._files = MarkdownFiles(folder, stamped=settings.backend == "sqlite")
        self._brain = Brain()
        try:
            self._read()
            with reading(f"a row of {folder} is damaged"):
                self._entries = entries_of(self._brain)
        except BaseException:
            self._brain.close()
            raise

    def entries(self, who: str | None) -> Iterator[Entry]:
        """Every entry that somebody has access to, oldest first; None has it to all."""
        yield from (self._entries[number] for number in self._seen(who))

    def search(
        self, query: str, who: str | None, category: str | None, limit: int
    ) -> list[tuple[Entry, float]]:
        """Entries that have words of a query, best first, each with its score.

        What one has no access to is left out before anything is ranked. Meaning is left out too:
        which embedder the vectors are of is not known.
        """
        database = self._brain.connection
        database.execute("CREATE TEMP TABLE IF NOT EXISTS seen (number INTEGER PRIMARY KEY)")
        database.execute("DELETE FROM seen")
        database.executemany("INSERT INTO seen VALUES (?)", [(n,) for n in self._seen(who)])
        within = Clause("m.archived = 0 AND m.rowid IN (SELECT number FROM seen)")
        if category is not None:
            within &= Clause("m.category = ?", (category,))
        shares = self._settings.backend == "markdown"
        found = Recall(shares=shares)(self._brain, query, limit, now=None, before=within)
        # The least score is meant for shares: of what BM25 gives no number is much or little.
        least = self._settings.min_relevance_score if shares else 0.0
        return [(self._entries[r.row.number], r.score) for r in found if r.score >= least]

    def get(self, who: str | None, key: str) -> Entry | None:
        """The entry with a key: one's own, else one that one has access to."""
        found = [e for e in self.entries(who) if e.key == key]
        return next((e for e in found if e.owner == who), found[0] if found else None)

    def forget(self, who: str, key: str) -> ErasureReport:
        """Erase the entries with a key, from the files as well; those that went.

        Under access control that is one's own, else anybody's, as PRX's tool has it.
        """
        gone = [n for n in self._seen(who) if self._entries[n].key == key]
        gone = [n for n in gone if not self.acl or self._entries[n].owner == who]
        erased = ErasureReport(entries=tuple(self._entries.pop(number) for number in gone))
        for number, text in zip(gone, (e.text for e in erased.entries), strict=True):
            if self._settings.backend == "sqlite":
                self._erase(number, text)
            self._files.without(key, frozenset({text}))
        self._brain.drop(gone)
        if gone and (self.folder / SNAPSHOT).is_file():
            export_snapshot(self._brain, self.folder, self._now())
        return erased

    def note(
        self,
        tool: str,
        who: str | None,
        *,
        outcome: str = "allowed",
        key: str = "",
        category: str = "",
    ) -> None:
        """Log who looked, where the settings want an audit. Raises StoreError where that fails."""
        if not self._settings.audit_enabled or self._settings.backend != "sqlite":
            return
        told = {
            "requester": who or "keeper",
            "action": tool,
            "query": key or category or None,
            "policy_rule": "command_line",
            "result": outcome,
            "at": timestamp(self._now()),
        }
        with _told_of(self.folder / BRAIN), closing(self._writing()) as database:
            known = _columns(database, "access_audit_log")
            names = [name for name in told if name in known]
            marks = ", ".join("?" * len(names))
            database.execute(
                f"INSERT INTO access_audit_log ({', '.join(names)}) VALUES ({marks})",  # noqa: S608 - names of ours
                [told[name] for name in names],
            )

    def keepers(self) -> dict[str, JSON]:
        """What is told of the whole to who keeps it."""
        files = (p for p in self.folder.rglob("*") if is_regular(p))
        return {"backend": self._settings.backend, "bytes": sum(p.stat().st_size for p in files)}

    def close(self) -> None:
        """Release what was read."""
        self._brain.close()

    def _seen(self, who: str | None) -> list[int]:
        if who is None or not self.acl:
            return [*self._entries]
        reader = Reader(principal=who)
        return [number for number, e in self._entries.items() if reader.may_see(e.shelf)]

    def _read(self) -> None:
        if self._settings.backend == "markdown":
            for name in self._files.names():
                written = datetime.fromtimestamp((self.folder / name).stat().st_mtime, UTC)
                for line in self._files.of(name):
                    self._brain.store(line.key, line.text, line.category, now=written)
            return
        path = self.folder / BRAIN
        if not is_regular(path):
            raise StoreError(f"{path}: is missing")
        with _told_of(path), closing(_opened(path, "ro", self._wait)) as database:
            for table in ("memories", "shared"):
                self._copy(database, table)

    def _copy(self, database: sqlite3.Connection, table: str) -> None:
        ours = _columns(self._brain.connection, table)
        names = [n for n in ours if n in _columns(database, table) and n != "embedding"]
        if not names:
            return
        numbered = ", ".join(["rowid", *names])
        rows = database.execute(f"SELECT {numbered} FROM {table} ORDER BY rowid")  # noqa: S608
        marks = ", ".join("?" * (len(names) + 1))
        self._brain.connection.executemany(
            f"INSERT INTO {table} ({numbered}) VALUES ({marks})",  # noqa: S608
            rows,
        )

    def _erase(self, number: int, text: str) -> None:
        path = self.folder / BRAIN
        with _told_of(path), closing(self._writing()) as database:
            database.execute("DELETE FROM memories WHERE rowid = ?", (number,))
            if _columns(database, "embedding_cache"):
                digest = (digest_of(text),)
                database.execute("DELETE FROM embedding_cache WHERE content_hash = ?", digest)
            if _columns(database, "memories_fts"):
                database.execute("INSERT INTO memories_fts(memories_fts) VALUES ('optimize')")
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _writing(self) -> sqlite3.Connection:
        database = _opened(self.folder / BRAIN, "rw", self._wait)
        database.execute("PRAGMA secure_delete = ON")
        return database


def find_workspace(path: Path, *, now: Callable[[], datetime], wait: float) -> PrxWorkspace | None:
    """Open the workspace of PRX that a path names; None where it names none.

    The path is a workspace, a folder with PRX's settings and its workspace in it, or a TOML file
    with a `[memory]` section in or beside the workspace.

    Raises:
        StoreError: the settings or the rows cannot be read.
    """
    config = path if path.suffix == ".toml" and is_regular(path) else path / CONFIG
    home = config.parent
    if os.path.lexists(home / _OURS):
        return None
    try:
        text = read_bytes(config, LocatedError).decode() if is_regular(config) else ""
        settings = read_settings(text) if text else defaults("document")
    except (OSError, ValueError, LocatedError) as error:
        raise StoreError(f"{config}: {error}") from error
    named = "[memory]" in text
    for folder in (home, home / "workspace"):
        if is_regular(folder / BRAIN) or (named and is_regular(folder / "MEMORY.md")):
            return PrxWorkspace(folder, settings, now=now, wait=wait)
    return PrxWorkspace(home, settings, now=now, wait=wait) if named else None


def _opened(path: Path, mode: str, wait: float) -> sqlite3.Connection:
    # Nobody is writing where there is no such file; SQLite would make one even to read.
    still = mode == "ro" and not path.with_name(f"{path.name}-wal").exists()
    where = f"{path.resolve().as_uri()}?mode={mode}{'&immutable=1' if still else ''}"
    return sqlite3.connect(where, uri=True, timeout=wait, isolation_level=None)


@contextmanager
def _told_of(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        # SQLite quotes bytes of the file.
        said = "".join(c if c.isprintable() else " " for c in str(error))
        raise StoreError(f"{path}: {said}") from error


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")]
