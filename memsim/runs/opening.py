"""Finds or makes the folder that a run is kept in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.errors import RunFolderError
from memsim.runs.folder import (
    FORMAT,
    INFO,
    Lock,
    create_run,
    holder,
    list_runs,
    only_begun,
    prepare_reports,
    read_info,
    unwritable,
    write_info,
)
from memsim.runs.provenance import provenance
from memsim.runs.writing import RunWriter

if TYPE_CHECKING:
    from memsim.suite.planning import Plan


def open_run(
    plan: Plan,
    reports: Path,
    *,
    out: Path | None = None,
    resume: bool = True,
    command: tuple[str, ...] = (),
    among: bool = False,
) -> RunWriter:
    """The folder that a run is kept in: an unfinished one of the same plan, or a new one.

    Args:
        plan: what is played.
        reports: where runs are kept.
        out: the very folder to use; it must be new, empty or of the same plan, and when its run is
            finished there is nothing left to do.
        resume: whether an unfinished run among the others is continued.
        command: the command line, for the report.
        among: `out` held a run before, and what else is in it, such as `checks.json`, stays.

    Raises:
        RunFolderError: the folder is of another plan, foreign, locked or cannot be written.
    """
    info = _describe(plan, command)
    if out is not None:
        return _open_named(out, plan, info, among=among)
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


def _open_named(folder: Path, plan: Plan, info: Mapping[str, object], *, among: bool) -> RunWriter:
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
    from memsim.suite.planning import identity

    cases = zip(plan.cases, plan.fingerprints, strict=True)
    return {
        "memsim": FORMAT,
        "fingerprint": plan.fingerprint,
        "finished": False,
        "exit": None,
        "verdict": "",
        "command": list(command),
        **provenance(),
        "settings": asdict(plan.settings),
        **identity(plan.cases),
        "cases": {spec.key: fingerprint for spec, fingerprint in cases},
    }
