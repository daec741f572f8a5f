"""A memory in a folder: it goes on where it ended, however it ended."""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest

from memsim.errors import ModelError, RefError, SchemaError, StateError, StoreError
from memsim.memory import MemoryOptions, SavedMemory, open_memory
from memsim.memory.entry import Conversation
from memsim.memory.options import RecallPolicy, ToolMode
from memsim.memory.permissions import ReadGrant
from memsim.memory.retention import RetentionPolicy
from memsim.memory.stores.sqlite import schema
from memsim.memory.stores.sqlite.rows import check_sum
from memsim.memory.stores.sqlite.store import SQLite
from memsim.memory.tools import READING
from memsim.message import Message, said
from memsim.models import Reply, Request

ROOT = Path(__file__).resolve().parents[3]
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
QUESTION = "What is my order number 3?"

Open = Callable[..., SavedMemory]

TALKING = """
import sys
from datetime import UTC, datetime, timedelta
from memsim.memory import open_memory
from memsim.message import said

start = datetime(2026, 1, 5, 9, tzinfo=UTC)
memory = open_memory(sys.argv[1], now=lambda: start, embedder="hash:dim=16", tokenizer="chars/4")
print("open", flush=True)
for n in range(int(sys.argv[2])):
    at = start + timedelta(minutes=n)
    memory.observe(said("user", f"Order {n} is A-{7 * n}.", id=f"m{n}", principal="ana", time=at))
    memory.observe(said("assistant", "Noted.", id=f"r{n}", principal="ana", time=at))
    memory.end_turn()
    print(n, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the memory is."""
    return tmp_path / "memory"


@pytest.fixture
def open_it(folder: Path) -> Iterator[Open]:
    """Opens the memory, and closes what a test has left open."""
    opened: list[SavedMemory] = []

    def open_it(**given: Any) -> SavedMemory:  # noqa: ANN401 - as `open_memory`
        given = {"embedder": "hash:dim=16", "tokenizer": "chars/4", "wait": 0.02, **given}
        opened.append(open_memory(folder, now=lambda: START, **given))
        return opened[-1]

    yield open_it
    for memory in opened:
        leave(memory)


def leave(memory: SavedMemory) -> None:
    """What is left of a memory when its process is killed."""
    memory.vault.close()
    memory._file.close()


def rows(folder: Path) -> list[list[Any]]:
    """All that is kept but for the audit trail."""
    tables = ("parts", "said", "offloaded", "entries", "beside", "shelves", "status")
    with closing(sqlite3.connect(folder / "memory.sqlite3")) as connection:
        return [connection.execute(f"SELECT * FROM {t}").fetchall() for t in tables]  # noqa: S608


def state_of(folder: Path) -> dict[str, Any]:
    """The saved state, by the names of its parts."""
    with closing(sqlite3.connect(folder / "memory.sqlite3")) as connection:
        return {n: json.loads(text) for n, text, _ in connection.execute("SELECT * FROM parts")}


def change(folder: Path, *statements: str) -> None:
    """Change the file of a memory that nobody has open."""
    with closing(sqlite3.connect(folder / "memory.sqlite3")) as connection, connection:
        for statement in statements:
            connection.execute(statement)


@contextmanager
def dying(memory: SavedMemory, patch: pytest.MonkeyPatch, steps: int) -> Iterator[None]:
    """Its process is killed after so many steps: before each write, and after it."""
    left = steps

    def mortal(work: Callable[..., Any]) -> Callable[..., Any]:
        def step() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt

        def work_or_die(*given: Any) -> Any:  # noqa: ANN401 - as the method's own
            step()
            done = work(*given)
            step()
            return done

        return work_or_die

    store = memory.vault.store
    with patch.context() as dead:
        dead.setattr(store, "write", mortal(store.write))
        dead.setattr(store, "erase", mortal(store.erase))
        dead.setattr(memory._file, "write", mortal(memory._file.write))
        dead.setattr(memory._file, "scrub", mortal(memory._file.scrub))
        with pytest.raises(KeyboardInterrupt):
            yield
    leave(memory)


def message(n: int, text: str = "", principal: str = "ana", session: str = "s1") -> Message:
    """Something that was said."""
    at = START + timedelta(minutes=n)
    said_text = text or f"My order number {n} is A-{7 * n}."
    return said(
        "user", said_text, id=f"{principal}{n}", principal=principal, session=session, time=at
    )


def talk(memory: SavedMemory, turns: int, *, first: int = 0) -> None:
    """Some turns."""
    for n in range(first, first + turns):
        memory.observe(message(n))
        memory.end_turn()


def talking(folder: Path, turns: int) -> subprocess.Popen[str]:
    """A process that has the memory open, and says which turns have ended."""
    return subprocess.Popen(
        [sys.executable, "-c", TALKING, str(folder), str(turns)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_it_goes_on_where_it_ended(open_it: Open) -> None:
    """Window, summary, index, working memory, ledger, permissions: what is sent is the same."""
    options = MemoryOptions(summary=True)
    memory = open_it(budget=400, options=options)
    talk(memory, 30)
    for n in range(30, 34):
        memory.observe(replace(message(n), time=START))
    memory.end_turn()
    of = Conversation("ana", "s1")
    memory.working.write_scratchpad(of, "buy milk", START)
    memory.ledger.claim(of, "item", START)
    memory.remember("ana", "style", "Four spaces.")
    expected = memory.context(QUESTION, principal="ana", session="s1", budget=400)
    before = memory.save()
    memory.close()

    again = open_it(budget=400, options=options)

    assert expected == again.context(QUESTION, principal="ana", session="s1", budget=400)
    assert {"summary", "recalled", "window"} <= {s.layer for s in expected.sections}
    assert before == again.save()
    assert again.ledger.claim(of, "item", START) is None


@pytest.mark.parametrize("mode", get_args(ToolMode))
def test_it_goes_on_whoever_stores(open_it: Open, mode: ToolMode) -> None:
    """With pages of agents as well, which are files and no part of the state."""
    memory = open_it(options=MemoryOptions(mode=mode))
    talk(memory, 1)
    note = memory.note("ana", "Four spaces.")
    before = memory.save()
    memory.close()
    again = open_it()

    assert before == again.save()
    assert mode == again.options.mode
    if again.workspace is not None:
        assert "Four spaces." in (again.workspace.of("ana").read(note) or "")


def test_the_audit_trail_goes_on(open_it: Open) -> None:
    """One chain over all lives of the memory."""
    memory = open_it()
    memory.record_audit("memory_get", principal="ana", outcome="allowed", key="style")
    memory.close()
    again = open_it()
    again.record_audit("memory_get", principal="ana", outcome="missing", key="style")

    assert [1, 2] == [record.number for record in again.audit.records()]
    assert again.audit.verify() is None


def test_a_killed_process_loses_at_most_the_unfinished_turn(open_it: Open, folder: Path) -> None:
    """SIGKILL at any moment: every turn that ended is there, in the window and in the store."""
    chance = random.Random(7)
    for _ in range(8):
        process = talking(folder, 1000)
        assert process.stdout is not None
        ended = -1
        for line in process.stdout:
            ended = -1 if line == "open\n" else int(line)
            if ended >= 0 and chance.random() < 0.3:
                break
        process.send_signal(signal.SIGKILL)
        with process:  # what was read ahead of the last line is not `communicate`'s to give
            ended = max([ended, *map(int, process.stdout.read().split())])

        memory = open_it(wait=10)

        recorded = {e.key for e in memory.entries("ana") if e.layer == "episodic"}
        whole = {f"{who}{n}" for n in range(ended + 1) for who in "mr"}
        assert whole <= recorded <= whole | {f"m{ended + 1}", f"r{ended + 1}"}
        session = memory.conversations.get("s1")
        assert session is not None
        assert [m.id for m in session.window][-1] in {f"r{ended}", f"r{ended + 1}"}
        memory.close()
        for path in folder.iterdir():
            path.unlink()


def test_a_turn_that_was_not_recorded_is_recorded_later(
    open_it: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended for who said it: the store failed, and then the process."""
    memory = open_it()
    talk(memory, 1)
    memory.observe(message(1))
    with monkeypatch.context() as failing:
        failing.setattr(memory.vault.store, "write", _failing)
        with pytest.raises(StoreError, match="no room"):
            memory.end_turn()
    leave(memory)

    again = open_it()
    again.end_turn()

    assert {"ana0", "ana1"} == {e.key for e in again.entries("ana") if e.layer == "episodic"}


def test_what_was_said_is_kept_before_anything_is_made_of_it(
    open_it: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed while it records goes on recording when it is back."""
    memory = open_it()
    memory.observe(message(3))
    write, held = memory.vault.store.write, []

    def looking(*given: Any) -> None:  # noqa: ANN401 - as the store's own
        held.append(state_of(folder)["backlog"]["said"])
        write(*given)

    monkeypatch.setattr(memory.vault.store, "write", looking)
    memory.end_turn()

    assert ["ana3"] == [m["id"] for m in held[0]]


@pytest.mark.parametrize("workspace", [False, True])
def test_what_could_not_be_forgotten_is_there_or_is_forgotten_on_opening(
    open_it: Open, folder: Path, monkeypatch: pytest.MonkeyPatch, *, workspace: bool
) -> None:
    """Where there are pages, some lines may be gone, so that the rest has to follow."""
    memory = open_it(workspace=workspace)
    talk(memory, 5)
    with monkeypatch.context() as failing:
        failing.setattr(memory.vault.store, "erase", _failing)
        with pytest.raises(StoreError, match="no room"):
            memory.forget("ana", ["ana3"])
    assert "ana3" in {e.key for e in memory.entries("ana")}
    assert "A-21" in memory.context(QUESTION, principal="ana", session="s1", budget=400).text()
    leave(memory)

    with open_it() as again:
        left = {e.key for e in again.entries("ana")}

    assert workspace == ("ana3" not in left)
    found = [p.name for p in folder.iterdir() if p.is_file() and b"A-21" in p.read_bytes()]
    assert workspace == (found == [])


@pytest.mark.parametrize("killed", range(6))
def test_a_forgetting_that_is_killed_has_happened_or_has_not(
    open_it: Open, folder: Path, monkeypatch: pytest.MonkeyPatch, killed: int
) -> None:
    """Before and after each write: everything of a message is there, or nothing."""
    memory = open_it()
    talk(memory, 5)
    before = memory.save()
    with dying(memory, monkeypatch, killed):
        memory.forget("ana", ["ana3"])

    again = open_it()

    assert (killed < 4) == (again.save() == before)
    if killed >= 4:
        assert "A-21" not in json.dumps(again.save())
        again.close()
        assert [] == [p.name for p in folder.iterdir() if b"A-21" in p.read_bytes()]


@pytest.mark.parametrize("killed", range(8))
def test_hygiene_that_is_killed_anywhere_is_finished_by_the_next(
    open_it: Open, folder: Path, monkeypatch: pytest.MonkeyPatch, killed: int
) -> None:
    """Before and after each write: what led to the rest is in the store until the rest is gone."""
    memory = open_it(options=MemoryOptions(hygiene=RetentionPolicy()), workspace=True)
    memory.observe(message(3))
    memory.remember("ana", "mood", "fine", sources=["ana3"])
    memory.note("ana", "is fine")
    memory.observe(message(1, "Hello.", principal="bo"))
    memory.end_turn()
    memory.share("ana", "bo", ["ana3"])
    later = START + timedelta(days=4)
    with dying(memory, monkeypatch, killed):
        memory.elapse(later)

    again = open_it()
    again.elapse(later)
    (kept,) = [e for e in again.entries("ana") if e.layer == "long_term"]
    again.close()

    assert ("fine", ()) == (kept.text, kept.sources)
    assert [] == [p.name for p in folder.iterdir() if p.is_file() and b"A-21" in p.read_bytes()]
    state = state_of(folder)
    assert ({"ana": {"bo": []}}, {}) == (state["permissions"]["shared"], state["noted"])


@pytest.mark.parametrize("killed", range(7))
@pytest.mark.parametrize("workspace", [False, True])
def test_a_load_that_is_killed_has_happened_or_has_not(
    open_it: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: int, *, workspace: bool
) -> None:
    """Nobody is shown the entries of one memory beside the conversations of another.

    Where there are pages, which are no part of the file, it is finished on opening.
    """
    there = tmp_path / "other"
    with open_memory(
        there, now=lambda: START, embedder="hash:dim=16", workspace=workspace
    ) as other:
        other.observe(message(1, "My cat is Tom.", principal="bo", session="s2"))
        other.end_turn()
        saved = other.save()
    memory = open_it(workspace=workspace)
    talk(memory, 1)
    with dying(memory, monkeypatch, killed):
        memory.load(saved)
    begun = "loading" in state_of(memory.folder)["begun"]
    if begun:
        assert workspace
        with pytest.raises(StateError, match="open it once"):
            open_it(readonly=True)

    again = open_it()

    told = [m.id for _, s in again.conversations for m in s.window]
    kept = [e.key for e in again.entries(None) if e.layer == "episodic"]
    assert (["bo1"] if begun or killed == 6 else ["ana0"]) == told == kept
    talk(again, 1, first=7)
    again.close()
    assert len(kept) + 1 == len([e for e in open_it().entries(None) if e.layer == "episodic"])


def test_what_a_saved_memory_lacks_is_told_by_name(open_it: Open, tmp_path: Path) -> None:
    """It is a memory all the same, and not to be looked into for damage."""
    with open_memory(tmp_path / "other", now=lambda: START, embedder="hash:dim=16") as other:
        other.observe(message(1))
        saved = other.save()
    memory = open_it(options=MemoryOptions(summary=True), workspace=True)

    with pytest.raises(StateError, match="saved without pages"):
        memory.load(saved)
    with pytest.raises(StateError, match="saved without a summary"):
        memory.load({**saved, "workspace": {}})


def test_what_is_forgotten_stands_in_no_file(open_it: Open, folder: Path) -> None:
    """Not in the state either, from the moment that it returns."""
    memory = open_it()
    talk(memory, 5)
    memory.observe(message(9, "My secret is Vinterberg."))

    memory.forget("ana", ["ana3", "ana9"])

    files = [p.read_bytes() for p in folder.iterdir()]
    assert not any(word in data for data in files for word in (b"A-21", b"Vinterberg"))


@pytest.mark.parametrize("killed", ["before the page", "after the page", "never"])
def test_what_was_noted_of_a_forgotten_message_stands_in_no_file(
    open_it: Open, folder: Path, monkeypatch: pytest.MonkeyPatch, killed: str
) -> None:
    """In whatever words, and wherever in its turn the process ended."""
    memory = open_it(workspace=True)
    talk(memory, 1)
    memory.observe(message(3))
    with monkeypatch.context() as ending:
        if killed == "before the page":
            ending.setattr("memsim.memory.layers.pages.Workspace.note", _interrupted)
        with suppress(KeyboardInterrupt):
            memory.note("ana", "likes it spicy")
    if killed == "never":
        memory.end_turn()
        memory.close()
    leave(memory)
    there = [p for p in folder.rglob("*") if p.is_file() and b"spicy" in p.read_bytes()]
    assert bool(there) == (killed != "before the page")
    memory = open_it()
    assert "spicy" not in json.dumps(state_of(folder))
    memory.end_turn()
    assert (killed == "before the page") == (memory.save()["noted"] == {})

    erased = memory.forget("ana", ["ana3"])

    assert len(there[:1]) == erased.beside["workspace"]
    files = [p.read_bytes() for p in folder.rglob("*") if p.is_file()]
    assert not any(word in data for data in files for word in (b"spicy", b"A-21", b'"ana3"'))


@pytest.mark.parametrize("killed", [1, 2, 4, 6])
def test_a_persons_own_line_outlasts_a_note_of_the_same_words(
    open_it: Open, folder: Path, monkeypatch: pytest.MonkeyPatch, killed: int
) -> None:
    """On another page, wherever the process ended that was to forget the note."""
    memory = open_it(workspace=True)
    assert memory.workspace is not None
    memory.workspace.of("ana").write("MEMORY.md", "To do:\n")
    memory.observe(message(3))
    memory.note("ana", "To do:\n- spicy food")
    memory.end_turn()
    with dying(memory, monkeypatch, killed):
        memory.forget("ana", ["ana3"])

    open_it().close()

    pages = {p.name: p.read_text() for p in folder.rglob("*.md")}
    assert pages == {"MEMORY.md": "To do:\n", "2026-01-05.md": "# 2026-01-05\n"}


@pytest.mark.parametrize("named", ["message", "key"])
def test_what_is_forgotten_stands_in_no_copy_of_what_was_damaged(
    open_it: Open, folder: Path, named: str
) -> None:
    """Copies last until something is forgotten; others' files beside them are left alone."""
    memory = open_it()
    talk(memory, 5)
    memory.remember("ana", "code", "The code is A-21, too.")
    memory.close()
    path = folder / "memory.sqlite3"
    data = path.read_bytes()
    for bad in (data.replace(b"A-21", b"A-22"), b"no" + data[2:]):
        path.write_bytes(bad)
        with pytest.raises(StoreError, match="copy is kept"):
            open_it()
        path.write_bytes(data)
    (folder / "letter.damaged-1").write_text("Dear Ana", encoding="utf-8")
    memory = open_it()
    copies = len([*folder.glob("[ms]*.damaged-*")])
    assert {} == memory.forget_key("ana", "nothing").by_tier
    assert copies == len([*folder.glob("[ms]*.damaged-*")]) >= 2

    by_key = named == "key"
    erased = memory.forget_key("ana", "code") if by_key else memory.forget("ana", ["ana3"])

    assert copies == erased.by_tier["damaged copies"]
    assert ["letter.damaged-1"] == [p.name for p in folder.glob("*.damaged-*")]


def test_permissions_are_kept_at_once(open_it: Open) -> None:
    """What was taken back does not come back, whatever happens to the process."""
    memory = open_it()
    grant = ReadGrant(owner="ana", reader="bo")
    memory.observe(message(1, "My name is Bo.", principal="bo", session="s2"))
    memory.remember("ana", "style", "Four spaces.")
    memory.grant(grant)
    leave(memory)
    shared = open_it()
    assert shared.long_term.get("bo", "style") is not None
    shared.revoke(grant)
    leave(shared)

    assert open_it().long_term.get("bo", "style") is None


@pytest.mark.parametrize("damage", [b"", b"{}\n{}\n", b"\xff\xfe", b"no" * 5000])
def test_a_damaged_file_is_an_error_and_stays(open_it: Open, folder: Path, damage: bytes) -> None:
    """Nothing is overwritten, and no empty memory takes its place."""
    memory = open_it()
    talk(memory, 2)
    memory.close()
    (folder / "memory.sqlite3").write_bytes(damage)

    for readonly in (False, True):
        with pytest.raises(StoreError, match=r"memory\.sqlite3 is (damaged|a database)") as refused:
            open_it(readonly=readonly)
        assert "\n" not in str(refused.value)

    assert damage == (folder / "memory.sqlite3").read_bytes()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE parts SET state = replace(state, 'ana1', 'ana2') WHERE name = 'conversations'",
        "UPDATE parts SET state = '' WHERE name = 'permissions'",
        "UPDATE parts SET state = 7 WHERE name = 'backlog'",
        "UPDATE parts SET check_sum = -1 WHERE name = 'ledger'",
        "DELETE FROM parts WHERE name = 'permissions'",
        "DELETE FROM parts WHERE name = 'settings'",
        "DELETE FROM parts",
    ],
)
def test_a_damaged_state_is_an_error(open_it: Open, folder: Path, statement: str) -> None:
    """One line that names the place, whichever part it is; and nothing is written."""
    memory = open_it()
    talk(memory, 2)
    memory.close()
    change(folder, statement)
    before = (folder / "memory.sqlite3").read_bytes()

    for readonly in (False, True):
        with pytest.raises((StateError, StoreError)) as refused:
            open_it(readonly=readonly)
        assert "\n" not in str(refused.value)

    assert before == (folder / "memory.sqlite3").read_bytes()


def test_a_newer_memory_is_refused(open_it: Open, folder: Path) -> None:
    """What is not known here is not guessed at."""
    open_it().close()
    told = check_sum("3", "version")
    change(folder, f"REPLACE INTO parts VALUES ('version', '3', {told})")  # noqa: S608

    with pytest.raises(StateError, match="is of version 3, and this memsim knows 2: upgrade"):
        open_it()


@pytest.mark.parametrize("large", [False, True], ids=["read through", "large"])
def test_a_memory_of_the_version_before_is_brought_up_to_date(
    open_it: Open, folder: Path, monkeypatch: pytest.MonkeyPatch, *, large: bool
) -> None:
    """It answers as before, and goes on; whoever only looks into it is told what to do."""
    if large:
        monkeypatch.setattr(schema, "LARGE", 0)
    memory = open_it()
    talk(memory, 4)
    for n in range(2):
        memory.observe(message(n, principal="ben", session="s2"))
    memory.end_turn()
    memory.close()
    with open_it() as memory:
        expected = [memory.context(QUESTION, principal="ana", session="s1", budget=400)]
        expected += [memory.context(QUESTION, principal="ben", session="s2", budget=400)]
    ordered = "SELECT * FROM said ORDER BY place"
    with closing(sqlite3.connect(folder / "memory.sqlite3")) as connection:
        order = connection.execute(ordered).fetchall()
    told = check_sum("1", "version")
    change(
        folder,
        f"REPLACE INTO parts VALUES ('version', '1', {told})",  # noqa: S608 - a number
        "CREATE TABLE before (place INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL,"
        " check_sum INTEGER NOT NULL)",
        "INSERT INTO before SELECT place, entry, check_sum FROM said",
        "DROP TABLE said",
        "ALTER TABLE before RENAME TO said",
        "CREATE INDEX said_by_entry ON said (entry, check_sum)",
    )
    with pytest.raises(StateError, match="knows 2: open it once to bring it up to date"):
        open_it(readonly=True)

    with open_it() as memory:
        found = [memory.context(QUESTION, principal="ana", session="s1", budget=400)]
        found += [memory.context(QUESTION, principal="ben", session="s2", budget=400)]
        with closing(sqlite3.connect(folder / "memory.sqlite3")) as connection:
            assert order == connection.execute(ordered).fetchall()
        talk(memory, 1, first=4)

    assert expected == found
    assert "A-28" in str([*open_it(readonly=True).entries("ana")])


@pytest.mark.parametrize("left", ["workspace", "memory.sqlite3-wal"])
def test_half_a_memory_is_an_error(open_it: Open, folder: Path, left: str) -> None:
    """What is missing is named; the other half is left alone."""
    memory = open_it(workspace=left == "workspace")
    talk(memory, 2)
    memory.note("ana", "Four spaces.")
    memory.close()
    (folder / "memory.sqlite3").unlink()
    (folder / "memory.sqlite3-wal").write_bytes(b"" if left == "workspace" else b"log")
    if left == "workspace":
        (folder / "memory.sqlite3-wal").unlink()
    names = sorted(p.name for p in folder.iterdir())

    for _ in range(2):
        with pytest.raises(StateError, match=rf"memory\.sqlite3: is missing, and {left} is not"):
            open_it()
    assert names == sorted(p.name for p in folder.iterdir())


def test_a_store_that_is_no_memory_is_refused(open_it: Open, folder: Path, tmp_path: Path) -> None:
    """A file of entries alone is not begun as a new memory."""
    with open_memory(tmp_path / "other", now=lambda: START, embedder="hash:dim=16") as other:
        talk(other, 1)
        entries = [*other.entries(None)]
    with closing(SQLite(folder / "memory.sqlite3")) as store:
        store.write(entries)

    for readonly in (False, True):
        with pytest.raises(StateError, match="is the file of a store, and of no memory"):
            open_it(readonly=readonly)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM said WHERE place = 3",
        "DELETE FROM said WHERE place = 1",
        "UPDATE said SET entry = replace(entry, 'a', 'b')",
        "UPDATE said SET place = 4 - place WHERE place <> 2",
    ],
    ids=["cut", "a hole", "a bit", "another order"],
)
def test_a_damaged_order_is_an_error(
    open_it: Open, folder: Path, statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was said first is not shuffled in silence."""
    memory = open_it()
    talk(memory, 3)
    memory.close()
    if "4 - place" in statement:
        change(folder, "UPDATE said SET place = -place", "UPDATE said SET place = 4 + place")
    else:
        change(folder, statement)

    with pytest.raises(StoreError, match=r"is damaged: .* of the order|the order ends"):
        open_it()

    # A large file is not read through: it is seen when the messages are asked for.
    monkeypatch.setattr(schema, "LARGE", 0)
    with pytest.raises(StoreError, match=r"is damaged: .* of the order"):
        open_it().context(QUESTION, principal="ana", session="s1", budget=400)


def test_a_long_order_is_written_anew(
    open_it: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once most entries in it are gone."""
    monkeypatch.setattr("memsim.memory.persistence.memory_file._SPARE", 2)
    with open_it() as memory:
        talk(memory, 6)
        memory.forget("ana", [f"ana{n}" for n in range(5)])
    with open_it() as memory:
        talk(memory, 1, first=6)

    with closing(sqlite3.connect(folder / "memory.sqlite3")) as connection:
        assert [(1,), (2,)] == connection.execute("SELECT place FROM said").fetchall()
    assert ["ana5", "ana6"] == [m.id for m in open_it().conversations.get("s1").window]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET line = replace(line, 'allowed', 'missing') WHERE number = 2",
        "DELETE FROM audit WHERE number = 3",
        "DELETE FROM audit WHERE number = 2",
        "DELETE FROM audit",
        "UPDATE audit SET line = 'x'",
    ],
)
def test_a_changed_audit_trail_is_an_error(open_it: Open, folder: Path, statement: str) -> None:
    """So is one that was cut: the file knows where it ended."""
    memory = open_it()
    for key in ("one", "two"):
        memory.record_audit("memory_get", principal="ana", outcome="allowed", key=key)
    memory.close()
    change(folder, statement)

    for readonly in (False, True):
        with pytest.raises(StateError, match=r"memory\.sqlite3: .*audit.*a copy is kept as"):
            open_it(readonly=readonly)


def test_what_was_looked_at_stays_on_record(open_it: Open, folder: Path) -> None:
    """Whoever only reads notes that they did, whoever writes meanwhile; it cannot be cut off."""
    memory = open_it()
    seen = open_it(readonly=True)
    seen.record_audit("memory_export", principal="", outcome="allowed")
    talk(memory, 1)
    memory.record_audit("memory_get", principal="ana", outcome="allowed")
    seen.record_audit("memory_export", principal="", outcome="allowed")
    with pytest.raises(StoreError, match="reading only"):
        seen.keep()
    seen.close()
    memory.close()
    with pytest.raises(StoreError, match="it is closed"):
        seen.record_audit("memory_export", principal="", outcome="allowed")
    again = open_it(readonly=True)
    assert [1, 2, 3] == [r.number for r in again.audit.records()]
    again.close()
    change(folder, "DELETE FROM audit WHERE number = 4")

    for readonly in (True, False):
        with pytest.raises(StateError, match="the trail was cut off"):
            open_it(readonly=readonly)


def test_a_folder_of_others_is_refused(open_it: Open, folder: Path) -> None:
    """Nothing is written into a folder that holds something else."""
    folder.mkdir()
    (folder / "letter.txt").write_text("Dear Ana", encoding="utf-8")

    with pytest.raises(StateError, match=r"is no memory: it holds no memory\.sqlite3"):
        open_it()

    assert ["letter.txt"] == [p.name for p in folder.iterdir()]


def test_looking_into_nothing_makes_nothing(open_it: Open, folder: Path) -> None:
    """A path that was mistyped is told as that."""
    with pytest.raises(StateError, match="there is no memory"):
        open_it(readonly=True)

    assert not folder.exists()


def test_looking_into_an_older_one_says_to_open_it(open_it: Open, folder: Path) -> None:
    """A look does not bring its entries up to date: another memsim may have them open."""
    open_it().close()
    change(folder, "UPDATE status SET analysis = 'otherwise'")

    with pytest.raises(SchemaError, match="open it once to bring it up to date"):
        open_it(readonly=True)

    open_it().close()
    open_it(readonly=True)


def test_a_second_process_is_refused_in_one_line(open_it: Open, folder: Path) -> None:
    """It waits as long as it is told to, names who has it, and may look into it meanwhile."""
    process = talking(folder, 2)
    assert process.stdout is not None
    assert ["open\n", "0\n", "1\n"] == [process.stdout.readline() for _ in range(3)]

    with pytest.raises(StoreError) as refused:
        open_it()
    seen = open_it(readonly=True)

    assert str(refused.value) == f"{folder / 'memory'}: is in use by process {process.pid}"
    assert {"m0", "r0", "m1", "r1"} <= {e.key for e in seen.entries("ana")}
    process.communicate("")
    talk(open_it(wait=10), 1)


def test_looking_in_changes_nothing(open_it: Open, folder: Path) -> None:
    """Whatever would change it is an error, nothing is taken in, and all reading works."""
    memory = open_it(options=MemoryOptions(mode="both", once=True))
    memory.working.put(Conversation("ana", "s1"), {"scratchpad": "tea"}, START)
    talk(memory, 2)
    memory.close()
    before = {p: p.read_bytes() for p in folder.rglob("*.md")}, rows(folder)
    seen = open_it(readonly=True)
    of, grant = Conversation("ana", "s1"), ReadGrant(owner="ana", reader="bo")
    assert seen.workspace is not None
    page = seen.workspace.of("ana")

    for change in (
        lambda: seen.observe(message(7)),
        lambda: seen.remember("ana", "style", "Four spaces."),
        lambda: seen.note("ana", "Four spaces."),
        lambda: page.write("USER.md", "Four spaces."),
        lambda: seen.forget("ana", ["ana0"]),
        lambda: seen.forget_key("ana", "none"),
        lambda: seen.share("ana", "bo", ["ana0"]),
        lambda: seen.grant(grant),
        lambda: seen.revoke(grant),
        lambda: seen.working.put(of, {"a": 1}, START),
        lambda: seen.working.remove(of, None, START),
        lambda: seen.elapse(START),
        seen.keep,
    ):
        with pytest.raises(StoreError, match="opened for reading only"):
            change()
    tools = seen.tools("ana", "s1")
    context = seen.context("order number", principal="ana", session="s1", budget=500)
    seen.delivered(context, principal="ana", session="s1")
    seen.end_turn()

    assert {spec.name for spec in tools.specs()} == READING - {"memory_recall", "memory_reload"}
    assert "no tool" in tools.call("scratchpad_write", '{"text": "coffee"}')
    assert "tea" == tools.call("scratchpad_read", "{}")
    assert seen.search(QUESTION, principal="ana")
    assert "A-7." in context.text()
    seen.close()
    assert before == ({p: p.read_bytes() for p in folder.rglob("*.md")}, rows(folder))
    with pytest.raises(StoreError, match="it is closed"):
        memory.observe(message(8))


def test_what_nobody_embedded_yet_is_found_by_its_words_when_looked_into(open_it: Open) -> None:
    """Vectors cannot be made where nothing can be written."""
    memory = open_it()
    assert [] == open_it(readonly=True).search("order", principal="ana")
    talk(memory, 1)
    memory.close()

    seen = open_it(readonly=True, embedder="hash:dim=32")

    assert "A-0" in seen.search("order", principal="ana")[0].entry.text


def test_it_is_opened_as_it_was_saved(open_it: Open) -> None:
    """Every option: what was off stays off, and sizes and days are the same."""
    options = MemoryOptions(
        window=9,
        window_share=0.2,
        facts=False,
        episodes=False,
        recall=False,
        vectors=False,
        policy=RecallPolicy(vector=0.5, half_life=timedelta(days=90, microseconds=1), limit=7),
        hygiene=RetentionPolicy(
            retention={"daily": 2, "work": None},
            erased=frozenset({"daily", "work"}),
            purged={"work": timedelta(hours=36)},
        ),
    )
    open_it(options=options).close()

    assert options == open_it(embedder=None, tokenizer=None).options


@pytest.mark.parametrize("failing", [False, True])
def test_access_control_that_is_turned_on_takes_nothing_from_who_took_part(
    open_it: Open, monkeypatch: pytest.MonkeyPatch, failing: bool
) -> None:
    """They read what was said before, in the end even where the store failed; others do not."""
    with open_it(options=MemoryOptions(acl=False)) as memory:
        memory.observe(message(1))
        memory.observe(message(2, "I bring the kettle.", principal="bo"))
        memory.observe(message(3, principal="cy", session="s2"))
    if failing:
        with monkeypatch.context() as patch:
            patch.setattr(SQLite, "write", _failing)
            leave(open_it(options=MemoryOptions(acl=True)))

    again = open_it(options=MemoryOptions(acl=True))
    if failing:
        again.end_turn()

    for who, seen in (("bo", {"ana1"}), ("cy", {"cy3"}), ("dora", set())):
        assert seen == {f.entry.key for f in again.search("order number", principal=who, k=1)}


@pytest.mark.parametrize("readonly", [False, True])
def test_what_an_older_version_opened_to_others_is_closed(open_it: Open, readonly: bool) -> None:
    """Facts and episodes are not shown from when it is opened on, unless they are granted."""
    memory = open_it()
    talk(memory, 1)
    memory.observe(message(9, "Elsewhere.", session="s2"))
    memory.observe(message(1, "Hello.", principal="bo"))
    memory.end_turn()
    memory.remember("ana", "tea", "Green.")
    every = [e for e in memory.entries(None) if e.owner == "ana" and e.session != "s2"]
    memory.vault.put([e.shared_with("bo") for e in every])
    memory.close()

    again = open_it(readonly=readonly)

    def shown() -> set[tuple[str, str]]:
        return {(e.layer, e.category) for e in again.entries("bo") if e.owner == "ana"}

    said, stored = ("episodic", "conversation"), ("long_term", "core")
    assert {said, stored} == shown()
    again.permissions.grant(ReadGrant(owner="ana", reader="bo"))
    assert {said, stored, ("semantic", "conversation"), ("episodic", "daily")} == shown()


@pytest.mark.parametrize("readonly", [False, True])
def test_access_control_stays_on(open_it: Open, readonly: bool) -> None:
    """It falls away neither because nobody asked for it nor because somebody did."""
    open_it().close()

    with pytest.raises(StateError, match="saved with access control, and is opened without"):
        open_it(options=MemoryOptions(acl=False), readonly=readonly)
    with pytest.raises(StateError, match="saved with no summary, and is opened otherwise"):
        open_it(options=MemoryOptions(summary=True), readonly=readonly)

    assert open_it().options.acl


@pytest.mark.parametrize("given", [{"options": MemoryOptions(mode="both")}, {"workspace": True}])
def test_pages_are_there_again(open_it: Open, folder: Path, given: dict[str, Any]) -> None:
    """Once it had some, it has, whatever it is told; only looked into, it does not index them."""
    memory = open_it(**given)
    memory.note("ana", "The kettle is A-1.")
    memory.close()
    (page,) = folder.rglob("2026-01-05.md")
    page.write_text("The kettle is A-7741.", encoding="utf-8")

    looked = open_it(readonly=True)
    assert looked.workspace is not None
    assert "A-1" in looked.search("kettle", principal="ana")[0].entry.text
    looked.close()
    with open_it() as again:
        (found,) = again.search("kettle", principal="ana")
        assert "The kettle is A-7741." == found.entry.text
        again.observe(message(1, "The kettle is A-7741."))
        again.end_turn()
        again.forget("ana", ["ana1"])
    assert "" == page.read_text(encoding="utf-8")


def test_another_embedder_embeds_anew(open_it: Open) -> None:
    """Vectors of two embedders are never compared."""
    memory = open_it()
    talk(memory, 3)
    memory.close()
    again = open_it(embedder="hash:dim=32")

    assert again.search("order", principal="ana")
    held = again.vault.store.embedded
    assert held is not None
    assert held.dimension == 32


def test_an_unknown_embedder_is_refused_before_anything_is_made(
    open_it: Open, folder: Path
) -> None:
    """The name is looked at when it is given, not when it is first needed."""
    with pytest.raises(RefError):
        open_it(embedder="wordlama")

    assert not (folder / "memory.sqlite3").exists()


def test_what_cannot_be_encoded_is_refused_at_once(open_it: Open) -> None:
    """Half an emoji does not keep everything after it from being saved."""
    memory = open_it()

    for bad in (
        lambda: memory.observe(message(0, "\ud800")),
        lambda: memory.forget("ana", ["m1\ud800"]),
        lambda: memory.forget("\ud800", ["m1"]),
        lambda: memory.grant(ReadGrant(owner="ana", reader="\ud800")),
        lambda: memory.share("ana", "\ud800", ["m1"]),
    ):
        with pytest.raises(ValueError, match="cannot be encoded"):
            bad()

    talk(memory, 1)
    memory.close()
    assert ["ana0"] == [e.key for e in open_it().entries("ana") if e.layer == "episodic"]


def test_a_failing_model_loses_nothing(open_it: Open) -> None:
    """What was said is kept before the model is asked."""
    memory = open_it(model=_Failing())
    memory.observe(message(0))
    with pytest.raises(ModelError):
        memory.end_turn()
    leave(memory)

    again = open_it()

    assert ["ana0"] == [e.key for e in again.entries("ana") if e.layer == "episodic"]


def test_closing_twice_does_nothing(open_it: Open) -> None:
    """Neither does leaving the block that closed it."""
    with open_it() as memory:
        memory.close()
    memory.close()


def test_the_names_are_imported_when_they_are_asked_for() -> None:
    """A strategy that imports a part does not load a whole memory."""
    source = (
        "import sys, memsim.memory\n"
        "assert 'memsim.memory.memory' not in sys.modules and 'numpy' not in sys.modules\n"
        "from memsim.memory import Memory, MemoryOptions, SavedMemory, open_memory\n"
        "assert 'wordllama' not in sys.modules and 'memsim.strategy' not in sys.modules\n"
        "assert set(memsim.memory.__all__) <= set(dir(memsim.memory))\n"
    )
    stub = "import sys, types; m = types.ModuleType('memsim'); m.__path__ = [sys.argv[1]]\n"
    source = stub + "sys.modules['memsim'] = m\n" + source

    subprocess.run([sys.executable, "-c", source, str(ROOT / "memsim")], check=True)


class _Failing:
    """A model that is not there."""

    name = "failing"

    def complete(self, request: Request) -> Reply:
        raise ModelError("it is not there")


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def _failing(*_: object, **__: object) -> None:
    raise StoreError("no room")


def test_an_open_memory_holds_no_parsed_state(open_it: Open) -> None:
    """A full garbage collection would look at each message of the state, and nobody asks for it."""
    memory = open_it()
    memory.observe(said("user", "The heron is at the weir.", id="weir-1", principal="ana"))
    memory.end_turn()
    memory.close()
    again = open_it()

    gc.collect()
    held = [o for o in gc.get_objects() if type(o) is dict and o.get("id") == "weir-1"]
    assert [] == held
    shown = again.context("Heron?", principal="ana", session="s1", budget=500)
    assert "weir-1" in {*shown.verbatim, *shown.derived}
