"""Compute the boards of a run: a row for each strategy, a board for each budget."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from memsim.gate import fails
from memsim.report.layout import row_letter
from memsim.report.probe_answers import ProbeAnswer, Unit
from memsim.report.run_summary import Board, BoardRow, Estimate, Matrix, Slice
from memsim.report.store_table import STORE_METRICS
from memsim.stats.bootstrap import differences, mean_interval
from memsim.stats.interval import wilson
from memsim.stats.significance import holm, permutation_p
from memsim.suite.cases import CaseResult, scenario_of
from memsim.suite.reader_limit import UNKNOWN, ReaderLimit, reader_limits

# Means with intervals, and significant wins: reports use statistics only here.

Sample = dict[Unit, float]
"""Scores by scenario and probe."""

SIGNIFICANT = 0.05


def mean_of(sample: Sample) -> Estimate:
    """Compute the mean of a sample, without an interval."""
    if not sample:
        return Estimate()
    return Estimate(mean=math.fsum(sample.values()) / len(sample), n=len(sample))


def estimate(sample: Sample, *, clustered: bool) -> Estimate:
    """Compute the mean of a sample with its 95 % interval.

    Args:
        sample: scores.
        clustered: whole scenarios are resampled, as for a dataset; otherwise the probes within
            each scenario, as for a suite that stays as it is. Where all probes went the same way
            the interval is Wilson's.
    """
    mean = mean_of(sample)
    values = list(sample.values())
    scenarios = [scenario for scenario, _ in sample]
    if set(values) in ({0.0}, {1.0}):
        # A bootstrap of constants would say that there is no doubt.
        found = wilson(round(sum(values)), len(values))
    elif clustered:
        found = mean_interval(values, clusters=scenarios)
    else:
        found = mean_interval(values, strata=_strata(scenarios))
    if found is None:
        return mean
    return Estimate(mean=mean.mean, low=found.low, high=found.high, n=mean.n)


def _strata(scenarios: Sequence[str]) -> list[str]:
    # A scenario with one probe has nothing to be drawn from: all such make one stratum.
    counted = Counter(scenarios)
    return [name if counted[name] > 1 else "" for name in scenarios]


def beaten(samples: Mapping[str, Sample]) -> dict[str, tuple[str, ...]]:
    """Find the rows that each row beats significantly.

    Paired by probe, a permutation test for each pair of rows, Holm over all of them.
    """
    pairs = list(combinations(samples, 2))
    tests = [_paired(samples[a], samples[b]) for a, b in pairs]
    adjusted = holm([p for _, p in tests])
    wins: dict[str, list[str]] = {letter: [] for letter in samples}
    for (a, b), (difference, _), p in zip(pairs, tests, adjusted, strict=True):
        if p <= SIGNIFICANT:
            winner, loser = (a, b) if difference > 0 else (b, a)
            wins[winner].append(loser)
    place = {letter: i for i, letter in enumerate(samples)}
    return {letter: tuple(sorted(beat, key=place.__getitem__)) for letter, beat in wins.items()}


def _paired(one: Sample, other: Sample) -> tuple[float, float]:
    common = [unit for unit in one if unit in other]
    found = differences([one[u] for u in common], [other[u] for u in common])
    p = permutation_p(found)
    return math.fsum(found), 1.0 if p is None else p


CONTROLS = {"ceiling": 0, "evidence": 1, "": 2, "floor": 3}
"""The order of rows by kind: ceilings first, floors last."""

RANKING = {
    "R@5": "recall@5",
    "R@10": "recall@10",
    "R@25": "recall@25",
    "R@50": "recall@50",
    "MRR": "mrr",
    "nDCG@10": "ndcg@10",
}
"""The columns of a ranking, and the metric of each."""

MASKED = {
    "recall": ("recall", "gold"),
    "F1": ("locomo_f1", "gold"),
    "evidence recall": ("evidence_recall", "citation"),
}
"""Metrics shown again without the answers or citations that an audit found wrong."""


def boards_of(cases: Sequence[CaseResult], answers: Sequence[ProbeAnswer]) -> tuple[Board, ...]:
    """Compute the boards of a run: by dataset, then by budget as planned."""
    keys = dict.fromkeys((c.dataset, c.budget) for c in cases)
    limits = reader_limits(cases)
    order = {dataset: place for place, dataset in enumerate(dict.fromkeys(d for d, _ in keys))}
    boards = []
    for dataset, budget in sorted(keys, key=lambda key: (order[key[0]], key[1])):
        mine = [c for c in cases if (c.dataset, c.budget) == (dataset, budget)]
        asked = [a for a in answers if (a.dataset, a.budget) == (dataset, budget)]
        limit = limits.get((dataset, budget), UNKNOWN)
        boards.append(_board(dataset, budget, mine, asked, limit))
    return tuple(boards)


def _board(
    dataset: str,
    budget: int,
    cases: Sequence[CaseResult],
    answers: Sequence[ProbeAnswer],
    limit: ReaderLimit,
) -> Board:
    columns = {
        name: _Column(
            strategy=name,
            cases=tuple(c for c in cases if c.strategy == name),
            answers=tuple(a for a in answers if a.strategy == name),
            clustered=bool(dataset),
            limit=limit,
        )
        for name in dict.fromkeys(c.strategy for c in cases)
    }
    units = {a.unit: a.answerable for a in answers}
    answerable = sum(units.values())
    found = (replace(c.row(budget), answerable=answerable) for c in columns.values())
    rows = _lettered(sorted(found, key=_standing))
    lead = "evidence_recall" if limit.reached else "recall"
    samples = {r.letter: columns[r.strategy].sample(lead) for r in rows if r.letter}
    wins = beaten(samples)
    return Board(
        dataset=dataset,
        budget=budget,
        scenarios=len({scenario_of(c.id) for c in cases}),
        probes=len(units),
        answerable=answerable,
        repeats=len({c.repeat for c in cases}),
        rows=tuple(replace(r, beats=wins.get(r.letter, ())) for r in rows),
        matrices=tuple(_matrices(dataset, [columns[r.strategy] for r in rows], lead)),
        reader=limit,
    )


def _standing(row: BoardRow) -> tuple[int, bool, float, str]:
    lead = -1.0 if row.lead.mean is None else row.lead.mean
    return CONTROLS.get(row.control, 2), row.partial, -lead, row.strategy


def _lettered(rows: Sequence[BoardRow]) -> list[BoardRow]:
    compared = [r.strategy for r in rows if not r.control]
    letters = {name: row_letter(place) for place, name in enumerate(compared)}
    return [replace(r, letter=letters.get(r.strategy, "")) for r in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """Everything of one strategy at one budget."""

    strategy: str
    cases: tuple[CaseResult, ...]
    answers: tuple[ProbeAnswer, ...]
    clustered: bool
    limit: ReaderLimit = UNKNOWN

    @property
    def control(self) -> str:
        return next((c.control for c in self.cases if c.control), "")

    def row(self, budget: int) -> BoardRow:
        """The row, without the means that the reader bounds."""
        row = self._measured_row(budget)
        hidden = () if self.control == "evidence" else self.limit.unread
        if "judged" in hidden and row.judged:
            row = replace(row, judged=Estimate(n=row.judged.n))
        if not self.limit.reached:
            return row
        whole = estimate(self.sample("evidence_recall"), clustered=self.clustered)
        row = replace(row, unread=True, evidence=whole)
        if not hidden:
            return row
        masked = {name: mean for name, mean in row.masked.items() if MASKED[name][0] not in hidden}
        f1 = row.f1 and Estimate(n=row.f1.n)
        return replace(row, recall=Estimate(n=row.recall.n), f1=f1, masked=masked, missed=None)

    def _measured_row(self, budget: int) -> BoardRow:
        asked = self.answers
        return BoardRow(
            letter="",
            strategy=self.strategy,
            budget=budget,
            control=self.control,
            failed=any(map(fails, self.cases)),
            recall=estimate(self.sample("recall"), clustered=self.clustered),
            in_context=mean_of(self.sample("answer_in_context")),
            evidence=mean_of(self.sample("evidence_recall")),
            abstained=_complement(mean_of(self.sample("false_answers"))),
            context_mean=_mean(self._metric("context_mean")),
            context_peak=max(self._metric("context_peak"), default=None),
            question_mean=_mean(float(a.sent) for a in asked if a.sent is not None),
            hallucinated=len(_mostly(asked, lambda a: a.hallucinated)),
            missed=len(_mostly(asked, lambda a: a.missed)),
            lost=self._total("lost"),
            compactions=self._total("compactions"),
            leaks=self._total("leaks"),
            unscored=len(_mostly(asked, lambda a: not a.measured)),
            ranking=self._ranking(),
            ranked=len(self.sample("mrr")),
            f1=self._f1(),
            judged=self._judged(),
            masked=self._masked(),
            store=self._store(),
        )

    def sample(self, metric: str, doubt: str = "") -> Sample:
        """Average the score of each probe over its repeats; unscored ones are left out.

        Args:
            metric: which score.
            doubt: leave out what an audit found wrong in this: `gold` or `citation`.
        """
        scores: dict[Unit, list[float]] = {}
        for answer in self.answers:
            value = answer.score(metric)
            if value is not None and not (answer.doubted and doubt in answer.doubted):
                scores.setdefault(answer.unit, []).append(value)
        return {unit: math.fsum(values) / len(values) for unit, values in scores.items()}

    def _metric(self, name: str) -> list[float]:
        return [v for c in self.cases if (v := c.metrics.get(name)) is not None]

    def _total(self, name: str) -> int | None:
        values = self._metric(name)
        repeats = len({c.repeat for c in self.cases})
        return round(math.fsum(values) / repeats) if values else None

    def _ranking(self) -> Mapping[str, float | None]:
        means = {name: _mean(self.sample(metric).values()) for name, metric in RANKING.items()}
        return means if any(v is not None for v in means.values()) else {}

    def _store(self) -> Mapping[str, float]:
        means = {name: _mean(self._metric(name)) for name, _ in STORE_METRICS.values()}
        return {name: mean for name, mean in means.items() if mean is not None}

    def _masked(self) -> Mapping[str, Estimate]:
        if not any(a.doubted for a in self.answers):
            return {}
        found = {name: mean_of(self.sample(*chosen)) for name, chosen in MASKED.items()}
        return {name: mean for name, mean in found.items() if mean.n}

    def _f1(self) -> Estimate | None:
        f1 = mean_of(self.sample("locomo_f1"))
        return f1 if f1.n else None

    def _judged(self) -> Estimate | None:
        if not any("judged" in answer.scores for answer in self.answers):
            return None
        return mean_of(self.sample("judged"))


def _complement(share: Estimate) -> Estimate:
    return share if share.mean is None else replace(share, mean=1 - share.mean)


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return math.fsum(known) / len(known) if known else None


def _mostly(answers: Iterable[ProbeAnswer], what: Callable[[ProbeAnswer], bool]) -> list[Unit]:
    """Select the probes for which most repeats agree."""
    votes: dict[Unit, list[bool]] = {}
    for answer in answers:
        votes.setdefault(answer.unit, []).append(what(answer))
    return [unit for unit, said in votes.items() if 2 * sum(said) > len(said)]


# Slices: recall by scenario, ability, category.


def _matrices(dataset: str, columns: Sequence[_Column], lead: str) -> Iterable[Matrix]:
    by_scenario = "conversation" if dataset else "scenario"
    kinds: list[tuple[str, Callable[[ProbeAnswer], str]]] = [(by_scenario, _scenario_name)]
    if any(a.category for c in columns for a in c.answers):
        kinds.append(("category", lambda a: a.category))
    else:
        kinds.append(("ability", lambda a: a.ability))
    for by, name_of in kinds:
        # In a damaged run one strategy's probe may be answerable, and the other's not.
        asked = [a for c in columns for a in c.answers]
        names = {a.unit: name_of(a) for a in asked if a.answerable or a.score("recall") is not None}
        slices = tuple(_slices(names, columns, lead))
        if len(slices) > 1:
            yield Matrix(by=by, slices=slices, of=lead.replace("_", " "))


def _scenario_name(answer: ProbeAnswer) -> str:
    return answer.scenario.partition("::")[2]


def _slices(names: Mapping[Unit, str], columns: Sequence[_Column], lead: str) -> Iterable[Slice]:
    grouped = [_by_name(column.sample(lead), names) for column in columns]
    for name in dict.fromkeys(names.values()):
        yield Slice(
            name=name,
            n=max(len(values.get(name, ())) for values in grouped),
            recall=tuple(_mean(values.get(name, ())) for values in grouped),
        )


def _by_name(sample: Sample, names: Mapping[Unit, str]) -> dict[str, list[float]]:
    grouped: dict[str, list[float]] = {}
    for unit, value in sample.items():
        if unit in names:
            grouped.setdefault(names[unit], []).append(value)
    return grouped
