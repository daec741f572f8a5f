"""Persistence: what is saved comes back as it was, and what is damaged says so."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from memsim.atomic_files import WAIT
from memsim.errors import MemsimError
from memsim.memory.codec import JSON, canonical
from memsim.memory.persistence.memory_file import FILE, MemoryFile
from memsim.testing.check_cases import FileCase
from memsim.testing.faults import Schedule, SimulatedCrash, failing_database
from memsim.testing.folders import throwaway
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.worlds import Trial, World

# Persistence, on the file that a memory is saved in.


WRITERS = 4
PART = "state"


@contextmanager
def saved(case: FileCase) -> Iterator[Path]:
    """The folder of a memory whose file holds a case's state."""
    with throwaway() as folder:
        save(Path(folder), case.state)
        yield Path(folder)


def save(folder: Path, text: str) -> None:
    """Write a state in the place of the one that there is."""
    update(folder, lambda _: text)


def update(folder: Path, change: Callable[[JSON], str]) -> None:
    """Read a state, change it and write it, as whoever has the memory open."""
    file = MemoryFile(folder, readonly=False)
    try:
        parts = file.open(WAIT)
        if parts is None:
            file.begin()
        file.write({PART: change((parts or {}).get(PART))}, ())
    finally:
        file.close()


def load(folder: Path) -> str:
    """The canonical text of the state."""
    file = MemoryFile(folder, readonly=True)
    try:
        return canonical((file.open(WAIT) or {})[PART])
    finally:
        file.close()


@holds(52, "load(save(x)) = x; save(load(save(x))) = save(x)", on="file")
def files_round_trip(case: FileCase) -> int:
    """A state comes back from its file as it was, however often it is written.

    Fails, for example, where an integer beyond 64 bits comes back as a float.
    """
    with saved(case) as folder:
        for _ in range(2):
            if (state := load(folder)) != case.state:
                raise Violation(f"{case.state[:60]} comes back as {state[:60]}")
            save(folder, state)
    try:
        canonical("\ud83d")
    except ValueError:
        return 1
    raise Violation("half a character is saved")


@holds(53, "crash at any write k => reopen gives pre or post state", on="file")
def crash_at_any_write(case: FileCase) -> int:
    """At whichever statement the process ends, the old state is there, or the new one.

    Fails, for example, where the old state is dropped in a transaction of its own.
    """
    with saved(case) as folder:
        schedule = Schedule(at=case.operation, mode="crash")
        with failing_database(schedule), suppress(SimulatedCrash):
            save(folder, case.other)
        state = load(folder)
        if state not in {case.state, case.other}:
            raise Violation(f"after statement {case.operation} failed, {state[:60]} is there")
        save(folder, case.other)
        left = [p.name for p in folder.iterdir() if ".new-" in p.name]
        if left or load(folder) != case.other:
            raise Violation(f"saving once more leaves {left}")
        return int(schedule.fired)


@holds(54, "damaged file => typed error, and stays; never empty", on="file")
def damage_is_loud(case: FileCase) -> int:
    """A damaged file is refused and left as it is, and nothing is read as empty.

    Fails, for example, where 144,258 zeros are loaded as no history, and saved over.
    """
    with saved(case) as folder:
        path = folder / FILE
        _damage(path, case)
        bad = path.read_bytes()
        with suppress(MemsimError):
            if (state := load(folder)) != case.state:
                raise Violation(f"{case.damage}: it is loaded as {state[:60]}")
            return 0  # what was cut off was room
        try:
            save(folder, case.other)
        except MemsimError:
            if path.read_bytes() != bad:
                raise Violation(f"{case.damage}: it is refused, and changed") from None
            return 1
        raise Violation(f"{case.damage}: it is refused to who reads, and saved over")


def _damage(path: Path, case: FileCase) -> None:
    good = path.read_bytes()
    if case.damage in {"newer", "foreign"}:
        wrong = "user_version = 99" if case.damage == "newer" else "application_id = 7"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA {wrong}")
        return
    text = case.state.encode()
    if case.damage == "flipped" and text in good:  # most of the file is room
        at = good.rindex(text) + (len(text) - 1) * case.place // 1000
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        return
    kept = (len(good) - 1) * case.place // 1000 if case.damage == "truncated" else 0
    path.write_bytes(bytes(len(good)) if case.damage == "zeroed" else good[:kept])


@holds(55, "n writers, one increment each => n; linearizable", on="file")
def no_lost_update(case: FileCase) -> int:
    """Of several who change a state at once, nobody's change is lost.

    Fails, for example, where each reads, changes and writes without a lock, and the last one wins.
    """
    if case.place % 250:
        return 0
    with throwaway() as folder:
        path = Path(folder)

        def writer(name: int) -> None:
            for n in range(3):
                update(path, partial(_added, f"{name}.{n}"))

        save(path, "[]")
        threads = [threading.Thread(target=writer, args=(n,)) for n in range(WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        known = json.loads(load(path))
        if len(set(known)) != 3 * WRITERS:
            raise Violation(f"of {3 * WRITERS} changes {len(set(known))} are there")
        if any(
            [k for k in known if k[0] == str(n)] != [f"{n}.{m}" for m in range(3)]
            for n in range(WRITERS)
        ):
            raise Violation("a writer's changes are out of order")
    return WRITERS


def _added(change: str, known: Any) -> str:  # noqa: ANN401 - a state is any JSON value
    return canonical([*known, change])


@holds(52, "load(save(x)) = x; save(load(save(x))) = save(x), in canonical bytes", "save")
def save_and_load(trial: Trial) -> int:
    """A memory that was saved and loaded shows what it showed, and is saved as it was.

    Fails, for example, where a counter that names summaries begins at 0 again.
    """
    if trial.main.over:
        return 0
    before = trial.main.saved()
    world = trial.loaded(before)
    if world.saved() != before:
        raise Violation("saved again after loading, it is not what was saved")
    seen = 1
    for who in trial.case.principals:
        query = trial.main.query(trial.case.questions[0], who)
        seen += 1
        if trial.main.context_text(query) != world.context_text(query):
            raise Violation(f"after loading, {who} is shown something else")
    return seen


@holds(54, "load(damaged(save(x))) raises a typed error, and x stays what it was", "save")
def corruption_is_loud(trial: Trial) -> int:
    """A damaged state is refused with a typed error, and leaves the memory as it was.

    Fails, for example, where a state without its list of messages is loaded as an empty memory, and
    then saved over the good one.
    """
    if trial.main.over:
        return 0
    state = trial.main.saved()
    world = trial.loaded(state)
    before = world.saved()
    damaged = dict(_damaged(json.loads(before)))
    for told, bad in damaged.items():
        if not _refused(world, bad):
            raise Violation(f"{told} is loaded without a word")
    if world.saved() != before:
        for told, bad in damaged.items():
            world = trial.loaded(state)
            if _refused(world, bad) and world.saved() != before:
                raise Violation(f"{told} is refused, and has changed the memory")
        raise Violation("of several damaged states that it refuses, one has changed the memory")
    return len(damaged)


def _refused(world: World, state: dict[str, Any]) -> bool:
    try:
        world.memory.load(state)
    except MemsimError:
        return True
    return False


def _damaged(state: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "an empty state", {}
    yield "another's state", {"unknown": 1}
    for key in sorted(state)[:3]:
        if isinstance(state[key], dict | list):
            yield f"a state whose {key} is a number", {**state, key: 7}
            yield f"a state whose {key} is null", {**state, key: None}
