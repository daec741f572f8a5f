"""Pooling runs: what one side of a comparison is made of, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from memsim.config import GateSettings
from memsim.errors import BaselineError
from memsim.gate.metric_comparison import ComparisonRules, compare
from memsim.gate.pool import pool_sheets
from memsim.gate.score_sheet import ProbeScores, ScoreSheet, SheetColumn
from memsim.stats.interval import t_quantile, t_tails
from memsim.stats.paired_test import paired_change
from memsim.stats.run_spread import spread_of_pairs, spread_of_sides, with_run_spread

RECALL = ComparisonRules(gate=GateSettings(metrics=("recall",)))


def run(seed: int, scores: Sequence[float], *, peak: float = 1000.0) -> ScoreSheet:
    """A run of one strategy, with a score for each probe."""
    column = SheetColumn(
        probes={
            ("a.yaml::s", f"p{n}"): ProbeScores(scores={"recall": (value,)})
            for n, value in enumerate(scores)
        },
        amounts={"a.yaml::s": {"context_peak": (peak,)}},
        questions=len(scores),
    )
    return ScoreSheet(
        name=f"run{seed}",
        place=f"runs/{seed}",
        instruments={"model": "offline"},
        scenarios={"a.yaml::s": "f"},
        strategies={"s": "x"},
        columns={("s", 4096): column},
        seed=seed,
    )


def test_a_pooled_probe_has_the_scores_of_all_runs() -> None:
    """And what could not be scored in any of them is not forgotten."""
    second = run(2, [1.0, 0.0])
    column = replace(second.columns["s", 4096], errors=1)

    pooled = pool_sheets([run(1, [1.0, 1.0]), replace(second, columns={("s", 4096): column})])

    found = pooled.columns["s", 4096]
    assert found.probes["a.yaml::s", "p1"].scores == {"recall": (1.0, 0.0)}
    assert (found.questions, found.errors, pooled.seeds) == (4, 1, (1, 2))
    assert found.amounts == {"a.yaml::s": {"context_peak": (1000.0, 1000.0)}}


def test_an_unscored_probe_of_one_run_leaves_the_pool_unmeasured() -> None:
    """It is never green for the others' sake."""
    second = run(2, [1.0] * 20)
    column = replace(second.columns["s", 4096], errors=1)
    pooled = pool_sheets([run(1, [1.0] * 20), replace(second, columns={("s", 4096): column})])

    assert compare(run(1, [1.0] * 20), pooled, RECALL).counts == {"unmeasured": 1}


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (replace(run(2, [1.0]), instruments={"model": "gpt"}), "its model is gpt, not offline"),
        (replace(run(2, [1.0]), scenarios={"a.yaml::s": "g"}), "scenario a.yaml::s differs"),
        (replace(run(2, [1.0]), scenarios={}), "it lacks a.yaml::s"),
        (replace(run(2, [1.0]), strategies={"s": "y"}), "source of s differs"),
        (replace(run(2, [1.0]), strategies={"s": "x", "t": "x"}), "it has t besides"),
        (replace(run(2, [1.0]), repeat=3), "it has --repeat 3, not 1"),
        (replace(run(2, [1.0]), columns={}), "it has other budgets"),
        (run(1, [1.0]), "it is there twice"),
        (replace(run(1, [1.0]), place="runs/other"), "it has seed 1 again"),
    ],
)
def test_what_is_no_second_try_is_refused(other: ScoreSheet, said: str) -> None:
    """In one line that names the difference."""
    with pytest.raises(BaselineError, match=r"cannot be pooled with run1: .*") as refused:
        pool_sheets([run(1, [1.0]), other])

    assert said in str(refused.value)


def test_the_same_seed_is_another_try_where_chance_answers() -> None:
    """A live model answers anew each day."""
    one, other = (
        replace(run(1, [1.0]), instruments={"model": "gpt"}, place=place) for place in ("a", "b")
    )

    assert pool_sheets([one, other]).seeds == (1, 1)


def test_runs_that_lie_apart_widen_the_interval() -> None:
    """The same mean drop is sure where every run shows it, and unsure where one run makes it."""
    base = pool_sheets([run(seed, [1.0] * 40) for seed in (1, 2, 3)])
    steady = [run(seed, [0.0] * 6 + [1.0] * 34) for seed in (1, 2, 3)]
    jumpy = [run(1, [0.0] * 18 + [1.0] * 22), run(2, [1.0] * 40), run(3, [1.0] * 40)]

    (sure,) = compare(base, pool_sheets(steady), RECALL).cells
    (unsure,) = compare(base, pool_sheets(jumpy), RECALL).cells

    assert sure.change == pytest.approx(unsure.change)
    assert (sure.word, unsure.word) == ("worse", "unsure")
    assert sure.low is not None
    assert unsure.low is not None
    assert unsure.low < sure.low


def test_an_amount_that_varies_between_runs_is_unsure() -> None:
    """One run's peak is not a change of the strategy."""
    rules = ComparisonRules(gate=GateSettings(metrics=("context_peak",)))
    base = pool_sheets([run(seed, [1.0], peak=1000.0) for seed in (1, 2, 3)])

    def word(*peaks: float) -> str:
        runs = [run(seed, [1.0], peak=peak) for seed, peak in enumerate(peaks, start=1)]
        (cell,) = compare(base, pool_sheets(runs), rules).cells
        return cell.word

    assert word(1100.0, 1110.0, 1090.0) == "worse"
    assert word(1000.0, 1000.0, 1300.0) == "unsure"
    assert word(900.0, 910.0, 890.0) == "better"
    assert word(1000.0, 1001.0, 999.0) == "same"


def test_partners_of_one_seed_cancel_what_the_seed_does() -> None:
    """Seeds that are hard for both sides say nothing about the change."""
    assert spread_of_pairs([0.1, 0.1, 0.1]).variance == pytest.approx(0.0)
    assert spread_of_sides([0.2, 0.5, 0.8], [0.3, 0.6, 0.9]).variance == pytest.approx(0.06)
    assert spread_of_sides([0.5], [0.3, 0.6, 0.9]).variance == pytest.approx(0.03 + 0.09)
    assert spread_of_sides([0.5], [0.5]).variance == 0.0


def test_tails_and_quantiles_agree() -> None:
    """Student's distribution, both ways."""
    for df in (1, 2, 9, 40):
        assert t_tails(t_quantile(0.975, df), df) == pytest.approx(0.05)
    assert t_tails(0.0, 3) == pytest.approx(1.0)


def test_intervals_over_runs_hold_the_truth() -> None:
    """In about 95 of 100 simulated pools of three and three runs that share probes, not seeds."""
    chance = random.Random(7)
    held = pools = 0
    for _ in range(200):
        before, after = (
            [
                [float(chance.random() < 0.7 + shift) for _ in range(40)]
                for shift in (chance.gauss(0, 0.08) for _ in range(3))
            ]
            for _ in range(2)
        )
        means = [[sum(scores) / 40 for scores in side] for side in (before, after)]
        differences = [
            (sum(r[p] for r in after) - sum(r[p] for r in before)) / 3 for p in range(40)
        ]
        plain = paired_change(differences, draws=200)
        change = with_run_spread(plain, spread_of_sides(*means), units=40, confidence=0.95)
        assert change.low is not None
        assert change.high is not None
        held += change.low <= 0 <= change.high
        pools += 1

    assert held / pools > 0.93
