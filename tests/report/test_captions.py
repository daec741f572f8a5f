"""Every figure in a caption, computed once more from the lines of the run folder alone."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest
from click.testing import CliRunner

from memsim.cli.program import program
from memsim.gate.metric_comparison import ComparisonRules, compare
from memsim.gate.score_sheet import ProbeScores, sheet_of_run
from memsim.report.frames import Frames
from memsim.report.layout import UNICODE
from memsim.report.number_format import milliseconds
from memsim.report.plots import one_picture, pictures
from memsim.report.plots.fact_loss import AGES, LEAST
from memsim.report.plots.style import share
from memsim.report.summarise import summarise
from memsim.runs import Run, load_run

SCENARIO = """
memsim: 1
name: moving
turns:
  - user: My order is A-17, please send it to Bergen.
    facts: {order: A-17, city: Bergen}
  - filler: 24
  - user: What does the worker do?
  - tool:
      name: read_file
      arguments: {path: worker.py}
      result: LEASE_SECONDS = 45
      lines: 12
  - assistant: It takes a lease.
  - user: My cat is called Silvester and my dog Rex.
    facts: {cat: Silvester, dog: Rex}
  - filler: 24
probes:
"""
ASKED = """\
  order{n}: {{ask: What is my order number?, expect: A-17}}
  city{n}: {{ask: Where should my order be sent?, expect: Bergen, ability: preference}}
  cat{n}: {{ask: What is my cat called?, expect: Silvester}}
  dog{n}: {{ask: What is my dog called?, expect: Rex}}
"""
NAMES = ("bm25:k=4", "rolling_summary:keep=150,summary=80", "sliding_window")
BUDGETS = (400, 900)
Line = Mapping[str, Any]


class Records:
    """The lines of a run at one budget, without controls."""

    def __init__(self, folder: Path, budget: int) -> None:
        self.folder, self.budget = folder, budget
        cases = [case for case in _lines(folder, "cases") if not case["control"]]
        self.cases = {case["id"]: case for case in cases if case["budget"] == budget}
        self.probes = [p for p in _lines(folder, "probes") if p["case"] in self.cases]
        self.turns = [t for t in _lines(folder, "turns") if t["case"] in self.cases]

    def by_strategy(self, lines: list[Line]) -> dict[str, list[Line]]:
        """Some lines by the strategy of their case."""
        found: dict[str, list[Line]] = {}
        for line in lines:
            found.setdefault(self.cases[line["case"]]["strategy"], []).append(line)
        return found

    def recall(self) -> dict[str, float]:
        """Mean recall by strategy."""
        asked = self.by_strategy(self.probes)
        return {name: fmean(p["scores"]["recall"] for p in of) for name, of in asked.items()}

    def tokens(self) -> dict[str, float]:
        """Mean tokens of the largest context of a turn, by strategy."""
        sent = self.by_strategy([t for t in self.turns if "tokens" in t])
        return {name: fmean(sum(t["tokens"].values()) for t in of) for name, of in sent.items()}


def _lines(folder: Path, name: str) -> list[Line]:
    text = (folder / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _short(tokens: float) -> str:
    return f"{tokens / 1000:.1f}k".replace(".0k", "k") if tokens >= 1000 else f"{tokens:.0f}"


def trade_off(runs: Mapping[int, Records]) -> str:
    """The best, and the cheapest of those that remember at least half as much."""
    runs_, budget = runs, max(runs)
    recall, tokens = runs_[budget].recall(), runs_[budget].tokens()
    best = max(recall, key=lambda n: (recall[n], -tokens[n]))
    useful = [name for name in recall if recall[name] >= recall[best] / 2]
    cheap = min(useful, key=lambda n: (tokens[n], -recall[n]))
    asked = len(runs_[budget].by_strategy(runs_[budget].probes)[best])
    said = (
        f"At {budget}, {best} remembers most: {share(recall[best])} of {asked} answerable probes"
        f" at {_short(tokens[best])} tokens a turn."
    )
    if cheap == best:
        return said
    cheapest = f"{share(recall[cheap])} at {_short(tokens[cheap])}"
    return (
        f"{said} The cheapest that nothing beats, and that remembers at least half as much, is"
        f" {cheap}: {cheapest}."
    )


def forgetting(runs: Mapping[int, Records]) -> str:
    """Recall of the newest and of the oldest group of facts."""
    records = runs[max(runs)]
    curves = {}
    for name, asked in records.by_strategy(records.probes).items():
        groups: dict[int, list[Line]] = {}
        for probe in asked:
            age = probe["age"]["turns"]
            groups.setdefault(max(n for n, at in enumerate(AGES) if at <= age), []).append(probe)
        curves[name] = [(n, g) for n, g in sorted(groups.items()) if len(g) >= LEAST]
    oldest = max(curve[-1][0] for curve in curves.values())
    recall = {
        name: [fmean(p["scores"]["recall"] for p in group) for _, group in curve]
        for name, curve in curves.items()
        if curve[-1][0] == oldest
    }
    last = max(values[-1] for values in recall.values())
    keeps = [name for name, values in recall.items() if values[-1] == last]
    turns = median(p["age"]["turns"] for p in curves[keeps[0]][-1][1])
    return (
        f"{_best_first(records, keeps)} keeps most of what is old:"
        f" {share(recall[_best_first(records, keeps)][0])} of the newest facts and {share(last)}"
        f" of those about {round(turns):,} turns old."
    )


def whereabouts(runs: Mapping[int, Records]) -> str:
    """The largest share of each bad place."""
    records = runs[max(runs)]
    places = {
        "lost": (("lost",), "{} lost {} of the evidence for good"),
        "missed": (("stored", "archived", "denied"), "{} had {} in store and did not bring it up"),
        "cut": (("trimmed",), "{} had {} in a context that was cut to fit the budget"),
    }
    said = []
    for words, text in places.values():
        found = {
            name: fmean(p["whereabouts"] in words for p in asked)
            for name, asked in records.by_strategy(records.probes).items()
        }
        most = max(found.values())
        if most >= 0.005:
            # The chart's rows stand from the worst up.
            names = [n for n in _ranked(records)[::-1] if found[n] == most]
            said.append(text.format(names[0], share(most)))
    return "; ".join(said) + "."


def context_over_time(runs: Mapping[int, Records]) -> str:
    """The largest single context, however many a turn had."""
    records = runs[max(runs)]
    peak = max(sum(t["tokens"].values()) for t in records.turns if "tokens" in t)
    compacted = {
        name: sum(_compactions(turn) for turn in turns)
        for name, turns in records.by_strategy(records.turns).items()
    }
    most = max(compacted, key=lambda n: compacted[n])
    return (
        f"In moving, the largest context had {peak:,} tokens; the budget is {max(runs):,}"
        f" ({max(runs)}, dashed). {most} compacted {compacted[most]:,} times (ticks)."
    )


def survival(runs: Mapping[int, Records]) -> str:
    """Facts in the context after the second compaction since they were said."""
    records = runs[max(runs)]
    left = {
        name: fmean(kept)
        for name, turns in records.by_strategy(records.turns).items()
        if (kept := [*_after(turns, 2)])
    }
    worst, best = min(left, key=lambda n: left[n]), max(left, key=lambda n: left[n])
    other = f", {best} {share(left[best])}" if best != worst else ""
    return (
        f"After the second compaction {worst} still shows {share(left[worst])} of the facts that"
        f" it was told{other}."
    )


def spend(runs: Mapping[int, Records]) -> str:
    """Tokens of a turn: what was sent, and what calls of the memory took and gave."""
    records = runs[max(runs)]
    total, upkeep = {}, {}
    for name, turns in records.by_strategy([t for t in records.turns if "tokens" in t]).items():
        calls = [[c for c in t.get("calls", ()) if c["phase"] != "answer"] for t in turns]
        own = [sum(c["input"] + c["output"] for c in of) for of in calls]
        kept = [c for of in calls for c in of if c["phase"] in {"maintain", "write"}]
        upkeep[name] = sum(c["input"] + c["output"] for c in kept) / len(turns)
        total[name] = fmean(t["sent"] + o for t, o in zip(turns, own, strict=True))
    least, most = min(total, key=lambda n: total[n]), max(total, key=lambda n: total[n])
    return (
        f"{least} spends {total[least]:,.0f} tokens a turn, {most} {total[most]:,.0f};"
        f" {upkeep[most]:,.0f} of them go into keeping its memory."
    )


def budget_sweep(runs: Mapping[int, Records]) -> str:
    """The smallest budget from which on recall stays near its best."""
    recall = {budget: records.recall() for budget, records in runs.items()}
    low, high = min(runs), max(runs)
    best = max(_ranked(runs[high]), key=lambda n: recall[high][n])
    top = max(recall[low][best], recall[high][best])
    if recall[low][best] < top - 0.02:
        return f"{best} comes within .02 of its best only at the largest budget, {high}."
    return (
        f"{best} is within .02 of its best from {low} on; a larger budget buys it next to nothing."
    )


def needle_grid(runs: Mapping[int, Records]) -> str:
    """The strategy whose tenths of the conversation differ most."""
    records = runs[max(runs)]
    spread = {}
    for name, asked in records.by_strategy(records.probes).items():
        bands: dict[int, list[float]] = {}
        for probe in asked:
            said = max(piece["turn"] for piece in probe["evidence"])
            band = min(9, math.floor(said / probe["turn"] * 10))
            bands.setdefault(band, []).append(probe["scores"]["recall"])
        means = {band: fmean(values) for band, values in sorted(bands.items())}
        low, high = min(means, key=lambda b: means[b]), max(means, key=lambda b: means[b])
        spread[name] = (means[high] - means[low], low, means[low], high, means[high])
    widest = max(found[0] for found in spread.values())
    name = next(n for n in _ranked(records) if spread[n][0] == widest)
    _, low, least, high, most = spread[name]
    return (
        f"{name} depends most on the place: {share(least)} of what was said {low * 10} % into the"
        f" conversation, {share(most)} at {high * 10} %."
    )


def _ranked(records: Records) -> list[str]:
    recall = records.recall()
    return sorted(recall, key=lambda name: (-recall[name], name))


def _best_first(records: Records, names: list[str]) -> str:
    return next(name for name in _ranked(records) if name in names)


def _compactions(turn: Line) -> int:
    return sum(event["kind"] == "compaction" for event in turn.get("events", ()))


def _after(turns: list[Line], compactions: int) -> Iterator[bool]:
    """Whether each fact still stood in the context when so many compactions had come over it."""
    there: dict[str, bool] = {}
    since: dict[str, int] = {}
    for turn in turns:
        for fact, place in turn.get("moved", {}).items():
            there[fact] = place != "absent"
            since.setdefault(fact, 0)
        if found := _compactions(turn):
            since = {fact: before + found for fact, before in since.items()}
            yield from (there[fact] for fact, so_far in since.items() if so_far == compactions)


def heat_map(runs: Mapping[int, Records]) -> str:
    """The ability whose best and worst strategy are furthest apart; `oracle` is left out."""
    records = runs[max(runs)]
    means: dict[str, dict[str, float]] = {}
    for name, asked in _with_controls(records).items():
        groups: dict[str, list[float]] = {}
        for probe in asked:
            groups.setdefault(probe["ability"], []).append(probe["scores"]["recall"])
        for ability, found in groups.items():
            means.setdefault(ability, {})[name] = fmean(found)
    spread = {a: max(of.values()) - min(of.values()) for a, of in means.items()}
    assert 2 == len(spread) == len({*spread.values()})
    ability = max(spread, key=lambda a: spread[a])
    of = means[ability]
    ordered = ["full_context", *_ranked(records), "no_memory"]
    best, worst = max(ordered, key=lambda n: of[n]), min(ordered, key=lambda n: of[n])
    return f"{ability} tells most apart: {best} {share(of[best])}, {worst} {share(of[worst])}."


def _with_controls(records: Records) -> dict[str, list[Line]]:
    """The probes of every strategy and control at the budget, by name; `oracle` is left out."""
    found = records.by_strategy(records.probes)
    for case in _lines(records.folder, "cases"):
        if case["control"] in {"ceiling", "floor"} and case["budget"] == records.budget:
            lines = _lines(records.folder, "probes")
            found[case["strategy"]] = [p for p in lines if p["case"] == case["id"]]
    return found


def latency(runs: Mapping[int, Records]) -> str:
    """The best, and the quickest, by the median time of a query in `latency.json`."""
    budget = max(runs)
    recall = runs[budget].recall()
    rows = json.loads((runs[budget].folder / "latency.json").read_text("utf-8"))["rows"]
    times = {
        row["strategy"]: row["p50_ms"]
        for row in rows
        if (row["budget"], row["operation"], row["clock"]) == (budget, "query", "real")
    }
    best = max(recall, key=lambda n: (recall[n], -times[n]))
    quick = min(recall, key=lambda n: (times[n], -recall[n]))
    said = (
        f"{best} remembers most, {share(recall[best])},"
        f" and takes {milliseconds(times[best])} for a query."
    )
    if quick != best:
        said = (
            f"{said} {quick} is quickest: {milliseconds(times[quick])} at {share(recall[quick])}."
        )
    return f"{said} Times are those of the machine that played the run."


CAPTIONS: Mapping[str, Callable[[Mapping[int, Records]], str]] = {
    "trade-off": trade_off,
    "forgetting": forgetting,
    "whereabouts": whereabouts,
    "context-over-time": context_over_time,
    "survival": survival,
    "spend": spend,
    "heat-map": heat_map,
    "budget-sweep": budget_sweep,
    "needle-grid": needle_grid,
    "latency": latency,
}


def test_captions_say_what_the_records_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """Also where a turn sends two contexts: the larger one is the largest, not both together."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.memsim]\n", encoding="utf-8")
    (tmp_path / "scenarios").mkdir()
    text = SCENARIO + "".join(ASKED.format(n=n) for n in range(5))
    (tmp_path / "scenarios" / "moving.yaml").write_text(text, encoding="utf-8")
    flags = [flag for name in NAMES for flag in ("-s", name)]
    budgets = ",".join(map(str, BUDGETS))
    done = CliRunner().invoke(program, ["run", *flags, "--budget", budgets])
    assert 0 == done.exit_code, done.output
    run = load_run("latest", tmp_path / "reports")
    runs = {budget: Records(run.folder, budget) for budget in BUDGETS}
    drawn = {picture.name: picture.caption for picture in pictures(run, summarise(run))}

    assert any(t.get("contexts", 0) > 1 for t in runs[BUDGETS[0]].turns)
    assert set(CAPTIONS) == set(drawn)
    for name, told in CAPTIONS.items():
        with subtests.test(plot=name):
            assert told(runs) == drawn[name]
    with subtests.test(plot="forest"):
        assert _against_all_right(run) in forest(runs)


def forest(runs: Mapping[int, Records]) -> list[str]:
    """What was lost most since a baseline in which all strategies answered everything."""
    lost = {
        (name, budget): sum(not p["scores"]["recall"] for p in of.by_strategy(of.probes)[name])
        for budget, of in runs.items()
        for name in NAMES
    }
    assert 1 < len({*lost.values()})
    found = []
    for (name, budget), count in lost.items():
        change = runs[budget].recall()[name] - 1
        said = f"{change:+.2f}".replace("-", UNICODE.minus)
        if count == max(lost.values()):
            told = f"recall {said}, {count} probes lost."
            found.append(f"{name}@{budget} is worse than main: {told}")
    return found


def _against_all_right(run: Run) -> str:
    now = sheet_of_run(run)
    columns = {
        cell: replace(column, probes={unit: _right(p) for unit, p in column.probes.items()})
        for cell, column in now.columns.items()
        if cell[0] in NAMES
    }
    base = replace(now, name="main", columns={**now.columns, **columns})
    comparison = compare(base, now, ComparisonRules())
    summary = replace(summarise(run), comparison=comparison)
    picture = one_picture("forest", summary, Frames(run))
    assert picture is not None
    return picture.caption


def _right(probe: ProbeScores) -> ProbeScores:
    return replace(probe, scores={**probe.scores, "recall": (1.0,)})
