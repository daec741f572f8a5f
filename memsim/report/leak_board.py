"""Compute the leakage boards: a row for each channel, a column for each strategy.

No number of a leak stands without authorised recall, coverage and the count that it is over, and
nothing is averaged over channels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memsim.errors import RunFolderError
from memsim.leakage import LEAKAGE
from memsim.leakage.probe_lines import score_lines
from memsim.leakage.scores import ChannelScore, LeakTally, grade
from memsim.runs import Run
from memsim.runs.case_log import PROBES

SHOWN_PATHS = 3
"""Most leak paths printed for each channel and strategy; the records have all."""


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
        paths: how secrets got out, redacted; `ways` counts them all.
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
    paths: tuple[str, ...] = ()
    ways: int = 0


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
    for case in run.cases:
        if case.dataset == LEAKAGE:
            found = [line for line in run.probes(case.key) if line["repeat"] == case.repeat]
            lines.setdefault((case.budget, case.scenario, case.strategy), []).extend(found)
    try:
        scores = {key: score_lines(found) for key, found in lines.items() if found}
        budgets = sorted({budget for budget, _, _ in scores})
        return tuple(_board(budget, scores, paths) for budget in budgets)
    except ValueError as error:
        said = f"is damaged: its attempts cannot be scored: {error}"
        raise RunFolderError(said, path=run.folder / PROBES) from error


def _board(
    budget: int, scores: Mapping[tuple[int, str, str], ChannelScore], paths: int | None
) -> LeakBoard:
    mine = {(channel, name): s for (b, channel, name), s in scores.items() if b == budget}
    strategies = tuple(dict.fromkeys(name for _, name in mine))
    channels = sorted({channel for channel, _ in mine}, key=lambda channel: int(channel[1:]))
    return LeakBoard(
        budget=budget,
        strategies=strategies,
        rows=tuple(_row(channel, mine, strategies, paths) for channel in channels),
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
    strategies: Sequence[str],
    paths: int | None,
) -> LeakRow:
    found = [scores.get((channel, name)) for name in strategies]
    first = next(score for score in found if score is not None)
    cells = zip(strategies, found, strict=True)
    return LeakRow(
        channel=channel,
        name=first.name,
        gate=first.gate,
        cells=tuple(_cell(name, s, paths) if s else None for name, s in cells),
    )


def _cell(strategy: str, score: ChannelScore, paths: int | None) -> LeakCell:
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
        paths=score.paths[:paths],
        ways=len(score.paths),
    )


def _pair(tally: LeakTally) -> tuple[int, int]:
    return tally.k, tally.n
