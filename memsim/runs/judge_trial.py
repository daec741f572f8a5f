"""Test the judge once before a run on known answers, and record how it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.message import TokenCounter, load_tokenizer
from memsim.models.model_access import NO_SPENDING, Spending
from memsim.suite.judgement import calibrate, with_calibration

if TYPE_CHECKING:
    from memsim.runs.run_writer import RunWriter
    from memsim.suite.case_plan import CasePlan
    from memsim.suite.cases import CaseSpec

JUDGE_KEY = "judge"
"""The key in `run.json`."""


def with_judge_trial(
    plan: CasePlan, writer: RunWriter, cases: Sequence[CaseSpec] | None = None
) -> tuple[CasePlan, Spending]:
    """The plan, whose cases know whether their judge is to be believed.

    A run that is continued believes what it found when it began.

    Args:
        plan: what is played.
        writer: where it is kept.
        cases: of the whole run, if the plan is a shard: all try the judge on the same answers.

    Raises:
        CostLimitError: the trial would have cost too much.
        RunFolderError: the folder cannot be written.
        CassetteError: recordings are damaged or cannot be written.
    """
    if writer.finished or not any(case.judge for case in plan.cases):
        return plan, NO_SPENDING
    kept = writer.noted(JUDGE_KEY)
    if isinstance(kept, Mapping) and kept.get("asked") and isinstance(kept.get("unfit"), str):
        return replace(plan, cases=with_calibration(plan.cases, kept["unfit"])), NO_SPENDING
    counter = TokenCounter(load_tokenizer(plan.settings.tokenizer))
    access = plan.cases[0].access
    tried = plan.cases if cases is None else [replace(case, access=access) for case in cases]
    found = calibrate(tried, counter)
    if found is None:
        return plan, NO_SPENDING
    writer.note(JUDGE_KEY, found.record())
    return replace(plan, cases=with_calibration(plan.cases, found.trial.unfit)), found.spent
