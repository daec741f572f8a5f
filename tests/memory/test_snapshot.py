"""Saved states: as they were, or an error that says so; never half, never empty, never lost."""

from __future__ import annotations

import errno
import os
import random
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsim.atomic_files import holder, locked
from memsim.errors import StateError, StoreError
from memsim.memory.codec import canonical, parse
from memsim.memory.persistence.snapshot import Format, Snapshot

ROOT = Path(__file__).resolve().parents[2]
NOTES = Format(name="test.notes")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
states: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | texts
    # Numbers that compare equal and read differently.
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0.0, -0.0, 1.0, 1e300]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)


@given(states)
def test_canonical_text_reads_back_as_the_same_value(state: Any) -> None:  # noqa: ANN401
    """Types, signs and order included: the text of what was read is the text again."""
    text = canonical(state)

    assert state == parse(text)
    assert repr(state) == repr(parse(text)) or isinstance(state, dict | list)
    assert text == canonical(parse(text))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(states)
def test_a_state_comes_back_as_it_was_saved(tmp_path: Path, state: Any) -> None:  # noqa: ANN401
    """And saving what was loaded gives the same bytes."""
    snapshot = Snapshot(tmp_path / "state.json", NOTES)
    snapshot.save(state)
    saved = snapshot.path.read_bytes()
    loaded = snapshot.load()
    snapshot.save(loaded)

    assert state == loaded
    assert saved == snapshot.path.read_bytes()


def test_order_of_keys_makes_no_difference(tmp_path: Path) -> None:
    """Two states that are equal are saved as the same bytes."""
    one, other = (Snapshot(tmp_path / name, NOTES) for name in ("one", "other"))
    one.save({"a": 1, "b": 2})
    other.save({"b": 2, "a": 1})

    assert one.path.read_bytes() == other.path.read_bytes()


def test_a_state_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Nobody else on the machine may read a memory."""
    snapshot = Snapshot(tmp_path / "state.json", NOTES)
    snapshot.save({"a": 1})

    assert snapshot.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("state", ["\ud800", {"\udc00": 1}, float("nan"), {1: 2}])
def test_what_cannot_be_saved_touches_no_file(tmp_path: Path, state: Any) -> None:  # noqa: ANN401
    """Surrogates and the like are refused before there is a file."""
    with pytest.raises(ValueError, match=r"^a (text|number|key) "):
        Snapshot(tmp_path / "state.json", NOTES).save(state)

    assert list(tmp_path.iterdir()) == []


def test_a_missing_state_is_an_error_and_not_an_empty_one(tmp_path: Path) -> None:
    """Whoever wants to begin asks whether it exists, or gives an initial state."""
    snapshot = Snapshot(tmp_path / "state.json", NOTES)
    with pytest.raises(StateError, match="cannot be read: No such file"):
        snapshot.load()

    assert not snapshot.exists()
    assert snapshot.update(lambda old: [*old, 1], []) == [1]
    assert snapshot.load() == [1]


def damages(data: bytes) -> list[bytes]:
    """A file in every state that it can be found in after a disaster."""
    flipped = [data[:n] + bytes([data[n] ^ 1 << n % 8]) + data[n + 1 :] for n in range(len(data))]
    cut = [data[:n] for n in range(len(data))]
    more = [data + b"\n", data + b"\0", b" " + data, data * 2, b"\xef\xbb\xbf" + data]
    return [*flipped, *cut, *more, bytes(len(data)), data.replace(b"1", b"2"), b"{}\n{}\n"]


def test_every_damage_is_loud_and_keeps_a_copy(tmp_path: Path) -> None:
    """Truncated, zero-filled, or one bit off: a typed error, and the bytes are kept twice."""
    snapshot = Snapshot(tmp_path / "state.json", NOTES)
    snapshot.save({"fact": "is 1", "n": 1})
    for damaged in damages(snapshot.path.read_bytes()):
        snapshot.path.write_bytes(damaged)
        with pytest.raises(StateError, match="is damaged; a copy is kept as") as caught:
            snapshot.load()

        copy = tmp_path / str(caught.value).rpartition(" ")[2]
        assert damaged == copy.read_bytes() == snapshot.path.read_bytes()
        assert "fact" not in str(caught.value)
        with pytest.raises(StateError):
            snapshot.load()
        assert len(list(tmp_path.glob("*.damaged-*"))) == 1
        copy.unlink()


def test_an_update_never_takes_damage_for_nothing(tmp_path: Path) -> None:
    """The initial state is for where there is no file; a damaged one stays as it is."""
    snapshot = Snapshot(tmp_path / "state.json", NOTES)
    snapshot.path.write_bytes(b"")
    with pytest.raises(StateError):
        snapshot.update(lambda old: old, initial=[])

    assert snapshot.path.read_bytes() == b""


def test_a_save_over_damage_keeps_a_copy_first(tmp_path: Path) -> None:
    """Whoever saves without having loaded destroys nothing that could be recovered."""
    snapshot = Snapshot(tmp_path / "state.json", NOTES)
    snapshot.path.write_bytes(b"half a st")
    snapshot.save([1])

    assert [b"half a st"] == [p.read_bytes() for p in tmp_path.glob("*.damaged-*")]
    assert snapshot.load() == [1]


def test_a_save_over_damage_that_cannot_be_kept_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No copy, no overwriting."""
    snapshot = Snapshot(tmp_path / "state.json", NOTES)
    snapshot.path.write_bytes(b"half a st")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StateError, match="no copy could be kept: No space left"):
        snapshot.save([1])

    assert snapshot.path.read_bytes() == b"half a st"


@pytest.mark.parametrize("act", ["load", "save", "update"])
@pytest.mark.parametrize(
    ("other", "said"),
    [
        (Format(name="test.other"), "is test.other, not test.notes"),
        (Format(name="test.notes", version=2), "version 2, and this memsim knows up to 1: upgrade"),
    ],
)
def test_another_kind_or_a_newer_version_is_refused(
    tmp_path: Path, act: str, other: Format, said: str
) -> None:
    """Neither read nor overwritten, and not called damaged."""
    Snapshot(tmp_path / "state.json", other).save([1])
    snapshot = Snapshot(tmp_path / "state.json", NOTES)
    before = snapshot.path.read_bytes()
    acts: dict[str, Callable[[], object]] = {
        "load": snapshot.load,
        "save": lambda: snapshot.save([2]),
        "update": lambda: snapshot.update(lambda _: [2]),
    }
    with pytest.raises(StateError, match=said):
        acts[act]()

    assert before == snapshot.path.read_bytes()
    assert list(tmp_path.glob("*.damaged-*")) == []


def test_an_older_version_is_migrated_step_by_step(tmp_path: Path) -> None:
    """Each migration makes one version of the one before it; the next save writes the newest."""
    path = tmp_path / "state.json"
    Snapshot(path, NOTES).save(["a"])
    newest = Format(
        name="test.notes",
        version=3,
        migrations={1: lambda old: {"notes": old}, 2: lambda old: {**old, "count": 1}},
    )
    snapshot = Snapshot(path, newest)

    assert snapshot.load() == {"notes": ["a"], "count": 1}
    snapshot.update(lambda state: state)
    assert b'"version":3' in path.read_bytes()
    assert snapshot.load() == {"notes": ["a"], "count": 1}


def test_a_version_that_nothing_leads_on_from_is_refused(tmp_path: Path) -> None:
    """As is a state that a migration cannot read."""
    path = tmp_path / "state.json"
    Snapshot(path, NOTES).save(["a"])
    with pytest.raises(StateError, match="nothing leads on from its version, 1"):
        Snapshot(path, Format(name="test.notes", version=2)).load()
    cannot = Format(name="test.notes", version=2, migrations={1: lambda old: old["notes"]})
    with pytest.raises(StateError, match="is not of version 1"):
        Snapshot(path, cannot).load()


def operations(monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    """Let the k-th call of what writes fail, and every one after it: the process is as dead."""
    calls = 0

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:  # noqa: ANN401 - any of them
            nonlocal calls
            calls += 1
            if calls > failing:
                raise OSError(errno.EIO, "Input/output error")
            return real(*args, **named)

        return call

    for name in ("fdopen", "fsync", "replace", "unlink"):
        monkeypatch.setattr(os, name, counted(getattr(os, name)))


def test_a_failure_at_any_step_leaves_the_old_state_or_the_new(tmp_path: Path) -> None:
    """No third state at any operation; what is left over is swept by the next writer."""
    outcomes = []
    for failing in range(6):
        snapshot = Snapshot(tmp_path / "state.json", NOTES)
        snapshot.save("old")
        with pytest.MonkeyPatch.context() as patch:
            operations(patch, failing)
            try:
                snapshot.save("new")
            except StoreError as error:
                assert "state.json: cannot be written: Input/output error" in str(error)  # noqa: PT017
        outcomes.append(snapshot.load())
        snapshot.save("next")
        assert ["state.json", "state.json.lock"] == sorted(p.name for p in tmp_path.iterdir())

    assert ["old", "old", "old", "new", "new", "new"] == outcomes


def test_what_is_saved_has_reached_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First the bytes, then the name that they have in their folder."""
    synced: list[str] = []
    real = os.fsync

    def noted(descriptor: int) -> None:
        synced.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    Snapshot(tmp_path / "state.json", NOTES).save([1])

    assert synced == ["file", "folder"]


@pytest.mark.parametrize("place", ["absent/state.json", "file/state.json"])
def test_a_folder_that_is_not_there_is_named(tmp_path: Path, place: str) -> None:
    """The error says which file could not be written."""
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"state.json: cannot be written: (No such|Not a)"):
        Snapshot(tmp_path / place, NOTES).save([1])


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    """The file that it points to is replaced, not the link."""
    (tmp_path / "link").symlink_to(tmp_path / "state.json")
    Snapshot(tmp_path / "link", NOTES).save([1])

    assert (tmp_path / "link").is_symlink()
    assert Snapshot(tmp_path / "state.json", NOTES).load() == [1]


COUNTING = """
import pathlib, sys
from memsim.memory.persistence.snapshot import Format, Snapshot

snapshot = Snapshot(pathlib.Path(sys.argv[1]), Format(name="test.notes"), wait=60)
for _ in range(20):
    snapshot.update(lambda n: n + 1, 0)
"""


def run(source: str, path: Path) -> subprocess.Popen[bytes]:
    """A process of its own that works on a state."""
    return subprocess.Popen(
        [sys.executable, "-c", source, str(path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    )


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    """Three processes, and two threads of this one, add up to what each of them added."""
    snapshot = Snapshot(tmp_path / "state.json", NOTES, wait=60)

    def count_up() -> None:
        for _ in range(20):
            snapshot.update(lambda n: n + 1, 0)

    processes = [run(COUNTING, snapshot.path) for _ in range(3)]
    threads = [threading.Thread(target=count_up) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for process in processes:
        with process:
            assert process.wait() == 0

    assert snapshot.load() == 100


def test_a_lock_that_is_held_names_its_holder(tmp_path: Path) -> None:
    """Whoever waits too long is told which process it waited for."""
    path = tmp_path / "state.json"
    with (
        locked(path),
        pytest.raises(StoreError, match=f"state.json: is in use by process {os.getpid()}$"),
    ):
        Snapshot(path, NOTES, wait=0).save([1])

    Snapshot(path, NOTES, wait=0).save([1])


def test_a_lock_file_that_was_left_over_means_nothing(tmp_path: Path) -> None:
    """A process that died holds no lock, whatever its lock file says."""
    path = tmp_path / "state.json"
    (tmp_path / "state.json.lock").write_text("999999\n", encoding="ascii")

    assert holder(path) == "999999"
    Snapshot(path, NOTES, wait=0).save([1])
    assert holder(path) == str(os.getpid())
    (tmp_path / "state.json.lock").write_bytes(b"\xff")
    assert holder(path) == "unknown"


ENDLESS = """
import pathlib, sys
from memsim.memory.persistence.snapshot import Format, Snapshot

snapshot = Snapshot(pathlib.Path(sys.argv[1]), Format(name="test.notes"))
print("ready", flush=True)
while True:
    snapshot.update(lambda n: {"n": n["n"] + 1, "text": "x" * 50_000}, {"n": 0})
"""


def test_a_process_that_is_killed_loses_at_most_what_it_was_doing(tmp_path: Path) -> None:
    """After a kill the state can be read, is never older than before, and the lock is free."""
    snapshot = Snapshot(tmp_path / "state.json", NOTES)
    pauses = random.Random(7)
    before = -1
    for _ in range(8):
        with run(ENDLESS, snapshot.path) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(pauses.uniform(0.005, 0.05))
            process.send_signal(signal.SIGKILL)
        now = snapshot.load()["n"] if snapshot.exists() else 0
        assert now >= before
        before = now

    assert before > 0
    snapshot.save({"n": 0})
    assert ["state.json", "state.json.lock"] == sorted(p.name for p in tmp_path.iterdir())
