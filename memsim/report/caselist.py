"""The failed probes of one case, each with its reason and the command that explains it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memsim.report import numbers
from memsim.report.failures import explain_command
from memsim.report.layout import Column, TextLine, Tone, lay_out
from memsim.scoring.outcomes import PASSED, UNMEASURED

if TYPE_CHECKING:
    from memsim.suite import CaseResult


def case_lines(case: CaseResult, probes: Sequence[Mapping[str, Any]], width: int) -> list[TextLine]:
    """What a case comes to.

    Args:
        case: its result.
        probes: its lines of `probes.jsonl`.
        width: cells in a line.
    """
    lines = [TextLine(text=case.key, tone="head")]
    if case.error:
        lines.append(TextLine(text=f"  {case.state}: {case.error}", tone="bad"))
    failed = [p for p in probes if p["outcome"] not in PASSED]
    passed = len(probes) - len(failed)
    lines.append(TextLine(text=f"  {passed:,} of {numbers.plural(len(probes), 'probe')} passed"))
    if not failed:
        return lines
    columns = [
        Column(head="probe", right=False),
        Column(head="outcome", right=False),
        Column(head="why", right=False),
        Column(head="said", rank=3),
        Column(head="asked", rank=4),
        Column(head="answer", right=False, rank=2, clip=True),
    ]
    rows = [(_cells(p), _tone(p)) for p in failed]
    lines += [TextLine(text=""), *lay_out(columns, rows, width).lines, TextLine(text="")]
    first = f"{case.key}::{failed[0]['probe']}"
    lines.append(TextLine(text=f"  {explain_command(first)}"))
    return lines


def _cells(probe: Mapping[str, Any]) -> tuple[str, ...]:
    said = max((piece["turn"] for piece in probe["evidence"]), default=None)
    answer = " ".join((probe["error"] or probe["answer"] or "").split())
    return (
        probe["probe"],
        probe["outcome"],
        probe["reason"] or "",
        "" if said is None else f"turn {said}",
        f"turn {probe['turn']}",
        answer,
    )


def _tone(probe: Mapping[str, Any]) -> Tone:
    return "dim" if probe["outcome"] in UNMEASURED else ""
