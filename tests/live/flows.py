"""What the small real model is asked for: each of its tasks, over conversations of a few turns.

The same flows are played live, where they are recorded, and from what was recorded. Records that
changed although the calls did not are written anew by `python -m tests.live.flows`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.local_model import MODEL
from memsim.discovery.loader import resolve
from memsim.message import TokenCounter, load_tokenizer
from memsim.models.cassette import RecordMode
from memsim.models.model_access import ModelAccess, Spending, add_spending
from memsim.suite.cases import CaseOutcome, CaseSpec
from memsim.suite.judgement import calibrate
from memsim.suite.play import run_case
from memsim.suite.scenarios import ScenarioRef

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
CASSETTES = RECORDED / "cassettes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What a flow came to.

    Attributes:
        records: what a run keeps of it, but for how long it took.
        spent: what its calls came to.
        error: why it was not played to its end; empty where it was.
    """

    records: bytes
    spent: Spending
    error: str = ""


Flow = Callable[[ModelAccess], Played]


def _case(scenario: str, strategy: str, budget: int, access: ModelAccess) -> Played:
    outcome = run_case(_spec(scenario, strategy, budget, access))
    return _played(outcome)


def _spec(scenario: str, strategy: str, budget: int, access: ModelAccess) -> CaseSpec:
    file = f"{scenario}.yaml"
    return CaseSpec(
        scenario=ScenarioRef(source=file, name=scenario, place=HERE / file),
        strategy=resolve(strategy),
        budget=budget,
        model=MODEL,
        embedder="hash",
        access=access,
    )


def _played(outcome: CaseOutcome) -> Played:
    records = outcome.turn_lines + outcome.probe_lines
    return Played(records=records, spent=outcome.spent, error=outcome.result.error)


def _judged(access: ModelAccess) -> Played:
    """Tried on known answers, and asked about a case's own whatever came of that."""
    spec = replace(_spec("cat", "sliding_window", 600, access), judge=f"{MODEL},draws=1")
    trial = calibrate([spec], TokenCounter(load_tokenizer(spec.tokenizer)))
    assert trial is not None
    played = _played(run_case(replace(spec, unfit="")))
    told = json.dumps(trial.record(), sort_keys=True, ensure_ascii=False) + "\n"
    return Played(
        records=told.encode() + played.records,
        spent=add_spending(trial.spent, played.spent),
        error=played.error,
    )


FLOWS: Mapping[str, Flow] = {
    "summariser": partial(_case, "flat", "rolling_summary:keep=80,summary=60", 300),
    "extractor": partial(_case, "cat", "layered:vectors=off", 600),
    "agent": partial(_case, "cat", "layered:mode=agent,vectors=off", 600),
    "judge": _judged,
}
"""Each asks the reader as well."""


def access(folder: Path, mode: RecordMode) -> ModelAccess:
    """Recordings in a folder.

    Args:
        folder: theirs.
        mode: whether they are made or replayed.
    """
    return ModelAccess(mode=mode, folder=folder, folder_label=folder.name)


def replayed(flow: str, folder: Path = CASSETTES) -> Played:
    """A flow from what was recorded.

    Args:
        flow: its name.
        folder: of the recordings.
    """
    return FLOWS[flow](access(folder, "none"))


def kept(flow: str) -> Path:
    """The file of the records that a flow came to on the day it was recorded.

    Args:
        flow: its name.
    """
    return RECORDED / f"{flow}.jsonl"


def _refresh() -> None:
    for flow in FLOWS:
        played = replayed(flow)
        if played.error:
            raise SystemExit(f"{flow}: {played.error}")
        kept(flow).write_bytes(played.records)


if __name__ == "__main__":
    _refresh()
