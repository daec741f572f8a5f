"""Split a long check of an isolated strategy in two, for two processes; join the reports.

Both halves have a process of the strategy of their own, also where one process plays them in turn:
so the number of processors changes no result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from memsim.errors import Unmeasurable
from memsim.testing.case_coverage import FeatureCount
from memsim.testing.checks import CheckPlan, CheckReport, CheckResult, Tick, perform, tick_part

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

LONG = 1_000
"""Invariants times cases from which on a check is split: another process takes two seconds."""


def halves(plan: CheckPlan) -> tuple[CheckPlan, ...]:
    """The plan, or the two that try the first cases and the others."""
    examples = plan.profile.examples
    if plan.guarded is None or len(plan.names) * examples < LONG:
        return (plan,)
    first, others = range(examples // 2), range(examples // 2, examples)
    return (
        replace(plan, numbers=first),
        # A counterexample that was kept is tried once.
        replace(plan, numbers=others, counterexamples={}),
    )


def perform_halves(plan: CheckPlan, tick: Tick, *, beside: bool) -> CheckReport:
    """Check one subject, in two processes where it is long and both can run beside each other.

    Raises:
        UsageError: the strategy means nothing.
        Unmeasurable: the second process ended.
    """
    parts = halves(plan)
    if beside and len(parts) > 1:
        return joined(_beside(parts[0], parts[1], tick))
    told = (partial(tick_part, tick, place, len(parts)) for place in range(len(parts)))
    return joined([perform(part, tell) for part, tell in zip(parts, told, strict=True)])


def _beside(first: CheckPlan, second: CheckPlan, tick: Tick) -> tuple[CheckReport, CheckReport]:
    from concurrent.futures.process import BrokenProcessPool

    with new_processes(1) as pool:
        other = pool.submit(perform, second)
        report = perform(first, tick)
        try:
            return report, other.result()
        except BrokenProcessPool as error:
            ended = f"{first.subject}: the process that checked it ended unexpectedly"
            raise Unmeasurable(ended) from error


def new_processes(workers: int) -> ProcessPoolExecutor:
    """Processes that keep the counterexamples of Hypothesis where this one does."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from hypothesis.configuration import set_hypothesis_home_dir, storage_directory

    # Else each of them makes a folder of Hypothesis' in the working folder.
    home = storage_directory(intent_to_write=False).home_directory
    return ProcessPoolExecutor(
        workers,
        mp_context=get_context("spawn"),
        initializer=set_hypothesis_home_dir,
        initargs=(home,),
    )


def joined(reports: Sequence[CheckReport]) -> CheckReport:
    """The report of the whole check."""
    first, *others = reports
    for other in others:
        first = replace(
            first,
            results=tuple(_both(first.results, other.results)),
            coverage=tuple(_covered(first.coverage, other.coverage)),
        )
    return first


def _both(first: Sequence[CheckResult], others: Sequence[CheckResult]) -> Iterator[CheckResult]:
    for one, other in zip(first, others, strict=True):
        if "invalid" in {one.verdict, other.verdict}:
            yield _invalid(one, other)
        elif one.verdict in {"holds", "nothing"}:
            yield _later(one, other)
        else:
            yield one


def _later(one: CheckResult, other: CheckResult) -> CheckResult:
    """Nothing was found in the first cases: what the others say of it counts."""
    told = one if other.verdict == "nothing" else other
    looked = one.looked + other.looked
    return replace(told, examples=one.examples + other.examples, looked=looked)


def _invalid(one: CheckResult, other: CheckResult) -> CheckResult:
    told, *more = (each for each in (one, other) if each.verdict == "invalid")
    whys = dict.fromkeys(why for each in (told, *more) for why in each.why.split("; "))
    return replace(told, why="; ".join(whys))


def _covered(
    first: Sequence[FeatureCount], others: Sequence[FeatureCount]
) -> Iterator[FeatureCount]:
    for one, other in zip(first, others, strict=True):
        yield replace(one, cases=one.cases + other.cases, seen=one.seen + other.seen)
