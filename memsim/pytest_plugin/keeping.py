"""Keeps a session as a run: what `memsim explain`, `compare` and `report` read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memsim.errors import ExitCode
from memsim.pytest_plugin.asked import RUN_FILES, RUN_FOLDERS
from memsim.runs import load_run, open_run
from memsim.runs.trying import KEY
from memsim.suite.planning import Plan, fingerprint

if TYPE_CHECKING:
    from pathlib import Path

    from memsim.config import Settings
    from memsim.gate.findings import Comparison
    from memsim.suite.cases import CaseOutcome, CaseSpec


def keep_run(
    folder: Path,
    specs: Sequence[CaseSpec],
    outcomes: Sequence[CaseOutcome],
    settings: Settings,
    found: Comparison | None,
    *,
    trial: Mapping[str, Any],
    command: tuple[str, ...],
) -> None:
    """Write a run into a folder, in place of the one that is there.

    Args:
        folder: where.
        specs: what was played.
        outcomes: what came of each.
        settings: of the session.
        found: the comparison with a baseline, if there was one.
        trial: how the judge did on known answers; empty without one.
        command: what the user typed.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    from memsim.cli.saved import write_report
    from memsim.gate import judge, rule
    from memsim.gate.keeping import keep_comparison
    from memsim.report.gather import summarise

    _take_away(folder)
    prints = tuple(fingerprint(spec) for spec in specs)
    whole = hashlib.sha256("".join(prints).encode()).hexdigest()
    plan = Plan(cases=tuple(specs), settings=settings, fingerprints=prints, fingerprint=whole)
    with open_run(plan, folder.parent, out=folder, command=command, among=True) as writer:
        if trial:
            writer.note(KEY, dict(trial))
        for place, outcome in enumerate(outcomes):
            writer.keep(place, outcome)
        alone = judge(writer.results, max_errors=settings.max_errors)
        verdict = rule(alone, found)
        keep_comparison(folder, found)
        writer.finish(
            ExitCode(verdict.exit_code), verdict.sentence, against=found.base if found else ""
        )
    run = load_run(folder, folder.parent)
    write_report(run, summarise(run))


def _take_away(folder: Path) -> None:
    """The run before, and what was reported of it; nothing of anybody else's."""
    for name in RUN_FILES:
        (folder / name).unlink(missing_ok=True)
    for name, endings in RUN_FOLDERS.items():
        if not (folder / name).is_dir():
            continue
        for path in (folder / name).iterdir():
            if path.suffix in endings:
                path.unlink()
        if not any((folder / name).iterdir()):
            (folder / name).rmdir()
