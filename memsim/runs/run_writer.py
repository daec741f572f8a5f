"""Write a run: begin or resume it, keep each case, finish it."""

from __future__ import annotations

import io
import os
import platform
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Self

from memsim.atomic_files import open_itself
from memsim.errors import ExitCode, RunFolderError
from memsim.package_versions import versions_here
from memsim.runs.case_log import (
    AHEAD,
    CASES,
    RECORDS,
    WORTH_KEEPING,
    CaseEntry,
    RecordSpan,
    encode_ahead,
    encode_entry,
    is_sound,
    outcome_blocks,
    read_ahead,
    read_entry,
    read_log,
    span_of,
)
from memsim.runs.latency_file import write_latency
from memsim.runs.run_folder import (
    FORMAT,
    INFO,
    RunLock,
    create_run,
    holder,
    list_runs,
    only_begun,
    prepare_reports,
    read_info,
    start_time,
    unwritable,
    write_info,
)
from memsim.suite.cases import CaseOutcome, CaseResult

if TYPE_CHECKING:
    from memsim.suite.case_plan import CasePlan

# The versions and the state of the working tree of a run, for information only.


def provenance(started: datetime) -> dict[str, object]:
    """Collect the start time, the versions and the commit of a run."""
    return {
        "created": started.isoformat(timespec="milliseconds"),
        "versions": versions_here(),
        "platform": platform.system().lower(),
        **_commit(),
    }


def _commit() -> dict[str, object]:
    commit = _git("rev-parse", "HEAD")
    if commit is None:
        return {"commit": None, "dirty": None}
    changes = _git("status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": None if changes is None else bool(changes)}


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments
            ["git", "--no-optional-locks", *arguments],  # noqa: S607 - whichever git the user has
            capture_output=True,
            check=False,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


_SYNC_EVERY = 1.0


class RunWriter:
    """Write outcomes to a run folder in the plan's order.

    Attributes:
        folder: where the run lies.
        resumed: the cases that were complete when it was opened.
        finished: the run was complete when it was opened; there is nothing to play. A run with
            lost cases is not: they are played again.
    """

    def __init__(
        self, folder: Path, keys: Sequence[str], lock: RunLock, info: Mapping[str, object]
    ) -> None:
        self.folder = folder
        self._keys = keys
        self._lock = lock
        self._info = dict(info)
        self._ends = [0] * len(RECORDS)
        self._waiting: dict[int, CaseOutcome] = {}
        self._files: list[IO[bytes]] = []
        self._synced = time.monotonic()
        self.finished = bool(info.get("finished"))
        self.resumed: tuple[CaseResult, ...] = ()
        self._kept: list[CaseResult] = []
        self._ahead: set[int] = set()
        try:
            self._recover()
        except BaseException:
            with suppress(RunFolderError):
                self.close()
            raise

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
    def lacking(self) -> tuple[int, ...]:
        """The places in the plan of cases still to be played."""
        places = range(len(self._kept), len(self._keys))
        return tuple(place for place in places if place not in self._waiting)

    @property
    def finished_cases(self) -> int:
        """Count the cases that need no replay: those in the log, and those written ahead."""
        return len(self._kept) + len(self._ahead & self._waiting.keys())

    @property
    def results(self) -> tuple[CaseResult, ...]:
        """The cases kept so far, in the plan's order."""
        return tuple(self._kept)

    def _recover(self) -> None:
        entries = self._sound_entries()
        kept = [*takewhile(lambda entry: entry.result.state != "lost", entries)]
        self._kept = [entry.result for entry in kept]
        self._ends = kept[-1].ends if kept else self._ends
        self.resumed = tuple(self._kept)
        if self.finished and len(kept) < self._info.get("played", 0):  # type: ignore[operator]
            self.finished = False
        if not self.finished:
            self._reopen(entries, len(kept))
            self._open([*self._ends, sum(entry.length for entry in kept)])
            self._waiting = {
                place: outcome
                for place, outcome in read_ahead(self.folder)
                if self._lacks(place, outcome)
            }
            self._ahead = set(self._waiting)
            self._drain()

    def _sound_entries(self) -> list[CaseEntry]:
        """Read the entries of the log up to the first that is not of the plan, or is damaged."""
        entries = read_log(self.folder)
        planned = zip(entries, self._keys, strict=False)
        return [
            entry
            for entry, _ in takewhile(
                lambda pair: pair[0].result.key == pair[1] and self._sound(pair[0]), planned
            )
        ]

    def _reopen(self, entries: Sequence[CaseEntry], kept: int) -> None:
        """Keep the cases that were played after the first lost one: all lost ones are played again.

        Their outcomes are on the disk in another place before the log is cut.
        """
        try:
            for place, entry in enumerate(entries[kept:], start=kept):
                if entry.result.state != "lost":
                    self._put_ahead(place, read_entry(self.folder, entry))
            if len(entries) > kept:
                self._sync_ahead()
            if self._info.get("finished"):
                for key in ("played", "against", "lost"):
                    self._info.pop(key, None)
                self._info |= {"finished": False, "exit": None, "verdict": ""}
                write_info(self.folder, self._info)
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def _sync_ahead(self) -> None:
        with suppress(FileNotFoundError), (self.folder / AHEAD).open("rb+") as file:
            os.fsync(file.fileno())

    def _lacks(self, place: int, outcome: CaseOutcome) -> bool:
        inside = len(self._kept) <= place < len(self._keys)
        return inside and self._keys[place] == outcome.result.key

    def _sound(self, entry: CaseEntry) -> bool:
        spans = zip(RECORDS, entry.spans, strict=True)
        return all(is_sound(self.folder / name, span) for name, span in spans)

    def _open(self, ends: list[int]) -> None:
        try:
            for name, end in zip((*RECORDS, CASES), ends, strict=True):
                file = _appending(self.folder / name)
                self._files.append(file)
                file.truncate(end)
                file.seek(end)
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def keep(self, place: int, outcome: CaseOutcome) -> None:
        """Add the outcome of a case, and write it when its turn has come."""
        early = place > len(self._kept)
        self._waiting[place] = outcome
        try:
            if early and (outcome.result.seconds >= WORTH_KEEPING or outcome.spent.asked):
                self._put_ahead(place, outcome)
            self._drain()
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def _put_ahead(self, place: int, outcome: CaseOutcome) -> None:
        with _appending(self.folder / AHEAD) as file:
            file.write(encode_ahead(place, outcome))
        self._ahead.add(place)

    def _drain(self) -> None:
        while (ready := self._waiting.pop(len(self._kept), None)) is not None:
            self._write(ready)

    def _write(self, outcome: CaseOutcome) -> None:
        # In this order: a line of the log says that what it stands for is there.
        *files, log = self._files
        spans = list(map(_write_blocks, files, self._ends, outcome_blocks(outcome)))
        _write_blocks(log, 0, [encode_entry(outcome.result, spans)])
        self._ends = [span.end for span in spans]
        self._kept.append(outcome.result)
        if time.monotonic() - self._synced >= _SYNC_EVERY:
            self._sync()

    def _sync(self) -> None:
        for file in self._files:
            os.fsync(file.fileno())
        self._synced = time.monotonic()

    def noted(self, key: str) -> object:
        """Read a key of `run.json`; None where it is absent."""
        return self._info.get(key)

    def note(self, key: str, value: object) -> None:
        """Add keys to `run.json` at once."""
        self._info[key] = value
        try:
            write_info(self.folder, self._info)
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def finish(self, code: ExitCode, verdict: str = "", *, against: str = "") -> None:
        """Finish the run and write its result."""
        try:
            self._sync()
            self._info |= {
                "finished": True,
                "played": len(self._kept),
                "exit": int(code),
                "verdict": verdict,
                "against": against,
            }
            if lost := sum(result.state == "lost" for result in self._kept):
                self._info["lost"] = lost
            write_latency(self.folder, self._kept)
            write_info(self.folder, self._info)
            (self.folder / AHEAD).unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def close(self) -> None:
        """Release the folder; an unfinished run can be resumed.

        Raises:
            RunFolderError: the last of it cannot be written; the folder is given up all the same.
        """
        failed: OSError | None = None
        for file in self._files:
            try:
                file.close()
            except OSError as error:
                failed = failed or error
        self._files.clear()
        self._lock.release()
        if failed is not None:
            raise unwritable(self.folder, failed) from failed


def _write_blocks(file: IO[bytes], start: int, blocks: Iterable[bytes]) -> RecordSpan:
    span = span_of(start, blocks, file.write)
    file.flush()
    return span


def _appending(path: Path) -> IO[bytes]:
    # The folder may be a stranger's: a link to a file elsewhere is neither cut nor written.
    return io.open(path, "ab", opener=open_itself)  # noqa: UP020 - tests make it fail


# The folder of a run: an unfinished one of the same plan, or a new one.


def open_run(
    plan: CasePlan,
    reports: Path,
    *,
    out: Path | None = None,
    resume: bool = True,
    command: tuple[str, ...] = (),
    among: bool = False,
) -> RunWriter:
    """Find an unfinished run folder of the same plan, or make a new one.

    Args:
        plan: what is played.
        reports: where runs are kept.
        out: the very folder to use; it must be new, empty or of the same plan, and when its run is
            finished there is nothing left to do.
        resume: whether an unfinished run among the others is continued.
        command: the command line, for the report.
        among: `out` held a run before, and what else is in it, such as `checks.json`, stays.
    """
    info = _describe(plan, command, start_time(reports))
    return open_described(info, reports, out=out, resume=resume, among=among)


def open_described(
    info: Mapping[str, object],
    reports: Path,
    *,
    out: Path | None = None,
    resume: bool = True,
    among: bool = False,
) -> RunWriter:
    """Find an unfinished run folder of the plan that a `run.json` describes, or make a new one."""
    if out is not None:
        return _open_named(out, info, among=among)
    folder = prepare_reports(reports)
    if resume:
        for earlier in list_runs(reports):
            if (writer := _continue(earlier, info)) is not None:
                return writer
    created, lock = create_run(folder, info)
    return RunWriter(created, _keys(info), lock, read_info(created))


def _keys(info: Mapping[str, object]) -> tuple[str, ...]:
    cases = info["cases"]
    return tuple(cases) if isinstance(cases, Mapping) else ()


def _continue(folder: Path, wanted: Mapping[str, object]) -> RunWriter | None:
    try:
        info = read_info(folder)
        if _complete(info) or info["fingerprint"] != wanted["fingerprint"]:
            return None
        lock = RunLock.take(folder)
    except (RunFolderError, OSError):
        return None
    if lock is None:
        return None
    info = read_info(folder)
    if _complete(info):
        lock.release()
        return None
    return RunWriter(folder, _keys(wanted), lock, info)


def _complete(info: Mapping[str, object]) -> bool:
    return bool(info.get("finished")) and not info.get("lost")


def _open_named(folder: Path, info: Mapping[str, object], *, among: bool) -> RunWriter:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        inside = {p.name for p in folder.iterdir()}
    except (FileExistsError, NotADirectoryError) as error:
        raise RunFolderError("is not a folder", path=folder) from error
    except OSError as error:
        raise unwritable(folder, error) from error
    if INFO not in inside and not among and not only_begun(inside):
        raise RunFolderError("is not empty and not a run of memsim", path=folder)
    try:
        lock = RunLock.take(folder)
        if lock is None:
            raise RunFolderError(f"is in use by process {holder(folder)}", path=folder)
        if not (folder / INFO).exists():
            write_info(folder, info)
    except OSError as error:
        raise unwritable(folder, error) from error
    known = read_info(folder)
    if known["fingerprint"] != info["fingerprint"]:
        lock.release()
        raise RunFolderError("holds a run of another plan: name another folder", path=folder)
    return RunWriter(folder, _keys(info), lock, known)


def _describe(plan: CasePlan, command: tuple[str, ...], started: datetime) -> dict[str, object]:
    from memsim.suite.case_plan import descriptions, identity

    cases = zip(plan.cases, plan.fingerprints, strict=True)
    isolated = sorted({str(spec.strategy) for spec in plan.cases if spec.isolated})
    about = descriptions(plan.cases)
    return {
        "memsim": FORMAT,
        "fingerprint": plan.fingerprint,
        "finished": False,
        "exit": None,
        "verdict": "",
        "command": list(command),
        **provenance(started),
        "settings": asdict(plan.settings),
        **identity(plan.cases),
        **({"about": about} if about else {}),
        **({"isolated": isolated} if isolated else {}),
        **({"shard": asdict(plan.shard)} if plan.shard else {}),
        "cases": {spec.key: fingerprint for spec, fingerprint in cases},
    }
