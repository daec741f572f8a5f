"""A memory in a folder: it goes on where it ended, however it ended."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest

from memsim.errors import ModelError, RefError, SchemaError, StateError, StoreError
from memsim.memory import MemoryOptions, SavedMemory, open_memory
from memsim.memory.entry import Conversation
from memsim.memory.options import RecallPolicy, RetentionPolicy, ToolMode
from memsim.memory.permissions import ReadGrant
from memsim.memory.persistence.memory_folder import FORMAT
from memsim.memory.persistence.snapshot import Snapshot
from memsim.memory.stores.sqlite.store import SQLite
from memsim.memory.tools import READING
from memsim.message import Message, said
from memsim.models import Reply, Request

ROOT = Path(__file__).resolve().parents[2]
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
    memory._home.close()


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
        dead.setattr(memory._home, "write", mortal(memory._home.write))
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
        held.append((folder / "state.json").read_bytes())
        write(*given)

    monkeypatch.setattr(memory.vault.store, "write", looking)
    memory.end_turn()

    assert b"A-21" in held[0]


def test_what_was_to_be_forgotten_is_forgotten_on_opening(
    open_it: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forgetting that had begun is finished, in the state as well."""
    memory = open_it()
    talk(memory, 5)
    with monkeypatch.context() as failing:
        failing.setattr(memory.vault.store, "erase", _failing)
        with pytest.raises(StoreError, match="no room"):
            memory.forget("ana", ["ana3"])
    leave(memory)
    assert b"A-21" in (folder / "memory.sqlite3").read_bytes()

    open_it().close()

    assert [p.name for p in folder.iterdir() if b"A-21" in p.read_bytes()] == []


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
    state = Snapshot(folder / "state.json", FORMAT).load()
    assert ({"ana": {"bo": []}}, {}) == (state["permissions"]["shared"], state["noted"])


@pytest.mark.parametrize("killed", range(8))
def test_a_load_that_is_killed_is_finished_on_opening_or_had_not_begun(
    open_it: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: int
) -> None:
    """Nobody is shown the entries of one memory beside the conversations of another."""
    with open_memory(tmp_path / "other", now=lambda: START, embedder="hash:dim=16") as other:
        other.observe(message(1, "My cat is Tom.", principal="bo", session="s2"))
        other.end_turn()
        saved = other.save()
    memory = open_it()
    talk(memory, 1)
    with dying(memory, monkeypatch, killed):
        memory.load(saved)
    if 1 <= killed < 7:
        with pytest.raises(StateError, match="open it once"):
            open_it(readonly=True)

    again = open_it()

    told = [m.id for _, s in again.conversations for m in s.window]
    kept = [e.key for e in again.entries(None) if e.layer == "episodic"]
    assert (["bo1"] if killed else ["ana0"]) == told == kept
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
    assert b"spicy" not in (folder / "state.json").read_bytes()
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
    sound = {name: (folder / name).read_bytes() for name in ("state.json", "memory.sqlite3")}
    for name, data in sound.items():
        (folder / name).write_bytes(data.replace(b"A-21", b"A-21\0").replace(b"mems", b"no"))
        with pytest.raises((StateError, StoreError), match="copy is kept"):
            open_it()
        (folder / name).write_bytes(data)
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


@pytest.mark.parametrize("damage", [b"", b"{}\n{}\n", b"\xff\xfe"])
def test_a_damaged_state_is_an_error_and_stays(open_it: Open, folder: Path, damage: bytes) -> None:
    """A copy is kept, nothing is overwritten, and no empty memory takes its place."""
    memory = open_it()
    talk(memory, 2)
    memory.close()
    (folder / "state.json").write_bytes(damage)

    with pytest.raises(StateError, match=r"state\.json: is damaged; a copy is kept as") as refused:
        open_it()

    assert "\n" not in str(refused.value)
    assert damage == (folder / "state.json").read_bytes()
    (copy,) = folder.glob("state.json.damaged-*")
    assert damage == copy.read_bytes()


@pytest.mark.parametrize("gone", ["state.json", "memory.sqlite3", "order.txt"])
def test_half_a_memory_is_an_error(open_it: Open, folder: Path, gone: str) -> None:
    """What is missing is named; the other half is left alone."""
    memory = open_it()
    talk(memory, 2)
    memory.close()
    (folder / gone).unlink()
    left = sorted(p.name for p in folder.iterdir())

    for _ in range(2):
        with pytest.raises((StateError, StoreError), match=f"{gone}: is missing") as refused:
            open_it()
        assert "restore it" in str(refused.value)
    assert left == sorted(p.name for p in folder.iterdir())


def test_entries_that_are_not_of_the_state_are_an_error(
    open_it: Open, folder: Path, tmp_path: Path
) -> None:
    """A log that was lost, or another memory's file, is neither an empty nor a foreign memory."""
    entries, log = folder / "memory.sqlite3", folder / "memory.sqlite3-wal"
    with open_memory(tmp_path / "other", now=lambda: START, embedder="hash:dim=16") as other:
        talk(other, 9)
    memory = open_it()
    talk(memory, 2)
    without = entries.read_bytes()
    assert log.exists()
    leave(memory)
    whole = entries.read_bytes()

    entries.write_bytes(without)
    with pytest.raises(StoreError, match=r"memory\.sqlite3: is older than state\.json"):
        open_it()
    entries.write_bytes((tmp_path / "other" / "memory.sqlite3").read_bytes())
    with pytest.raises(StoreError, match=r"memory\.sqlite3: belongs to another memory"):
        open_it(readonly=True)
    entries.write_bytes(whole)

    assert ["ana0", "ana1"] == [e.key for e in open_it().entries("ana") if e.layer == "episodic"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda order: order[:-33],
        lambda order: bytes(len(order)),
        lambda order: bytes([order[0] ^ 1]) + order[1:],
        lambda order: order[33:66] + order[:33] + order[66:],
    ],
    ids=["cut", "zeroes", "a bit", "another order"],
)
def test_a_damaged_order_is_an_error(
    open_it: Open, folder: Path, damage: Callable[[bytes], bytes]
) -> None:
    """What was said first is not shuffled in silence; lines of a killed process are welcome."""
    memory = open_it()
    talk(memory, 3)
    memory.close()
    order = (folder / "order.txt").read_bytes()
    (folder / "order.txt").write_bytes(damage(order))

    with pytest.raises(StateError, match=r"order\.txt: is damaged: restore it; a copy is kept"):
        open_it()

    (folder / "order.txt").write_bytes(order + b"0" * 32 + b"\n" + b"torn")
    talk(open_it(), 1, first=3)


@pytest.mark.parametrize("written", [False, True])
def test_an_order_that_was_being_written_anew_is_no_damage(
    open_it: Open, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    """Whichever of the two a kill leaves."""
    memory = open_it()
    talk(memory, 3)

    def failing(path: Path, data: bytes) -> None:
        if written:
            path.write_bytes(data)
        raise OSError("no room")

    with monkeypatch.context() as patched:
        patched.setattr("memsim.memory.append_log.write_whole", failing)
        with pytest.raises(StoreError, match=r"order\.txt: cannot be written"):
            memory.load(memory.save())
    leave(memory)

    talk(open_it(), 1, first=3)


def test_a_folder_of_before_is_opened(open_it: Open, folder: Path) -> None:
    """States without what they hold by now are gone on with, and hold it from then on."""
    memory = open_it(workspace=True)
    talk(memory, 2)
    memory.close()
    state = Snapshot(folder / "state.json", FORMAT)
    now = state.load()
    old = {"workspace", "embedder", "tokenizer", "acl", "vectors", "summary", "mode"}
    kept = {name: value for name, value in now["kept"].items() if name in old}
    before = {name: value for name, value in now.items() if name not in {"store", "order", "noted"}}
    del before["backlog"]["unnamed"]
    audit = {name: value for name, value in now["audit"].items() if name != "apart"}
    state.save({**before, "kept": kept, "audit": audit})
    (folder / "audit.head").unlink()
    with sqlite3.connect(folder / "memory.sqlite3") as connection:
        connection.execute("DROP TABLE memory")
    connection.close()

    open_it(readonly=True)
    talk(open_it(), 1, first=2)

    assert now.keys() == state.load().keys()
    assert all(now[name] == state.load()[name] for name in ("kept", "audit"))


def test_a_changed_audit_trail_is_an_error(open_it: Open, folder: Path) -> None:
    """So is one that was cut: the state knows where it ended."""
    memory = open_it()
    for key in ("one", "two"):
        memory.record_audit("memory_get", principal="ana", outcome="allowed", key=key)
    memory.close()
    trail = (folder / "audit.jsonl").read_bytes()
    for damaged in (trail.replace(b"allowed", b"missing", 1), trail[: trail.rindex(b"{")], b"x\n"):
        (folder / "audit.jsonl").write_bytes(damaged)
        with pytest.raises(StateError, match=r"audit\.jsonl: .*a copy is kept as audit"):
            open_it()


@pytest.mark.parametrize("gone", ["audit.jsonl", "audit.head"])
def test_what_was_looked_at_stays_on_record(open_it: Open, folder: Path, gone: str) -> None:
    """A look that changed nothing else cannot be cut off the trail either."""
    open_it().close()
    seen = open_it(readonly=True)
    seen.record_audit("memory_export", principal="", outcome="allowed")
    seen.close()
    open_it(readonly=True).close()

    (folder / gone).unlink()

    for readonly in (True, False):
        with pytest.raises(StateError, match=r"audit\.(jsonl|head): .*(was cut off|is missing)"):
            open_it(readonly=readonly)


def test_a_folder_of_others_is_refused(open_it: Open, folder: Path) -> None:
    """Nothing is written into a folder that holds something else."""
    folder.mkdir()
    (folder / "letter.txt").write_text("Dear Ana", encoding="utf-8")

    with pytest.raises(StateError, match=r"is no memory: it holds no state\.json"):
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
    with sqlite3.connect(folder / "memory.sqlite3") as connection:
        connection.execute("PRAGMA user_version = 1")
        connection.execute("ALTER TABLE status DROP COLUMN indexed")
        connection.execute("ALTER TABLE status RENAME TO state")
    connection.close()

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
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.suffix in {".json", ".txt", ".md"}}
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
    assert before == {p: p.read_bytes() for p in before}
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

    assert not (folder / "state.json").exists()


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
