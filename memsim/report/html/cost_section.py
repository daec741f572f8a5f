"""Render the costs of each strategy: tokens, calls, compactions, dollars and time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memsim.latency import REAL
from memsim.report import number_format
from memsim.report.html.markup import Markup, element, table
from memsim.report.html.page_content import PageContent, section, strategy_name
from memsim.report.latency_table import PAGE_NOTE, latency_table
from memsim.report.layout import Column, Table
from memsim.report.plots.palette import Looks
from memsim.report.run_summary import Board, BoardRow
from memsim.suite.cases import CaseResult

COST_PLOTS = ("spend", "context-over-time")
LATENCY_PLOT = "latency"
MEMORY = frozenset({"write", "maintain", "search"})
"""Phases in which a memory, and not the agent, calls a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyCost:
    """The costs of one strategy over all cases of a board.

    Attributes:
        sent: tokens of all contexts.
        cached: those of them that a prompt cache could serve: they repeat the context before.
        calls, taken, written: the memory's own model calls, and their tokens in and out.
        dollars: of all model calls; None where no price is known.
    """

    sent: float = 0
    cached: float = 0
    calls: int = 0
    taken: int = 0
    written: int = 0
    compactions: float = 0
    freed: float = 0
    breaks: float = 0
    dollars: float | None = None
    seconds: float = 0


def money_of(subject: PageContent, row: BoardRow) -> str:
    """Say in a sentence what a strategy cost in dollars."""
    found = [c.metrics.get("cost_per_100_turns") for c in _cases(subject, row.budget, row.strategy)]
    known = [value for value in found if value is not None]
    if not known:
        return "Dollars: not measured, no price of the model is known."
    mean = math.fsum(known) / len(known)
    if mean == 0 and str(subject.settings.get("model", "")).startswith("offline"):
        return "No dollars: the offline model is free."
    return f"${mean:,.2f} for 100 turns."


def spending(subject: PageContent) -> Markup:
    """Render the section on costs."""
    board = subject.board
    inside: list[str] = [subject.plot(*COST_PLOTS)]
    if board is not None:
        spent = [cost_of(_cases(subject, board.budget, r.strategy), subject) for r in board.rows]
        inside += [
            _table(board, spent, subject.looks),
            element("p", *_notes(subject, spent), class_="note"),
            *_times(subject, board),
        ]
    else:
        inside.append(element("p", "No scenario was played.", class_="unmeasured"))
    return section("cost", "What remembering cost", "What is the price of it?", *inside)


def _times(subject: PageContent, board: Board) -> Iterator[str]:
    times = latency_table(subject.run.cases, board, clocks=(REAL,))
    if times is None:
        return
    yield subject.plot(LATENCY_PLOT)
    over = f"Time of a call at budget {number_format.budget(board.budget)}"
    yield table(times, over, heading=0)
    said = " Processor time is in latency.json."
    yield element("p", PAGE_NOTE, said, class_="note")


def _notes(subject: PageContent, spent: Sequence[StrategyCost]) -> Iterator[str]:
    yield (
        "Sums over all scenarios of the board. Cache read: sent tokens that repeat the start of the"
        " context before, which a prompt cache could serve; the rest would be written to it."
    )
    if any(s.seconds for s in spent):
        yield (
            " Time is that of the machine which played the run, for information; it is never gated."
        )
    else:
        yield " How long it took is not kept: these numbers are the same on every machine."
    if not any(s.dollars for s in spent):
        free = str(subject.settings.get("model", "")).startswith("offline")
        yield " No dollars: the offline model is free." if free else " No dollars are known."


def _table(board: Board, spent: Sequence[StrategyCost], looks: Looks) -> Markup:
    rows = board.rows
    series = [
        (Column("strategy", right=False), [r.strategy for r in rows]),
        (Column("input"), [_amount(s.sent) for s in spent]),
        (Column("cache write"), [_amount(s.sent - s.cached) for s in spent]),
        (Column("cache read"), [_amount(s.cached) for s in spent]),
        (Column("memory's calls"), [f"{s.calls:,}" for s in spent]),
        (Column("their input"), [_amount(s.taken) for s in spent]),
        (Column("their output"), [_amount(s.written) for s in spent]),
        (Column("compactions"), [f"{s.compactions:,.0f}" for s in spent]),
        (Column("freed"), [_amount(s.freed) for s in spent]),
        (Column("cache breaks"), [f"{s.breaks:,.0f}" for s in spent]),
    ]
    # A column of nothing but zeros says nothing, and would be taken for a measurement.
    if any(s.dollars for s in spent):
        series.append((Column("dollars"), [_dollars(s.dollars) for s in spent]))
    if any(s.seconds for s in spent):
        series.append((Column("time"), [number_format.seconds(s.seconds) for s in spent]))
    what = _listed([column.head for column, _ in series])
    return table(
        Table.of_columns(series),
        f"{what} at budget {number_format.budget(board.budget)}",
        tones=["control" if r.control else "" for r in rows],
        heading=0,
        cell=lambda _, column, text: strategy_name(text, looks) if column == 0 else text,
    )


def _listed(heads: Sequence[str]) -> str:
    kinds = [kind for kind in ("dollars", "time") if kind in heads]
    *first, last = ("Tokens", "calls", *kinds)
    return f"{', '.join(first)} and {last}"


def _amount(tokens: float) -> str:
    return f"{tokens:,.0f}"


def _dollars(value: float | None) -> str:
    return number_format.UNSCORED if value is None else f"${value:,.2f}"


def _cases(subject: PageContent, budget: int, strategy: str) -> list[CaseResult]:
    dataset = subject.board.dataset if subject.board else ""
    return [
        c
        for c in subject.run.cases
        if (c.dataset, c.budget, c.strategy) == (dataset, budget, strategy)
    ]


def cost_of(cases: Sequence[CaseResult], subject: PageContent) -> StrategyCost:
    """Sum up the costs of some cases."""
    sent = [c.metrics.get("context_total") or 0 for c in cases]
    shares = [c.metrics.get("cached_share") or 0 for c in cases]
    calls: Counter[str] = Counter()
    for case in cases:
        calls += _calls(subject.run.turns(case.key, only=_has_calls))
        calls += _calls(subject.run.probes(case.key))
    prices = [c.metrics.get("cost") for c in cases]
    known = [price for price in prices if price is not None]
    return StrategyCost(
        sent=math.fsum(sent),
        cached=math.fsum(s * share for s, share in zip(sent, shares, strict=True)),
        calls=calls["calls"],
        taken=calls["input"],
        written=calls["output"],
        compactions=_sum(cases, "compactions"),
        freed=_sum(cases, "tokens_freed"),
        breaks=_sum(cases, "cache_breaks"),
        dollars=math.fsum(known) if known and len(known) == len(prices) else None,
        seconds=math.fsum(c.seconds for c in cases),
    )


def _sum(cases: Sequence[CaseResult], metric: str) -> float:
    return math.fsum(c.metrics.get(metric) or 0 for c in cases)


def _has_calls(line: bytes) -> bool:
    return b'"calls":' in line


def _calls(lines: Iterable[Mapping[str, Any]]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for line in lines:
        for call in line.get("calls", ()):
            if call["phase"] in MEMORY:
                counted["calls"] += 1
                counted["input"] += call["input"]
                counted["output"] += call["output"]
    return counted
