"""What was erased stands nowhere any more: not in a file, an index, a log, or a freed page."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from memsim.errors import StoreError
from memsim.memory.entry import Entry
from memsim.memory.stores import Store
from memsim.memory.stores.sqlite.store import SQLite
from tests.memory.stores.kinds import Home, Kind
from tests.memory.stores.made import ALL, array, entry, unit

SECRET = re.compile(rb"qz\d+v\d+k")
"""A word that stands in secret entries only."""

SEED = 9
"""With this one, SQLite's zeroing of freed pages alone would leave something behind."""


def traces(home: Home, needles: list[str]) -> list[str]:
    """Which of these stand in some file; secret words are looked for all at once."""
    found: set[bytes] = set()
    others = {needle.encode() for needle in needles if not SECRET.fullmatch(needle.encode())}
    for path in home.files():
        content = _bytes(path)
        found.update(SECRET.findall(content))
        found.update(other for other in others if other in content)
    return [needle for needle in needles if needle.encode() in found]


def secret(n: int, size: int) -> Entry:
    """An entry of that many words that stand nowhere else."""
    words = " ".join(f"qz{n}v{place}k" for place in range(size))
    return entry(f"key-qz{n}x", words, f"owner-qz{n}x", minute=n, session=f"talk-qz{n}x")


def needles(n: int, size: int) -> list[str]:
    """The words of such an entry, its names too."""
    words = [f"qz{n}v{place}k" for place in range(size)]
    return [f"key-qz{n}x", f"owner-qz{n}x", f"talk-qz{n}x", *words]


def test_no_byte_stays(kind: Kind, home: Home) -> None:
    """Not of the text, its terms, key, owner or session, while the store is still open."""
    store = home.open()
    kept = [entry(f"k{n}", f"stays{n} falcon", minute=n) for n in range(90)]
    vectors = array([unit(1, n, 0, 0) for n in range(90)])
    store.write(kept[:20], vectors[:20])
    store.write([secret(1, 40)], array([unit(0, 0, 1, 1)]))
    store.write(kept[20:], vectors[20:])  # so many that SQLite indexes them all
    assert store.lexical("qz1v7k", ALL, 1)
    if kind.lasting and home.files():
        assert traces(home, needles(1, 40)), "the check must be able to fail"

    store.erase([secret(1, 40).id])

    assert [] == traces(home, needles(1, 40))
    assert kept == store.find(ALL)
    assert 90 == len(store.lexical("falcon", ALL, 99))
    if home.files():
        assert traces(home, ["stays7"])


def test_no_byte_of_what_was_replaced_stays(home: Home) -> None:
    """The earlier texts of an entry go with it."""
    store = home.open()
    for size in (40, 3, 300):
        store.write([Entry(key="a", owner="ann", text=secret(size, size).text)])
    store.erase([entry("a").id])

    for size in (40, 3, 300):
        assert [] == traces(home, needles(size, size))


def test_no_byte_stays_after_a_life_of_changes(home: Home) -> None:
    """Large and small, written one by one and together, replaced, among others that stay."""
    chance = random.Random(SEED)
    store = home.open()
    living: dict[str, tuple[int, str]] = {}
    last = 0
    for _ in range(6):
        batch = []
        for _ in range(chance.randrange(5, 120)):
            last += 1
            words = secret(last, chance.choice((3, 10, 30, 200, 900))).text
            batch.append(entry(f"k{chance.randrange(300)}", words, minute=chance.randrange(1000)))
            living[batch[-1].key] = last, batch[-1].id
        if chance.random() < 0.5:
            store.write(batch)
        else:
            for one in batch:
                store.write([one])
        gone = chance.sample(sorted(living), len(living) * 2 // 3)
        assert len(gone) == store.erase([living.pop(key)[1] for key in gone])
        content = b"".join(_bytes(path) for path in home.files())
        found = {int(n) for n in re.findall(rb"qz(\d+)v\d+k", content)}
        assert found <= {n for n, _ in living.values()}
        assert len(living) == store.count(ALL)


def test_an_erasure_that_was_cut_short_is_finished(
    home: Home, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite: the process dies before the log is truncated; opening the store does it."""
    if kind.name != "sqlite":
        return
    store = home.open()
    store.write([secret(1, 40), entry("stays")])
    monkeypatch.setattr(SQLite, "scrub", lambda _: None)
    store.erase([secret(1, 40).id])
    assert traces(home, needles(1, 40))
    monkeypatch.undo()

    again = home.open()

    assert [] == traces(home, needles(1, 40))
    assert [entry("stays")] == again.find(ALL)


def test_an_erasure_that_cannot_be_finished_says_so(
    home: Home, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite: somebody reads the old log; once they stop, erasing again finishes."""
    if kind.name != "sqlite":
        return
    monkeypatch.setattr("memsim.memory.stores.sqlite.rows.BUSY", 0.05)
    store, reader = home.open(), home.open()
    store.write([secret(1, 40)])
    reading(reader, "BEGIN", "SELECT count(*) FROM entries")
    with pytest.raises(StoreError):
        store.erase([secret(1, 40).id])
    reading(reader, "ROLLBACK")

    store.erase([secret(1, 40).id])

    assert [] == traces(home, needles(1, 40))


def reading(store: Store, *statements: str) -> None:
    """Have a SQLite store's connection do something of its own."""
    assert isinstance(store, SQLite)
    for statement in statements:
        store._open.execute(statement).fetchall()


def _bytes(path: Path) -> bytes:
    """What a file holds; a server may remove one that was listed."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
