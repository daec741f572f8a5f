"""Reads a saved run and computes everything that is shown of it, once."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memsim.errors import ExitCode
from memsim.gate import Verdict, fails, judge, lacks
from memsim.gate.keeping import kept_comparison
from memsim.report.answers import Answer, answer_of, answers_of
from memsim.report.boards import boards_of
from memsim.report.judging import judging_of
from memsim.report.numbers import plural
from memsim.report.rows import (
    Board,
    Broken,
    Failure,
    Header,
    MissedGroup,
    MissedProbe,
    Row,
    Summary,
    Unscored,
)
from memsim.report.version import own_version

if TYPE_CHECKING:
    from memsim.config import Settings
    from memsim.report.leakage import LeakBoard
    from memsim.runs import Run
    from memsim.suite import CaseResult

DATASET = "leakage"
EXAMPLES = 3
"""Missed probes that are kept of each strategy, to be looked into."""


def summarise(
    run: Run, *, seconds: float | None = None, examples: int | None = EXAMPLES
) -> Summary:
    """What a run says.

    Args:
        run: as saved.
        seconds: how long the command took that made it; None when nobody waited for it.
        examples: missed probes to name of each strategy; None for all.

    Raises:
        RunFolderError: its records are damaged.
    """
    answers = answers_of(run)
    settings = _settings(run.info)
    boards = boards_of([case for case in run.cases if case.dataset != DATASET], answers)
    planned = run.info.get("cases")
    return Summary(
        header=_header(run, settings),
        boards=boards,
        failures=tuple(_failures(run.cases, answers)),
        unscored=tuple(unscored_of(case) for case in run.cases if _unmeasured(case)),
        missed=tuple(missed_of(boards, answers, examples)),
        verdict=_verdict(run, settings),
        pending=max(0, len(planned) - len(run.cases)) if isinstance(planned, Mapping) else 0,
        seconds=seconds,
        leakage=_leakage(run, examples),
        judging=judging_of(run, answers),
        comparison=kept_comparison(run.folder),
    )


def _leakage(run: Run, examples: int | None) -> tuple[LeakBoard, ...]:
    if not any(case.dataset == DATASET for case in run.cases):
        return ()
    from memsim.report.leakage import leakage_of

    return leakage_of(run, paths=examples)


def _verdict(run: Run, settings: Mapping[str, Any]) -> Verdict:
    """Of the cases; where they were compared with a baseline, as it was said then."""
    verdict = judge(run.cases, max_errors=float(settings.get("max_errors", 0)))
    said, code = run.info.get("verdict"), run.info.get("exit")
    if not run.info.get("against") or said is None or code not in list(ExitCode):
        return verdict
    return replace(verdict, exit_code=ExitCode(int(str(code))), sentence=str(said))


def header_of(settings: Settings) -> Header:
    """What shapes the numbers of a run that is about to begin."""
    return Header(
        version=own_version(),
        model=settings.model,
        embedder=settings.embedder,
        tokenizer=settings.tokenizer,
        seed=settings.seed,
        repeat=settings.repeat,
        run="",
        place="",
        command="",
        judge=settings.judge,
    )


def _settings(info: Mapping[str, object]) -> Mapping[str, Any]:
    settings = info.get("settings")
    return settings if isinstance(settings, Mapping) else {}


def _header(run: Run, settings: Mapping[str, Any]) -> Header:
    versions = run.info.get("versions")
    made_by = versions.get("memsim") if isinstance(versions, Mapping) else None
    command = run.info.get("command")
    return Header(
        version=str(made_by or own_version()),
        model=str(settings.get("model", "")),
        embedder=str(settings.get("embedder", "")),
        tokenizer=str(settings.get("tokenizer", "")),
        seed=int(settings.get("seed", 0)),
        repeat=int(settings.get("repeat", 1)),
        run=run.id,
        place=str(run.folder),
        command=shlex.join(map(str, command)) if isinstance(command, Sequence) else "",
        judge=str(settings.get("judge", "")),
    )


def _failures(cases: Iterable[CaseResult], answers: Sequence[Answer]) -> Iterable[Failure]:
    by_case: dict[str, list[Answer]] = {}
    for answer in answers:
        by_case.setdefault(answer.case, []).append(answer)
    for case in cases:
        if fails(case):
            yield _failure(case, by_case.get(case.key, ()))


def _unmeasured(case: CaseResult) -> bool:
    # A channel through which something leaked has failed, however little else could be tried.
    return lacks(case) and not (case.state == "invalid" and fails(case))


def failure_of(case: CaseResult, probes: Iterable[Mapping[str, Any]]) -> Failure:
    """A case that broke a bound.

    Args:
        case: its result.
        probes: its lines of `probes.jsonl`.
    """
    return _failure(case, [answer_of(case, line) for line in probes])


def _failure(case: CaseResult, answers: Iterable[Answer]) -> Failure:
    broken = tuple(
        Broken(metric=f.metric, bound=f.bound, value=f.value, place=f.place)
        for f in case.expect_failures
    )
    missed = tuple(_missed_probe(a) for a in answers if a.wrong)
    return Failure(case=case.key, broken=broken, missed=missed)


def unscored_of(case: CaseResult) -> Unscored:
    """A case that could not be scored, and why."""
    unbound = [f.metric for f in case.expect_failures if f.value is None]
    errors = case.counts.get("errors", 0)
    said = case.error or (f"{plural(errors, 'probe')} could not be scored" if errors else "")
    said = "; ".join(part for part in (said, _unjudged(case)) if part)
    said = said or f"{', '.join(unbound)} could not be measured"
    state = "unjudged" if case.state == "scored" and _unjudged(case) else case.state
    return Unscored(case=case.key, state=state, error=said)


def _unjudged(case: CaseResult) -> str:
    silent = case.counts.get("unjudged", 0)
    return case.unjudged or (f"{plural(silent, 'answer')} without a verdict" if silent else "")


def missed_of(
    boards: Sequence[Board], answers: Sequence[Answer], examples: int | None
) -> Iterable[MissedGroup]:
    """Why each strategy's wrong answers are wrong, strategy by strategy, controls left out."""
    wrong: dict[tuple[str, int, str], list[Answer]] = {}
    for answer in answers:
        if answer.wrong and not answer.control:
            wrong.setdefault((answer.dataset, answer.budget, answer.strategy), []).append(answer)
    for board in boards:
        for row in board.rows:
            mine = wrong.get((board.dataset, board.budget, row.strategy))
            if mine:
                yield _group(row, sorted(mine, key=lambda a: not a.missed), examples)


def _group(row: Row, wrong: Sequence[Answer], examples: int | None) -> MissedGroup:
    return MissedGroup(
        strategy=row.strategy,
        budget=row.budget,
        missed=row.missed,
        answerable=row.recall.n,
        reasons=reasons_of(wrong),
        invented=row.invented,
        unanswerable=row.abstained.n,
        examples=tuple(map(_missed_probe, wrong[:examples])),
    )


def reasons_of(answers: Iterable[Answer]) -> dict[str, int]:
    """Why probes were missed, most frequent first; a probe with several repeats counts once."""
    first = {a.unit: a.reason or a.outcome.lower() for a in answers if a.missed}
    return dict(sorted(Counter(first.values()).items(), key=lambda item: (-item[1], item[0])))


def _missed_probe(answer: Answer) -> MissedProbe:
    return MissedProbe(
        id=f"{answer.case}::{answer.probe}",
        probe=answer.probe,
        outcome=answer.outcome,
        reason=answer.reason,
        said=answer.said,
        gone=answer.gone,
    )
