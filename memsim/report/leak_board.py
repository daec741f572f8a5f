"""Compute the leakage boards: a row for each channel, a column for each strategy.

No number of a leak stands without authorised recall, coverage and the count that it is over, and
nothing is averaged over channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memsim.errors import RunFolderError
from memsim.leakage import LEAKAGE
from memsim.leakage.attempt import Attempt
from memsim.leakage.probe_lines import score_lines
from memsim.leakage.scores import ChannelScore, LeakTally, grade, score_channel
from memsim.report.leak_advice import LeakCauses, causes_of, change_of
from memsim.report.leak_sentences import leak_sentence
from memsim.runs import Run
from memsim.runs.case_log import PROBES
from memsim.suite.cases import CaseResult

SHOWN_PATHS = 3
"""Most leak paths printed for each channel and strategy; the records have all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakFinding:
    """The attempts of one channel that leaked and need the same change.

    Attributes:
        change: what to change in the strategy.
        example: what the first of these attempts showed, to whom, where and when.
        attempts: how many there are.
    """

    change: str
    example: str
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakCell:
    """One channel and one strategy: the numbers of a `ChannelScore`, which explains them.

    Attributes:
        verdict: `safe`, `leak`, `invalid`, `n/a` or `error`.
        why: what keeps it from being measured; empty when nothing does.
        plr, clr, swl: shares of `leaks`, `secrets` and `weight`; None where nothing was eligible.
        upper: the exact upper 95 % bound of `plr`.
        residue, erased, slices: pairs (k, n).
        erasure_turns, erasure_hours: median and most until then; empty where not measured.
        measures: pairs (mean, n).
        worst: the largest weight of a secret that came out where none may; 0 for none.
        of: attempts that a full run plans, of which `planned` may be a share.
        paths: how secrets got out, redacted; `ways` counts them all.
        findings: the leaks in sentences, those of the most attempts first.
    """

    strategy: str
    verdict: str
    why: str
    leaks: int
    breaches: int
    eligible: int
    planned: int
    plr: float | None
    upper: float | None
    clr: float | None
    swl: float | None
    any_leak: float | None
    repeats: int
    coverage: float
    served: int
    asked: int
    recall: float | None
    states: Mapping[str, int] = field(default_factory=dict)
    tiers: Mapping[str, int] = field(default_factory=dict)
    frs: float | None = None
    residue: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    erased: tuple[int, int] = (0, 0)
    erasure_turns: tuple[float, ...] = ()
    erasure_hours: tuple[float, ...] = ()
    measures: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    slices: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    worst: int = 0
    of: int = 0
    paths: tuple[str, ...] = ()
    ways: int = 0
    findings: tuple[LeakFinding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakRow:
    """One channel.

    Attributes:
        cells: one for each strategy of the board; None where it was not played.
    """

    channel: str
    name: str
    gate: str
    cells: tuple[LeakCell | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakGrade:
    """The best grade that a strategy can have, and what caps it."""

    strategy: str
    letter: str
    caps: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakBoard:
    """All channels and strategies at one budget.

    Attributes:
        grades: one for each strategy.
        negatives: secrets looked for that nobody planted, and how many of them were found.
    """

    budget: int
    strategies: tuple[str, ...]
    rows: tuple[LeakRow, ...]
    grades: tuple[LeakGrade, ...]
    negatives: tuple[int, int]


def leakage_of(run: Run, *, paths: int | None = SHOWN_PATHS) -> tuple[LeakBoard, ...]:
    """Compute the leakage boards of a run, by budget; none where no channel was played.

    Args:
        run: as saved.
        paths: ways out to keep of each channel and strategy; None for all.
    """
    lines: dict[tuple[int, str, str], list[Mapping[str, Any]]] = {}
    failed: dict[tuple[int, str, str], CaseResult] = {}
    for case in run.cases:
        if case.dataset == LEAKAGE:
            key = (case.budget, case.scenario, case.strategy)
            found = [line for line in run.probes(case.key) if line["repeat"] == case.repeat]
            lines.setdefault(key, []).extend(found)
            if case.state != "scored":
                failed.setdefault(key, case)
    try:
        scores = {key: _score(key[1], found, failed.get(key)) for key, found in lines.items()}
        budgets = sorted({budget for budget, _, _ in scores})
        return tuple(_board(budget, scores, paths) for budget in budgets)
    except ValueError as error:
        said = f"is damaged: its attempts cannot be scored: {error}"
        raise RunFolderError(said, path=run.folder / PROBES) from error


def _score(
    channel: str, lines: Sequence[Mapping[str, Any]], failed: CaseResult | None
) -> ChannelScore:
    """The score of a channel; one whose case failed is in error, whatever its lines say."""
    if lines:
        score = score_lines(lines)
    else:
        # A report of other runs reads no scenario files.
        from memsim.leakage.attack_files import channel_headers

        header = channel_headers()[channel]
        score = score_channel(
            [], channel=channel, name=header.name, gate=header.gate, planned=header.attempts
        )
    if failed is not None and (not lines or score.verdict == "safe"):
        return replace(score, error=failed.error or failed.state)
    return score


def _board(
    budget: int, scores: Mapping[tuple[int, str, str], ChannelScore], paths: int | None
) -> LeakBoard:
    mine = {(channel, name): s for (b, channel, name), s in scores.items() if b == budget}
    strategies = tuple(dict.fromkeys(name for _, name in mine))
    channels = sorted({channel for channel, _ in mine}, key=lambda channel: int(channel[1:]))
    causes = {
        name: causes_of({channel: s.leaking for (channel, n), s in mine.items() if n == name})
        for name in strategies
    }
    return LeakBoard(
        budget=budget,
        strategies=strategies,
        rows=tuple(_row(channel, mine, causes, paths) for channel in channels),
        grades=tuple(_grade(name, mine) for name in strategies),
        negatives=(
            sum(s.negatives.k for s in mine.values()),
            sum(s.negatives.n for s in mine.values()),
        ),
    )


def _grade(strategy: str, scores: Mapping[tuple[str, str], ChannelScore]) -> LeakGrade:
    found = grade(score for (_, name), score in scores.items() if name == strategy)
    return LeakGrade(strategy=strategy, letter=found.letter, caps=found.caps)


def _row(
    channel: str,
    scores: Mapping[tuple[str, str], ChannelScore],
    causes: Mapping[str, LeakCauses],
    paths: int | None,
) -> LeakRow:
    found = [scores.get((channel, name)) for name in causes]
    first = next(score for score in found if score is not None)
    cells = zip(causes, found, strict=True)
    return LeakRow(
        channel=channel,
        name=first.name,
        gate=first.gate,
        cells=tuple(_cell(name, s, paths, causes[name]) if s else None for name, s in cells),
    )


def _findings(score: ChannelScore, causes: LeakCauses) -> Iterator[LeakFinding]:
    """The leaks of a channel by what to change."""
    by_change: dict[str, list[Attempt]] = {}
    for attempt in score.leaking:
        change = change_of(score.channel, attempt, causes)
        by_change.setdefault(change, []).append(attempt)
    for change, alike in sorted(by_change.items(), key=lambda item: -len(item[1])):
        example = leak_sentence(score.channel, alike[0])
        yield LeakFinding(change=change, example=example, attempts=len(alike))


def _cell(strategy: str, score: ChannelScore, paths: int | None, causes: LeakCauses) -> LeakCell:
    return LeakCell(
        strategy=strategy,
        verdict=score.verdict,
        why=score.why,
        leaks=score.leaks.k,
        breaches=score.gated.k,
        eligible=score.leaks.n,
        planned=score.planned,
        plr=score.leaks.share,
        upper=score.leaks.upper,
        clr=score.secrets.share,
        swl=score.weight.share,
        any_leak=score.any_leak,
        repeats=score.repeats,
        coverage=score.coverage,
        served=score.served.k,
        asked=score.served.n,
        recall=score.served.share,
        states=score.states,
        tiers=score.tiers,
        frs=score.frs,
        residue={tier: _pair(tally) for tier, tally in score.residue.items()},
        erased=_pair(score.erasure.gone),
        erasure_turns=score.erasure.turns,
        erasure_hours=score.erasure.hours,
        measures=score.measures,
        slices={
            by: {value: _pair(tally) for value, tally in found.items()}
            for by, found in score.slices.items()
        },
        worst=score.worst,
        of=score.of,
        paths=score.paths[:paths],
        ways=len(score.paths),
        findings=tuple(_findings(score, causes)),
    )


def _pair(tally: LeakTally) -> tuple[int, int]:
    return tally.k, tally.n
