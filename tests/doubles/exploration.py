"""Try every fault at every operation of every short sequence."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, product
from pathlib import Path
from typing import Any, Generic, TypeVar

from memsim.errors import ExitCode, MemsimError
from memsim.testing.faults import Mode, Schedule, SimulatedCrash, failing_database
from memsim.testing.folders import throwaway
from tests.doubles.failing_files import failing_files

H = TypeVar("H")

MOST = 2_000
"""Operations after which it is not believed that something ever completes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Area(Generic[H]):
    """A part under test that stores data in a folder.

    Attributes:
        open: opens it, and makes what is missing.
        operations: what can be done with it, by name.
        look: what is kept in a folder that nobody has open: values that compare equal.
        close: releases it, as the end of its process would.
        left: names of files in a folder that nobody will read again.
        again: whether an operation that failed can simply be tried again.
        synced: whether what was done has reached the disk when it returns; what was not, a loss of
            power may take, the last first.
    """

    open: Callable[[Path], H]
    operations: Mapping[str, Callable[[H], object]]
    look: Callable[[Path], object]
    close: Callable[[H], object] = lambda _: None
    left: Callable[[Path], Sequence[str]] = lambda _: ()
    again: bool = True
    synced: bool = True


@dataclass(slots=True)
class Exploration:
    """The result of an exploration.

    Attributes:
        points: in how many places something was made to fail.
        seen: the operations that failed, by kind.
        findings: what was not as it should be, one line each.
    """

    points: int = 0
    seen: dict[str, int] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)


def sequences(names: Sequence[str], longest: int) -> Iterator[tuple[str, ...]]:
    """Every sequence of so many names at most, the shortest first."""
    for length in range(1, longest + 1):
        yield from product(names, repeat=length)


def one_after_another(
    attempt: Callable[[Schedule], None], mode: Mode, *, step: int = 1
) -> Iterator[Schedule]:
    """Let the first operation fail, then the second, and so on until one attempt completes.

    Args:
        attempt: does everything anew, with whatever fails; what it raises is its own affair.
        mode: how operations fail.
        step: 1 for every operation, 2 for every other.

    Yields:
        The schedule of each attempt in which something failed.

    Raises:
        AssertionError: no attempt ever completes.
    """
    for at in range(1, MOST, step):
        schedule = Schedule(at=at, mode=mode)
        attempt(schedule)
        if not schedule.fired:
            return
        yield schedule
    raise AssertionError(f"more than {MOST} operations, and none completes")


@contextmanager
def fresh_folders() -> Iterator[Callable[[], Path]]:
    """Gives a new folder each time it is asked, and removes the one before."""
    with throwaway() as place:
        numbers = count()

        def made() -> Path:
            number = next(numbers)
            shutil.rmtree(Path(place) / str(number - 1), ignore_errors=True)
            folder = Path(place) / str(number)
            folder.mkdir()
            return folder

        yield made


def explore(
    area: Area[Any],
    names: Sequence[str],
    mode: Mode,
    fresh: Callable[[], Path],
    *,
    reads: bool = False,
    step: int = 1,
    known: dict[tuple[str, ...], object] | None = None,
) -> Exploration:
    """Repeat one sequence of operations, each time with the next fault.

    Args:
        area: what is tried.
        names: of its operations.
        mode: how operations of the disk fail.
        fresh: gives a new folder each time.
        reads: whether opening a file to read it can fail.
        step: 1 for every point, more to leave some out.
        known: what is kept after operations of the area that nothing disturbed; looked up here,
            and added to.
    """
    states = _states(area, tuple(names), fresh, {} if known is None else known)
    attempt = _Attempt(area, tuple(names), states, fresh, reads=reads)
    for schedule in one_after_another(attempt, mode, step=step):
        attempt.found.points += 1
        kind = schedule.seen[schedule.at - 1].split(" ")[0]
        attempt.found.seen[kind] = attempt.found.seen.get(kind, 0) + 1
    return attempt.found


@contextmanager
def failing_disk(root: Path, schedule: Schedule, *, reads: bool = False) -> Iterator[None]:
    """Files below a folder and databases, on one schedule."""
    with failing_database(schedule), failing_files(root, schedule, reads=reads):
        yield


def _states(
    area: Area[H],
    names: tuple[str, ...],
    fresh: Callable[[], Path],
    known: dict[tuple[str, ...], object],
) -> list[object]:
    """What is kept after none of the operations, one, two, and so on."""
    found = []
    for done in range(len(names) + 1):
        if names[:done] not in known:
            folder = fresh()
            handle = area.open(folder)
            for name in names[:done]:
                area.operations[name](handle)
            area.close(handle)
            known[names[:done]] = area.look(folder)
        found.append(known[names[:done]])
    return found


class _Attempt:
    """Does a sequence once, with what fails, and looks at what is left."""

    def __init__(
        self,
        area: Area[Any],
        names: tuple[str, ...],
        states: list[object],
        fresh: Callable[[], Path],
        *,
        reads: bool,
    ) -> None:
        self.found = Exploration()
        self._area = area
        self._names = names
        self._states = states
        self._fresh = fresh
        self._reads = reads
        self._handle: Any = None
        self._done = 0

    def __call__(self, schedule: Schedule) -> None:
        folder = self._fresh()
        self._handle, self._done = None, 0
        with failing_disk(folder, schedule, reads=self._reads):
            error = self._play(folder)
            if not schedule.ends:
                error = self._again(error, folder, schedule)
            closing = _raised(self._let_go)
            if not schedule.ends:
                self._typed(closing, folder, schedule)
        if not schedule.ends:
            _raised(self._let_go)
        # What failed and was not done in the end is there or not; nothing else may be either.
        earliest = self._done if self._area.synced or schedule.mode != "power" else 0
        self._look(folder, self._states[earliest : self._done + 1 + bool(error)], schedule)

    def _play(self, folder: Path) -> BaseException | None:
        def play() -> None:
            self._handle = self._area.open(folder)
            for name in self._names:
                self._area.operations[name](self._handle)
                self._done += 1

        return _raised(play)

    def _again(
        self, error: BaseException | None, folder: Path, schedule: Schedule
    ) -> BaseException | None:
        """What failed, and would not fail again, is tried once more, and then it is there."""
        self._typed(error, folder, schedule)
        if error is None or self._handle is None or not self._area.again:
            return error
        again = _raised(lambda: self._area.operations[self._names[self._done]](self._handle))
        if again is None:
            self._done += 1
        elif schedule.mode == "transient":
            self._find(f"tried again: {type(again).__name__}: {again}", schedule)
        else:
            self._typed(again, folder, schedule)
        return again

    def _let_go(self) -> None:
        if self._handle is not None:
            self._area.close(self._handle)

    def _typed(self, error: BaseException | None, folder: Path, schedule: Schedule) -> None:
        if error is None:
            return
        said = str(error)
        if not isinstance(error, MemsimError) or not isinstance(error.exit_code, ExitCode):
            self._find(f"{type(error).__name__} came out: {said}", schedule)
        elif str(folder) not in said:
            self._find(f"the error names no place: {said}", schedule)
        elif not said.isprintable():
            self._find(f"the error is not one line: {said!r}", schedule)

    def _look(self, folder: Path, due: Sequence[object], schedule: Schedule) -> None:
        try:
            kept, again = self._area.look(folder), self._area.look(folder)
        except Exception as error:  # noqa: BLE001 - as above
            self._find(f"cannot be opened: {type(error).__name__}: {error}", schedule)
            return
        if kept not in due:
            self._find(f"neither one state nor the next: {kept!r:.300}, not {due!r:.300}", schedule)
        if again != kept:
            self._find("looked at twice, it is another", schedule)
        if left := self._area.left(folder):
            self._find(f"left over: {', '.join(left)}", schedule)

    def _find(self, why: str, schedule: Schedule) -> None:
        point = schedule.seen[schedule.at - 1] if schedule.fired else "nothing"
        said = f"{' + '.join(self._names)}, {schedule.mode} at {schedule.at} ({point}): {why}"
        self.found.findings.append(" ".join(said.split()))


def _raised(action: Callable[[], object]) -> BaseException | None:
    try:
        action()
    except (Exception, SimulatedCrash) as error:  # noqa: BLE001 - what is raised is what is looked at
        return error
    return None
