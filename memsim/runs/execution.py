"""Play the cases that a run still lacks, and write them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from memsim.errors import CostLimitError
from memsim.executors import Executor, PlayCase
from memsim.heap import rare_garbage_collection
from memsim.runs.run_writer import RunWriter
from memsim.suite.cases import CaseResult

if TYPE_CHECKING:
    from memsim.suite.case_plan import CasePlan


def perform(
    plan: CasePlan,
    writer: RunWriter,
    executor: Executor,
    *,
    play: PlayCase | None = None,
    watch: Callable[[CaseResult], bool | None] | None = None,
) -> tuple[CaseResult, ...]:
    """Play the cases that a run still lacks, and write them.

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
        CostLimitError: a case could not be played within the money; all others are kept.
    """
    if writer.finished:
        return writer.results
    places = writer.lacking
    specs = [plan.cases[place] for place in places]
    unpaid = ""
    # Closed whatever happens here, so that no process goes on playing for nobody.
    with rare_garbage_collection(), closing(executor.run(specs, play or _run_case())) as outcomes:
        for number, outcome in outcomes:
            if outcome.unpaid:
                # What is under way elsewhere is still to be kept; what is not yet begun ends here.
                unpaid = outcome.unpaid
                continue
            writer.keep(places[number], outcome)
            if watch is not None and watch(outcome.result):
                break
    if unpaid:
        raise CostLimitError(unpaid)
    return writer.results


def _run_case() -> PlayCase:
    from memsim.suite.play import run_case

    return run_case
