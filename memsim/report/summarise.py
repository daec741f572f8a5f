"""Read a saved run and compute its summary."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memsim.config import Settings
from memsim.errors import ExitCode, RunFolderError
from memsim.gate import Verdict, fails, judge, lacks
from memsim.gate.comparison import read_comparison
from memsim.leakage import LEAKAGE
from memsim.report.boards import boards_of
from memsim.report.leak_board import LeakBoard
from memsim.report.number_format import plural
from memsim.report.probe_answers import ProbeAnswer, answer_of, answers_of
from memsim.report.run_summary import (
    Board,
    BoardRow,
    BrokenBound,
    CaseFailure,
    JudgeReport,
    MissedGroup,
    MissedProbe,
    RunHeader,
    RunSummary,
    UnscoredCase,
    own_version,
)
from memsim.runs import Run
from memsim.runs.run_folder import INFO
from memsim.scoring.votes import agreement, flipped, majority, votes_in
from memsim.suite.cases import CaseResult

# How a run's judge did on known answers, and how far it agrees with the rules.


def judge_report_of(run: Run, answers: Iterable[ProbeAnswer]) -> JudgeReport | None:
    """Report how a run's judge did; None where it had none."""
    told = run.info.get("judge")
    if told is None:
        return None
    try:
        return _read_judge(told, answers)  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        said = "is damaged: what it says of the judge cannot be read"
        raise RunFolderError(said, path=run.folder / INFO) from error


def _read_judge(record: Mapping[str, Any], answers: Iterable[ProbeAnswer]) -> JudgeReport:
    ballots = [(a, votes_in(a.votes)) for a in answers if a.votes]
    verdicts = [(a.score("recall"), majority(votes)) for a, votes in ballots]
    pairs = [(verdict, bool(rule)) for rule, verdict in verdicts if None not in (rule, verdict)]
    agreed = agreement([(bool(verdict), rule) for verdict, rule in pairs])
    flips = [f for _, votes in ballots if (f := flipped(votes)) is not None]
    return JudgeReport(
        judge=str(record["judge"]),
        draws=int(record["draws"]),
        prompt=str(record.get("prompt", "")),
        floor=float(record["floor"]),
        unfit=str(record["unfit"]),
        known={kind: (int(k["told"]), int(k["n"])) for kind, k in record["known"].items()},
        known_flips=record["flips"],
        answers=len(ballots),
        unread=sum(verdict is None for _, verdict in verdicts),
        flips=sum(flips) / len(flips) if flips else None,
        agreement=agreed.raw,
        kappa=agreed.kappa,
        compared=agreed.n,
    )


EXAMPLES = 3
"""Missed probes named for each strategy."""


def summarise(
    run: Run, *, seconds: float | None = None, examples: int | None = EXAMPLES
) -> RunSummary:
    """Summarise a saved run.

    Args:
        run: as saved.
        seconds: how long the command took that made it; None when nobody waited for it.
        examples: missed probes to name of each strategy; None for all.
    """
    answers = answers_of(run)
    settings = run.table("settings")
    boards = boards_of([case for case in run.cases if case.dataset != LEAKAGE], answers)
    return RunSummary(
        header=_header(run, settings),
        boards=boards,
        failures=tuple(failures_of(run.cases, answers)),
        unscored=tuple(unscored_of(case) for case in run.cases if _unmeasured(case)),
        missed=tuple(missed_of(boards, answers, examples)),
        verdict=_verdict(run, settings),
        pending=max(0, len(run.table("cases")) - len(run.cases)),
        seconds=seconds,
        leakage=_leakage(run, examples),
        judging=judge_report_of(run, answers),
        comparison=read_comparison(run.folder),
    )


def _leakage(run: Run, examples: int | None) -> tuple[LeakBoard, ...]:
    if not any(case.dataset == LEAKAGE for case in run.cases):
        return ()
    from memsim.report.leak_board import leakage_of

    return leakage_of(run, paths=examples)


def _verdict(run: Run, settings: Mapping[str, Any]) -> Verdict:
    """Judge the cases, or repeat the verdict that the comparison with a baseline gave."""
    verdict = judge(run.cases, max_errors=float(settings.get("max_errors", 0)))
    said, code = run.info.get("verdict"), run.info.get("exit")
    if not run.info.get("against") or said is None or code not in list(ExitCode):
        return verdict
    return replace(verdict, exit_code=ExitCode(int(str(code))), sentence=str(said))


def header_of(settings: Settings) -> RunHeader:
    """Make the header of a run that is about to begin."""
    return RunHeader(
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


def _header(run: Run, settings: Mapping[str, Any]) -> RunHeader:
    command, isolated = run.info.get("command"), run.info.get("isolated")
    return RunHeader(
        version=str(run.table("versions").get("memsim") or own_version()),
        model=str(settings.get("model", "")),
        embedder=str(settings.get("embedder", "")),
        tokenizer=str(settings.get("tokenizer", "")),
        seed=int(settings.get("seed", 0)),
        repeat=int(settings.get("repeat", 1)),
        run=run.id,
        place=str(run.folder),
        command=shlex.join(map(str, command)) if isinstance(command, Sequence) else "",
        judge=str(settings.get("judge", "")),
        isolated=tuple(map(str, isolated)) if isinstance(isolated, list) else (),
        hosts=tuple(_hosts(run.cases).items()),
        notes=tuple(_notes(run.cases).items()),
    )


def _hosts(cases: Iterable[CaseResult]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for case in cases:
        if case.hosts:
            found[case.strategy] = tuple(
                dict.fromkeys((*found.get(case.strategy, ()), *case.hosts))
            )
    return found


def _notes(cases: Iterable[CaseResult]) -> dict[str, tuple[str, ...]]:
    """What strategies say of themselves, and the share of their texts that have no source."""
    found: dict[str, dict[str, None]] = {}
    texts: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for case in cases:
        found.setdefault(case.strategy, {}).update(dict.fromkeys(case.notes))
        texts[case.strategy] += case.counts.get("recalled_texts", 0)
        lost[case.strategy] += case.counts.get("uncredited", 0)
    for strategy, many in texts.items():
        if many:
            share = f"{lost[strategy] / many:.0%} of {plural(many, 'recalled text')}"
            found[strategy][f"{share} could not be credited to a message"] = None
    return {strategy: tuple(notes) for strategy, notes in found.items() if notes}


def failures_of(
    cases: Iterable[CaseResult], answers: Iterable[ProbeAnswer]
) -> Iterator[CaseFailure]:
    """The cases that broke a bound."""
    by_case: dict[str, list[ProbeAnswer]] = {}
    for answer in answers:
        by_case.setdefault(answer.case, []).append(answer)
    for case in cases:
        if fails(case):
            yield _failure(case, by_case.get(case.key, ()))


def _unmeasured(case: CaseResult) -> bool:
    # A channel through which something leaked has failed, however little else could be tried.
    return lacks(case) and not (case.state == "invalid" and fails(case))


def failure_of(case: CaseResult, probes: Iterable[Mapping[str, Any]]) -> CaseFailure:
    """A case that broke a bound."""
    return _failure(case, [answer_of(case, line) for line in probes])


def _failure(case: CaseResult, answers: Iterable[ProbeAnswer]) -> CaseFailure:
    broken = tuple(
        BrokenBound(metric=f.metric, bound=f.bound, value=f.value, place=f.place)
        for f in case.expect_failures
    )
    wrong = sorted((a for a in answers if a.wrong), key=lambda a: not a.corrected)
    missed = tuple(map(_missed_probe, wrong))
    return CaseFailure(case=case.key, broken=broken, missed=missed)


def unscored_of(case: CaseResult) -> UnscoredCase:
    """A case that could not be scored, and why."""
    unbound = [f.metric for f in case.expect_failures if f.value is None]
    errors = case.counts.get("errors", 0)
    said = case.error
    if errors and case.state == "scored":
        said = f"{plural(errors, 'probe')} could not be scored" + (said and f": {said}")
    said = "; ".join(part for part in (said, _unjudged(case)) if part)
    limit = case.reader_limit and f": {case.reader_limit}"
    said = said or f"{', '.join(unbound)} could not be measured{limit}"
    state = "unjudged" if case.state == "scored" and _unjudged(case) else case.state
    return UnscoredCase(case=case.key, state=state, error=said, tracebacks=case.tracebacks)


def _unjudged(case: CaseResult) -> str:
    silent = case.counts.get("unjudged", 0)
    return case.unjudged or (f"{plural(silent, 'answer')} without a verdict" if silent else "")


def missed_of(
    boards: Sequence[Board], answers: Sequence[ProbeAnswer], examples: int | None
) -> Iterable[MissedGroup]:
    """Group the wrong answers of each strategy by reason, without controls."""
    wrong: dict[tuple[str, int, str], list[ProbeAnswer]] = {}
    for answer in answers:
        if answer.wrong and not answer.control:
            wrong.setdefault((answer.dataset, answer.budget, answer.strategy), []).append(answer)
    for board in boards:
        if board.reader.reached:
            continue  # What the reader missed says nothing of a memory.
        for row in board.rows:
            mine = wrong.get((board.dataset, board.budget, row.strategy))
            if mine:
                yield _group(row, sorted(mine, key=_place), examples)


def _place(answer: ProbeAnswer) -> tuple[bool, bool]:
    """Misses first, and of these first what a user had to say again."""
    return not answer.missed, not answer.corrected


def _group(row: BoardRow, wrong: Sequence[ProbeAnswer], examples: int | None) -> MissedGroup:
    return MissedGroup(
        strategy=row.strategy,
        budget=row.budget,
        missed=row.missed or 0,
        answerable=row.recall.n,
        reasons=reasons_of(wrong),
        hallucinated=row.hallucinated,
        unanswerable=row.abstained.n,
        examples=tuple(map(_missed_probe, wrong[:examples])),
    )


def reasons_of(answers: Iterable[ProbeAnswer]) -> dict[str, int]:
    """Count the reasons for misses, most frequent first; repeats count once."""
    first = {a.unit: a.reason or a.outcome.lower() for a in answers if a.missed}
    return dict(sorted(Counter(first.values()).items(), key=lambda item: (-item[1], item[0])))


def _missed_probe(answer: ProbeAnswer) -> MissedProbe:
    return MissedProbe(
        id=f"{answer.case}::{answer.probe}",
        probe=answer.probe,
        outcome=answer.outcome,
        reason=answer.reason,
        said=answer.said,
        gone=answer.gone,
    )
