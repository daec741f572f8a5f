"""Render a comparison with a baseline for the terminal and as Markdown."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Sequence

from memsim.gate.comparison import ChangeWord, Comparison, MetricChange, MovedProbe, StalePart
from memsim.gate.score_sheet import is_share
from memsim.report import number_format
from memsim.report.failure_text import probe_way
from memsim.report.layout import (
    UNICODE,
    Column,
    Marks,
    Table,
    TextLine,
    Tone,
    markdown_code,
    markdown_escape,
    markdown_table,
    terminal_table,
)

TONES: dict[ChangeWord, Tone] = {
    "worse": "bad",
    "unmeasured": "bad",
    "stale": "bad",
    "better": "good",
}
NAMED = 5
"""Most probes of a strategy that are named; the others are counted."""


def comparison_lines(
    comparison: Comparison, marks: Marks, width: int, *, run: str = "latest"
) -> list[TextLine]:
    """Render a comparison for the terminal, with an empty line at the end.

    Args:
        comparison: what was found.
        marks: signs that can be shown.
        width: cells in a line.
        run: what `memsim explain` should call the run; empty where there is none to explain.
    """
    table = comparison_table(comparison, marks)
    lines = [TextLine(text=title(comparison, marks), tone="head"), TextLine(text="")]
    if table.rows:
        lines += [*terminal_table(table, width, indent="").lines, TextLine(text="")]
    lines += [TextLine(text=f"  {note}", tone="dim") for note in notes(comparison)]
    for lost in (True, False):
        lines += _moved_lines(comparison.moved, width, lost=lost)
    if comparison.moved and run:
        said = f"  memsim explain {shlex.quote(run)} {shlex.quote(comparison.moved[0].id)}"
        lines.append(TextLine(text=said))
    if _only_better(comparison):
        lines.append(TextLine(text="  it is better: consider memsim baseline save", tone="good"))
    return [*lines, TextLine(text="")]


def _only_better(comparison: Comparison) -> bool:
    words = {cell.word for cell in comparison.cells}
    return "better" in words <= {"better", "same"} and not any(m.lost for m in comparison.moved)


def title(comparison: Comparison, marks: Marks) -> str:
    """Such as `against main (2026-09-18 1f2e9ab)`."""
    made = f" ({comparison.made})" if comparison.made else ""
    ways = "whole scenarios resampled" if comparison.clustered else ""
    parts = [f"against {comparison.base}{made}", ways]
    return f" {marks.dot} ".join(part for part in parts if part)


def comparison_table(comparison: Comparison, marks: Marks) -> Table:
    """The changes of every strategy that both runs have, metric by metric."""
    cells = [cell for cell in comparison.cells if cell.word not in {"new", "gone"}]
    share = f"{comparison.confidence:.0%}"
    series = [
        (Column("strategy", right=False, clip=True), [c.variant for c in cells]),
        (Column("metric", right=False), [c.metric for c in cells]),
        (Column(comparison.base, rank=4), [value(c.metric, c.base) for c in cells]),
        (Column("now", rank=4), [value(c.metric, c.now) for c in cells]),
        (Column("change"), [change(c, marks) for c in cells]),
        (Column(share, right=False, rank=2), [_interval(c, marks) for c in cells]),
        (Column("p", rank=3), [_p(c.p) for c in cells]),
        (Column("pairs", rank=5), [str(c.pairs) if c.pairs else "" for c in cells]),
        (Column("lost", rank=1), [str(c.lost) if c.layer else "" for c in cells]),
        (Column("kept", rank=1), [str(c.kept) if c.layer else "" for c in cells]),
        (Column("", right=False), [_said(c) for c in cells]),
    ]
    return Table.of_columns(series, [TONES.get(cell.word, "") for cell in cells])


def _said(cell: MetricChange) -> str:
    altered = f" ({' and '.join(cell.altered)} changed)" if cell.altered else ""
    return cell.word + altered


def value(metric: str, amount: float | None) -> str:
    """Format a metric's value for a table."""
    if amount is None:
        return ""
    if is_share(metric):
        return number_format.share(amount)
    return f"{amount:,.0f}" if float(amount).is_integer() else f"{amount:,.2f}"


def change(cell: MetricChange, marks: Marks) -> str:
    """Format a change with its sign: points of a share, or per cent of an amount."""
    if cell.change is None:
        return ""
    if not is_share(cell.metric):
        return _signed(f"{abs(cell.change):.1%}", cell.change, marks)
    return _points(cell.change, marks)


def _points(amount: float, marks: Marks) -> str:
    text = f"{abs(amount):.2f}"
    return _signed(text.removeprefix("0") if text != "0.00" else "0", amount, marks)


def _signed(text: str, amount: float, marks: Marks) -> str:
    if text in {"0", "0.0%"}:
        return text
    return (marks.minus if amount < 0 else "+") + text


def _interval(cell: MetricChange, marks: Marks) -> str:
    if cell.low is None or cell.high is None:
        return ""
    return f"[{_points(cell.low, marks)} {_points(cell.high, marks)}]"


def _p(p: float | None) -> str:
    if p is None:
        return ""
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def notes(comparison: Comparison) -> list[str]:
    """List the remarks below a comparison's table."""
    return [*whys(comparison), *stale_notes(comparison.stale), *sizes(comparison)]


def whys(comparison: Comparison) -> list[str]:
    """List the reasons why cells were not compared, each once."""
    reasons = [f"{c.word}: {c.why} ({c.variant} {c.metric})" for c in comparison.cells if c.why]
    grouped: dict[str, int] = {}
    for cell in comparison.cells:
        if cell.why:
            grouped[f"{cell.word}: {cell.why}"] = grouped.get(f"{cell.word}: {cell.why}", 0) + 1
    if len(grouped) == len(reasons):
        return reasons
    return [f"{said} ({number_format.plural(count, 'cell')})" for said, count in grouped.items()]


def stale_notes(stale: Sequence[StalePart]) -> list[str]:
    """Name the scenarios whose text changed, in one line."""
    names = [s.name for s in stale if s.kind == "scenario"]
    if not names:
        return []
    more = f", +{len(names) - NAMED}" if len(names) > NAMED else ""
    said = ", ".join(names[:NAMED])
    return [f"stale, their text changed, so they are not compared: {said}{more}"]


def sizes(comparison: Comparison) -> Iterator[str]:
    """Say which drops were too small to be seen, and what only one side has."""
    paired = [c for c in comparison.cells if c.layer == "paired"]
    for metric in dict.fromkeys(c.metric for c in paired):
        seen = [c for c in paired if c.metric == metric]
        known = [c.visible for c in seen if c.visible is not None]
        if len(known) < len(seen):
            yield f"no drop in {metric} could have been seen in {len(seen) - len(known)} cells"
        if known:
            drops = _range(min(known), max(known))
            yield f"the smallest drop in {metric} that would be seen 4 times in 5: {drops}"
    for word, scenarios in (("new", comparison.new), ("gone", comparison.gone)):
        strategies = dict.fromkeys(c.variant for c in comparison.cells if c.word == word)
        for kind, names in (("strategies", list(strategies)), ("scenarios", list(scenarios))):
            if names:
                more = f", +{len(names) - NAMED}" if len(names) > NAMED else ""
                yield f"{word} {kind}: {', '.join(names[:NAMED])}{more}"


def _range(low: float, high: float) -> str:
    first, last = number_format.share(low), number_format.share(high)
    return first if first == last else f"{first} to {last}, by strategy"


def _moved_lines(moved: Sequence[MovedProbe], width: int, *, lost: bool) -> Iterator[TextLine]:
    mine = [m for m in moved if m.lost == lost]
    if not mine:
        return
    yield TextLine(text="newly lost" if lost else "newly kept", tone="bad" if lost else "good")
    for name in dict.fromkeys(m.variant for m in mine):
        text = f"{name}: {moved_text([m for m in mine if m.variant == name])}"
        lines = textwrap.wrap(text, max(width, 40), initial_indent="  ", subsequent_indent="    ")
        yield from (TextLine(text=line) for line in lines)


def moved_text(moved: Sequence[MovedProbe]) -> str:
    """Name probes that changed sides, each with where its evidence went."""
    more = f", +{len(moved) - NAMED}" if len(moved) > NAMED else ""
    return ", ".join(map(_way, moved[:NAMED])) + more


def _way(moved: MovedProbe) -> str:
    if moved.lost:
        return probe_way(moved.probe, moved.said, moved.gone, moved.reason)
    return probe_way(moved.probe, moved.said, None, "")


def comparison_markdown(comparison: Comparison) -> Iterator[str]:
    """Render a comparison as a Markdown section."""
    yield from ("", f"## Compared: {markdown_escape(title(comparison, UNICODE))}", "")
    table = comparison_table(comparison, UNICODE)
    if table.rows:
        yield from markdown_table(table)
        yield ""
    yield from (f"- {markdown_escape(note)}" for note in notes(comparison))
    for lost in (True, False):
        mine = [m for m in comparison.moved if m.lost == lost]
        if mine:
            yield from ("", "### Newly lost" if lost else "### Newly kept", "")
            yield from (f"- {markdown_code(m.id)}{markdown_escape(_after(m))}" for m in mine)


def _after(moved: MovedProbe) -> str:
    way = _way(moved).removeprefix(moved.probe)
    return f"{way}: {number_format.share(moved.base)} then, {number_format.share(moved.now)} now"
