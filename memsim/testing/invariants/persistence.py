"""Persistence: what is saved comes back as it was, and what is damaged says so."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from memsim.errors import MemsimError, StateError
from memsim.memory.codec import JSON, canonical, parse
from memsim.memory.persistence.snapshot import Format, Snapshot
from memsim.testing.check_cases import FileCase
from memsim.testing.folders import throwaway
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.worlds import Trial, World

# Persistence, on the files that states are saved in.


FORMAT = Format(name="memsim.check")
_SEAMS = ("fsync", "replace", "open", "fdopen", "unlink")
WRITERS = 4


@contextmanager
def saved(case: FileCase) -> Iterator[Snapshot]:
    """A file that holds a case's state."""
    with throwaway() as folder:
        snapshot = Snapshot(Path(folder) / "state", FORMAT)
        snapshot.save(parse(case.state))
        yield snapshot


@holds(52, "persistence", on="file", formal="load(save(x)) = x; save(load(save(x))) = save(x)")
def files_round_trip(case: FileCase) -> int:
    """A state comes back from its file as it was, and is written in the same bytes again.

    Fails, for example, where an integer beyond 64 bits comes back as a float.
    """
    with saved(case) as snapshot:
        first = snapshot.path.read_bytes()
        state = snapshot.load()
        if canonical(state) != case.state:
            raise Violation(f"{case.state[:60]} comes back as {canonical(state)[:60]}")
        snapshot.save(state)
        if snapshot.path.read_bytes() != first:
            raise Violation("written again, it has other bytes")
    try:
        canonical("\ud83d")
    except ValueError:
        return 1
    raise Violation("half a character is saved")


@holds(
    53, "persistence", on="file", formal="crash at any write k => reopen gives pre or post state"
)
def crash_at_any_write(case: FileCase) -> int:
    """Whichever operation of the file system fails, the old state is there, or the new one.

    Fails, for example, where the file is opened for writing before there is anything to write.
    """
    with saved(case) as snapshot:
        with _failing(case.operation) as failed, suppress(OSError, MemsimError):
            snapshot.save(parse(case.other))
        state = canonical(snapshot.load())
        if state not in {case.state, case.other}:
            raise Violation(f"after operation {case.operation} failed, {state[:60]} is there")
        snapshot.save(parse(case.other))
        names = sorted(p.name for p in snapshot.path.parent.iterdir())
        left = [name for name in names if name.endswith(".tmp")]
        if left or canonical(snapshot.load()) != case.other:
            raise Violation(f"saving once more leaves {left}")
        return int(bool(failed))


@contextmanager
def _failing(operation: int) -> Iterator[list[str]]:
    """Lets one operation of the file system fail, and says which."""
    count = 0
    failed: list[str] = []
    before = {name: getattr(os, name) for name in _SEAMS}

    def seam(name: str) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - stands for any of them
            nonlocal count
            count += 1
            if count == operation:
                failed.append(name)
                raise OSError(28, "No space left on device")
            return before[name](*given, **named)

        return run

    try:
        for name in _SEAMS:
            setattr(os, name, seam(name))
        yield failed
    finally:
        for name, real in before.items():
            setattr(os, name, real)


@holds(54, "persistence", on="file", formal="damaged file => typed error, and a copy; never empty")
def damage_is_loud(case: FileCase) -> int:
    """A damaged file is refused, a copy of it is kept, and nothing is read as empty.

    Fails, for example, where 144,258 zeros are loaded as no history, and saved over.
    """
    with saved(case) as snapshot:
        good = snapshot.path.read_bytes()
        bad = _damaged_file(good, case)
        if bad == good:
            return 0
        snapshot.path.write_bytes(bad)
        try:
            state = snapshot.load()
        except StateError:
            copies = [p for p in snapshot.path.parent.iterdir() if ".damaged-" in p.name]
            if case.damage in {"newer", "foreign"}:
                return 1
            if not any(p.read_bytes() == bad for p in copies):
                raise Violation(f"{case.damage}: no copy is kept") from None
            return 1
        raise Violation(f"{case.damage}: it is loaded as {canonical(state)[:60]}")


def _damaged_file(good: bytes, case: FileCase) -> bytes:
    at = min(len(good) - 1, len(good) * case.place // 1000)
    if case.damage == "truncated":
        return good[:at]
    if case.damage == "flipped":
        return good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]
    if case.damage == "zeroed":
        return bytes(len(good))
    if case.damage == "newer":
        return good.replace(b'"version":1', b'"version":2', 1)
    if case.damage == "foreign":
        return good.replace(b"memsim.check", b"memsim.other", 1)
    return b""


@holds(55, "persistence", on="file", formal="n writers, one increment each => n; linearizable")
def no_lost_update(case: FileCase) -> int:
    """Of several who change a state at once, nobody's change is lost.

    Fails, for example, where each reads, changes and writes without a lock, and the last one wins.
    """
    if case.place % 250:
        return 0
    with throwaway() as folder:
        path = Path(folder) / "state"

        def writer(name: int) -> None:
            for n in range(3):
                Snapshot(path, FORMAT).update(partial(_added, f"{name}.{n}"))

        threads = [threading.Thread(target=writer, args=(n,)) for n in range(WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        known = Snapshot(path, FORMAT).load()
        if len(set(known)) != 3 * WRITERS:
            raise Violation(f"of {3 * WRITERS} changes {len(set(known))} are there")
        if any(
            [k for k in known if k[0] == str(n)] != [f"{n}.{m}" for m in range(3)]
            for n in range(WRITERS)
        ):
            raise Violation("a writer's changes are out of order")
    return WRITERS


def _added(change: str, known: list[JSON] | None) -> JSON:
    return [*(known or []), change]


@holds(
    52,
    "persistence",
    on="strategy",
    formal="load(save(x)) = x; save(load(save(x))) = save(x), in canonical bytes",
    needs=("save",),
)
def save_and_load(trial: Trial) -> int:
    """A memory that was saved and loaded shows what it showed, and is saved as it was.

    Fails, for example, where a counter that names summaries begins at 0 again.
    """
    if trial.main.over:
        return 0
    before = trial.main.saved()
    world = loaded(trial, before)
    if world.saved() != before:
        raise Violation("saved again after loading, it is not what was saved")
    seen = 1
    for who in trial.case.principals:
        query = trial.main.query(trial.case.questions[0], who)
        seen += 1
        if trial.main.shown(query) != world.shown(query):
            raise Violation(f"after loading, {who} is shown something else")
    return seen


def loaded(trial: Trial, state: str) -> World:
    """A world of its own that has loaded a state."""
    world = trial.world()
    world.clock.set(trial.main.clock.now())
    world.memory.load(json.loads(state))
    return world


@holds(
    54,
    "persistence",
    on="strategy",
    formal="load(damaged(save(x))) raises a typed error, and x stays what it was",
    needs=("save",),
)
def corruption_is_loud(trial: Trial) -> int:
    """A damaged state is refused with a typed error, and leaves the memory as it was.

    Fails, for example, where a state without its list of messages is loaded as an empty memory, and
    then saved over the good one.
    """
    if trial.main.over:
        return 0
    world = trial.played()
    before = world.saved()
    seen = 0
    for told, state in _damaged(json.loads(before)):
        seen += 1
        try:
            world.memory.load(state)
        except MemsimError:
            if world.saved() != before:
                raise Violation(f"{told} is refused, and has changed the memory") from None
            continue
        raise Violation(f"{told} is loaded without a word")
    return seen


def _damaged(state: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "an empty state", {}
    yield "another's state", {"unknown": 1}
    for key in sorted(state)[:3]:
        if isinstance(state[key], dict | list):
            yield f"a state whose {key} is a number", {**state, key: 7}
            yield f"a state whose {key} is null", {**state, key: None}
