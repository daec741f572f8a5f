"""Does a store whose process is killed hold what was promised, nothing more and nothing less?

A child process writes to a store, one call after another, and notes in a pipe what it is about to
do and what was done. It is killed (SIGKILL) at random points, a thousand times for each store that
keeps files. The store is then opened again and compared with the notes: every call that had
returned must be there, and the one that had not must be there wholly or not at all. Claimed: no
store that cannot be opened, no third state, no temporary file left behind. Looking is done in a
process of its own too: Chroma's threads do not outlive a fork.

`memory` is a saved memory: turns end and messages are forgotten, conversations, order, words and
entries have to agree, and what was forgotten must stand in no file.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from memsim.memory import MemoryOptions, SavedMemory, open_memory
from memsim.memory.entry import Entry
from memsim.memory.permissions import Where
from memsim.memory.stores import Store
from memsim.memory.stores.chroma import ChromaEntries
from memsim.memory.stores.markdown.store import Markdown
from memsim.memory.stores.sqlite.store import SQLite
from memsim.message import EPOCH, said

KILLS = 1000
QUICK = 12
LONGEST = 0.06
"""Seconds for which a child lives at most."""

WRITING = 0.8
"""Share of the children whose time runs from when they have opened the store."""

FRESH = 100
"""Kills after which a store is begun anew, so that it does not grow without end."""

ALL = Where(reader=None, archived=None)
State = dict[str, str]

STORES: dict[str, Callable[[Path], Store]] = {
    "sqlite": lambda folder: SQLite(folder / "memory.db"),
    "markdown": lambda folder: Markdown(folder / "memory", synced=False),
    "chroma": lambda folder: ChromaEntries(folder / "chroma", written_at=3),
}
MEMORY = "memory"
SLOW = {"chroma": 0.4, MEMORY: 0.3}
"""Seconds for which a child of these lives at most: it takes longer to open."""


@dataclass
class Tally:
    """What was found after the kills."""

    kills: int = 0
    calls: int = 0
    unfinished: int = 0
    unreadable: int = 0
    third: int = 0
    left: int = 0
    errors: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Whether all was as promised."""
        return not (self.unreadable or self.third or self.left)


def made(key: int, value: int) -> Entry:
    """An entry of one of few keys; archived now and then, so that it moves."""
    return Entry(
        key=f"k{key}",
        text=f"falcon {value} " + "word " * (value % 40),
        owner="ann",
        created=EPOCH + timedelta(minutes=key),
        archived=value % 5 == 0,
    )


def calls(seed: int) -> Iterator[tuple[list[Entry], list[str]]]:
    """What is written, and what is erased, call by call."""
    chance = random.Random(seed)
    for _ in count():
        if chance.random() < 0.12:
            yield [], [made(chance.randrange(40), 0).id for _ in range(chance.randrange(1, 4))]
        else:
            several = 1 if chance.random() < 0.5 else chance.randrange(2, 12)
            value = chance.randrange(10**9)
            yield [made(chance.randrange(40), value + n) for n in range(several)], []


def applied(state: State, written: list[Entry], erased: list[str]) -> State:
    """The state after a call."""
    after = {source: text for source, text in state.items() if source not in erased}
    return after | {e.id: e.text for e in written}


def talk(state: State, seed: int) -> Iterator[tuple[str, list[str]]]:
    """What is said, and what is forgotten, call by call."""
    chance, known = random.Random(seed), [*state]
    for n in count():
        if known and chance.random() < 0.15:
            gone = chance.sample(known, min(len(known), chance.randrange(1, 3)))
            known = [name for name in known if name not in gone]
            yield "", gone
        else:
            known.append(f"m{seed}x{n}")
            yield known[-1], []


def open_saved(folder: Path) -> SavedMemory:
    """The memory in a folder, small."""
    return open_memory(
        folder,
        now=lambda: EPOCH,
        embedder="hash:dim=16",
        tokenizer="chars/4",
        options=MemoryOptions(summary=True, window=6),
        budget=400,
        wait=30,
    )


def words_of(name: str) -> str:
    """The text of a message."""
    return f"My falcon {name}-word is number {len(name)} of the flock."


def converse(folder: Path, seed: int, pipe: int, state: State) -> None:
    """A child's life with a saved memory."""
    memory = open_saved(folder)
    os.write(pipe, b".")
    for name, gone in talk(state, seed):
        if gone:
            memory.forget("ann", gone)
        else:
            told = {"principal": "ann", "session": "s", "time": EPOCH}
            memory.observe(said("user", words_of(name), id=name, **told))  # type: ignore[arg-type]
            memory.end_turn()
        os.write(pipe, b".")


def look_at_memory(folder: Path, before: State) -> dict[str, Any]:
    """What a memory holds once it is opened, in the order in which it was said."""
    with open_saved(folder) as memory:
        memory.end_turn()
        entries = {e.id: e.key for e in memory.entries(None) if e.layer == "episodic"}
        found = [entries[i] for i in memory._timeline.order() if i in entries]  # noqa: SLF001
        where = memory.vault.where("ann", layers=("episodic",))
        by_words = [entries[h.id] for h in memory.vault.lexical("falcon", where, 10_000)]
        by_vectors = [entries[h.id] for h in memory.vault.nearest("falcon", where, 10_000)]
        window = [m.id for _, s in memory.conversations for m in s.window]
    data = b"".join(p.read_bytes() for p in folder.iterdir())
    gone = [name for name in before if name not in found]
    return {
        "found": dict.fromkeys(found, ""),
        "by_words": by_words,
        "by_vectors": by_vectors,
        "left": sum(f"{name}-word".encode() in data for name in gone),
        # What has left the window does not come back when all that followed it is forgotten.
        "window": window == found[len(found) - len(window) :],
    }


def live(open_store: Callable[[Path], Store], folder: Path, seed: int, pipe: int) -> None:
    """A child's life: open, then call after call, each noted when it is done."""
    store = open_store(folder)
    os.write(pipe, b".")
    for written, erased in calls(seed):
        if written:
            vectors = np.eye(8, dtype=np.float32)[[len(e.text) % 8 for e in written]]
            store.write(written, vectors)
        else:
            store.erase(erased)
        os.write(pipe, b".")


def kill_once(name: str, folder: Path, seed: int, state: State, tally: Tally) -> State:
    """Start a child, kill it, and look at what it left: the state from here on."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            os.close(reading)
            if name == MEMORY:
                converse(folder, seed, writing, state)
            else:
                live(STORES[name], folder, seed, writing)
        os._exit(1)
    os.close(writing)
    chance = random.Random(seed)
    opened = os.read(reading, 1) if chance.random() < WRITING else b""
    time.sleep(chance.random() * SLOW.get(name, LONGEST))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        tally.errors.append("the child ended by itself")
        tally.unreadable += 1
    with os.fdopen(reading, "rb") as notes:
        done = len(opened + notes.read())
    tally.kills += 1
    tally.calls += max(done - 1, 0)
    if name == MEMORY:
        look: Callable[[], dict[str, Any]] = partial(look_at_memory, folder, state)
        return _compare(look, _expected_talk(state, seed, done), tally, ordered=True)
    return _compare(partial(_look, STORES[name], folder), _expected(state, seed, done), tally)


def _expected_talk(state: State, seed: int, done: int) -> list[State]:
    """As `_expected`, of messages in order."""
    states = [state]
    following = talk(state, seed)
    for _ in range(done):
        name, gone = next(following)
        after = {n: "" for n in states[-1] if n not in gone} | ({name: ""} if name else {})
        states.append(after)
    return states[-2:]


def _expected(state: State, seed: int, done: int) -> list[State]:
    """The state after the calls that returned, and the one after the call that had not."""
    if not done:
        return [state]
    following = calls(seed)
    for _ in range(done - 1):
        state = applied(state, *next(following))
    return [state, applied(state, *next(following))]


def _compare(
    look: Callable[[], dict[str, Any]],
    expected: list[State],
    tally: Tally,
    *,
    ordered: bool = False,
) -> State:
    looked = _looked_at(look)
    if "error" in looked:
        tally.unreadable += 1
        tally.errors.append(looked["error"])
        return expected[-1]
    found: State = looked["found"]
    by_words, by_vectors = looked["by_words"], looked["by_vectors"]
    whole = found.keys() == set(by_words) == set(by_vectors) and looked.get("window", True)
    if ordered:
        whole = whole and [*found] in [[*state] for state in expected]
    if found not in expected or not whole:
        tally.third += 1
        window = looked.get("window", True)
        tally.errors.append(
            f"{len(found)} entries, not {' or '.join(str(len(state)) for state in expected)};"
            f" {len(by_words)} words, {len(by_vectors)} near, window {window}"
        )
    tally.left += looked["left"]
    tally.unfinished += found == expected[-1] != expected[0]
    return found


def _looked_at(look: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            looked = look()
        except BaseException as error:  # noqa: BLE001 - whatever it is, the store is unreadable
            looked = {"error": f"{type(error).__name__}: {error}"}
        with os.fdopen(writing, "w") as told:
            json.dump(looked, told)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        text = told.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"error": "the process that looked at it died"}


def _look(open_store: Callable[[Path], Store], folder: Path) -> dict[str, Any]:
    store = open_store(folder)
    looked = {
        "found": {e.id: e.text for e in store.find(ALL, limit=10_000)},
        "by_words": [h.id for h in store.lexical("falcon", ALL, 10_000)],
        "by_vectors": [h.id for h in store.nearest(np.eye(8, dtype=np.float32)[0], ALL, 10_000)],
    }
    left = [p for p in folder.rglob("*") if ".new-" in p.name or p.name == "journal.json"]
    store.close()
    return {**looked, "left": len(left)}


def torture(name: str, kills: int, folder: Path, seed: int = 0) -> Tally:
    """Kill a store's writers so many times."""
    tally = Tally()
    state: State = {}
    for n in range(kills):
        if n % FRESH == 0:
            state, home = {}, folder / f"{name}{n}"
            home.mkdir(parents=True)
        state = kill_once(name, home, seed + n, state, tally)
    return tally


def main() -> int:
    """Torture each store and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} kills and not {KILLS}")
    parser.add_argument("--only", choices=(*STORES, MEMORY), action="append")
    options = parser.parse_args()
    kills = QUICK if options.quick else KILLS
    importlib.import_module("chromadb")  # once, here: every child has it
    print("store     kills  calls  unreadable  third states  left behind  done though not noted")
    clean = True
    for name in options.only or (*STORES, MEMORY):
        with tempfile.TemporaryDirectory() as folder:
            tally = torture(name, kills, Path(folder))
        print(
            f"{name:8} {tally.kills:6} {tally.calls:6} {tally.unreadable:11} {tally.third:13}"
            f" {tally.left:12} {tally.unfinished:20}",
            flush=True,
        )
        for error in tally.errors[:5]:
            print(f"  {error}")
        clean &= tally.clean
    return int(not clean)


if __name__ == "__main__":
    sys.exit(main())
