"""Which runs may become a baseline: only whole, measured, passed ones of a known state of code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memsim.errors import BaselineError, ExitCode
from memsim.gate.sheet import CHANCE_REPEATS, by_chance
from memsim.gate.verdict import judge

if TYPE_CHECKING:
    from memsim.runs import Run


def refuse_unfit(run: Run) -> None:
    """Refuse a run that later ones should not be held to.

    Raises:
        BaselineError: it is such a run; its message says why.
    """
    for reason in _faults(run):
        raise BaselineError(f"run {run.id} is no baseline: {reason}")


def _faults(run: Run) -> Iterator[str]:
    settings: Mapping[str, Any] = _table(run, "settings")
    planned = len(_table(run, "cases"))
    if not run.finished:
        yield "it was interrupted"
    if len(run.cases) < planned:
        yield f"{planned - len(run.cases)} of its cases were not run"
    if run.info.get("dirty"):
        yield "it was made from a tree with uncommitted changes: commit, and run again"
    verdict = judge(run.cases, max_errors=float(settings.get("max_errors", 0)))
    if verdict.exit_code == ExitCode.FAILED:
        yield f"it failed ({verdict.sentence})"
    if verdict.exit_code != ExitCode.PASSED:
        yield f"it could not be measured ({verdict.sentence})"
    if any(case.counts.get("errors", 0) or case.state != "scored" for case in run.cases):
        yield "some of its probes could not be scored"
    if any(case.unjudged or case.counts.get("unjudged", 0) for case in run.cases):
        yield "some of its answers could not be judged"
    if all(case.control for case in run.cases):
        yield "it has only controls"
    repeat, model = int(settings.get("repeat", 1)), str(settings.get("model", ""))
    if by_chance(model) and repeat < CHANCE_REPEATS:
        yield (
            f"model {model} answers by chance: it needs --repeat {CHANCE_REPEATS} or more,"
            f" and had {repeat}"
        )


def _table(run: Run, key: str) -> Mapping[str, Any]:
    found = run.info.get(key)
    return found if isinstance(found, Mapping) else {}
