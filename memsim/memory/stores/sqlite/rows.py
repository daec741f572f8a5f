"""Entries as rows of the SQLite store, their words in its full-text index, and its errors.

They are indexed as tokens `shelf~term~times`, so that the places of a term on one shelf are one
range of the index, and no other shelf's are read for them. The tokens are looked up as values and
never matched as a query: nothing that a user writes is syntax. They are worked out anew from its
record where an entry is taken out, and have to be the same then.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import time
import zlib
from collections import Counter
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

import numpy as np

from memsim.errors import StoreError
from memsim.language.text import index_terms
from memsim.memory.entry import DamagedRecord, decode, encode, encode_shelf, instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from memsim.memory.entry import Entry, Shelf
    from memsim.memory.index.forms import Numbers
    from memsim.memory.index.postings import Counts
    from memsim.memory.stores import WriteItem
    from memsim.models import Vectors

_LONG: Final = 128
"""Characters of a term above which a digest stands for it: FTS5 would cut it off."""

_COUNTED: Final = 1 << 62

_FORM: Final = np.frombuffer(b"0000-00-00T00:00:00.000000+00:00", np.uint8)
"""An instant, with a 0 for each digit that may be another one."""

ENTRY: Final = "SELECT number, shelf, id, created, length, check_sum, record FROM entries"
"""Selects what `read` takes."""

ENTRIES: Final = f"{ENTRY} WHERE number IN (SELECT value FROM json_each(?))"  # noqa: S608 - no value
"""Selects it for a JSON list of numbers."""

NAMED: Final = f"{ENTRY} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608 - no value
"""Selects it for a JSON list of ids."""

SHELVES: Final = "SELECT id, shelf FROM entries WHERE id IN (SELECT value FROM json_each(?))"
"""Selects ids and shelves of a JSON list of ids."""


NUMBER_BITS: Final = 36
"""Bits of a place for the number of an entry: 68 thousand million entries, and as many places for
each of 134 million shelves."""

WITH_BESIDE: Final = f"entries JOIN beside ON place = (shelf << {NUMBER_BITS}) + number"
"""The entries, each with what stands in `beside`."""

_WHOLE: Final = 0x2144DF1C
"""The CRC-32 of any bytes with their own CRC-32 after them, little end first."""

_REMEMBERED: Final = 4096
"""Entries that are kept as they were read."""

_LARGEST: Final = 1 << 13
"""Characters of a record above which its entry is not kept."""

LEVELS: Final = 1_000
"""Bytes that tell of the levels of the index, two of each, above which it is made anew."""

_STRUCTURE: Final = "SELECT length(block) FROM words_data WHERE id = 10"
"""FTS5 keeps its levels in this record."""

BUSY: Final = 30.0
"""Seconds for which another writer is waited for."""

_PAUSE: Final = 0.01
"""Seconds after which the log is tried again."""

_NOT_UTF8: Final = "Could not decode to UTF-8"
"""How the error begins for a text that is not UTF-8; it has no code."""

_CORRUPT: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class EntryRow(NamedTuple):
    """An entry as it stands in the database, without its texts."""

    number: int
    shelf: int
    check_sum: int
    length: int
    counts: Counter[str]
    created: str
    id: str


class TermPlaces(NamedTuple):
    """Where a term stands on one shelf: numbers, ascending, and how often."""

    numbers: Numbers
    times: Counts


NOWHERE: Final = TermPlaces(np.empty(0, np.int64), np.empty(0, np.intc))
"""Of a term that stands nowhere."""


def add(connection: sqlite3.Connection, item: WriteItem, shelf: int, about: str | None) -> EntryRow:
    """Write an entry's row; its words are not indexed yet. `about` is its outline."""
    source, entry, vector = item
    terms = index_terms(entry.words)
    counts = Counter(terms)
    record, created = encode(entry), instant(entry.created)
    told = check_sum(record, source, shelf, created, len(terms))
    number = connection.execute(
        "INSERT INTO entries (id, shelf, created, length, check_sum, record)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (source, shelf, created, len(terms), told, record),
    ).lastrowid
    assert number is not None  # noqa: S101 - an INSERT gives one
    connection.execute(
        "INSERT INTO beside VALUES (?, ?, ?)",
        (place_of(shelf, number), about, None if vector is None else pack(vector)),
    )
    return EntryRow(number, shelf, told, len(terms), counts, created, source)


def place_of(shelf: int, number: int) -> int:
    """Where an entry is in `beside`, in which those of one shelf stand together."""
    return shelf << NUMBER_BITS | number


def span(shelf: int) -> tuple[int, int]:
    """The first place of a shelf in `beside`, and the last one."""
    return place_of(shelf, 0), place_of(shelf + 1, 0) - 1


def index(connection: sqlite3.Connection, written: Iterable[EntryRow]) -> None:
    """Index the words of entries."""
    connection.executemany(
        "INSERT INTO words (rowid, terms) VALUES (?, ?)",
        [(row.number, _tokens(row.shelf, row.counts)) for row in written],
    )


def add_shelf(connection: sqlite3.Connection, shelf: Shelf) -> int:
    """Put up a shelf, and tell its number."""
    record = encode_shelf(shelf)
    number = connection.execute(
        "INSERT INTO shelves (record, check_sum, entries, terms, version) VALUES (?, ?, 0, 0, 0)",
        (record, check_sum(record)),
    ).lastrowid
    assert number is not None  # noqa: S101 - an INSERT gives one
    return number


def remove(connection: sqlite3.Connection, source: str, indexed: int) -> EntryRow | None:
    """Take an entry's row out, and its words; None when it was not there.

    Raises `Damaged` if the row is.
    """
    found = connection.execute(f"{ENTRY} WHERE id = ?", (source,)).fetchone()
    if found is None:
        return None
    row = _row(found)
    if row.number <= indexed:
        connection.execute(
            "INSERT INTO words (words, rowid, terms) VALUES ('delete', ?, ?)",
            (row.number, _tokens(row.shelf, row.counts)),
        )
    connection.execute("DELETE FROM entries WHERE number = ?", (row.number,))
    connection.execute("DELETE FROM beside WHERE place = ?", (place_of(row.shelf, row.number),))
    return row


def after(connection: sqlite3.Connection, number: int) -> dict[int, tuple[int, int]]:
    """Shelf and check sum of the entries with greater numbers, by number."""
    return {
        later: (shelf, told)
        for later, shelf, told in connection.execute(
            "SELECT number, shelf, check_sum FROM entries WHERE number > ? ORDER BY number",
            (number,),
        )
    }


def at(connection: sqlite3.Connection, number: int) -> EntryRow:
    """The entry with a number, which is there. Raises `Damaged` if it is."""
    return _row(connection.execute(f"{ENTRY} WHERE number = ?", (number,)).fetchone())


def last(connection: sqlite3.Connection) -> int:
    """The greatest number of an entry; 0 where there is none."""
    (number,) = connection.execute("SELECT max(number) FROM entries").fetchone()
    return number or 0


def merge(connection: sqlite3.Connection, indexed: int) -> None:
    """Merge the index of words, so that nothing is left in it of what was taken out.

    Merging puts what there is on a level of its own, and SQLite (3.40.1) refuses an index of 2,000
    levels as damaged: long before, it is made anew of the entries. Raises `Damaged` if the index is
    to be made anew, and an entry is.
    """
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")
    (size,) = connection.execute(_STRUCTURE).fetchone()
    if size > LEVELS:
        index_anew(connection, indexed)


def index_anew(connection: sqlite3.Connection, indexed: int) -> None:
    """Make the index of words anew, of the entries up to a number; within a transaction.

    Raises `Damaged` if an entry is.
    """
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    held = connection.execute(f"{ENTRY} WHERE number <= ? ORDER BY number", (indexed,))
    index(connection, map(_row, held.fetchall()))


def count_anew(connection: sqlite3.Connection, number: int) -> None:
    """Note how many terms an entry has now; its words are not indexed for it."""
    shelf, source, created, record = connection.execute(
        "SELECT shelf, id, created, record FROM entries WHERE number = ?", (number,)
    ).fetchone()
    length = len(index_terms(decode(record, f"entry {number}").words))
    connection.execute(
        "UPDATE entries SET length = ?, check_sum = ? WHERE number = ?",
        (length, check_sum(record, source, shelf, created, length), number),
    )


def read(row: tuple[int, int, str, str, int, int, str]) -> Entry:
    """The entry of a row, whose columns are those of `ENTRY`. Raises `Damaged` if the row is."""
    number, shelf, source, created, length, told, record = row
    if check_sum(str(record), source, shelf, created, length) != told:
        raise DamagedRecord(f"entry {number} is damaged: its check sum is wrong")
    return decode(record, f"entry {number}")


class ReadEntries:
    """Entries by the rows that they were read from: an unchanged row is not decoded again.

    Nor is it read again while nobody has written to the store.
    """

    def __init__(self) -> None:
        self._epoch = 0
        self._changes = -1
        # Apart, because the garbage collector passes over rows that stand in no record.
        self._rows: dict[str, tuple[int, int, str, str, int, int, str]] = {}
        self._held: dict[str, Entry] = {}
        self._sure: dict[str, None] = {}

    def known(self, source: str) -> Entry | None:
        """The entry with an id, where its row is known to be as it was read."""
        return self._held[source] if source in self._sure else None

    def read(self, row: tuple[int, int, str, str, int, int, str]) -> Entry:
        """The entry of a row, as `read` gives it. Raises `Damaged` if the row is."""
        source = row[2]
        if self._rows.get(source) != row:
            entry = read(row)
            if len(row[6]) > _LARGEST:
                return entry
            if len(self._held) >= _REMEMBERED:
                self.forget()
            self._rows[source], self._held[source] = row, entry
        self._sure[source] = None
        return self._held[source]

    def refresh(self, epoch: int, changes: int) -> None:
        """Keep nothing of before an erasure, and be sure of nothing of before a change."""
        if epoch != self._epoch:
            self.forget()
            self._epoch = epoch
        if changes != self._changes:
            self._sure.clear()
            self._changes = changes

    def forget(self) -> None:
        """Read everything again when it is next asked for."""
        self._rows.clear()
        self._held.clear()
        self._sure.clear()


def _row(found: tuple[int, int, str, str, int, int, str]) -> EntryRow:
    terms = index_terms(read(found).words)
    number, shelf, source, created, _, told, _ = found
    return EntryRow(number, shelf, told, len(terms), Counter(terms), created, source)


def pack(vector: Vectors) -> bytes:
    """A vector as it is written: float32, little end first, and a check sum."""
    raw = vector.astype("<f4").tobytes()
    return raw + zlib.crc32(raw).to_bytes(4, "little")


class ShelfList(NamedTuple):
    """What the entries on a shelf are called, in columns, by creation and then by id."""

    created: list[str]
    ids: list[str]
    numbers: list[int]
    lengths: list[int]


def shelf_list(connection: sqlite3.Connection, shelf: int) -> ShelfList:
    """What the entries on a shelf are called.

    Raises `DamagedRecord` or `ValueError` if a value is damaged.
    """
    # Joined inside SQLite, since each row of a long list would be a record for the garbage
    # collector to search.
    created, ids, numbers, lengths = connection.execute(
        "SELECT group_concat(created), group_concat(id), group_concat(number), group_concat(length)"
        " FROM (SELECT created, id, number, length FROM entries WHERE shelf = ?"
        " ORDER BY created, id)",
        (shelf,),
    ).fetchone()
    if numbers is None:
        return ShelfList([], [], [], [])
    found = ShelfList(
        created.split(","),
        ids.split(","),
        [*map(int, numbers.split(","))],
        [*map(int, lengths.split(","))],
    )
    if any(len(column) != len(found.numbers) for column in found):
        raise DamagedRecord(f"the entries of shelf {shelf} are damaged")
    return found


def outlines(connection: sqlite3.Connection, shelf: int) -> tuple[list[int], list[str]]:
    """The outlines of the entries on a shelf, with their numbers; an empty one where there is none.

    Raises `DamagedRecord` if one is damaged.
    """
    first, last = span(shelf)
    numbers, about = connection.execute(
        "SELECT group_concat(place - ?), group_concat(coalesce(about, ''), char(10)) FROM"
        " (SELECT place, about FROM beside WHERE place BETWEEN ? AND ? ORDER BY place)",
        (first, first, last),
    ).fetchone()
    if numbers is None:
        return [], []
    found = [*map(int, numbers.split(","))], about.split("\n")
    if len(found[0]) != len(found[1]):
        raise DamagedRecord(f"an outline of shelf {shelf} is damaged")
    return found


def shelf_vectors(
    connection: sqlite3.Connection, shelf: int, dimension: int, together: int
) -> Iterator[tuple[list[int], Vectors]]:
    """The numbers of all entries on a shelf that have vectors, ascending, with these.

    So many come at a time. Raises as `unpack`.
    """
    first, last = span(shelf)
    found = connection.execute(
        "SELECT place - ?, vector FROM beside WHERE place BETWEEN ? AND ? AND vector IS NOT NULL"
        " ORDER BY place",
        (first, first, last),
    )
    while True:
        numbers: list[int] = []
        blobs: list[bytes] = []
        for number, blob in islice(found, together):
            numbers.append(number)
            blobs.append(blob)
        if not numbers:
            return
        yield numbers, unpack(blobs, dimension)


def unpack(blobs: Sequence[bytes], dimension: int) -> Vectors:
    """Vectors that were written, shape (len(blobs), dimension).

    Raises `Damaged` if one of them is.
    """
    if not all(isinstance(blob, bytes) for blob in blobs):
        raise DamagedRecord("a vector is damaged: it is not bytes")
    size = 4 * dimension + 4
    if {*map(len, blobs)} != {size} or {*map(zlib.crc32, blobs)} != {_WHOLE}:
        raise DamagedRecord("a vector is damaged: its check sum is wrong")
    found = np.frombuffer(b"".join(blobs), np.uint8).reshape(len(blobs), size)
    numbers = np.ascontiguousarray(found[:, :-4]).view("<f4")
    return numbers.astype(np.float32, copy=False)


def check_sum(record: str, *columns: object) -> int:
    """What tells that a row is as it was written."""
    return zlib.crc32("\n".join((*map(str, columns), record)).encode())


def check_counts(*counts: object) -> None:
    """Refuse what cannot have been counted.

    Raises `Damaged` if one of them is no number, or too small or large for a count.
    """
    if not all(isinstance(count, int) and 0 <= count < _COUNTED for count in counts):
        raise DamagedRecord("a count is damaged")


def places(connection: sqlite3.Connection, shelf: int, term: str) -> TermPlaces:
    """Where a term stands on a shelf."""
    start = f"{shelf}~{short(term)}~"
    found: list[Numbers] = []
    times: list[int] = []
    # Joined inside SQLite, since fetching rows one by one would take five times as long.
    for token, joined in connection.execute(
        "SELECT term, group_concat(doc) FROM postings WHERE term >= ? AND term < ? GROUP BY term",
        (start, f"{start[:-1]}\x7f"),
    ):
        try:
            times.append(int(token[len(start) :]))
        except ValueError as error:
            raise DamagedRecord(f"the index of words is damaged: {error}") from error
        # SQLite wrote whole numbers of 64 bits. To split them first would take five times as long.
        found.append(np.fromstring(joined, np.int64, sep=","))
    if not found:
        return NOWHERE
    numbers = np.concatenate(found)
    often = np.repeat(np.array(times, np.intc), [len(f) for f in found])
    order = np.argsort(numbers)
    return TermPlaces(numbers[order], often[order])


def name_terms(connection: sqlite3.Connection) -> None:
    """Have the terms of the index as a table of this connection, which `vocabulary` reads."""
    connection.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, words, row)")


def vocabulary(connection: sqlite3.Connection, shelf: int) -> set[str]:
    """The terms of a shelf that are in the index, as `short` gives them."""
    start = f"{shelf}~"
    (joined,) = connection.execute(
        "SELECT group_concat(term) FROM temp.vocabulary WHERE term >= ? AND term < ?",
        (start, f"{start[:-1]}\x7f"),
    ).fetchone()
    if joined is None:
        return set()
    # The tokenizer parts words at commas, so none is in a term.
    return {token[len(start) : token.rindex("~")] for token in joined.split(",")}


def called(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, tuple[int, str]]:
    """Creation in microseconds and id of entries, by number.

    Raises `ValueError` if an instant is damaged.
    """
    found = connection.execute(
        "SELECT number, created, id FROM entries WHERE number IN (SELECT value FROM json_each(?))",
        (f"[{','.join(map(str, numbers))}]",),
    ).fetchall()
    created = moments([text for _, text, _ in found]).tolist()
    return {
        number: (moment, source) for (number, _, source), moment in zip(found, created, strict=True)
    }


def moments(created: Sequence[str]) -> Numbers:
    """Instants as `instant` writes them, in microseconds, which have the same order.

    Raises `ValueError` if one of them is of another form, or no time.
    """
    joined = np.frombuffer("".join(created).encode("ascii"), np.uint8)
    if len(joined) != len(created) * len(_FORM):
        raise ValueError("an instant is damaged")
    texts = joined.reshape(-1, len(_FORM))
    zeros = np.where((texts >= ord("0")) & (texts <= ord("9")), np.uint8(ord("0")), texts)
    if (zeros != _FORM).any():
        raise ValueError("an instant is damaged")
    before = len("+00:00")
    moment = np.ascontiguousarray(texts[:, :-before]).view(f"S{len(_FORM) - before}").ravel()
    return moment.astype("datetime64[us]").astype(np.int64)


def _tokens(shelf: int, counts: Counter[str]) -> str:
    return " ".join([f"{shelf}~{short(term)}~{times}" for term, times in counts.items()])


def short(term: str) -> str:
    """A term as the index has it."""
    if len(term) <= _LONG:
        return term
    return f"@{hashlib.blake2b(term.encode(), digest_size=16).hexdigest()}"


class _Failing:
    """Says every failure inside as a StoreError.

    A class, because a generator would take three times as long, and a question reads 25 times.
    """

    __slots__ = ("_path", "_values")

    def __init__(self, path: Path, *, values: bool) -> None:
        self._path = path
        self._values = values

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        if self._values and isinstance(error, _WRONG):
            # What was wrong may quote a value, so it is no direct cause of what is told.
            value, error = error, DamagedRecord("a value in it is of the wrong kind")
            error.__cause__ = value
        if isinstance(error, DamagedRecord):
            raise damaged(self._path, str(error)) from error
        if isinstance(error, sqlite3.Error):
            _say(self._path, error)
        if isinstance(error, OSError):
            raise StoreError(f"{self._path}: {error.strerror or error}") from error


_WRONG: Final = (LookupError, TypeError, ValueError, OverflowError)


def _say(path: Path, error: sqlite3.Error) -> NoReturn:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None or code & 0xFF in _CORRUPT:
        if str(error).startswith(_NOT_UTF8):  # with the text, which is nobody else's
            raise damaged(path, "a text in it is not UTF-8") from None
        raise damaged(path, str(error)) from error
    raise StoreError(f"{path}: {_on_one_line(str(error))}") from error


def failing(path: Path) -> AbstractContextManager[None]:
    """Say every failure of the database as a StoreError, and keep a copy of what is damaged.

    Raises `StoreError` if something inside failed.
    """
    return _Failing(path, values=False)


def reading(path: Path) -> AbstractContextManager[None]:
    """As `failing`, for what reads alone: a value of the wrong kind is damage as well.

    A flipped bit may make a number of a text, and SQLite gives either out without a word. Raises
    `StoreError` if something inside failed.
    """
    return _Failing(path, values=True)


def damaged(path: Path, why: str) -> StoreError:
    """The error for a damaged database, which has been copied aside."""
    copy = quarantine(path)
    kept = f"; a copy is kept at {copy}" if copy else ""
    return StoreError(f"{path} is damaged: {_on_one_line(why)}{kept}")


def _on_one_line(text: str) -> str:
    # SQLite words some damage in several lines, and quotes bytes of the file.
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def quarantine(path: Path) -> Path | None:
    """Copy a damaged file, and its log, aside; the same damage only once."""
    with suppress(OSError):
        digest = hashlib.blake2b(path.read_bytes(), digest_size=6).hexdigest()
        copy = path.with_name(f"{path.name}.damaged-{digest}")
        if not copy.exists():
            log = path.with_name(f"{path.name}-wal")
            if log.exists():
                shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
            shutil.copyfile(path, copy)
        return copy
    return None


def scrub(connection: sqlite3.Connection, patience: float) -> bool:
    """Leave no byte of what was erased in the file or its log.

    Returns whether it is done; where it is not, `status.erasing` still says that it is to be done.
    """
    connection.execute(f"PRAGMA busy_timeout = {round(patience * 1000)}")
    try:
        return _scrub(connection, time.monotonic() + patience)
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    finally:
        connection.execute(f"PRAGMA busy_timeout = {round(BUSY * 1000)}")


def _scrub(connection: sqlite3.Connection, until: float) -> bool:
    epoch, erasing = connection.execute("SELECT epoch, erasing FROM status").fetchone()
    if not erasing:  # another process has done it for both
        return True
    connection.execute("VACUUM")
    while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        # SQLite waits for readers, but never for another process that writes the log back.
        if time.monotonic() > until:
            return False
        time.sleep(_PAUSE)
    # What another process has erased since is not gone yet.
    connection.execute("UPDATE status SET erasing = 0 WHERE epoch = ?", (epoch,))
    return True
