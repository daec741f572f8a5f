"""Save a session as a run that `memsim explain`, `compare` and `report` can read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memsim.config import Settings
from memsim.errors import ExitCode
from memsim.gate.comparison import Comparison
from memsim.message import TokenCounter, load_tokenizer
from memsim.models.cassette.case_recordings import folder_lock
from memsim.models.model_access import ModelAccess
from memsim.pytest_plugin.session_options import RUN_FILES, RUN_FOLDERS
from memsim.runs import load_run, open_run
from memsim.runs.case_log import outcome_record, read_outcome
from memsim.runs.judge_trial import JUDGE_KEY
from memsim.suite.case_plan import CasePlan, fingerprint
from memsim.suite.cases import CaseOutcome, CaseSpec
from memsim.suite.judgement import calibrate


def encode_outcome(outcome: CaseOutcome, *, turns: bool) -> str:
    """Encode an outcome as text, so that a test report can carry it to the first process.

    Args:
        outcome: the outcome of a case.
        turns: whether to include the records of turns and contexts, which are most of the text.
    """
    # ASCII: half an emoji in an answer cannot be encoded as UTF-8.
    return json.dumps(outcome_record(outcome, turns=turns), ensure_ascii=True)


def decode_outcome(text: str) -> CaseOutcome:
    """The outcome that `encode_outcome` encoded."""
    return read_outcome(json.loads(text))


def judge_trial_of(specs: Sequence[CaseSpec]) -> Mapping[str, Any]:
    """Test the judge of a session on known answers; the result as in `run.json`, or empty."""
    asking = [spec for spec in specs if spec.judge]
    if not asking:
        return {}
    with _alone(asking[0].access):
        trial = calibrate(asking, TokenCounter(load_tokenizer(asking[0].tokenizer)))
    return trial.record() if trial else {}


@contextmanager
def _alone(access: ModelAccess) -> Iterator[None]:
    # If several processes record, the first one asks, and the others find the recorded answer.
    if access.folder is None or access.mode not in {"new", "rewrite"}:
        yield
        return
    access.folder.mkdir(parents=True, exist_ok=True)
    with folder_lock(access.folder):
        yield


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
    """Write a run into a folder, and replace the run that is there."""
    from memsim.cli.saved_runs import write_report
    from memsim.gate import judge, rule
    from memsim.gate.comparison import write_comparison
    from memsim.report.summarise import summarise

    _take_away(folder)
    prints = tuple(fingerprint(spec) for spec in specs)
    whole = hashlib.sha256("".join(prints).encode()).hexdigest()
    plan = CasePlan(cases=tuple(specs), settings=settings, fingerprints=prints, fingerprint=whole)
    with open_run(plan, folder.parent, out=folder, command=command, among=True) as writer:
        if trial:
            writer.note(JUDGE_KEY, dict(trial))
        for place, outcome in enumerate(outcomes):
            writer.keep(place, outcome)
        alone = judge(writer.results, max_errors=settings.max_errors)
        verdict = rule(alone, found)
        write_comparison(folder, found)
        writer.finish(
            ExitCode(verdict.exit_code), verdict.sentence, against=found.base if found else ""
        )
    run = load_run(folder, folder.parent)
    write_report(run, summarise(run))


def _take_away(folder: Path) -> None:
    """Remove the previous run and its reports, but no other files."""
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
