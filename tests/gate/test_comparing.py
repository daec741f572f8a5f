"""What is compared with what, and which word comes of it, on sheets made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from memsim.config import GateSettings
from memsim.errors import ExitCode
from memsim.gate import Verdict, rule
from memsim.gate.comparison import ChangeWord, Comparison, MetricChange
from memsim.gate.metric_comparison import ComparisonRules, compare, noise_between
from memsim.gate.score_sheet import ProbeScores, ScoreSheet, SheetColumn, by_chance

RECALL = ComparisonRules(gate=GateSettings(metrics=("recall",)))


def column(
    scores: Sequence[Sequence[float]],
    *,
    metric: str = "recall",
    scenarios: int = 1,
    amounts: Mapping[str, float] | None = None,
) -> SheetColumn:
    """A probe for each list of scores, over so many scenarios, and amounts of every scenario."""
    names = [f"a.yaml::s{n % scenarios}" for n in range(len(scores))]
    return SheetColumn(
        probes={
            (name, f"p{n}"): ProbeScores(scores={metric: tuple(values)})
            for n, (name, values) in enumerate(zip(names, scores, strict=True))
        },
        amounts={name: {m: (value,) for m, value in (amounts or {}).items()} for name in names},
        questions=len(scores),
    )


def sheet(columns: Mapping[str, SheetColumn]) -> ScoreSheet:
    """A sheet of strategies at 4k."""
    names = {name for c in columns.values() for name in c.amounts}
    return ScoreSheet(
        name="main",
        place="",
        instruments={"model": "offline"},
        scenarios=dict.fromkeys(names, "f"),
        strategies=dict.fromkeys(columns, "s"),
        columns={(name, 4096): found for name, found in columns.items()},
    )


KEPT = [[1.0]] * 30
FOUR_LOST = [[0.0]] * 4 + [[1.0]] * 26


def test_many_strategies_ask_for_more_evidence() -> None:
    """Four probes of thirty are enough for one strategy, and not for one of eight."""
    one = compare(sheet({"s": column(KEPT)}), sheet({"s": column(FOUR_LOST)}), RECALL)
    names = [f"s{n}" for n in range(8)]
    before = sheet({name: column(KEPT) for name in names})
    after = sheet({name: column(FOUR_LOST if name == "s0" else KEPT) for name in names})

    several = compare(before, after, RECALL)

    assert {"worse": 1} == one.counts
    assert {"unsure": 1, "same": 7} == several.counts


def test_no_share_falls_by_more_than_all_of_it() -> None:
    """Student's quantile of ten probes would go on to -1.10."""
    lost = [[0.0]] * 8 + [[1.0]] * 2
    (cell,) = compare(sheet({"s": column(KEPT[:10])}), sheet({"s": column(lost)}), RECALL).cells

    assert (-1.0, "worse") == (cell.low, cell.word)
    assert cell.high is not None
    assert -1.0 < cell.high < -0.4


def test_a_drop_within_the_margin_is_no_drop() -> None:
    """However sure it is."""
    before, after = sheet({"s": column(KEPT)}), sheet({"s": column([[0.99]] * 30)})
    strict = ComparisonRules(gate=GateSettings(metrics=("recall",), margin=0.005))

    assert {"same": 1} == compare(before, after, RECALL).counts
    assert {"worse": 1} == compare(before, after, strict).counts


def test_more_of_what_should_be_little_is_worse() -> None:
    """Old values given as current, and answers to what has none."""
    rules = ComparisonRules(gate=GateSettings(metrics=("stale", "false_answers")))
    before = sheet({"s": column([[0.0]] * 20, metric="stale")})
    after = sheet({"s": column([[1.0]] * 20, metric="stale")})

    found = compare(before, after, rules)

    assert ["worse", "unmeasured"] == [cell.word for cell in found.cells]
    assert (20, 0) == (found.cells[0].lost, found.cells[0].kept)
    assert {"better": 1, "unmeasured": 1} == compare(after, before, rules).counts


@pytest.mark.parametrize(
    ("metric", "before", "after", "word"),
    [
        ("context_peak", 1000.0, 1020.0, "same"),
        ("context_peak", 1000.0, 1021.0, "worse"),
        ("context_peak", 1000.0, 979.0, "better"),
        ("leaks", 0.0, 1.0, "worse"),
        ("lost", 3.0, 0.0, "better"),
        ("evidence_recall", 0.8, 0.78, "same"),
        ("evidence_recall", 0.8, 0.779, "worse"),
        ("answer_in_context", 0.8, 0.9, "better"),
        ("seconds", 0.01, 0.4, "same"),
        ("seconds", 10.0, 12.4, "same"),
        ("seconds", 10.0, 12.6, "worse"),
        ("cost", 0.1, 0.11, "worse"),
    ],
)
def test_exact_metrics_have_a_tolerance_and_no_doubt(
    metric: str, before: float, after: float, word: ChangeWord
) -> None:
    """A share of an amount, points of a share; from nothing, anything is too much."""
    rules = ComparisonRules(gate=GateSettings(metrics=(metric,)), same_machine=True)
    found = compare(
        sheet({"s": column(KEPT, amounts={metric: before})}),
        sheet({"s": column(KEPT, amounts={metric: after})}),
        rules,
    )

    assert (word, "exact") == (found.cells[0].word, found.cells[0].layer)


def test_one_strategy_of_a_name_is_paired_though_its_parameters_changed() -> None:
    """Two of a name are not: which would be which?"""
    one = compare(sheet({"w:n=20": column(KEPT)}), sheet({"w:n=10": column(KEPT)}), RECALL)
    two = compare(
        sheet({"w:n=20": column(KEPT)}),
        sheet({"w:n=10": column(KEPT), "w:n=5": column(KEPT)}),
        RECALL,
    )

    assert [("same", ("parameters",))] == [(c.word, c.altered) for c in one.cells]
    assert {"new": 2, "gone": 1} == two.counts


@pytest.mark.parametrize(("errors", "allowed", "word"), [(1, 0, "unmeasured"), (1, 0.1, "same")])
def test_errors_beyond_what_is_tolerated_leave_it_unmeasured(
    errors: int, allowed: float, word: ChangeWord
) -> None:
    """What could not be scored may be what was lost."""
    rules = ComparisonRules(gate=GateSettings(metrics=("recall",), max_errors=allowed))
    after = sheet({"s": replace(column(KEPT), errors=errors)})

    assert [word] == [c.word for c in compare(sheet({"s": column(KEPT)}), after, rules).cells]


def test_conversations_of_a_dataset_are_resampled_whole() -> None:
    """From ten on; what happens within one of them is one event."""
    lost = [[0.0] if n % 10 == 0 else [1.0] for n in range(100)]
    plain = column(lost, scenarios=10)
    before = sheet({"s": column([[1.0]] * 100, scenarios=10)})

    suite = compare(before, sheet({"s": plain}), RECALL)
    dataset = compare(before, sheet({"s": replace(plain, dataset="locomo")}), RECALL)

    assert ["worse", "unsure"] == [suite.cells[0].word, dataset.cells[0].word]


def test_moved_probes_are_those_that_most_repeats_moved() -> None:
    """Two of three decide; a probe that wavers as before has not moved."""
    before = column([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    after = column([[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0]])

    moved = compare(sheet({"s": before}), sheet({"s": after}), RECALL).moved

    assert [("p0", True), ("p1", False)] == [(m.probe, m.lost) for m in moved]


def test_noise_is_the_largest_change_between_runs_of_one_kind() -> None:
    """Points of recall, a share of an amount."""
    runs = [
        sheet({"s": column([[1.0]] * 9 + [[score]], amounts={"context_peak": peak})})
        for score, peak in ((1.0, 100.0), (0.5, 103.0), (0.8, 98.0))
    ]

    floor = noise_between(runs)

    assert {"recall": 0.05, "context_peak": 0.03} == floor["s@4k"]


@pytest.mark.parametrize(
    ("model", "chance"),
    [("offline", False), ("offline:miss=0", False), ("offline:miss=0.1", True), ("a/b", True)],
)
def test_only_the_offline_model_always_answers_the_same(model: str, chance: bool) -> None:
    """And only while it misses nothing."""
    assert chance == by_chance(model)


@pytest.mark.parametrize(
    ("alone", "words", "strict", "code"),
    [
        (ExitCode.PASSED, ("same", "new", "gone"), True, ExitCode.PASSED),
        (ExitCode.PASSED, ("better",), False, ExitCode.PASSED),
        (ExitCode.PASSED, ("unsure",), False, ExitCode.PASSED),
        (ExitCode.PASSED, ("unsure",), True, ExitCode.FAILED),
        (ExitCode.PASSED, ("stale",), False, ExitCode.PASSED),
        (ExitCode.PASSED, ("stale",), True, ExitCode.FAILED),
        (ExitCode.PASSED, ("worse",), False, ExitCode.FAILED),
        (ExitCode.PASSED, ("unmeasured",), False, ExitCode.UNMEASURABLE),
        (ExitCode.PASSED, ("unmeasured", "worse"), False, ExitCode.FAILED),
        (ExitCode.PASSED, ("unmeasured", "unsure"), True, ExitCode.FAILED),
        (ExitCode.UNMEASURABLE, ("worse",), False, ExitCode.FAILED),
        (ExitCode.UNMEASURABLE, ("same",), False, ExitCode.UNMEASURABLE),
        (ExitCode.FAILED, ("unmeasured",), False, ExitCode.FAILED),
        (ExitCode.PASSED, ("new", "gone"), False, ExitCode.PASSED),
        (ExitCode.PASSED, ("new", "gone"), True, ExitCode.FAILED),
        (ExitCode.NOTHING, (), False, ExitCode.NOTHING),
    ],
)
def test_the_verdict_is_the_worst_of_run_and_comparison(
    alone: ExitCode, words: tuple[ChangeWord, ...], strict: bool, code: ExitCode
) -> None:
    """A failure wins over what could not be measured, and that over a pass; one sentence."""
    cells = tuple(MetricChange(variant="s@4k", metric="recall", word=word) for word in words)
    verdict = rule(
        Verdict(exit_code=alone, sentence="said"),
        Comparison(base="main", now="run", cells=cells),
        strict=strict,
    )

    assert code == verdict.exit_code
    assert verdict.sentence.startswith("said; against main: ")
    assert all(word in verdict.sentence for word in words)
