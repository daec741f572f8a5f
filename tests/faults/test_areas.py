"""Whatever fails while something is kept: afterwards it is one state or the next, and said so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from memsim.errors import StoreError
from memsim.memory.stores.in_memory import InMemory
from memsim.testing.faults import Mode, SimulatedCrash
from tests.doubles.exploration import explore, fresh_folders, sequences
from tests.faults.areas import AREAS, Talk, saved_memory

MODES: Final[tuple[Mode, ...]] = ("transient", "persistent", "crash", "power")

HOW_FAR: Final = {
    "workspace": (1, 1),
    "sqlite": (1, 11),
    "markdown": (2, 17),
    "memory": (2, 29),
    "baseline": (2, 1),
    "run": (2, 9),
}
"""How long a sequence of operations is, and which points are tried: every one, or fewer.

`benchmarks/fault_points.py` tries every point of every sequence of three.
"""

Undisturbed = dict[str, dict[tuple[str, ...], object]]
"""What is kept after some operations, by the area."""

TALKS: Final = {("turn", "forget"), ("turn", "share")}
"""What is tried with a memory, where nothing can be forgotten or shared before it is said."""


@pytest.fixture
def fresh() -> Iterator[Callable[[], Path]]:
    """Gives a new folder each time, in memory: a disk takes longer than all that is tested."""
    with fresh_folders() as make:
        yield make


@pytest.fixture(scope="module")
def undisturbed() -> Undisturbed:
    """What is kept when nothing fails, which is the same in every mode."""
    return {}


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    # Asking git for the commit, and waiting for the disk, take longer than all the rest.
    monkeypatch.setattr("memsim.runs.run_writer.provenance", lambda _: {})
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", sorted(AREAS))
def test_whatever_fails_it_is_one_state_or_the_next(
    name: str, mode: Mode, fresh: Callable[[], Path], undisturbed: Undisturbed
) -> None:
    """One operation, or all from it on, or the process, or the machine: no third state, ever.

    The error is one of memsim's own, one line, with an exit code, and names the place. What failed
    only once is there when it is tried again, and nothing is left lying about.
    """
    area = AREAS[name]()
    longest, step = HOW_FAR[name]
    seen: Counter[str] = Counter()
    points = 0

    for names in sequences(sorted(area.operations), longest):
        if name == "memory" and names not in TALKS:
            continue
        found = explore(
            area,
            names,
            mode,
            fresh,
            reads=mode in {"transient", "persistent"},
            step=step,
            known=undisturbed.setdefault(name, {}),
        )
        assert found.findings == []
        points += found.points
        seen.update(found.seen)

    # An operation that the seam does not see is one that is never made to fail.
    assert points >= 5
    assert seen


def test_a_permission_that_cannot_be_written_is_not_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither now nor after it is opened again: entries follow what is written, never before it."""
    talk = Talk(tmp_path)
    talk.turn()
    with monkeypatch.context() as failing:
        failing.setattr(talk.memory._file, "write", no_room)
        with pytest.raises(StoreError, match="no room"):
            talk.share()
    seen = talk.memory.context("Which order number?", principal="bo", session="s2", budget=500)
    talk.memory.close()

    assert not seen.text()
    assert AREAS["memory"]().look(tmp_path)[2]["shared"] == {}  # type: ignore[index]


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("ends", ["before", "after"])
def test_a_permission_is_given_with_its_entries_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str, *, elsewhere: bool
) -> None:
    """The process ended before the entries followed, or before the permission was written."""
    store = InMemory() if elsewhere else None
    talk = Talk(tmp_path, store)
    talk.turn()
    reapply = talk.memory._reapply

    def end(*given: Any) -> None:  # noqa: ANN401 - as the method's own
        if ends == "after":
            reapply(*given)
        raise SimulatedCrash

    monkeypatch.setattr(talk.memory, "_reapply", end)
    with pytest.raises(SimulatedCrash):
        talk.share()
    talk.memory.vault.close()
    talk.memory._file.close()

    again = saved_memory(tmp_path, store)
    seen = again.context("Which order number?", principal="bo", session="s2", budget=500)
    shown = [*again.entries("bo")]
    again.share("ana", "bo", ["m0"])
    then = again.context("Which order number?", principal="bo", session="s2", budget=500)
    again.close()

    assert ("", []) == (seen.text(), shown)
    assert "A-0" in then.text()


def no_room(*_given: object) -> None:
    """A full disk."""
    raise StoreError("no room")
