"""Plays what a run still lacks, and has it kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from memsim.executors import Executor, PlayCase
from memsim.runs.writing import RunWriter
from memsim.suite.cases import CaseResult
from memsim.suite.garbage import searched_rarely

if TYPE_CHECKING:
    from memsim.suite.planning import Plan


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
    places = writer.lacking
    specs = [plan.cases[place] for place in places]
    # Closed whatever happens here, so that no process goes on playing for nobody.
    with searched_rarely(), closing(executor.run(specs, play or _run_case())) as outcomes:
        for number, outcome in outcomes:
            writer.keep(places[number], outcome)
            if watch is not None and watch(outcome.result):
                break
    return writer.results


def _run_case() -> PlayCase:
    from memsim.suite.play import run_case

    return run_case
