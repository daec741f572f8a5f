"""Does a store whose process is killed hold what was promised, nothing more and nothing less?

A child process writes to a store, one call after another, and notes in a pipe what it is about to
do and what was done. It is killed (SIGKILL) at random points, a thousand times for each store that
keeps files. The store is then opened again and compared with the notes: every call that had
returned must be there, and the one that had not must be there wholly or not at all. Claimed: no
store that cannot be opened, no third state, no temporary file left behind. Looking is done in a
process of its own too: Chroma's threads do not outlive a fork.
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
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from memsim.memory.entry import Entry
from memsim.memory.permissions import Where
from memsim.memory.stores import Store
from memsim.memory.stores.chroma import ChromaEntries
from memsim.memory.stores.markdown.store import Markdown
from memsim.memory.stores.sqlite.store import SQLite
from memsim.message import EPOCH

KILLS = 1000
QUICK = 25
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
SLOW = {"chroma": 0.4}
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
    open_store = STORES[name]
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            os.close(reading)
            live(open_store, folder, seed, writing)
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
    return _compare(open_store, folder, _expected(state, seed, done), tally)


def _expected(state: State, seed: int, done: int) -> list[State]:
    """The state after the calls that returned, and the one after the call that had not."""
    if not done:
        return [state]
    following = calls(seed)
    for _ in range(done - 1):
        state = applied(state, *next(following))
    return [state, applied(state, *next(following))]


def _compare(
    open_store: Callable[[Path], Store], folder: Path, expected: list[State], tally: Tally
) -> State:
    looked = _looked_at(open_store, folder)
    if "error" in looked:
        tally.unreadable += 1
        tally.errors.append(looked["error"])
        return expected[-1]
    found: State = looked["found"]
    by_words, by_vectors = looked["by_words"], looked["by_vectors"]
    if found not in expected or not found.keys() == set(by_words) == set(by_vectors):
        tally.third += 1
        tally.errors.append(f"{len(found)} entries, {len(by_words)} words, {len(by_vectors)} near")
    tally.left += looked["left"]
    tally.unfinished += found == expected[-1] != expected[0]
    return found


def _looked_at(open_store: Callable[[Path], Store], folder: Path) -> dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            looked = _look(open_store, folder)
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
    parser.add_argument("--only", choices=tuple(STORES), action="append")
    options = parser.parse_args()
    kills = QUICK if options.quick else KILLS
    importlib.import_module("chromadb")  # once, here: every child has it
    print("store     kills  calls  unreadable  third states  left behind  done though not noted")
    clean = True
    for name in options.only or STORES:
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
