"""Plan a run: turn the arguments of `memsim run` into the cases to play."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.cli.saved_runs import settings_of
from memsim.cli.terminal import Terminal
from memsim.config import Settings, parse_budget
from memsim.discovery.project import Project
from memsim.discovery.strategy_ref import StrategyRef
from memsim.errors import ConfigError, NoCasesError, RunFolderError
from memsim.report import number_format
from memsim.report.layout import Column, Marks, Row, Table, TextLine, terminal_table

if TYPE_CHECKING:
    from memsim.suite.case_plan import CasePlan
    from memsim.suite.scenarios import ScenarioRef, Selection


def plan_line(plan: CasePlan, marks: Marks) -> str:
    """The size of a plan, such as `72 cases: 9 scenarios × 8 strategies × 1 budget`."""
    cases = plan.cases
    if plan.shard:
        whole = number_format.plural(plan.shard.total, "case")
        return f"shard {plan.shard}: {len(cases):,} of {whole}"
    factors = [
        number_format.plural(len({c.scenario for c in cases}), "scenario"),
        number_format.plural(len({c.strategy for c in cases}), "strategy", "strategies"),
        number_format.plural(len({c.budget for c in cases}), "budget"),
        number_format.plural(len({c.repeat for c in cases}), "repeat"),
    ]
    if factors[-1] == "1 repeat":
        factors.pop()
    return f"{number_format.plural(len(cases), 'case')}: {f' {marks.times} '.join(factors)}"


def preview_lines(plan: CasePlan, terminal: Terminal) -> list[TextLine]:
    """The cases of a plan by scenario, with their turns and questions."""
    rows: list[Row] = []
    turns = probes = 0
    for ref in dict.fromkeys(c.scenario for c in plan.cases):
        scenario = ref.load()
        cases = sum(c.scenario == ref for c in plan.cases)
        turns += cases * scenario.turns
        probes += cases * len(scenario.probes)
        counts = (cases, scenario.turns, len(scenario.probes))
        rows.append(((str(ref), *map(number_format.count, counts)), ""))
    columns = [Column("scenario", right=False)]
    columns += [Column(head) for head in ("cases", "turns", "probes")]
    marks = terminal.marks
    strategies = ", ".join(dict.fromkeys(str(c.strategy) for c in plan.cases))
    budgets = ", ".join(dict.fromkeys(number_format.budget(c.budget) for c in plan.cases))
    return [
        TextLine(text=plan_line(plan, marks), tone="head"),
        *terminal_table(Table(columns, rows), terminal.width).lines,
        TextLine(text=""),
        TextLine(text=f"  strategies  {strategies}"),
        TextLine(text=f"  budgets     {budgets}"),
        TextLine(text=f"  in all      {turns:,} turns, {probes:,} questions; nothing was run"),
    ]


NOTHING_FAILED = "memsim: nothing failed in the latest run: all cases are run"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """The arguments of `memsim run`, as typed.

    Attributes:
        strategies: strategy references; empty means those of the project.
        last_failed: play only cases that failed in the latest run.
        mask_bad_gold: leave out gold answers of a dataset that are known to be wrong.
        leak_attempts: share of each channel's attempts to play; None for all.
        isolated: all strategies have processes of their own, or none; None for those of users in
            channels of leakage.
        controls: also play the controls, as every comparison needs them.
        settings: flags that are settings, by key; None if not given.
    """

    selectors: tuple[str | ScenarioRef, ...] = ()
    strategies: tuple[str | StrategyRef, ...] = ()
    expression: str | None = None
    last_failed: bool = False
    data: str | None = None
    mask_bad_gold: bool = False
    leak_attempts: str | None = None
    isolated: bool | None = None
    controls: bool = True
    settings: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """A plan, and remarks to print before it is played."""

    plan: CasePlan
    remarks: tuple[str, ...] = ()


def plan_run(intent: RunRequest, project: Project) -> RunPlan:
    """Make the plan of a request."""
    from memsim.cli.own_processes import trial_of
    from memsim.leakage import LEAKAGE
    from memsim.suite.case_models import access_of
    from memsim.suite.case_plan import plan, resolve_strategies

    settings = settings_of(project, intent.settings)
    remarks: list[str] = []
    if intent.last_failed:
        intent, said = _last_failed(intent, settings, project)
        remarks += said
    selection = _selection(intent, settings, project)
    refs, settings = _named_cases(selection, intent, settings)
    # A leakage channel has its own controls, so only the requested strategies are attacked.
    datasets = {ref.dataset for ref in selection.scenarios}
    trial = trial_of(intent.isolated if datasets == {LEAKAGE} else bool(intent.isolated))
    controls = intent.controls and datasets != {LEAKAGE}
    strategies = resolve_strategies(refs, project, controls=controls, trial=trial)
    attacked = strategies
    if LEAKAGE in datasets and len(datasets) > 1:
        attacked = resolve_strategies(refs, project, controls=False, trial=trial)
    remarks += _shadowing(strategies, project)
    if LEAKAGE in datasets and (unread := project.unread(f"scenarios/{LEAKAGE}")):
        remarks.append(unread)
    _check_names(settings)
    access = access_of(settings, project)
    made = plan(settings, selection, strategies, intent.expression, attacked, access)
    remarks += _probeless(made)
    return RunPlan(plan=made, remarks=tuple(remarks))


def _selection(intent: RunRequest, settings: Settings, project: Project) -> Selection:
    from memsim.suite.scenarios import select_scenarios

    selectors = intent.selectors or settings.scenarios
    options = {"mask_bad_gold": "true"} if intent.mask_bad_gold else {}
    if intent.leak_attempts is not None:
        options["attempts"] = intent.leak_attempts
    return select_scenarios(selectors, project, data=_data(intent.data, selectors), options=options)


def _data(given: str | None, selectors: Iterable[str | ScenarioRef]) -> Path | None:
    # MEMSIM_DATA may name the folder of all datasets or the folder of one.
    if given is None:
        return None
    path = Path(given)
    inner = [path / str(name).partition("::")[0] for name in selectors]
    return next((p for p in inner if p.is_dir() and p.parent == path), path)


def _named_cases(
    selection: Selection, intent: RunRequest, settings: Settings
) -> tuple[Sequence[str | StrategyRef], Settings]:
    """The refs and budgets to plan: those of the named cases, if only cases were named."""
    narrowed = set(selection.cases) == set(selection.scenarios)
    if not narrowed or not selection.cases:
        return intent.strategies or settings.strategies, settings
    variants = sorted({v for inside in selection.cases.values() for v in inside})
    refs = list(dict.fromkeys(v.rpartition("@")[0] for v in variants))
    if not intent.settings.get("budget"):
        budgets = tuple(dict.fromkeys(_budget(v) for v in variants))
        settings = replace(settings, budget=budgets, budget_forced=True)
    return intent.strategies or refs, settings


def _budget(variant: str) -> int:
    try:
        return parse_budget(variant.rpartition("@")[2])
    except ValueError as error:
        raise ConfigError(f"[{variant}]: the budget {error}") from None


def _last_failed(
    intent: RunRequest, settings: Settings, project: Project
) -> tuple[RunRequest, Sequence[str]]:
    from memsim.gate import fails, lacks
    from memsim.runs import load_run

    try:
        latest = load_run("latest", project.base / settings.reports)
    except RunFolderError as error:
        if error.message == "there is no run yet":
            return intent, [NOTHING_FAILED]
        raise
    cases = [case.id for case in latest.cases if fails(case) or lacks(case)]
    if not cases:
        return intent, [NOTHING_FAILED]
    named = [str(selector) for selector in intent.selectors]
    wanted = dict.fromkeys(case for case in cases if _within(case, named))
    if not wanted:
        raise NoCasesError(f"nothing of {', '.join(named)} failed in the latest run")
    return replace(intent, selectors=tuple(wanted)), ()


def _within(case: str, selectors: Sequence[str]) -> bool:
    source, _, rest = case.partition("::")
    name = rest.partition("[")[0]
    inside = {source, name, f"{source}::{name}", case}
    return not selectors or any(
        s in inside or source.startswith(s.rstrip("/") + "/") for s in selectors
    )


def _shadowing(strategies: Sequence[StrategyRef], project: Project) -> list[str]:
    from memsim.discovery.catalogue import find_strategies

    shadows = {f.name: f for f in find_strategies(project) if f.shadows}
    names = dict.fromkeys(ref.name for ref in strategies if not ref.path)
    return [
        f"{name} is the {shadows[name].origin} one, over the {shadows[name].shadows} one"
        for name in names
        if name in shadows
    ]


def _probeless(made: CasePlan) -> list[str]:
    without = dict.fromkeys(case.scenario for case in made.cases if not case.probes)
    return [f"{ref} asks no probe: nothing of it can be measured{_advice(ref)}" for ref in without]


def _advice(ref: ScenarioRef) -> str:
    if not ref.load().recorded:
        return ""
    return " but what was sent: write questions under the key probes of that file"


def _check_names(settings: Settings) -> None:
    """Refuse unknown models and tokenizers before anything is written, without loading them."""
    from memsim.message import ENCODINGS, load_tokenizer
    from memsim.models.model_ref import read_embedder, read_judge, read_model

    read_model(settings.model)
    read_embedder(settings.embedder)
    if settings.judge:
        read_judge(settings.judge)
    if settings.tokenizer not in ENCODINGS:
        load_tokenizer(settings.tokenizer)
