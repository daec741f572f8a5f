"""Fuzz saved memories: their files as bytes, and their rows with the right check sums."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from memsim.cli.memory import record_of
from memsim.cli.memory_view import look_into
from memsim.errors import ModelError
from memsim.memory.entry import Entry
from memsim.memory.persistence.memory_file import FILE
from memsim.memory.persistence.open_memory import open_memory
from memsim.memory.stores.markdown.store import Markdown
from memsim.memory.stores.sqlite import rows
from memsim.memory.stores.sqlite.store import SQLite
from memsim.message import said
from memsim.systems.agenticx.workspace_files import Pages
from memsim.systems.agentscope.session_file import read_session, session_of, session_text
from memsim.systems.cogtrix.history_file import load_files, session_paths
from memsim.systems.prx.brain import BRAIN, Brain
from memsim.systems.prx.schema import AccessStamp
from tests.doubles.damage import ODD, hostile_json, mutated_bytes
from tests.doubles.hostile_files import clear, damage_file, damage_json

Target = Callable[[random.Random], None]

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
_FALCON = "My falcon is called Ines, and my order is A-17."


def _put_back(home: Path, files: Mapping[Path, bytes]) -> None:
    for path in sorted(home.rglob("*"), reverse=True):
        if path.is_symlink() or not path.is_dir():
            path.unlink()
        elif not any(path == (home / name).parent for name in files):
            clear(path)
    for name, data in files.items():
        clear(home / name)
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(data)


def _files_of(home: Path) -> dict[Path, bytes]:
    return {p.relative_to(home): p.read_bytes() for p in sorted(home.rglob("*")) if p.is_file()}


def _saved(home: Path) -> dict[Path, bytes]:
    """The files of a small memory with pages, as it was saved."""
    with open_memory(
        home, now=lambda: NOW, embedder="hash:dim=16", tokenizer="chars/4", workspace=True
    ) as memory:
        for n, text in enumerate((_FALCON, "I moved to Oslo.", "My falcon eats fish.")):
            memory.observe(said("user", text, id=f"m{n}", principal="ana", session="s1", turn=n))
            memory.end_turn()
        memory.remember("ana", "bird", "a falcon")
        memory.note("ana", "feed the falcon", session="s1")
    return _files_of(home)


def _look(home: Path) -> None:
    """What `memsim memory` does with a memory."""
    view = look_into(home, wait=0, readonly=True, tell=lambda _: None)
    try:
        found = [*view.entries(None)]
        json.dumps([record_of(entry) for entry in found])
        with contextlib.suppress(ModelError):
            view.search("falcon", "ana", None, 5)
        view.get("ana", found[0].key if found else "bird")
        view.keepers()
    finally:
        view.close()


def memories(folder: Path, _closing: ExitStack) -> Target:
    """Folders of saved memories, of which one file was changed."""
    home = folder / "ana.memory"
    files = _saved(home)
    names = sorted(files)

    def target(chance: random.Random) -> None:
        _put_back(home, files)
        name = chance.choice([Path(FILE), *names])
        damage_file(chance, home / name, [files[name]])
        _look(home)

    return target


def _changed(chance: random.Random, value: object) -> object:
    """Another value of a column; of a text that is JSON, often a changed one."""
    if isinstance(value, str) and value[:1] in {"{", "["} and chance.random() < 0.8:
        made: object = hostile_json(chance, json.loads(value))
    elif isinstance(value, bytes) and chance.random() < 0.5:
        made = mutated_bytes(chance, [value])
    else:
        made = chance.choice(ODD)
    if isinstance(made, bytes) and isinstance(value, str):
        made = made.decode(errors="replace")
    if isinstance(made, int) and abs(made) >= 2**63:
        return float(min(made, 10**300))
    if isinstance(made, str):
        return made.encode(errors="replace").decode()
    return made if isinstance(made, int | float | bytes | None) else json.dumps(made)


def _hurt_row(chance: random.Random, connection: sqlite3.Connection, table: str) -> None:
    """Change one or two columns of a row, or take it out, or have it twice."""
    names = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
    found = connection.execute(f"SELECT rowid, * FROM {table}").fetchall()  # noqa: S608 - ours
    if not found:
        return
    number, *row = chance.choice(found)
    if chance.random() < 0.05:
        connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (number,))  # noqa: S608
        return
    for _ in range(chance.choice((1, 1, 2))):
        place = chance.randrange(len(names))
        with contextlib.suppress(sqlite3.IntegrityError):
            connection.execute(
                f"UPDATE {table} SET {names[place]} = ? WHERE rowid = ?",  # noqa: S608
                (_changed(chance, row[place]), number),
            )


def _sealed(connection: sqlite3.Connection) -> None:
    """Make the check sums right again: what a stranger writes who knows the format."""
    for table, key, text in (("parts", "name", "state"), ("said", "place", "entry")):
        found = connection.execute(f"SELECT rowid, {key}, {text} FROM {table}").fetchall()  # noqa: S608
        connection.executemany(
            f"UPDATE {table} SET check_sum = ? WHERE rowid = ?",  # noqa: S608
            [(rows.check_sum(str(value), name), number) for number, name, value in found],
        )
    seal_entries(connection)


def seal_entries(connection: sqlite3.Connection) -> None:
    connection.executemany(
        "UPDATE entries SET check_sum = ? WHERE number = ?",
        [
            (rows.check_sum(str(record), source, shelf, created, length), number)
            for number, shelf, source, created, length, _, record in connection.execute(
                rows.ENTRY
            ).fetchall()
        ],
    )
    found = connection.execute("SELECT number, record FROM shelves").fetchall()
    connection.executemany(
        "UPDATE shelves SET check_sum = ? WHERE number = ?",
        [(rows.check_sum(str(record)), number) for number, record in found],
    )


def _rows_hurt(
    chance: random.Random,
    path: Path,
    tables: tuple[str, ...],
    seal: Callable[[sqlite3.Connection], None],
) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        with connection:
            _hurt_row(chance, connection, chance.choice(tables))
            if chance.random() < 0.9:
                seal(connection)


def memory_rows(folder: Path, _closing: ExitStack) -> Target:
    """Saved memories of which a row was changed."""
    home = folder / "ana.memory"
    files = _saved(home)
    tables = ("parts", "parts", "parts", "entries", "said", "audit", "shelves", "status")

    def target(chance: random.Random) -> None:
        _put_back(home, files)
        _rows_hurt(chance, home / FILE, tables, _sealed)
        _look(home)

    return target


def _entries() -> tuple[list[Entry], Any]:
    made = [Entry(key=f"k{n}", text=f"falcon {n}", owner="ann") for n in range(3)]
    return made, np.eye(4, dtype=np.float32)[:3]


def _used(store: Any) -> None:  # noqa: ANN401 - any store
    from memsim.memory.permissions import Where

    where = Where(reader=None, archived=None)
    found = store.find(where)
    store.count(where)
    store.lexical("falcon", where, 5)
    if store.embedded is not None and store.embedded.dimension == 4:
        store.nearest(np.eye(4, dtype=np.float32)[0], where, 5)
    store.get([entry.id for entry in found])


def sqlite_stores(folder: Path, _closing: ExitStack) -> Target:
    """Stores of one SQLite file, of which a row was changed."""
    path = folder / "store.sqlite3"
    store = SQLite(path)
    store.write(*_entries())
    store.close()
    whole = path.read_bytes()

    def target(chance: random.Random) -> None:
        for left in folder.glob(f"{path.name}*"):
            clear(left)
        path.write_bytes(whole)
        _rows_hurt(chance, path, ("entries", "entries", "shelves", "status"), seal_entries)
        with contextlib.closing(SQLite(path, readonly=chance.random() < 0.5)) as found:
            _used(found)

    return target


def markdown(folder: Path, _closing: ExitStack) -> Target:
    """Stores of Markdown files, of which one file was changed."""
    home = folder / "store"
    store = Markdown(home, synced=False)
    store.write(*_entries())
    store.close()
    files = _files_of(home)

    def target(chance: random.Random) -> None:
        _put_back(home, files)
        name = chance.choice(sorted(files))
        data = files[name]
        if data[:1] == b"{" and chance.random() < 0.5:
            damage_json(chance, home / name, json.loads(data))
        else:
            damage_file(chance, home / name, [data, *files.values()][:2])
        with contextlib.closing(Markdown(home, synced=False)) as found:
            _used(found)

    return target


def chroma(folder: Path, _closing: ExitStack) -> Target:
    """Stores of Chroma, of which one file was changed."""
    from memsim.memory.stores.chroma import ChromaEntries

    home = folder / "store"
    store = ChromaEntries(home, written_at=1)
    store.write(*_entries())
    store.close()
    files = _files_of(home)

    def target(chance: random.Random) -> None:
        _put_back(home, files)
        name = chance.choice(sorted(files))
        if name.name == "entries.sqlite3" and chance.random() < 0.5:
            _rows_hurt(chance, home / name, ("entries", "shelves", "status"), seal_entries)
        else:
            damage_file(chance, home / name, [files[name]])
        with contextlib.closing(ChromaEntries(home, written_at=1)) as found:
            _used(found)

    return target


def prx_workspaces(folder: Path, _closing: ExitStack) -> Target:
    """PRX's workspaces, by `memsim memory`: rows, files and settings."""
    home = folder / "workspace"
    home.mkdir()
    brain = Brain(home / BRAIN)
    stamp = AccessStamp(sender_id="ana", channel="c", chat_type="direct", chat_id="1")
    for n in range(3):
        brain.store(f"k{n}", f"falcon {n}", "core", now=NOW, stamp=stamp, sources=("m1",))
    brain.connection.execute("PRAGMA journal_mode = DELETE")
    brain.close()
    (home / "memory").mkdir(exist_ok=True)
    lines = "# Memory\n\n- [2026-01-05 09:00:00] **bird**: a falcon\n- **k**: two falcons\n"
    for name in ("MEMORY.md", "memory/2026-01-05.md", "MEMORY_SNAPSHOT.md"):
        (home / name).write_text(lines, encoding="utf-8")
    (home / "config.toml").write_text('[memory]\nbackend = "sqlite"\n', encoding="utf-8")
    files = _files_of(home)

    def target(chance: random.Random) -> None:
        _put_back(home, files)
        if chance.random() < 0.5:
            (home / "config.toml").write_text('[memory]\nbackend = "markdown"\n', encoding="utf-8")
        name = chance.choice(sorted(files))
        if name == Path(BRAIN) and chance.random() < 0.7:
            _rows_hurt(chance, home / name, ("memories", "memories", "shared"), lambda _: None)
        else:
            damage_file(chance, home / name, [files[name]])
        _look(home)

    return target


def system_files(folder: Path, _closing: ExitStack) -> Target:
    """Session files of Cogtrix and AgentScope, and pages of AgenticX."""
    messages = [said("user", _FALCON, id="m1"), said("assistant", "Noted.", id="m2")]
    session = json.loads(session_text(session_of("s1", messages, NOW)))
    paths = session_paths(folder / "cogtrix", "s1")
    history = [{"type": "human", "content": "q", "timestamp": "2026-01-05T09:00:00"}]
    for path in paths.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    pages = folder / "agenticx"
    (pages / "memory").mkdir(parents=True)

    def target(chance: random.Random) -> None:
        kind = chance.randrange(3)
        if kind == 0:
            damage_json(chance, chance.choice([*paths.values()]), history)
            load_files(folder / "cogtrix", "s1")
        elif kind == 1:
            text = hostile_json(chance, session).decode(errors="surrogateescape")
            read_session(text).messages()
        else:
            for left in pages.rglob("*.md"):
                clear(left)
            name = chance.choice(("MEMORY.md", "memory/2026-01-05.md"))
            damage_file(chance, pages / name, [b"## Facts\n- a falcon\n"])
            Pages.of(pages)

    return target


MEMORIES: dict[str, Callable[[Path, ExitStack], Target]] = {
    "memory": memories,
    "memory rows": memory_rows,
    "sqlite store": sqlite_stores,
    "markdown store": markdown,
    "chroma store": chroma,
    "prx workspace": prx_workspaces,
    "system files": system_files,
}
"""Makes each target in a folder of its own."""
