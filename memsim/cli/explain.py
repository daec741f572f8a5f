"""`memsim explain`: one probe of a saved run, turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from memsim.cli.run_options import format_option
from memsim.cli.saved_runs import saved_run
from memsim.cli.terminal import Terminal
from memsim.discovery.project import find_project
from memsim.errors import RefError, nearest
from memsim.leakage import LEAKAGE
from memsim.report.layout import Marks, TextLine

if TYPE_CHECKING:
    from memsim.report.sent_context import Context
    from memsim.runs import Run
    from memsim.suite.cases import CaseResult

MANY = 8
"""Number of candidates that the error of an ambiguous name lists."""


@click.command(
    "explain",
    epilog="""\b
Examples:
  memsim explain 'scenarios/support_desk.yaml::support_desk[sliding_window@4k]::order_number'
  memsim explain latest order_number -v""",
)
@click.argument("names", nargs=-1, required=True, metavar="[RUN] CASE")
@format_option("table", "json")
@click.option("-v", "--verbose", is_flag=True, help="Print the whole context that was sent.")
@click.pass_context
def command(ctx: click.Context, names: tuple[str, ...], form: str, verbose: bool) -> None:
    """Follow a probe through a saved run: where its fact was, turn by turn.

    The context that was sent for the question is printed as well. Of a long one you see the
    beginning, the end and the evidence, which a star marks.

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
        terminal.say(_json_of(run, case, probe, terminal.marks, whole=verbose))
        return
    marks, width = terminal.marks, terminal.width
    terminal.say_lines(explanation_of(run, case, probe, marks, width, whole=verbose))


def explanation_of(
    run: Run,
    case: CaseResult,
    probe: str | None,
    marks: Marks,
    width: int,
    *,
    whole: bool = False,
) -> list[TextLine]:
    """Explain a probe of a case turn by turn; without a probe, list the failed ones of the case."""
    if probe is None:
        return _case_lines(run, case, width)
    from memsim.report.explanation import leak_probe_lines, story_lines
    from memsim.report.story import story_of

    record = _record_of(run, case, probe)
    if LEAKAGE in record:
        return leak_probe_lines(case.key, record)
    from memsim.report.sent_context import context_lines

    story = story_of(record, run.turns(case.key), case.budget, marks)
    context = _context_of(run, case, record, whole=whole)
    # Where nothing was sent, as after an error, the story says so.
    sent = [] if story.sent is None else context_lines(context, marks, width)
    return [TextLine(text=case.key, tone="dim"), *story_lines(story, marks, width, sent)]


def _context_of(
    run: Run, case: CaseResult, record: Mapping[str, Any], *, whole: bool
) -> Context | None:
    from memsim.report.sent_context import evidence_of, sent_contexts_of

    probe = record["probe"]
    found = sent_contexts_of(run, case.key, {probe: evidence_of(record)}, whole=whole)
    return found.get(probe)


def _json_of(run: Run, case: CaseResult, probe: str, marks: Marks, *, whole: bool) -> str:
    import json

    from memsim.report.story import story_of

    record = _record_of(run, case, probe)
    if LEAKAGE in record:
        return json.dumps(record, indent=2, ensure_ascii=True)
    story = story_of(record, run.turns(case.key), case.budget, marks)
    sections = _context_of(run, case, record, whole=whole)
    sent = None if sections is None else [asdict(section) for section in sections]
    told = {"case": case.key, **asdict(story), "sections": sent}
    return json.dumps(told, indent=2, ensure_ascii=True)


def _record_of(run: Run, case: CaseResult, probe: str) -> Mapping[str, Any]:
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
