"""The SQLite file: damage is loud, versions are told apart, and nothing is half made."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from memsim.errors import SchemaError, StoreError
from memsim.memory.acl import Where
from memsim.memory.stores import Embedded, database, rows, tail
from memsim.memory.stores.batch import Item
from memsim.memory.stores.memory import InMemory
from memsim.memory.stores.sqlite import SQLite
from tests.memory.stores.made import ALL, array, entry, seen_by, unit

VECTOR = array([unit(1, 2, 0, 0)])[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with 90 entries, closed: 70 whose words are indexed, and 20 more."""
    path = tmp_path / "folder" / "memory.db"
    store = SQLite(path)
    store.embedded_by(Embedded("hash", 4))
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


def test_a_flipped_bit_never_changes_what_is_remembered(path: Path) -> None:
    """Wherever it is: either a StoreError, or every entry as it was."""
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
        ("entries SET vector = 7", lambda s: s.nearest(VECTOR, ALL, 5)),
        ("entries SET length = 'x'", lambda s: s.lexical("falcon", ALL, 5)),
        ("shelves SET terms = 'x'", lambda s: s.write([entry("1", "falcon")])),
        ("state SET changes = x'ff'", lambda s: s.erase([entry("1").id])),
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


def test_a_newer_schema_is_refused(path: Path) -> None:
    """Before anything is read or written."""
    change(path, f"PRAGMA user_version = {database.LAYOUT + 1}")
    before = path.read_bytes()

    with pytest.raises(SchemaError, match="upgrade memsim"):
        SQLite(path)

    assert before == path.read_bytes()


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    """It is not damaged, and not ours."""
    path = tmp_path / "theirs.db"
    change(path, "CREATE TABLE entries (record TEXT, vector BLOB)")

    with pytest.raises(StoreError, match="something else"):
        SQLite(path)

    assert ["theirs.db"] == [p.name for p in tmp_path.iterdir()]


@pytest.mark.parametrize(
    "aged",
    [
        ("PRAGMA user_version = 0", "DROP TABLE postings", "DROP TABLE words", "DROP TABLE state"),
        ("PRAGMA user_version = 0", "DROP TABLE shelves", "DROP INDEX in_order"),
        ("PRAGMA user_version = 1", "ALTER TABLE state DROP COLUMN indexed"),
        ("UPDATE state SET analysis = 'otherwise'", "DROP TABLE words"),
    ],
    ids=["records alone", "without shelves", "every word indexed", "other terms"],
)
def test_an_older_layout_is_migrated(path: Path, aged: tuple[str, ...]) -> None:
    """From its records, once, with its vectors where it says what they were made with."""
    store = SQLite(path)
    known = (store.find(ALL), store.lexical("falcon 7", ALL, 9))
    near = store.nearest(VECTOR, ALL, 9)
    store.close()
    change(path, *aged)

    for _ in range(2):
        store = SQLite(path)
        assert known == (store.find(ALL), store.lexical("falcon 7", ALL, 9))
        assert store.nearest(VECTOR, ALL, 9) == ([] if "DROP TABLE state" in aged else near)
        store.write([entry("new", "falcon")])
        store.erase([entry("new").id])
        store.close()


def test_a_migration_goes_on_counting(path: Path) -> None:
    """A store never looks older than it was, and keeps its name."""
    store = SQLite(path)
    store.name_memory()
    before = store.standing()
    store.close()
    change(path, "UPDATE state SET analysis = 'otherwise'")

    store = SQLite(path)
    after = store.standing()
    store.close()

    assert before.memory
    assert before.memory == after.memory
    assert before.changes < after.changes


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
        "UPDATE state SET changes = 99",
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


def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    """A record that cannot be read stops it."""
    change(path, "PRAGMA user_version = 0", "UPDATE entries SET record = '{' WHERE number = 40")
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
    from memsim.memory.stores import rows

    add = rows.add

    def failing(connection: sqlite3.Connection, item: Item, shelf: int) -> object:
        if item.entry.key == "new2":
            raise sqlite3.OperationalError("disk I/O error")
        return add(connection, item, shelf)

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
    monkeypatch.setattr("memsim.memory.stores.tail.TOGETHER", 5)
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
            written = [entry(k, t, minute=step) for k, t in zip(keys, texts, strict=True)]
            plain.write(written)
            writer.write(written)
        for store in (*two, SQLite(path)):
            # Not the same each time: what was asked for is remembered.
            word = chance.choice(words)
            assert plain.lexical(word, ALL, 50) == store.lexical(word, ALL, 50)
        indexed.add(_indexed(path))
        store.close()

    assert {True, False} == indexed
    for store in two:
        store.close()


def _indexed(path: Path) -> bool:
    """Whether all are; the index holds no others than it is told to."""
    connection = sqlite3.connect(path)
    ((up_to,),) = connection.execute("SELECT indexed FROM state")
    there = {number for (number,) in connection.execute("SELECT number FROM entries")}
    held = {number for (number,) in connection.execute("SELECT doc FROM postings")}
    connection.close()
    assert held == {number for number in there if number <= up_to}
    assert max(there, default=0) < up_to + tail.TOGETHER
    return held == there


@pytest.mark.parametrize(
    "wrong", ["UPDATE state SET indexed = 3", "UPDATE state SET indexed = 1 << 40"]
)
def test_a_wrong_count_of_what_is_indexed_is_damage(path: Path, wrong: str) -> None:
    """With too few words would count twice, and with too many they would not be found."""
    change(path, wrong)
    store = SQLite(path)

    with pytest.raises(StoreError, match=r"memory\.db is damaged"):
        store.lexical("falcon", ALL, 5)

    store.close()


def test_the_latest_entries_of_others_are_not_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ann writes in another process costs bob's search nothing, and hers one entry."""
    ann, bob, writer, reader = seen_by("ann"), seen_by("bob"), SQLite(path), SQLite(path)
    writer.write([entry("his", "falcon heron", "bob")])
    read: list[int] = []
    at = rows.at

    def noted(connection: sqlite3.Connection, number: int) -> rows.Row:
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
