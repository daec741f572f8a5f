"""Decide which strategies get processes of their own, and which files they have to keep off."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memsim.cli.terminal import complain
from memsim.discovery.loader import try_parameters
from memsim.discovery.project import builtin_folder, is_built_in
from memsim.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memsim.config import Settings
    from memsim.discovery.project import Project
    from memsim.discovery.strategy_ref import StrategyRef
    from memsim.suite.case_plan import CasePlan

ISOLATED = click.option(
    "--isolated/--no-isolated",
    default=None,
    envvar="MEMSIM_ISOLATED",
    help="Give all strategies processes of their own, or none.  [default: yours, in check and"
    " leakage]",
)


def wants_process(ref: StrategyRef, choice: bool | None) -> bool:
    """Whether a strategy gets a process of its own, where users' strategies do by default."""
    return not is_built_in(ref.file) if choice is None else choice


def allowed(choice: bool | None, *, wanted: bool) -> bool | None:
    """The choice that this system allows; a line says where strategies are not isolated.

    Args:
        choice: the value of the flag.
        wanted: whether a strategy would get a process by default.

    Raises:
        UsageError: processes are asked for by the flag, and cannot be had.
    """
    from memsim.strategy_process.host_process import NOT_HERE, can_isolate

    if choice is False or can_isolate():
        return choice
    if choice:
        raise UsageError("--isolated needs Linux or macOS")
    if wanted:
        complain(NOT_HERE)
    return False


def with_own_processes(
    plan: CasePlan,
    project: Project,
    choice: bool | None,
    *,
    out: str | None = None,
    here: Collection[StrategyRef] = (),
) -> CasePlan:
    """The plan with strategies in processes of their own: by default those of users, in leakage.

    Args:
        plan: of a run.
        project: whose folders strategies have no business with.
        choice: the value of the flag.
        out: the folder of the run, if it is named.
        here: strategies that exist in this process alone.

    Raises:
        UsageError: processes are asked for by the flag, and cannot be had.
    """
    from memsim.suite.case_plan import isolated_plan

    made = isolated_plan(plan, guarded_paths(project, plan.settings, out), every=bool(choice))
    wanted = any(case.isolated for case in made.cases)
    if allowed(choice, wanted=wanted) is False:
        return plan
    pairs = zip(plan.cases, made.cases, strict=True)
    return replace(made, cases=tuple(p if p.strategy in here else own for p, own in pairs))


def guarded_paths(project: Project, settings: Settings, output: str | None) -> Iterator[Path]:
    """The folders in which a strategy would find scenarios, answers and results."""
    yield builtin_folder("scenarios")
    yield project.base / settings.reports
    yield project.base / settings.cassettes
    if project.root:
        yield project.root / "scenarios"
    if output:
        yield Path(output).absolute()


def trial_of(choice: bool | None) -> Callable[[StrategyRef, Project], None]:
    """What tries the parameters of a strategy, in its own process where it gets one."""
    return partial(_try, choice)


def _try(choice: bool | None, ref: StrategyRef, project: Project) -> None:
    if not wants_process(ref, choice):
        try_parameters(ref, project)
    elif ref.params:
        from memsim.strategy_process.host_process import IsolatedStrategies

        with IsolatedStrategies(ref) as apart:
            apart.try_parameters()
