"""Report the results of checks as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.errors import ExitCode
from memsim.report.layout import Column, Row, Table, TextLine, Tone, terminal_table
from memsim.testing.invariant_catalogue import COUNT, invariant, known

if TYPE_CHECKING:
    from memsim.testing.case_coverage import FeatureCount
    from memsim.testing.checks import CheckPlan, CheckReport, CheckResult, Verdict
    from memsim.testing.lockstep import Divergence, LockstepResult


# What came of pairs of worlds, as lines for people and as JSON for programs.


def pairs_exit_code(found: Sequence[LockstepResult]) -> ExitCode:
    """Failed where two worlds part, unmeasured where there was nothing to interfere."""
    if any(one.parting for one in found):
        return ExitCode.FAILED
    return ExitCode.UNMEASURABLE if any(one.why for one in found) else ExitCode.PASSED


def pair_lines(found: Sequence[LockstepResult]) -> Iterator[TextLine]:
    """A line for each strategy, and where two worlds part how and where."""
    for one in found:
        compared = f"{one.pairs:,} pairs of worlds, {one.views:,} views"
        if one.parting is not None:
            yield TextLine(text=f"DIFFERS  {one.subject}  after {compared}", tone="bad")
            yield from _parting(one.parting)
        elif one.why:
            yield TextLine(text=f"UNMEASURED  {one.subject}  {compared}: {one.why}", tone="bad")
        else:
            yield TextLine(text=f"the same  {one.subject}  {compared}, to the byte", tone="good")


def _parting(parting: Divergence) -> Iterator[TextLine]:
    yield TextLine(text=f"  second world  {parting.way}")
    yield TextLine(text=f"  path          {' -> '.join(parting.path)}")
    yield TextLine(text=f"  from byte     {parting.at}")
    yield TextLine(text=f"  one world     {_bytes(parting.left)}")
    yield TextLine(text=f"  the other     {_bytes(parting.right)}")
    yield TextLine(text="")


def _bytes(data: bytes) -> str:
    return repr(data)[1:] if data else "nothing"


def pairs_as_json(found: Sequence[LockstepResult], code: int) -> str:
    """Everything as one JSON object; bytes as Python writes them."""
    return json.dumps({"exit": code, "subjects": [_pair_record(one) for one in found]}, indent=1)


def _pair_record(one: LockstepResult) -> dict[str, object]:
    parting = one.parting
    return {
        "subject": one.subject,
        "pairs": one.pairs,
        "views": one.views,
        "telling": one.informative,
        "why": one.why,
        "parting": parting
        and {
            "way": parting.way,
            "who": parting.who,
            "view": parting.view,
            "turn": parting.turn,
            "byte": parting.at,
            "one": _bytes(parting.left),
            "other": _bytes(parting.right),
            "path": list(parting.path),
        },
    }


Paths = Mapping[tuple[str, str], Path]

_SIGNS: Mapping[Verdict, str] = {
    "violated": "BROKEN",
    "declared": "declared",
    "nothing": "-",
    "not applicable": ".",
    "invalid": "invalid",
}


def lines(
    reports: Sequence[CheckReport], plan: CheckPlan, paths: Paths, width: int, *, verbose: bool
) -> list[TextLine]:
    """The table, what is broken, and how hard it was tried."""
    told = [*_table(reports, width), TextLine(text="")]
    told += [TextLine(text=_LEGEND, tone="dim"), TextLine(text="")]
    for report in reports:
        told += _broken(report, paths)
    told += _coverage(reports, verbose=verbose)
    if verbose:
        told += _unmeasured(reports)
    return [*told, _closing(reports, plan)]


_LEGEND = (
    "  a number: cases in which it was measured, and holds; -: nothing to measure came up;"
    " .: not applicable"
)


def _table(reports: Sequence[CheckReport], width: int) -> Iterator[TextLine]:
    columns = [
        Column("invariant", right=False),
        Column("family", right=False, rank=1000),
        *(Column(r.subject, rank=n) for n, r in enumerate(reports)),
    ]
    rows: list[Row] = []
    for place, first in enumerate(reports[0].results):
        promise = invariant(first.invariant)
        results = [report.results[place] for report in reports]
        tone: Tone = "bad" if any(r.verdict == "violated" for r in results) else ""
        rows.append(((promise.label, promise.tag, *map(_cell, results)), tone))
    laid = terminal_table(Table(columns, rows), width)
    yield from laid.lines
    if laid.hidden:
        hidden = ", ".join(laid.hidden)
        yield TextLine(text=f"  no room for: {hidden}; a wider terminal shows them", tone="dim")


def _cell(result: CheckResult) -> str:
    return _SIGNS.get(result.verdict, f"{result.examples:,}")


def _broken(report: CheckReport, paths: Paths) -> Iterator[TextLine]:
    for why in dict.fromkeys(r.why for r in report.results if r.verdict == "invalid"):
        text = f"INVALID  {report.subject}  {_printable(why)}"
        yield from (TextLine(text=text, tone="bad"), TextLine(text=""))
    for result in report.results:
        if result.verdict not in {"violated", "declared"}:
            continue
        promise = invariant(result.invariant)
        tone: Tone = "bad" if result.verdict == "violated" else "dim"
        again = ", as before" if result.replayed else ""
        word = "BROKEN" if result.verdict == "violated" else "declared"
        yield TextLine(text=f"{word}  {report.subject}  {promise.label}{again}", tone=tone)
        yield TextLine(text=f"  promise  {promise.statement}")
        yield TextLine(text=f"  found    {_printable(result.why)}")
        if promise.remedy:
            yield TextLine(text=f"  to do    {promise.remedy}")
        if (report.subject, result.invariant) in paths:
            yield TextLine(text=f"  program  python {paths[report.subject, result.invariant]}")
        yield TextLine(text="")


def _printable(text: str) -> str:
    return ascii(text)[1:-1] if not text.isprintable() else text


def _coverage(reports: Sequence[CheckReport], *, verbose: bool) -> Iterator[TextLine]:
    shown: dict[str, FeatureCount] = {}
    for report in reports:
        for covered in report.coverage:
            if verbose or not covered.enough:
                shown.setdefault(covered.name, covered)
    for covered in shown.values():
        short = "" if covered.enough else "  TOO FEW: this check has not tried hard enough"
        text = (
            f"  {covered.share:4.0%} of {covered.cases:,} cases, at least {covered.floor:.0%}:"
            f" {covered.name}{short}"
        )
        yield TextLine(text=text, tone="" if covered.enough else "bad")
    if not verbose and reports and not shown:
        counted = sum(len(report.coverage) > 0 for report in reports)
        if counted:
            text = "  every kind of case came up as often as it must (-v shows how often)"
            yield TextLine(text=text, tone="dim")
    if shown:
        yield TextLine(text="")


def _unmeasured(reports: Sequence[CheckReport]) -> Iterator[TextLine]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for report in reports:
        for result in report.results:
            if result.verdict in {"nothing", "not applicable"}:
                label = f"I{invariant(result.invariant).number}"
                reasons.setdefault((report.subject, result.why), []).append(label)
    for (subject, why), labels in reasons.items():
        yield TextLine(text=f"  {subject}: {' '.join(dict.fromkeys(labels))}: {why}", tone="dim")
    there = {i.number for i in known()}
    missing = " ".join(f"I{n}" for n in range(1, COUNT + 1) if n not in there)
    if missing:
        yield TextLine(text=f"  in no check yet: {missing}", tone="dim")


def _closing(reports: Sequence[CheckReport], plan: CheckPlan) -> TextLine:
    results = [r for report in reports for r in report.results]
    broken = sum(1 for r in results if r.verdict == "violated")
    held = sum(1 for r in results if r.verdict == "holds")
    thin = sum(len(report.thin) for report in reports)
    declared = sum(1 for r in results if r.verdict == "declared")
    subjects = f"{len(reports)} subject{'s' if len(reports) != 1 else ''}"
    tried = f"{plan.profile.examples:,} cases each, profile {plan.profile.name}, seed {plan.seed}"
    said = [f"{held} hold", f"{broken} broken"]
    said += [f"{declared} declared"] if declared else []
    invalid = sum(1 for r in results if r.verdict == "invalid")
    said += [f"{invalid} invalid"] if invalid else []
    said += [f"{thin} below a floor"] if thin else []
    tone: Tone = "bad" if broken or thin or invalid else "good"
    return TextLine(text=f"{subjects}, {tried}: {', '.join(said)}", tone=tone)


def as_json(reports: Sequence[CheckReport], plan: CheckPlan, paths: Paths, code: int) -> str:
    """Everything as one JSON object."""
    value = {
        "profile": plan.profile.name,
        "examples": plan.profile.examples,
        "steps": plan.profile.steps,
        "seed": plan.seed,
        "exit": code,
        "subjects": [_report(report, paths) for report in reports],
    }
    return json.dumps(value, indent=1, ensure_ascii=True)


def _report(report: CheckReport, paths: Paths) -> dict[str, object]:
    return {
        "subject": report.subject,
        "results": [_result(result, paths) for result in report.results],
        "coverage": [
            {"name": c.name, "floor": c.floor, "cases": c.cases, "seen": c.seen}
            for c in report.coverage
        ],
    }


def _result(result: CheckResult, paths: Paths) -> dict[str, object]:
    promise = invariant(result.invariant)
    path = paths.get((result.subject, result.invariant))
    return {
        "number": promise.number,
        "name": promise.name,
        "family": promise.tag,
        "measured_on": promise.on,
        "statement": promise.statement,
        "remedy": promise.remedy,
        "verdict": result.verdict,
        "examples": result.examples,
        "looked": result.looked,
        "why": result.why,
        "replayed": result.replayed,
        "counterexample": None if path is None else str(path),
    }
