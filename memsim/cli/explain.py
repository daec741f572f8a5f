"""`memsim explain`: one probe of a saved run, turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memsim.cli.run_options import format_option
from memsim.cli.saved_runs import saved_run
from memsim.cli.terminal import Terminal
from memsim.discovery.project import find_project
from memsim.errors import RefError, nearest
from memsim.leakage import LEAKAGE
from memsim.report.layout import Marks, TextLine

if TYPE_CHECKING:
    from memsim.runs import Run
    from memsim.suite.cases import CaseResult

MANY = 8
"""Number of candidates that the error of an ambiguous name lists."""


@click.command(
    "explain",
    epilog="""\b
Examples:
  memsim explain 'scenarios/support_desk.yaml::support_desk[sliding_window@4k]::order_number'
  memsim explain latest order_number""",
)
@click.argument("names", nargs=-1, required=True, metavar="[RUN] CASE")
@format_option("table", "json")
@click.pass_context
def command(ctx: click.Context, names: tuple[str, ...], form: str) -> None:
    """Follow a probe through a saved run: where its fact was, turn by turn.

    CASE is a case id with or without ::probe, or a part of one that matches no other. Without a
    probe, the failed probes of the case are listed. RUN is latest (the default), the beginning of a
    run's id, or a path.
    """
    if len(names) > 2:
        raise click.UsageError(f"expected [RUN] CASE, not {len(names)} words: quote the case", ctx)
    run = saved_run(names[0] if len(names) == 2 else "latest", find_project())
    terminal = Terminal.of_process()
    case, probe = pick(run, names[-1])
    if form == "json" and probe is not None:
        terminal.say(_json_of(run, case, probe, terminal.marks))
        return
    terminal.say_lines(explanation_of(run, case, probe, terminal.marks, terminal.width))


def explanation_of(
    run: Run, case: CaseResult, probe: str | None, marks: Marks, width: int
) -> list[TextLine]:
    """Explain a probe of a case turn by turn; without a probe, list the failed ones of the case."""
    if probe is None:
        return _case_lines(run, case, width)
    from memsim.report.explanation import leak_probe_lines, story_lines
    from memsim.report.story import story_of

    record = _record_of(run, case, probe)
    if LEAKAGE in record:
        return leak_probe_lines(case.key, record)
    story = story_of(record, run.turns(case.key), case.budget, marks)
    return [TextLine(text=case.key, tone="dim"), *story_lines(story, marks, width)]


def _json_of(run: Run, case: CaseResult, probe: str, marks: Marks) -> str:
    import json

    from memsim.report.story import story_of

    record = _record_of(run, case, probe)
    if LEAKAGE in record:
        return json.dumps(record, indent=2, ensure_ascii=True)
    story = story_of(record, run.turns(case.key), case.budget, marks)
    return json.dumps({"case": case.key, **asdict(story)}, indent=2, ensure_ascii=True)


def _record_of(run: Run, case: CaseResult, probe: str) -> Mapping[str, object]:
    return next(p for p in run.probes(case.key) if p["probe"] == probe)


def pick(run: Run, name: str) -> tuple[CaseResult, str | None]:
    """Find the case and the probe by a name; the probe is None if the name is that of a case."""
    keys = {case.key: case for case in run.cases} | {case.id: case for case in reversed(run.cases)}
    if name in keys:
        return keys[name], None
    head, _, last = name.rpartition("::")
    if head in keys:
        return keys[head], _probe_of(run, keys[head], last)
    return _search(run, name)


def _probe_of(run: Run, case: CaseResult, name: str) -> str:
    known = [str(p["probe"]) for p in run.probes(case.key)]
    if name not in known:
        raise RefError(f"{case.key} has no probe {name!r}", hint=nearest(name, known))
    return name


def _search(run: Run, part: str) -> tuple[CaseResult, str | None]:
    cases = [case for case in run.cases if part in case.key]
    if len(cases) == 1:
        return cases[0], None
    by_key = {(case.id, case.repeat): case for case in run.cases}
    ids: list[tuple[CaseResult, str]] = []
    names: set[str] = set()
    for record in run.probes():
        case = by_key[record["case"], record["repeat"]]  # type: ignore[index]
        probe = str(record["probe"])
        names.add(probe)
        if part in f"{case.key}::{probe}" and (not cases or part in probe):
            ids.append((case, probe))
    exact = [(case, probe) for case, probe in ids if probe == part]
    found = exact or ids
    if len(found) == 1:
        return found[0]
    several = [f"{case.key}::{probe}" for case, probe in found] or [c.key for c in cases]
    if several:
        raise RefError(_ambiguous(part, several))
    hint = nearest(part, [*names, *(case.key for case in run.cases)])
    raise RefError(f"run {run.id} has no case or probe {part!r}", hint=hint)


def _ambiguous(part: str, ids: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in ids[:MANY])
    more = f" and {len(ids) - MANY:,} more" if len(ids) > MANY else ""
    return f"{part!r} matches several cases or probes: {shown}{more}"


def _case_lines(run: Run, case: CaseResult, width: int) -> list[TextLine]:
    if case.dataset == LEAKAGE:
        from memsim.report.explanation import leak_case_lines

        return leak_case_lines(case.key, list(run.probes(case.key)))
    from memsim.report.explanation import case_lines

    return case_lines(case, list(run.probes(case.key)), width)
