"""A memory in a folder whose entries are in a store of the host's own."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from memsim.cli.memory import command
from memsim.errors import StateError, StoreError
from memsim.memory import MemoryOptions, SavedMemory, open_memory
from memsim.memory.permissions import ReadGrant
from memsim.memory.retention import RetentionPolicy
from memsim.memory.stores import Store
from memsim.memory.stores.in_memory import InMemory
from memsim.memory.stores.markdown.store import Markdown
from memsim.memory.stores.sqlite.store import SQLite
from memsim.message import said

START = datetime(2026, 1, 5, 9, tzinfo=UTC)

Opened = Callable[[Path], Store]


class Ram:
    """A store in memory that is handed over again, as one with a server is."""

    def __init__(self) -> None:
        self.store = InMemory()

    def __call__(self, _: Path) -> Store:
        return self.store


KINDS: dict[str, Callable[[], Opened]] = {
    "memory": Ram,
    "markdown": lambda: Markdown,
    "sqlite": lambda: SQLite,
}


def opened(folder: Path, store: Store | None, **given: Any) -> SavedMemory:  # noqa: ANN401 - as `open_memory`
    """The memory in a folder."""
    given = {"embedder": "hash:dim=16", "tokenizer": "chars/4", "wait": 0.02, **given}
    return open_memory(folder, now=lambda: START, store=store, **given)


def tell(memory: SavedMemory, text: str, name: str, principal: str = "ana") -> None:
    """One turn."""
    memory.observe(said("user", text, id=name, principal=principal, session="s1", time=START))
    memory.end_turn()


@pytest.mark.parametrize("kind", KINDS)
def test_it_goes_on_with_its_store_and_forgets_there(tmp_path: Path, kind: str) -> None:
    """Entries are in the store, all else in the folder; the store is left open."""
    there, elsewhere, folder = KINDS[kind](), tmp_path / "elsewhere", tmp_path / "memory"
    store = there(elsewhere)
    with opened(folder, store) as memory:
        tell(memory, "My locker is 7741-B.", "a1")
        tell(memory, "I bring the kettle.", "b1", "bo")
        memory.grant(ReadGrant(owner="ana", reader="cy"))
    assert 1 == len(store.find(memory.vault.where("ana"), limit=1))
    with pytest.raises(StoreError, match="closed"):
        memory.search("locker", principal="ana")
    if kind != "memory":
        store.close()

    store = there(elsewhere)
    with opened(folder, store) as again:
        with closing(sqlite3.connect(folder / "memory.sqlite3")) as file:
            assert (0,) == file.execute("SELECT count(*) FROM entries").fetchone()
        for who in ("bo", "cy"):
            assert "a1" == again.search("locker", principal=who)[0].entry.key
        shown = again.context("Which locker?", principal="ana", session="s1", budget=500)
        assert "7741-B" in shown.text()
        with pytest.raises(ValueError, match="a1"):
            tell(again, "Another text.", "a1")
        tell(again, "My locker is 7741-B.", "a1")
        assert again.forget("ana", ["a1"]).entries
        assert not [e for e in again.entries(None) if "7741" in e.text]
    store.close()

    left = [p for p in tmp_path.rglob("*") if p.is_file() and b"7741-b" in p.read_bytes().lower()]
    assert [] == left


def test_its_store_is_told_from_every_other(tmp_path: Path) -> None:
    """Opened without it, with another, or one of its own beside it: an error, no empty memory."""
    store, folder = InMemory(), tmp_path / "memory"
    with opened(folder, store) as memory:
        tell(memory, "My locker is 7741-B.", "a1")
    with opened(tmp_path / "own", None) as own:
        tell(own, "My locker is 7741-B.", "a1")
    before = {p: p.read_bytes() for p in folder.iterdir() if p.suffix == ".sqlite3"}

    for at, given, why in (
        (folder, None, "its entries are not in it but in a memory store"),
        (folder, Markdown(tmp_path / "md"), "its entries are in a memory store: it is not opened"),
        (folder, InMemory(), "holds nothing of what memory.sqlite3 remembers"),
        (tmp_path / "own", InMemory(), "its entries are in its memory.sqlite3"),
        (tmp_path / "new", store, "memory.sqlite3: is missing, and its memory store is not"),
    ):
        for readonly in (False, True) if at != tmp_path / "new" else (False,):
            with pytest.raises((StateError, StoreError), match=why) as refused:
                opened(at, given, readonly=readonly)
            assert "\n" not in str(refused.value)
    looked = CliRunner().invoke(command, ["stats", "--memory", str(folder)])
    assert isinstance(looked.exception, StateError)
    assert before == {p: p.read_bytes() for p in folder.iterdir() if p.suffix == ".sqlite3"}
    (folder / "memory.sqlite3").unlink()
    with pytest.raises(StateError, match="is missing, and its memory store is not"):
        opened(folder, store)


def test_a_sqlite_store_elsewhere_may_be_no_older_than_the_state(tmp_path: Path) -> None:
    """As the folder's own file: what was restored from before is missed, another's is refused."""
    path, folder = tmp_path / "entries.sqlite3", tmp_path / "memory"
    for turn in range(2):
        with closing(SQLite(path)) as store, opened(folder, store) as memory:
            tell(memory, "My locker is 7741-B.", f"a{turn}")
        if turn == 0:
            before = path.read_bytes()
    with (
        closing(SQLite(tmp_path / "other.sqlite3")) as other,
        opened(tmp_path / "another", other) as memory,
    ):
        tell(memory, "My locker is 7741-B.", "a1")
    path.write_bytes(before)

    for at, why in ((path, "is older than"), (tmp_path / "other.sqlite3", "belongs to another")):
        with closing(SQLite(at)) as store, pytest.raises(StoreError, match=why):
            opened(folder, store)


@pytest.mark.parametrize("killed", range(6))
@pytest.mark.parametrize("how", ["elapse", "forget"])
def test_what_empties_a_store_may_be_killed_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, killed: int
) -> None:
    """Though all was erased before the state said so, the store is not taken for another one."""
    store, folder, left = InMemory(), tmp_path / "memory", killed
    memory = opened(folder, store, options=MemoryOptions(hygiene=RetentionPolicy()))
    tell(memory, "My locker is 7741-B.", "a1")

    def mortal(work: Callable[..., Any]) -> Callable[..., Any]:
        def work_or_die(*given: Any) -> Any:  # noqa: ANN401 - as the method's own
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            return work(*given)

        return work_or_die

    with monkeypatch.context() as dying, suppress(KeyboardInterrupt):
        dying.setattr(memory._file, "write", mortal(memory._file.write))
        dying.setattr(store, "erase", mortal(store.erase))
        if how == "forget":
            memory.forget("ana", ["a1"])
        else:
            memory.elapse(START + timedelta(days=4))
    memory._file.close()

    with opened(folder, store) as again:
        again.elapse(START + timedelta(days=4))
        assert [] == [*again.entries(None)]
    opened(folder, store).close()
