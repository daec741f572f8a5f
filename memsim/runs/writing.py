"""A run in the making: begun, continued, kept case by case, finished."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Self

from memsim.discovery import source_digest
from memsim.errors import ExitCode, RunFolderError
from memsim.executors import Executor, PlayCase
from memsim.runs.folder import (
    FORMAT,
    INFO,
    LOCK,
    Lock,
    create_run,
    holder,
    list_runs,
    prepare_reports,
    read_info,
    unwritable,
    write_info,
)
from memsim.runs.log import CASES, PROBES, TURNS, Entry, outcome_entry, read_log, read_span
from memsim.runs.provenance import provenance
from memsim.suite.cases import CaseOutcome, CaseResult

if TYPE_CHECKING:
    from memsim.suite.planning import Plan

_SYNC_EVERY = 1.0


class RunWriter:
    """Keeps outcomes in the plan's order.

    Attributes:
        folder: where the run lies.
        resumed: the cases that were complete when it was opened.
        finished: the run was complete when it was opened; there is nothing to play.
    """

    def __init__(self, folder: Path, plan: Plan, lock: Lock, info: Mapping[str, object]) -> None:
        self.folder = folder
        self._plan = plan
        self._lock = lock
        self._info = dict(info)
        self._ends = [0, 0]
        self._waiting: dict[int, CaseOutcome] = {}
        self._files: list[IO[bytes]] = []
        self._synced = time.monotonic()
        self.finished = bool(info.get("finished"))
        self.resumed: tuple[CaseResult, ...] = ()
        self._kept: list[CaseResult] = []
        self._recover()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def results(self) -> tuple[CaseResult, ...]:
        """The cases kept so far, in the plan's order."""
        return tuple(self._kept)

    def _recover(self) -> None:
        log = 0
        for place, entry in enumerate(read_log(self.folder)):
            expected = self._plan.cases[place].key if place < len(self._plan.cases) else None
            if entry.result.key != expected or not self._sound(entry):
                break
            self._kept.append(entry.result)
            self._ends = [entry.turns.end, entry.probes.end]
            log += entry.length
        self.resumed = tuple(self._kept)
        if self.finished and len(self._kept) < self._info.get("played", 0):  # type: ignore[operator]
            self.finished = False
        if not self.finished:
            self._open([*self._ends, log])

    def _sound(self, entry: Entry) -> bool:
        records = ((TURNS, entry.turns), (PROBES, entry.probes))
        return all(read_span(self.folder / name, span) is not None for name, span in records)

    def _open(self, ends: list[int]) -> None:
        try:
            for name, end in zip((TURNS, PROBES, CASES), ends, strict=True):
                file = (self.folder / name).open("ab")
                self._files.append(file)
                file.truncate(end)
                file.seek(end)
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def keep(self, place: int, outcome: CaseOutcome) -> None:
        """Take the outcome of the plan's case at a place; write it when its turn has come.

        Raises:
            RunFolderError: the folder cannot be written.
        """
        self._waiting[place] = outcome
        try:
            while (ready := self._waiting.pop(len(self._kept), None)) is not None:
                self._write(ready)
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def _write(self, outcome: CaseOutcome) -> None:
        line, turns, probes = outcome_entry(outcome, *self._ends)
        for file, data in zip(
            self._files, (outcome.turn_lines, outcome.probe_lines, line), strict=True
        ):
            # In this order: a line of the log says that what it stands for is there.
            file.write(data)
            file.flush()
        self._ends = [turns.end, probes.end]
        self._kept.append(outcome.result)
        if time.monotonic() - self._synced >= _SYNC_EVERY:
            self._sync()

    def _sync(self) -> None:
        for file in self._files:
            os.fsync(file.fileno())
        self._synced = time.monotonic()

    def finish(self, code: ExitCode, verdict: str = "") -> None:
        """The run is over: write down what came of it.

        Raises:
            RunFolderError: the folder cannot be written.
        """
        try:
            self._sync()
            self._info |= {
                "finished": True,
                "played": len(self._kept),
                "exit": int(code),
                "verdict": verdict,
            }
            write_info(self.folder, self._info)
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def close(self) -> None:
        """Give up the folder; an unfinished run can be continued."""
        for file in self._files:
            file.close()
        self._files.clear()
        self._lock.release()


def open_run(
    plan: Plan,
    reports: Path,
    *,
    out: Path | None = None,
    resume: bool = True,
    command: tuple[str, ...] = (),
) -> RunWriter:
    """The folder that a run is kept in: an unfinished one of the same plan, or a new one.

    Args:
        plan: what is played.
        reports: where runs are kept.
        out: the very folder to use; it must be new, empty or of the same plan, and when its run is
            finished there is nothing left to do.
        resume: whether an unfinished run among the others is continued.
        command: the command line, for the report.

    Raises:
        RunFolderError: the folder is of another plan, foreign, locked or cannot be written.
    """
    info = _describe(plan, command)
    if out is not None:
        return _open_named(out, plan, info)
    folder = prepare_reports(reports)
    if resume:
        for earlier in list_runs(reports):
            if (writer := _continue(earlier, plan)) is not None:
                return writer
    created, lock = create_run(folder, info)
    return RunWriter(created, plan, lock, read_info(created))


def _continue(folder: Path, plan: Plan) -> RunWriter | None:
    try:
        info = read_info(folder)
        if info.get("finished") or info["fingerprint"] != plan.fingerprint:
            return None
        lock = Lock.take(folder)
    except (RunFolderError, OSError):
        return None
    if lock is None:
        return None
    info = read_info(folder)
    if info.get("finished"):
        lock.release()
        return None
    return RunWriter(folder, plan, lock, info)


def _open_named(folder: Path, plan: Plan, info: Mapping[str, object]) -> RunWriter:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        inside = {p.name for p in folder.iterdir()}
    except (FileExistsError, NotADirectoryError) as error:
        raise RunFolderError("is not a folder", path=folder) from error
    except OSError as error:
        raise unwritable(folder, error) from error
    if INFO not in inside and inside - {LOCK, f"{INFO}.new"}:
        raise RunFolderError("is not empty and not a run of memsim", path=folder)
    try:
        lock = Lock.take(folder)
        if lock is None:
            raise RunFolderError(f"is in use by process {holder(folder)}", path=folder)
        if not (folder / INFO).exists():
            write_info(folder, info)
    except OSError as error:
        raise unwritable(folder, error) from error
    known = read_info(folder)
    if known["fingerprint"] != plan.fingerprint:
        lock.release()
        raise RunFolderError("holds a run of another plan: name another folder", path=folder)
    return RunWriter(folder, plan, lock, known)


def _describe(plan: Plan, command: tuple[str, ...]) -> dict[str, object]:
    cases = zip(plan.cases, plan.fingerprints, strict=True)
    strategies = {str(spec.strategy): source_digest(spec.strategy) for spec in plan.cases}
    return {
        "memsim": FORMAT,
        "fingerprint": plan.fingerprint,
        "finished": False,
        "exit": None,
        "verdict": "",
        "command": list(command),
        **provenance(),
        "settings": asdict(plan.settings),
        "strategies": strategies,
        "cases": {spec.key: fingerprint for spec, fingerprint in cases},
    }


def perform(
    plan: Plan,
    writer: RunWriter,
    executor: Executor,
    *,
    play: PlayCase | None = None,
    watch: Callable[[CaseResult], bool | None] | None = None,
) -> tuple[CaseResult, ...]:
    """Play what a run still lacks, and keep it.

    An interrupt is passed on; what was kept until then stays kept.

    Args:
        plan: the cases.
        writer: where they are kept; those that it holds already are not played again.
        executor: who plays them.
        play: how one is played, if not as `run_case` does.
        watch: told each result as it comes, in any order; no more cases are begun once it returns
            True.

    Returns:
        Every result that is kept, in the plan's order.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    if writer.finished:
        return writer.results
    first = len(writer.resumed)
    # Closed whatever happens here, so that no process goes on playing for nobody.
    with closing(executor.run(plan.cases[first:], play or _run_case())) as outcomes:
        for place, outcome in outcomes:
            writer.keep(first + place, outcome)
            if watch is not None and watch(outcome.result):
                break
    return writer.results


def _run_case() -> PlayCase:
    from memsim.suite.play import run_case

    return run_case
