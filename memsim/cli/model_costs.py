"""Costs of live models in `memsim run`: provider keys, cost limits, totals and estimates."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memsim.cli.run_options import is_given
from memsim.cli.supervisor import SUPERVISION
from memsim.models.model_access import NO_ACCESS, NO_SPENDING, Spending, add_spending
from memsim.models.model_ref import LiveRef, asks_provider, read_embedder, read_judge, read_model
from memsim.report import number_format
from memsim.report.layout import TextLine

if TYPE_CHECKING:
    from memsim.config import Settings
    from memsim.executors import Executor, Outcomes, PlayCase
    from memsim.models.live.cost_limit import Price
    from memsim.suite.case_plan import CasePlan
    from memsim.suite.cases import CaseSpec

_FLAGS = (("record", "--record"), ("live", "--live"), ("max_cost", "--max-cost"))


def check_live_flags(ctx: click.Context, settings: Settings) -> None:
    """Refuse flags of live models if the run uses no live model."""
    if asks_provider(settings.model, settings.embedder, settings.judge):
        return
    for name, flag in _FLAGS:
        if is_given(ctx, name) and not (name == "record" and settings.record == "none"):
            model = settings.model
            raise click.UsageError(f"{flag} needs a live model, but the model is {model}", ctx)


@contextmanager
def with_provider_access(plan: CasePlan) -> Iterator[CasePlan]:
    """Check that a provider can be called, and give the cases what they need for it."""
    settings, access = plan.settings, plan.cases[0].access if plan.cases else NO_ACCESS
    parts = (settings.model, settings.embedder, settings.judge)
    if access.mode == "none" or not asks_provider(*parts):
        yield plan
        return
    from memsim.models.provider_models import check_live

    check_live(settings.model, settings.embedder, access, settings.judge)
    if access.cap is None:
        yield plan
        return
    with tempfile.TemporaryDirectory(prefix="memsim-") as folder:
        with_ledger = replace(access, ledger=Path(folder) / "spent")
        cases = tuple(replace(case, access=with_ledger) for case in plan.cases)
        yield replace(plan, cases=cases)


class CostTally:
    """An executor that adds up the costs of its cases."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.spent = NO_SPENDING

    def run(self, specs: Sequence[CaseSpec], play: PlayCase) -> Outcomes:
        """Play the cases with the executor."""
        with closing(self._executor.run(specs, play)) as outcomes:
            for place, outcome in outcomes:
                self.spent = add_spending(self.spent, outcome.spent)
                yield place, outcome


def spent_line(spent: Spending, settings: Settings) -> str:
    """The calls and their costs in one line; empty without calls."""
    from memsim.models.live.cost_limit import dollars

    parts = []
    if spent.asked:
        known = None not in _prices(settings).values()
        price = f" for {dollars(spent.cost)}" if known else ", at a price that is not known"
        parts.append(f"{number_format.plural(spent.asked, 'call')} asked{price}")
    if spent.replayed:
        parts.append(f"{spent.replayed:,} replayed")
    if spent.failed:
        parts.append(f"{len(spent.failed):,} never answered")
    return f"{' and '.join(_prices(settings))}: {', '.join(parts)}" if parts else ""


def _prices(settings: Settings) -> dict[str, Price | None]:
    """The prices of the provider models of a run, by model."""
    from memsim.models.live.cost_limit import listed_price, price_of

    found: dict[str, Price | None] = {}
    if isinstance(ref := read_model(settings.model), LiveRef):
        found[ref.model] = price_of(ref)
    if settings.judge and isinstance(ref := read_judge(settings.judge).model, LiveRef):
        found[ref.model] = price_of(ref)
    if (named := read_embedder(settings.embedder)).kind == "litellm":
        found[named.name] = listed_price(named.name)
    return found


def priced_lines(plan: CasePlan) -> list[TextLine]:
    """Estimate the costs of a run by playing its cases with the offline model."""
    from memsim.executors import choose_executor
    from memsim.message import TokenCounter, load_tokenizer
    from memsim.models.live.cost_limit import dollars
    from memsim.suite.judgement import calibrate, with_calibration
    from memsim.suite.play import run_case

    if not (prices := _prices(plan.settings)):
        return []
    dry = [replace(case, access=replace(case.access, dry=True)) for case in plan.cases]
    counter = TokenCounter(load_tokenizer(plan.settings.tokenizer))
    trial = calibrate(dry, counter)
    # The result of the real trial is unknown here: assume that the judge passes it.
    specs = with_calibration(dry, "")
    turns = sum(spec.turns for spec in specs)
    jobs = plan.settings.jobs
    tally = CostTally(choose_executor(jobs, cases=len(specs), turns=turns))
    with SUPERVISION.played_by(jobs):
        for _ in tally.run(specs, run_case):
            pass
    spent = add_spending(trial.spent if trial else NO_SPENDING, tally.spent)
    cost = f"at most {dollars(spent.cost)} ({_rates(prices)})"
    if unknown := [name for name, price in prices.items() if price is None]:
        cost = f"not known of {unknown[0]}: give it with its name, as in price=0.15/0.60"
    tokens = f"{spent.input:,} of input ({plan.settings.tokenizer}), at most {spent.output:,} back"
    said = (
        ("calls", f"{spent.asked:,} of {' and '.join(prices)}, recorded or not"),
        ("tokens", tokens),
        ("price", cost),
    )
    return [TextLine(text=f"  {name:<11} {text}") for name, text in said]


def _rates(prices: Mapping[str, Price | None]) -> str:
    rates = (f"${p.input * 1e6:g} and ${p.output * 1e6:g}" for p in prices.values() if p)
    return "; ".join(rates) + " a million"
