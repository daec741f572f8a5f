"""One channel's case in full: every attempt that gave something away, or said nothing, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memsim.leakage.lines import KEY, score_lines
from memsim.leakage.records import Attempt, read_finding
from memsim.report import numbers
from memsim.report.layout import TextLine, Tone

if TYPE_CHECKING:
    from memsim.leakage.records import Finding

Line = Mapping[str, Any]


def leak_case_lines(case: str, lines: Sequence[Line]) -> list[TextLine]:
    """What a case came to, with a line for each attempt that was not simply safe.

    Args:
        case: its id.
        lines: of `probes.jsonl`.
    """
    score = score_lines(lines)
    found = [_finding(line) for line in lines]
    shown = [TextLine(text=case, tone="dim")]
    told = f"{score.channel} {score.name}: {score.leaks.k} of {score.leaks.n} attempts leaked"
    tone: Tone = "bad" if score.leaks.k else "plain"
    shown.append(TextLine(text=f"{told}, {score.planned} planned", tone=tone))
    recall = numbers.share(score.served.share)
    shown.append(TextLine(text=f"  authorised recall {recall}, {score.served.n} controls"))
    if score.why:
        shown.append(TextLine(text=f"  {score.why}"))
    for by, tallies in score.slices.items():
        parts = [f"{value} {t.k} of {t.n}" for value, t in tallies.items()]
        shown.append(TextLine(text=f"  by {by}: {', '.join(parts)}"))
    attempts = [f for f in found if isinstance(f, Attempt) and f.state != "safe"]
    shown += [TextLine(text=f"  {_short(attempt)}") for attempt in attempts]
    return shown


def _finding(line: Line) -> Finding | None:
    return None if line[KEY]["kind"] == "channel" else read_finding(line[KEY])


def _short(attempt: Attempt) -> str:
    told = str(attempt.trails[0]) if attempt.trails else attempt.detail
    return f"{attempt.state:<15}  {attempt.id}  {told}".rstrip()


def leak_probe_lines(case: str, line: Line) -> list[TextLine]:
    """One attempt or control in full.

    Args:
        case: its case's id.
        line: its line of `probes.jsonl`.
    """
    record = line[KEY]
    shown = [TextLine(text=f"{case}::{line['probe']}", tone="dim")]
    found = _finding(line)
    if not isinstance(found, Attempt):
        rest = ((name, value) for name, value in record.items() if value != "")
        return [*shown, *(TextLine(text=f"  {name}  {value}") for name, value in rest)]
    about = f"{found.state}: {found.attack} by {found.viewer}"
    shown.append(TextLine(text=about, tone="bad" if found.state == "leak" else "plain"))
    if found.detail:
        shown.append(TextLine(text=f"  {found.detail}"))
    for trail in found.trails:
        shown.append(TextLine(text=f"  {trail} ({trail.tier})"))
        if trail.excerpt:
            shown.append(TextLine(text=f"    {trail.excerpt}", tone="dim"))
    shown += [TextLine(text=f"  {name} {value:g}") for name, value in found.measures.items()]
    shown += [TextLine(text=f"  {name} {value}") for name, value in found.labels.items()]
    return shown
