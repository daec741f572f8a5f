"""The SQLite file: damage is loud, versions are told apart, and nothing is half made."""

from __future__ import annotations

import errno
import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from memsim.errors import SchemaError, StoreError
from memsim.memory.entry import FOUND_BY_KEY, DamagedRecord, decode
from memsim.memory.index.vector_file import VectorFile
from memsim.memory.permissions import ReadGrant, Where
from memsim.memory.stores import EmbedderInfo, WriteItem
from memsim.memory.stores.in_memory import InMemory, StoreView
from memsim.memory.stores.sqlite import cache, rows, schema, shelf_entries
from memsim.memory.stores.sqlite.store import SQLite
from tests.memory.stores.made import ALL, array, entry, seen_by, unit

VECTOR = array([unit(1, 2, 0, 0)])[0]

OTHER_TERMS = "UPDATE status SET analysis = 'otherwise', indexed = 0"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with 90 entries, closed: 70 whose words are indexed, and 20 more."""
    path = tmp_path / "folder" / "memory.db"
    store = SQLite(path)
    store.embedded_by(EmbedderInfo("hash", 4))
    entries = [entry(f"{n}", f"falcon {n} " + "word " * n, minute=n) for n in range(90)]
    vectors = array([unit(1, n, 0, 0) for n in range(90)])
    store.write(entries[:70], vectors[:70])
    store.write(entries[70:], vectors[70:])
    store.close()
    return path


def change(path: Path, *statements: str) -> None:
    """Alter a database by hand."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_an_entry_that_is_gone_is_damage_though_others_tie(tmp_path: Path) -> None:
    """Its vector was left behind, and the others were created long before it could have been."""
    path = tmp_path / "memory.db"
    with_vectors = [entry(f"{n}", minute=-60_000_000 + n) for n in range(9)]
    store = SQLite(path)
    store.embedded_by(EmbedderInfo("hash", 4))
    store.write(with_vectors, array([unit(1, 0, 0, 0)] * 9))
    store.close()
    change(path, "DELETE FROM entries WHERE number = 5")

    with pytest.raises(StoreError, match="is damaged"):
        SQLite(path).nearest(array([unit(1, 0, 0, 0)])[0], ALL, 2)


def halve(content: bytes) -> bytes:
    """Cut it off."""
    return content[: len(content) // 2]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "truncated": halve,
    "cut in its first page": lambda c: c[:1000],
    "empty": lambda _: b"",
    "zeros": lambda c: bytes(len(c)),
    "a page of zeros": lambda c: c[:4096] + bytes(4096) + c[8192:],
    "no database": lambda _: b"# Notes\n\nBuy milk.\n" * 300,
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_loud(path: Path, name: str) -> None:
    """Opening names the file, keeps a copy, and never gives an empty memory, however often."""
    damaged = DAMAGES[name](path.read_bytes())
    path.write_bytes(damaged)

    for _ in range(2):
        with pytest.raises(StoreError, match=r"memory\.db"):
            SQLite(path)

    assert damaged == path.read_bytes()
    copies = [p for p in path.parent.iterdir() if ".damaged-" in p.name and "wal" not in p.name]
    assert [damaged] == [p.read_bytes() for p in copies] or not damaged


@pytest.mark.parametrize("large", [False, True], ids=["read through", "large"])
def test_a_flipped_bit_never_changes_what_is_remembered(
    path: Path, monkeypatch: pytest.MonkeyPatch, *, large: bool
) -> None:
    """Wherever it is: a StoreError or every entry as it was, in a file not read through as well."""
    if large:
        monkeypatch.setattr(schema, "LARGE", 0)
    whole = path.read_bytes()
    store = SQLite(path)
    known = store.find(ALL)
    store.close()
    chance = random.Random(3)
    loud = 0
    for _ in range(120):
        place = chance.randrange(len(whole))
        content = bytearray(whole)
        content[place] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
        try:
            store = SQLite(path)
            try:
                assert known == store.find(ALL)
                assert 90 == store.count(ALL)
                store.lexical("falcon 7", ALL, 5)
                store.nearest(VECTOR, ALL, 5)
            finally:
                store.close()
        except StoreError as error:
            assert "memory.db" in str(error)  # noqa: PT017 - either outcome is right
            loud += 1
    assert loud


@pytest.mark.parametrize(
    ("damage", "read"),
    [
        ("beside SET vector = 7", lambda s: s.nearest(VECTOR, ALL, 5)),
        ("entries SET length = 'x'", lambda s: s.lexical("falcon", ALL, 5)),
        ("shelves SET terms = 'x'", lambda s: s.write([entry("1", "falcon")])),
        ("status SET changes = x'ff'", lambda s: s.erase([entry("1").id])),
    ],
)
def test_a_value_of_another_kind_is_damage(
    path: Path, damage: str, read: Callable[[SQLite], object]
) -> None:
    """A flipped bit makes a number of a text, which the integrity check lets pass."""
    change(path, f"UPDATE {damage}")
    store = SQLite(path)

    with pytest.raises(StoreError, match=r"memory\.db is damaged"):
        read(store)

    store.close()


def test_what_is_said_of_damage_quotes_no_value(path: Path) -> None:
    """Python does, and whoever is told may not be the one whose value it is."""
    with (
        pytest.raises(StoreError, match=r"memory\.db is damaged: a value in it") as told,
        rows.reading(path),
    ):
        int("falcon")

    assert isinstance(told.value.__cause__, DamagedRecord)
    assert "falcon" not in f"{told.value} {told.value.__cause__}"


def test_damage_is_said_on_one_line(tmp_path: Path) -> None:
    """SQLite quotes bytes of the file, and words some damage in several lines."""
    error = rows.damaged(tmp_path / "memory.db", 'unrecognized token: "\x0e"\nTree 2\tpage 3')

    assert (
        str(error) == f'{tmp_path / "memory.db"} is damaged: unrecognized token: " " Tree 2 page 3'
    )


@pytest.mark.parametrize(
    ("layout", "advice"),
    [
        (0, "upgrade memsim, or use another store"),
        (schema.LAYOUT - 2, "open it with the memsim that wrote it, or use another store"),
        (schema.LAYOUT + 1, "upgrade memsim, or use another store"),
    ],
)
def test_another_schema_is_refused(path: Path, layout: int, advice: str) -> None:
    """Before anything is read or written."""
    change(path, f"PRAGMA user_version = {layout}")
    before = path.read_bytes()

    with pytest.raises(SchemaError, match=advice):
        SQLite(path)

    assert before == path.read_bytes()


def as_before(path: Path) -> None:
    """Give a file the layout before, in which all of an entry was one row."""
    change(
        path,
        "ALTER TABLE entries RENAME TO apart",
        "DROP INDEX in_order",
        "CREATE TABLE entries (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, shelf INTEGER"
        " NOT NULL, created TEXT NOT NULL, length INTEGER NOT NULL, check_sum INTEGER NOT NULL,"
        " about TEXT, record TEXT NOT NULL, vector BLOB)",
        "CREATE INDEX in_order ON entries (shelf, created, id, length)",
        "INSERT INTO entries SELECT number, id, shelf, created, length, check_sum, about, record,"
        " vector FROM apart JOIN beside ON place = (shelf << 36) + number",
        "DROP TABLE apart",
        "DROP TABLE beside",
        "PRAGMA user_version = 3",
    )


def test_a_file_of_the_layout_before_is_brought_up_to_date(path: Path) -> None:
    """It then has the tables of a new one, and answers as before."""
    store = SQLite(path)
    store.write([entry("his", "heron", "bob")])  # without a vector
    store.outline = lambda written: f"outline of {written.key}"
    store.write([entry("new", "falcon", "bob")], VECTOR[None])
    expected = told_of(store)
    store.close()
    layout = tables(path)
    as_before(path)
    with pytest.raises(SchemaError, match="open it once to bring it up to date"):
        SQLite(path, readonly=True)

    store = SQLite(path)

    assert (expected, layout) == (told_of(store), tables(path))
    store.close()
    assert [(0,)] == selected(path, "SELECT erasing FROM status")
    assert [(0,)] == selected(path, "PRAGMA freelist_count")


def test_a_file_is_brought_up_to_date_wholly_or_not_at_all(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fails in the middle leaves the file as it was, for the next time."""
    store = SQLite(path)
    expected = told_of(store)
    store.close()
    as_before(path)
    old = tables(path)
    place_of, left = rows.place_of, iter([True] * 40)
    with monkeypatch.context() as patch:
        patch.setattr(rows, "place_of", lambda *at: next(left) and place_of(*at))
        with pytest.raises(StopIteration):
            SQLite(path)
    assert old == tables(path)

    store = SQLite(path)

    assert expected == told_of(store)
    store.close()


def told_of(store: SQLite) -> list[object]:
    """What a store answers."""
    return [
        store.find(ALL),
        store.outlines(ALL),
        store.nearest(VECTOR, ALL, 50),
        store.lexical("falcon heron", ALL, 50),
        store.count(ALL),
    ]


def selected(path: Path, statement: str) -> list[tuple[object, ...]]:
    """What a statement gives."""
    with sqlite3.connect(path) as connection:
        found = connection.execute(statement).fetchall()
    connection.close()
    return found


def tables(path: Path) -> list[tuple[object, ...]]:
    """The tables of a file, and what made them."""
    return selected(path, "SELECT name, sql FROM sqlite_schema WHERE sql NOTNULL ORDER BY name")


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    """It is not damaged, and not ours."""
    path = tmp_path / "theirs.db"
    change(path, "CREATE TABLE entries (record TEXT, vector BLOB)")

    with pytest.raises(StoreError, match="something else"):
        SQLite(path)

    assert ["theirs.db"] == [p.name for p in tmp_path.iterdir()]


def test_entries_are_indexed_anew_where_terms_were_made_otherwise(path: Path) -> None:
    """From their records, once, with their vectors."""
    store = SQLite(path)
    known = (store.find(ALL), store.lexical("falcon 7", ALL, 9), store.nearest(VECTOR, ALL, 9))
    store.close()
    change(
        path,
        OTHER_TERMS,
        "UPDATE shelves SET terms = 7",
        "UPDATE entries SET length = 1, check_sum = 1",
        "INSERT INTO words (words) VALUES ('delete-all')",
    )

    for _ in range(2):
        store = SQLite(path)
        assert known == (
            store.find(ALL),
            store.lexical("falcon 7", ALL, 9),
            store.nearest(VECTOR, ALL, 9),
        )
        store.write([entry("new", "falcon")])
        store.erase([entry("new").id])
        store.close()


def test_indexing_anew_goes_on_counting(path: Path) -> None:
    """A store never looks older than it was, and keeps its name."""
    store = SQLite(path)
    store.name_memory()
    store.erase([entry("1").id])
    before = store.standing()
    store.close()
    epoch = value(path, "epoch")
    change(path, "UPDATE status SET analysis = 'otherwise'")

    store = SQLite(path)
    after = store.standing()
    store.close()

    assert before.memory
    assert before.memory == after.memory
    assert before.changes < after.changes
    assert epoch < value(path, "epoch")


def test_who_has_it_open_while_it_is_indexed_anew_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the old terms it would find something else, and index words that are not looked for."""
    store = SQLite(path)
    monkeypatch.setattr(schema, "analysis", lambda: "otherwise")
    SQLite(path).close()
    uses: list[Callable[[], object]] = [
        lambda: store.find(ALL),
        lambda: store.lexical("falcon", ALL, 5),
        lambda: store.write([entry("new", "falcon")]),
        lambda: store.erase([entry("1").id]),
    ]

    for use in uses:
        with pytest.raises(SchemaError, match="open it again"):
            use()
    store.close()
    change(path, "PRAGMA user_version = 1")
    with pytest.raises(SchemaError, match="schema version 1"):
        SQLite(path, readonly=True)


def test_a_shelf_is_what_its_record_says_now(path: Path) -> None:
    """Two shelves change places: nobody sees what they did not see before."""
    store = SQLite(path)
    store.write([entry("his", "heron", "bob")])
    bob = seen_by("bob")
    known = store.find(bob)
    for statement in (
        "UPDATE shelves SET number = 3 - number + 10, version = 99",
        "UPDATE shelves SET number = number - 10",
        "UPDATE entries SET shelf = 3 - shelf",
        "UPDATE status SET changes = 99",
    ):
        change(path, statement)
    make_check_sums_right(path)

    assert known == store.find(bob)
    store.close()


def make_check_sums_right(path: Path) -> None:
    """Those of entries."""
    with sqlite3.connect(path) as connection:
        connection.executemany(
            "UPDATE entries SET check_sum = ? WHERE number = ?",
            [
                (rows.check_sum(record, source, shelf, created, length), number)
                for number, shelf, source, created, length, _, record in connection.execute(
                    rows.ENTRY
                ).fetchall()
            ],
        )
    connection.close()


def test_what_is_read_only_is_not_brought_up_to_date(path: Path) -> None:
    """A look changes no byte, and says what to do."""
    change(path, "UPDATE status SET erasing = 1")
    store = SQLite(path, readonly=True)
    assert 90 == store.count(ALL)
    with pytest.raises(StoreError, match="readonly"):
        store.write([entry("new", "falcon")])
    store.close()
    assert 1 == value(path, "erasing")
    change(path, OTHER_TERMS)
    before = path.read_bytes()

    with pytest.raises(SchemaError, match="open it once"):
        SQLite(path, readonly=True)
    with pytest.raises(StoreError, match="No such file"):
        SQLite(path.with_name("none.db"), readonly=True)

    assert before == path.read_bytes()
    assert ["memory.db"] == [p.name for p in path.parent.iterdir()]


def test_indexing_anew_leaves_nothing_of_what_was_erased(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it was erased with, and though the process is killed before all is done."""
    change(path, "PRAGMA secure_delete = OFF", "DELETE FROM entries WHERE number > 60", OTHER_TERMS)
    assert b"falcon 77" in path.read_bytes()
    with monkeypatch.context() as killed:
        killed.setattr(rows, "scrub", lambda *_: True)
        SQLite(path).close()

    store = SQLite(path)
    files = b"".join(p.read_bytes() for p in path.parent.iterdir())
    store.close()

    assert b"falcon 77" not in files


def test_indexing_anew_that_fails_changes_nothing(path: Path) -> None:
    """A record that cannot be read stops it."""
    change(path, OTHER_TERMS, "UPDATE entries SET record = '{' WHERE number = 40")
    change(path, "PRAGMA journal_mode = DELETE")
    before = path.read_bytes()

    with pytest.raises(StoreError, match=r"memory\.db is damaged"):
        SQLite(path)

    change(path, "PRAGMA journal_mode = DELETE")
    assert before[100:] == path.read_bytes()[100:]  # the header counts changes of mode


def test_what_a_creation_left_behind_is_swept(tmp_path: Path) -> None:
    """A process died before its new database stood in its place."""
    left = tmp_path / ".memory.db.new-abc"
    left.write_bytes(b"SQLite format 3")

    SQLite(tmp_path / "memory.db").close()

    assert ["memory.db"] == [p.name for p in tmp_path.iterdir()]


def test_nothing_but_the_database_stays_behind(path: Path) -> None:
    """No log, no index of it, no temporary file, once it is closed."""
    assert ["memory.db"] == [p.name for p in path.parent.iterdir()]


def test_a_failed_write_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The third of five entries fails: none is there, and the next write goes well."""
    store = SQLite(path)
    from memsim.memory.stores.sqlite import rows

    add = rows.add

    def failing(
        connection: sqlite3.Connection, item: WriteItem, shelf: int, about: str | None
    ) -> object:
        if item.entry.key == "new2":
            raise sqlite3.OperationalError("disk I/O error")
        return add(connection, item, shelf, about)

    def full(*_: object) -> object:
        raise sqlite3.OperationalError("database or disk is full")

    known = (store.find(ALL), store.lexical("falcon", ALL, 99))
    new = [entry(f"new{n}", "falcon", "bob") for n in range(5)]
    monkeypatch.setattr(rows, "add", failing)
    with pytest.raises(StoreError):
        store.write(new)
    monkeypatch.undo()
    monkeypatch.setattr(SQLite, "_count", full)  # its words are noted by then
    with pytest.raises(StoreError):
        store.write([entry("own", "falcon")])
    monkeypatch.undo()

    assert known == (store.find(ALL), store.lexical("falcon", ALL, 99))
    store.write(new)
    assert 95 == store.count(ALL) == len(store.lexical("falcon", ALL, 99))


def test_words_are_found_before_and_after_they_are_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes write, replace and erase, and each finds what a store without an index does."""
    monkeypatch.setattr("memsim.memory.stores.sqlite.cache.TOGETHER", 5)
    path, chance, plain = tmp_path / "memory.db", random.Random(4), InMemory()
    two = (SQLite(path), SQLite(path))
    indexed, words = set(), [f"falcon{n}" for n in range(12)]
    for step in range(150):
        writer = chance.choice(two)
        keys = [f"k{chance.randrange(30)}" for _ in range(chance.choice((1, 1, 1, 2, 9)))]
        if step % 6 == 5:
            everything = [f"k{n}" for n in range(30)]  # numbers begin anew
            ids = [entry(key).id for key in (everything if step == 77 else keys)]
            assert plain.erase(ids) == writer.erase(ids)
        else:
            texts = [" ".join(chance.choices(words, k=9)) for _ in keys]
            how = [(FOUND_BY_KEY,) if chance.random() < 0.5 else () for _ in keys]
            written = [
                entry(k, t, minute=step, attributes=a)
                for k, t, a in zip(keys, texts, how, strict=True)
            ]
            plain.write(written)
            writer.write(written)
        for store in (*two, SQLite(path)):
            # Not the same each time: what was asked for is remembered.
            word = chance.choice([*words, "k7"])
            assert plain.lexical(word, ALL, 50) == store.lexical(word, ALL, 50)
        indexed.add(_indexed(path))
        store.close()

    assert {True, False} == indexed
    for store in two:
        store.close()


def _indexed(path: Path) -> bool:
    """Whether all are; the index holds no others than it is told to."""
    connection = sqlite3.connect(path)
    ((up_to,),) = connection.execute("SELECT indexed FROM status")
    there = {number for (number,) in connection.execute("SELECT number FROM entries")}
    held = {number for (number,) in connection.execute("SELECT doc FROM postings")}
    connection.close()
    assert held == {number for number in there if number <= up_to}
    assert max(there, default=0) < up_to + cache.TOGETHER
    return held == there


def test_more_indexed_than_there_is_is_damage(path: Path) -> None:
    """What is told to be indexed would not be found."""
    change(path, "UPDATE status SET indexed = 1 << 40")
    store = SQLite(path)

    with pytest.raises(StoreError, match=r"memory\.db is damaged"):
        store.lexical("falcon", ALL, 5)

    store.close()


def test_an_index_that_holds_more_than_is_told_is_made_anew(path: Path) -> None:
    """Its words would count twice; whoever only looks cannot make it anew."""
    store = SQLite(path)
    known = store.lexical("falcon", ALL, 99)
    store.close()
    change(path, "UPDATE status SET indexed = 3")
    look = SQLite(path, readonly=True)
    with pytest.raises(StoreError, match=r"memory\.db is damaged"):
        look.lexical("falcon", ALL, 99)
    store = SQLite(path)

    for one in (store, look):
        assert known == one.lexical("falcon", ALL, 99)
        one.close()

    assert _indexed(path)


def test_the_latest_entries_of_others_are_not_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ann writes in another process costs bob's search nothing, and hers one entry."""
    ann, bob, writer, reader = seen_by("ann"), seen_by("bob"), SQLite(path), SQLite(path)
    writer.write([entry("his", "falcon heron", "bob")])
    read: list[int] = []
    at = rows.at

    def noted(connection: sqlite3.Connection, number: int) -> rows.EntryRow:
        read.append(number)
        return at(connection, number)

    def reads(where: Where, text: str) -> int:
        read.clear()
        assert reader.lexical(text, where, 5)
        return len(read)

    monkeypatch.setattr(rows, "at", noted)
    first = [reads(bob, "falcon"), reads(ann, "falcon")]
    writer.write([entry("new", "falcon heron", "ann")])
    second = [reads(bob, "heron"), reads(ann, "heron")]
    writer.close()
    reader.close()

    assert [1, 20] == first
    assert [0, 1] == second


def test_a_damaged_entry_is_an_error_for_whoever_may_see_it_alone(path: Path) -> None:
    """Others search, and write on until words are indexed, as though nothing were."""
    change(path, "UPDATE entries SET record = replace(record, 'falcon', 'f') WHERE number = 80")
    store, bob = SQLite(path), seen_by("bob")
    for n in range(150):
        store.write([entry(f"his{n}", "falcon", "bob")])

    assert 150 == len(store.lexical("falcon", bob, 500))
    with pytest.raises(StoreError, match="entry 80 is damaged"):
        store.lexical("falcon", seen_by("ann"), 5)
    store.close()


class Beside(sqlite3.Connection):
    """A connection beside which others do something whenever it writes the log back."""

    others: ClassVar[list[Callable[[], object]]] = []

    def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:  # noqa: ANN401 - as its own
        """Busy, where what others do makes it so."""
        if "wal_checkpoint" in sql and self.others and self.others.pop(0)():
            return super().execute("SELECT 1, 0, 0")
        return super().execute(sql, *rest)


def erased_beside(path: Path, *others: Callable[[], object]) -> int:
    """Whether something is still to be scrubbed once one entry was erased."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Beside))
        store = SQLite(path)
    Beside.others[:] = others
    assert 1 == store.erase([entry("1").id])
    store.close()
    return value(path, "erasing")


def test_an_erasure_waits_for_others_that_write_the_log_back(path: Path) -> None:
    """SQLite itself says at once that it is busy."""
    assert 0 == erased_beside(path, lambda: True, lambda: True)


def test_what_another_process_erases_meanwhile_is_still_to_be_scrubbed(path: Path) -> None:
    """It may be killed before it does so itself."""
    other = "UPDATE status SET epoch = epoch + 1, erasing = 1"

    assert 1 == erased_beside(path, lambda: change(path, other))


def test_a_store_opens_while_another_process_reads_what_was_erased(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left is done when it is opened next."""
    monkeypatch.setattr("memsim.memory.stores.sqlite.store._OPENING", 0.05)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM entries").fetchone()
    change(path, "UPDATE status SET erasing = 1")

    SQLite(path).close()
    left = value(path, "erasing")
    reader.close()
    SQLite(path).close()

    assert [1, 0] == [left, value(path, "erasing")]


def value(path: Path, column: str) -> int:
    """What stands in a column of the store's status."""
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    found = connection.execute("SELECT * FROM status").fetchone()[column]
    connection.close()
    return int(found)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """A file stands where a folder should."""
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match="file"):
        SQLite(tmp_path / "file" / "memory.db")


def test_an_index_that_was_merged_often_is_made_anew(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite keeps levels of each merge, and takes too many of them for damage."""
    monkeypatch.setattr(rows, "LEVELS", 24)
    store = SQLite(path)
    sizes: list[int] = []
    before = store.lexical("falcon", ALL, 100)
    words = " ".join(f"word{n}" for n in range(2_000))
    levels = "SELECT length(block) FROM words_data WHERE id = 10"
    for n in range(15):
        for kind in ("kept", "gone"):
            store.write([entry(f"{kind} {n}", f"heron {kind} {n} {words}", minute=100 + n)])
        store.erase([entry(f"gone {n}").id])
        with sqlite3.connect(path) as connection:
            (size,) = connection.execute(levels).fetchone()
            sizes.append(size)
        connection.close()
    found = [h.id for h in store.lexical("heron", ALL, 100)]
    falcons = store.lexical("falcon", ALL, 100)
    store.close()

    assert max(sizes) <= 28
    assert {entry(f"kept {n}").id for n in range(15)} == {*found}
    assert {h.id for h in before} == {h.id for h in falcons}
    assert b"heron gone" not in path.read_bytes()


def test_who_reads_sees_the_shelves_of_all_who_let_them(tmp_path: Path) -> None:
    """Their own, shared, granted and public ones, also after shelves came and went."""
    store = SQLite(tmp_path / "memory.db")
    store.embedded_by(EmbedderInfo("hash", 4))
    told = [
        entry("own", owner="ann"),
        entry("other", owner="bob"),
        entry("shared", owner="bob", visibility="shared", readers=("ann",)),
        entry("granted", owner="cem"),
        entry("public", owner="dan", visibility="public"),
    ]

    def seen(*grants: ReadGrant) -> set[str]:
        return {found.key for found in store.find(seen_by("ann", *grants))}

    for _ in range(2):
        store.write(told, array([unit(1, 0, 0, 0)] * len(told)))
        assert seen() == {"own", "shared", "public"}
        assert seen(ReadGrant(owner="cem", reader="ann")) == {"own", "shared", "public", "granted"}
        for one in told:
            store.erase([one.id])
            assert one.key not in seen(ReadGrant(owner="cem", reader="ann"))
    store.close()


def test_an_unchanged_entry_is_read_once(path: Path) -> None:
    """It is decoded again where another process wrote it anew, and gone where one erased it."""
    one, other = SQLite(path), SQLite(path)
    known, gone = entry("1", "falcon 1 word ", minute=1), entry("2")
    (held,) = one.get([known.id])
    assert held is one.get([known.id])[0]

    changed = entry("1", "a heron", minute=1)
    other.write([changed])
    assert [changed] == one.get([known.id])

    assert one.get([gone.id])
    other.erase([gone.id])
    assert [] == one.get([gone.id])
    assert not holds_text(one, "falcon 2 ")
    one.close()
    other.close()


def holds_text(store: SQLite, text: str) -> bool:
    """Whether a store keeps an entry with this text in memory."""
    read = store._entries
    entries = any(text in held.text for held in read._held.values())
    return entries or any(text in row[-1] for row in read._rows.values())


def test_what_was_read_in_a_transaction_that_failed_is_read_again(path: Path) -> None:
    """An entry of a transaction that was undone is not given later, after as many changes."""
    store = SQLite(path)

    def fail() -> None:
        with store.transaction():
            store.write([entry("new", "falcon")])
            assert ["falcon"] == [e.text for e in store.get([entry("new").id])]
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    other = SQLite(path)
    other.write([entry("new", "lunch")])
    assert ["lunch"] == [e.text for e in store.get([entry("new").id])]

    other.close()
    store.close()


def test_what_was_counted_in_a_transaction_that_failed_is_counted_again(path: Path) -> None:
    """Also where the last that was written there was nothing."""
    store = SQLite(path)
    before = [one.text for one in store.find(ALL)]

    def fail() -> None:
        with store.transaction():
            store.write([entry("new", "falcon")])
            store.write([])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert before == [one.text for one in store.find(ALL)]
    assert len(before) == store.count(ALL)
    store.write([entry("new", "lunch")])
    assert len(before) + 1 == store.count(ALL)
    other = SQLite(path)
    assert other.count(ALL) == store.count(ALL)
    other.close()
    store.close()


@pytest.mark.parametrize("few", [0, 16], ids=["many shelves", "few shelves"])
def test_hits_tie_alike_on_few_and_many_shelves(
    path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """What ties comes in the order of creation, also after entries came and went."""
    monkeypatch.setattr("memsim.memory.stores.sqlite.store._FEW", few)
    store = SQLite(path)
    store.lexical("word", ALL, 50)
    made = [entry(f"river {n}", minute=-n) for n in range(8)]

    store.write([replace(e, text="river") for e in made])
    found = [hit.id for hit in store.lexical("river", ALL, 50)]
    store.erase([made[3].id])
    left = [hit.id for hit in store.lexical("river", ALL, 50)]

    expected = [e.id for e in reversed(made)]
    assert expected == found
    assert [i for i in expected if i != made[3].id] == left
    store.close()


def test_what_is_admitted_is_told_without_reading_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the entries had been read: those that are there, and that the filter admits."""
    store = SQLite(path)
    store.write([entry("other", owner="bob")])
    known = store.find(ALL)
    ids = [e.id for e in known]
    where = seen_by("ann")
    monkeypatch.setattr(rows, decode.__name__, None)

    assert {e.id for e in known if where.admits(e.shelf)} == store.admitted([*ids, "none"], where)
    assert 90 == len(store.admitted(ids, where))
    store.close()


def test_vectors_of_a_long_shelf_are_found_as_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hits of a store in memory, before and after it is opened again."""
    monkeypatch.setattr(cache, "EXACT_ON_SHELF", 100)
    monkeypatch.setattr(cache, "SCANNED_ON_SHELF", 100)
    chance = random.Random(3)
    made = [
        (entry(f"{n}", minute=n), unit(*(chance.gauss(0, 1) for _ in range(4)))) for n in range(900)
    ]
    asked = array([unit(*(chance.gauss(0, 1) for _ in range(4))) for _ in range(20)])
    held, read = InMemory(), SQLite(tmp_path / "memory.db")
    held._view = StoreView(exact=100, scanned=100)
    for store in (held, read):
        store.embedded_by(EmbedderInfo("hash", 4))
        for start in range(0, 900, 90):
            some = made[start : start + 90]
            store.write([e for e, _ in some], array([v for _, v in some]))
            store.nearest(asked[0], ALL, 5)
        store.erase([e.id for e, _ in made[::9]])

    def found(store: InMemory | SQLite) -> list[list[str]]:
        return [[hit.id for hit in store.nearest(vector, ALL, 10)] for vector in asked]

    assert found(held) == found(read)
    (shelf,) = read._shelving
    assert shelf.vectors is not None
    assert (0, None) == (shelf.vectors._vectors.nbytes, shelf.vectors._vectors.base)
    read.close()
    again = SQLite(tmp_path / "memory.db")
    assert found(held) == found(again)
    again.close()


@pytest.fixture
def long_shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SQLite]:
    """A store that keeps the vectors of its shelf in a file beside."""
    monkeypatch.setattr(cache, "EXACT_ON_SHELF", 100)
    monkeypatch.setattr(cache, "SCANNED_ON_SHELF", 100)
    store = SQLite(tmp_path / "memory.db")
    store.embedded_by(EmbedderInfo("hash", 4))
    made = [entry(f"{n}", minute=n) for n in range(400)]
    store.write(made, array([unit(1, n % 7, n % 11, n) for n in range(400)]))
    store.nearest(VECTOR, ALL, 5)
    yield store
    store.close()


def test_vectors_of_a_long_shelf_are_beside_the_store_and_in_no_folder(
    tmp_path: Path, long_shelf: SQLite
) -> None:
    """The file has no name, holds nothing that was erased, and goes with the store."""
    (shelf,) = long_shelf._shelving
    assert shelf.vectors is not None
    assert shelf.vectors._file is not None
    number = shelf.vectors._file._number

    assert Path(f"/proc/self/fd/{number}").readlink().parent == tmp_path
    assert {f.name.partition("-")[0] for f in tmp_path.iterdir()} == {"memory.db"}
    last = array([unit(1, 399 % 7, 399 % 11, 399)]).tobytes()
    assert last in os.pread(number, 1 << 20, 0)
    long_shelf.erase([entry("399").id])
    assert last not in os.pread(number, 1 << 20, 0)
    assert len(os.pread(number, 1 << 20, 0)) == 400 * len(last)
    del shelf
    long_shelf.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)


def test_on_a_full_disk_vectors_of_a_long_shelf_stay_in_memory(
    tmp_path: Path, long_shelf: SQLite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All goes on, whether it is full from the beginning or from now on."""

    def write(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(VectorFile, "write", write)
    full = SQLite(tmp_path / "memory.db")
    found = full.nearest(VECTOR, ALL, 400)
    assert found == long_shelf.nearest(VECTOR, ALL, 400)

    long_shelf.write([entry(f"{n}", minute=n) for n in range(400, 500)], array([VECTOR] * 100))
    long_shelf.erase([entry(f"{n}").id for n in range(50)])

    for store in (long_shelf, full):
        (shelf,) = store._shelving
        assert 450 == len(store.nearest(VECTOR, ALL, 500))
        assert shelf.vectors is not None
        assert shelf.vectors._file is None
    assert long_shelf.nearest(VECTOR, ALL, 450) == full.nearest(VECTOR, ALL, 450)
    full.close()


def test_few_lists_of_words_are_kept_in_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list counts by its places and for itself; what is not kept is read again."""
    store = SQLite(path)
    words = ["falcon", "word", *map(str, range(60))]
    found = [store.lexical(word, ALL, 50) for word in words]
    store.close()

    monkeypatch.setattr(cache, "MOST_PLACES", 10 * 41)
    store = SQLite(path)
    assert found == [store.lexical(word, ALL, 50) for word in words]
    assert 0 < len(store._shelving._postings) <= 10
    store.erase([entry("1").id])
    store.close()


def test_words_that_came_into_the_index_later_are_found(path: Path) -> None:
    """Also where the index ends at the number at which it ended when its words were read."""
    store, other = SQLite(path), SQLite(path)
    assert [[]] * 2 == [one.lexical("heron", ALL, 5) for one in (store, other)]
    store.erase([entry(f"{n}").id for n in range(69, 90)])  # numbers from 70 on, which come again
    herons = [entry(f"heron {n}", "heron") for n in range(70)]
    store.write(herons)
    store.erase([heron.id for heron in herons[1:]])

    assert [(70, 70)] == selected(path, "SELECT indexed, max(number) FROM status, entries")
    for one in (store, other):
        assert [herons[0].id] == [hit.id for hit in one.lexical("heron", ALL, 99)]
        one.close()


@pytest.mark.parametrize("term", ["日本語", "é", "x" * 200, "o'neil", "a-1700", "node_x.y"])
def test_words_of_every_kind_are_known_to_be_in_the_index(path: Path, term: str) -> None:
    """What is not known to be there is not looked for."""
    store = SQLite(path)
    store.lexical("falcon", ALL, 5)
    store.write([entry(f"new {n}", f"{term} and so on") for n in range(70)])

    assert [0, 70] == [len(store.lexical(word, ALL, 99)) for word in ("xx", term)]
    store.close()


def test_an_entry_is_not_read_by_the_number_of_one_that_is_gone(path: Path) -> None:
    """A search has told its number, which is another entry's now."""
    store, last, new = SQLite(path), entry("89"), entry("new", "heron")
    found = [hit.id for hit in store.lexical("89", ALL, 5)]
    store.erase([last.id])
    store.write([new])

    assert [last.id] == found
    assert [(new.id,)] == selected(path, "SELECT id FROM entries WHERE number = 90")
    assert [new] == store.get([last.id, new.id])
    store.close()


@pytest.mark.parametrize(
    ("scanned", "few"), [(0, 16), (8192, 16), (0, 0)], ids=["long", "short", "many shelves"]
)
def test_those_that_are_admitted_are_told(
    path: Path, monkeypatch: pytest.MonkeyPatch, scanned: int, few: int
) -> None:
    """Whether the ids of a shelf are put in order or not, and whatever others write."""
    monkeypatch.setattr(shelf_entries, "_SCANNED", scanned)
    monkeypatch.setattr("memsim.memory.stores.sqlite.store._FEW", few)
    store, other = SQLite(path), SQLite(path)
    theirs, ours = entry("his", "heron", "bob"), entry("ours", "heron")
    ids = [entry("3").id, theirs.id, ours.id, "f" * 32, "no id"]
    bob, ann = (replace(ALL, owner=name) for name in ("bob", "ann"))
    assert [{ids[0]}, set()] == [store.admitted(ids, where) for where in (ann, bob)]

    other.write([theirs, ours])

    assert [{ids[0], ours.id}, {theirs.id}] == [store.admitted(ids, w) for w in (ann, bob)]
    other.erase([ids[0]])
    assert [{ours.id}, {theirs.id}] == [store.admitted(ids, w) for w in (ann, bob)]
    for one in (store, other):
        one.close()


@pytest.mark.parametrize("most", [1, 2])
def test_the_terms_of_a_shelf_are_those_of_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """A table of terms is kept of few shelves, and gives way when others come to a shelf."""
    monkeypatch.setattr("memsim.memory.stores.sqlite.cache.TOGETHER", 1)
    monkeypatch.setattr(cache, "MOST_TERMS", most)
    store = SQLite(tmp_path / "store.sqlite3")
    store.write([entry("a", "falcon"), entry("b", "river", "bob")])
    ann, bob = seen_by("ann"), seen_by("bob")

    def held() -> list[bool]:
        asked = [(who, word) for word in ("falcon", "river", "heron") for who in (ann, bob)]
        return [store.mentions(word, who) for who, word in asked]

    assert [True, False, False, True, False, False] == held()
    store.write([entry("c", "heron")])
    assert [True, False, False, True, True, False] == held()
    store.close()
