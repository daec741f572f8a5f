"""What a plan amounts to, before it is carried out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memsim.cli.terminal import Terminal
from memsim.report import numbers
from memsim.report.layout import Column, TextLine, Tone, lay_out
from memsim.report.marks import Marks

if TYPE_CHECKING:
    from memsim.suite import Plan


def plan_line(plan: Plan, marks: Marks) -> str:
    """Such as `72 cases: 9 scenarios × 8 strategies × 1 budget`."""
    cases = plan.cases
    factors = [
        numbers.plural(len({c.scenario for c in cases}), "scenario"),
        numbers.plural(len({c.strategy for c in cases}), "strategy", "strategies"),
        numbers.plural(len({c.budget for c in cases}), "budget"),
        numbers.plural(len({c.repeat for c in cases}), "repeat"),
    ]
    if factors[-1] == "1 repeat":
        factors.pop()
    return f"{numbers.plural(len(cases), 'case')}: {f' {marks.times} '.join(factors)}"


def preview_lines(plan: Plan, terminal: Terminal) -> list[TextLine]:
    """The cases of a plan by scenario, with the turns and questions that they come to."""
    rows: list[tuple[Sequence[str], Tone]] = []
    turns = probes = 0
    for ref in dict.fromkeys(c.scenario for c in plan.cases):
        scenario = ref.load()
        cases = sum(c.scenario == ref for c in plan.cases)
        turns += cases * scenario.turns
        probes += cases * len(scenario.probes)
        counts = (cases, scenario.turns, len(scenario.probes))
        rows.append(((str(ref), *map(numbers.count, counts)), ""))
    columns = [Column(head="scenario", right=False)]
    columns += [Column(head=head) for head in ("cases", "turns", "probes")]
    marks = terminal.marks
    strategies = ", ".join(dict.fromkeys(str(c.strategy) for c in plan.cases))
    budgets = ", ".join(dict.fromkeys(numbers.budget(c.budget) for c in plan.cases))
    return [
        TextLine(text=plan_line(plan, marks), tone="head"),
        *lay_out(columns, rows, terminal.width).lines,
        TextLine(text=""),
        TextLine(text=f"  strategies  {strategies}"),
        TextLine(text=f"  budgets     {budgets}"),
        TextLine(text=f"  in all      {turns:,} turns, {probes:,} questions; nothing was run"),
    ]
