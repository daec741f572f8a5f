"""The file of a memory: states as they were, or an error; and the locks of files."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.atomic_files import WAIT, holder, locked, write_whole
from memsim.errors import StateError, StoreError
from memsim.memory.codec import canonical, parse
from memsim.memory.persistence.memory_file import FILE, MemoryFile
from memsim.testing.folders import throwaway

ROOT = Path(__file__).resolve().parents[2]

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


def change(folder: Path, work: Callable[[Any], Any], wait: float = WAIT) -> None:
    """Read a state and write another, as whoever has the memory open."""
    file = MemoryFile(folder, readonly=False)
    try:
        parts = file.open(wait)
        if parts is None:
            file.begin()
        file.write({"state": canonical(work((parts or {}).get("state")))}, ())
    finally:
        file.close()


def load(folder: Path) -> Any:  # noqa: ANN401 - a state is any JSON value
    """The state, as whoever reads the memory finds it."""
    file = MemoryFile(folder, readonly=True)
    try:
        return (file.open(WAIT) or {})["state"]
    finally:
        file.close()


@settings(max_examples=40, deadline=None)
@given(states)
def test_a_state_comes_back_as_it_was_saved(state: Any) -> None:  # noqa: ANN401
    """Whatever JSON value it is."""
    with throwaway() as folder:
        change(Path(folder), lambda _: state)

        assert canonical(state) == canonical(load(Path(folder)))


def test_every_damaged_byte_of_a_state_is_loud() -> None:
    """One bit off, anywhere in the text of a part: an error that says nothing of the content."""
    state: Any = {"fact": "is 1", "n": 1}
    with throwaway() as place:
        folder = Path(place)
        change(folder, lambda _: state)
        good, text = (folder / FILE).read_bytes(), canonical(state).encode()
        begin = good.rindex(text)
        for at in range(begin, begin + len(text)):
            bad = good[:at] + bytes([good[at] ^ 1 << at % 8]) + good[at + 1 :]
            (folder / FILE).write_bytes(bad)
            with pytest.raises((StateError, StoreError)) as caught:
                load(folder)
            assert "fact" not in str(caught.value)
            assert bad == (folder / FILE).read_bytes()


def test_what_is_saved_has_reached_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log of a memory is synced with every commit; of other files first bytes, then names."""
    file = MemoryFile(tmp_path, readonly=False)
    file.open(1)
    with file.snapshot() as connection:
        assert (2,) == connection.execute("PRAGMA synchronous").fetchone()
    file.close()
    synced: list[str] = []
    real = os.fsync

    def noted(descriptor: int) -> None:
        synced.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    write_whole(tmp_path / "page", b"new")

    assert synced == ["file", "folder"]


def test_a_page_that_cannot_be_written_is_the_old_one_or_the_new(tmp_path: Path) -> None:
    """No third state at any operation."""
    path = tmp_path / "page"
    outcomes = []
    for failing in range(6):
        write_whole(path, b"old")
        with pytest.MonkeyPatch.context() as patch:
            fail_after(patch, failing)
            try:
                write_whole(path, b"new")
            except OSError as error:
                assert errno.EIO == error.errno  # noqa: PT017
        outcomes.append(path.read_bytes())

    assert sorted(outcomes, reverse=True) == outcomes
    assert {b"old", b"new"} == {*outcomes}


def fail_after(monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
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


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """The error says which one."""
    (tmp_path / "file").touch()
    with pytest.raises((StateError, StoreError), match=r"file/memory: cannot be written: Not a"):
        change(tmp_path / "file" / "memory", lambda _: 1)


def test_a_symbolic_link_is_followed(tmp_path: Path) -> None:
    """The folder that it points to is meant."""
    (tmp_path / "link").symlink_to(tmp_path / "memory")
    change(tmp_path / "link", lambda _: [1])

    assert (tmp_path / "link").is_symlink()
    assert [1] == load(tmp_path / "memory")


COUNTING = """
import pathlib, sys
from tests.memory.test_memory_file import change

for _ in range(10):
    change(pathlib.Path(sys.argv[1]), lambda n: (n or 0) + 1, wait=60)
"""


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    """Two processes, and two threads of this one, add up to what each of them added."""

    def count_up() -> None:
        for _ in range(10):
            change(tmp_path / "memory", lambda n: (n or 0) + 1, wait=60)

    processes = [
        subprocess.Popen(
            [sys.executable, "-c", COUNTING, str(tmp_path / "memory")],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for _ in range(2)
    ]
    threads = [threading.Thread(target=count_up) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [0, 0] == [process.wait() for process in processes]

    assert 40 == load(tmp_path / "memory")


def test_a_lock_that_is_held_names_its_holder(tmp_path: Path) -> None:
    """Whoever waits too long is told which process it waited for."""
    with (
        locked(tmp_path / "memory"),
        pytest.raises(StoreError, match=f"memory: is in use by process {os.getpid()}$"),
    ):
        change(tmp_path, lambda _: 1, wait=0)

    change(tmp_path, lambda _: 1, wait=0)


def test_a_lock_file_that_was_left_over_means_nothing(tmp_path: Path) -> None:
    """A process that died holds no lock, whatever its lock file says."""
    lock = tmp_path / "memory.lock"
    lock.write_text("999999\n", encoding="ascii")

    assert holder(tmp_path / "memory") == "999999"
    change(tmp_path, lambda _: 1, wait=0)
    assert holder(tmp_path / "memory") == str(os.getpid())
    lock.write_bytes(b"\xff")
    assert holder(tmp_path / "memory") == "unknown"
