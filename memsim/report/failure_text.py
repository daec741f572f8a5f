"""Render broken bounds, unscored cases and missed probes, with commands to paste."""

from __future__ import annotations

import shlex
import textwrap

from memsim.report import number_format
from memsim.report.layout import Marks, TextLine, pad
from memsim.report.leak_advice import title_of
from memsim.report.run_summary import (
    BrokenBound,
    CaseFailure,
    MissedGroup,
    MissedProbe,
    UnscoredCase,
)
from memsim.scoring.outcomes import reason_name

MANY_BLOCKS = 20
"""Most failed cases that are printed; the others are counted."""

_CHANNEL = "channel "
"""Begins the place of the bound that a channel of leakage has of itself."""

NAMED = 3
"""Most missed probes that a block names."""


def explain_command(probe: str) -> str:
    """Write the command that explains a probe, quoted for a shell."""
    return f"memsim explain {shlex.quote(probe)}"


def failure_lines(failures: tuple[CaseFailure, ...], marks: Marks) -> list[TextLine]:
    """Render a block for each failed case, up to a limit."""
    lines: list[TextLine] = []
    for failure in failures[:MANY_BLOCKS]:
        lines += [*block(failure, marks), TextLine(text="")]
    if len(failures) > MANY_BLOCKS:
        more = f"{marks.dots} {len(failures) - MANY_BLOCKS:,} more failed cases in report.md"
        lines += [TextLine(text=more, tone="bad"), TextLine(text="")]
    return lines


def block(failure: CaseFailure, marks: Marks, command: str = "") -> list[TextLine]:
    """Render one failed case: its bounds, its missed probes and a command."""
    lines = [TextLine(text=f"FAILED {failure.case}", tone="bad")]
    said = [broken_text(b, marks) for b in failure.broken]
    wide = max((len(text) for text in said), default=0)
    for text, broken in zip(said, failure.broken, strict=True):
        lines.append(TextLine(text=f"  {pad(text, wide)}    {bound_place(broken)}".rstrip()))
    if failure.missed:
        named = ", ".join(
            probe_way(p.probe, p.said, p.gone, p.reason) for p in failure.missed[:NAMED]
        )
        rest = len(failure.missed) - NAMED
        more = f", +{rest}" if rest > 0 else ""
        lines.append(TextLine(text=f"  missed: {named}{more}"))
    first = failure.missed[0].id if failure.missed else failure.case
    return [*lines, TextLine(text=f"  {command or explain_command(first)}")]


def broken_text(broken: BrokenBound, marks: Marks) -> str:
    """Format a broken bound, such as `recall .62 < .80`."""
    sign, _, bound = broken.bound.partition(" ")
    if _forbids_leaks(broken):
        return f"{number_format.share(broken.value)} of the attempts leaked, none may"
    opposite = {">=": "<", "<=": ">", ">": marks.at_most, "<": marks.at_least, "==": "!="}
    value = metric_value(broken.metric, broken.value)
    if broken.value is None:
        return f"{broken.metric} {value}, expected {broken.bound}"
    return f"{broken.metric} {value} {opposite.get(sign, 'not ' + sign)} {_bound(bound)}"


def bound_place(broken: BrokenBound) -> str:
    """Where a bound was said; of a channel of leakage, what may go wrong there."""
    if _forbids_leaks(broken):
        return title_of(broken.place.removeprefix(_CHANNEL), broken.place)
    return broken.place


def _forbids_leaks(broken: BrokenBound) -> bool:
    return broken.metric == "plr" and broken.place.startswith(_CHANNEL)


def metric_value(metric: str, value: float | None) -> str:
    """Format a metric's value: a share, or a number of tokens or events."""
    if value is None:
        return number_format.UNSCORED
    if 0 <= value <= 1 and not metric.startswith("context"):
        return number_format.share(value)
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def _bound(text: str) -> str:
    text = text.strip()
    return text.removeprefix("0") if text.startswith("0.") else text


def probe_way(probe: str, said: int | None, gone: int | None, reason: str) -> str:
    """A probe with where its evidence went, such as `order_id (turn 3, evicted)`."""
    parts = [] if said is None else [f"turn {said}"]
    if gone is not None:
        parts.append(f"out of the context from turn {gone}")
    elif reason:
        parts.append(reason_name(reason))
    return f"{probe} ({', '.join(parts)})" if parts else probe


def unscored_lines(
    cases: tuple[UnscoredCase, ...], marks: Marks, *, tracebacks: bool = False
) -> list[TextLine]:
    """Render the cases that could not be scored, and why; with tracebacks on request."""
    lines: list[TextLine] = []
    for case in cases[:MANY_BLOCKS]:
        lines.append(TextLine(text=f"{case.state.upper()} {case.case}", tone="bad"))
        lines.append(TextLine(text=f"  {case.error or 'no reason was given'}"))
        for text in case.tracebacks if tracebacks else ():
            lines += traceback_lines(text)
    if not tracebacks and any(case.tracebacks for case in cases):
        lines.append(TextLine(text="  the whole traceback: report.md, or -v", tone="dim"))
    if len(cases) > MANY_BLOCKS:
        more = f"{marks.dots} {len(cases) - MANY_BLOCKS:,} more unscored cases in report.md"
        lines.append(TextLine(text=more, tone="bad"))
    return [*lines, TextLine(text="")] if lines else []


def traceback_lines(text: str) -> list[TextLine]:
    """Render a traceback, line by line."""
    return [TextLine(text=f"  {line}".rstrip(), tone="dim") for line in text.splitlines()]


def missed_lines(groups: tuple[MissedGroup, ...], marks: Marks, width: int) -> list[TextLine]:
    """Render what each strategy missed, why, and up to three probes to look into."""
    if not groups:
        return []
    lines = [TextLine(text="missed, and why", tone="head")]
    several = len({g.budget for g in groups}) > 1
    names = [g.strategy + (f"@{number_format.budget(g.budget)}" if several else "") for g in groups]
    wide = max(map(len, names))
    for name, group in zip(names, groups, strict=True):
        hanging = " " * (wide + 4)
        room = max(width, len(hanging) + 24)
        text = textwrap.wrap(missed_text(group), room - len(hanging))
        lines.append(TextLine(text=f"  {pad(name, wide)}  {text[0]}"))
        lines += [TextLine(text=hanging + more) for more in text[1:]]
    if any(len(g.examples) > NAMED for g in groups):
        return [*lines, *_all_missed(groups), TextLine(text="")]
    lines.append(TextLine(text=f"  to see where one went {marks.dots}", tone="dim"))
    lines += [TextLine(text=f"    {explain_command(p.id)}") for p in _examples(groups)]
    return [*lines, TextLine(text="")]


def missed_text(group: MissedGroup) -> str:
    """Such as `15 of 40: 13 evicted, 2 not read; 1 of 4 hallucinated`."""
    reasons = ", ".join(f"{n:,} {reason_name(word)}" for word, n in group.reasons.items())
    text = f"{group.missed:,} of {group.answerable:,}" + (f": {reasons}" if reasons else "")
    if group.hallucinated:
        text += f"; {group.hallucinated:,} of {group.unanswerable:,} hallucinated"
    return text


def _all_missed(groups: tuple[MissedGroup, ...]) -> list[TextLine]:
    missed = [probe for group in groups for probe in group.examples]
    said = [f"{probe.outcome} {reason_name(probe.reason)}".strip() for probe in missed]
    wide = max(map(len, said))
    return [
        TextLine(text=f"  {pad(text, wide)}  {probe.id}")
        for text, probe in zip(said, missed, strict=True)
    ]


def _examples(groups: tuple[MissedGroup, ...]) -> list[MissedProbe]:
    # One for each strategy first: three probes of the worst one would say less.
    picked = [g.examples[0] for g in groups if g.examples]
    picked += [p for g in groups for p in g.examples[1:]]
    return picked[:NAMED]
