"""What each part of `layered` is worth: every switch off, or on, alone.

On the eight generated families, on the written scripts, on LoCoMo and on BEAM: the share of right
answers, R@10 of the ranking (`at_10`), evidence recall, answers that stand in the context, mean
tokens of the contexts that questions were asked with, and leaks. `outdated` is the share of
questions about what has changed whose context quotes an old statement as if it still held.

Other parts show where a dial of a family is turned, each in sixteen stories. In one set messages
are erased after three days, and sessions are a week apart. In two sets tools answer at length, or
a notice is sent again and again, and the window is wide.

A part is worth something where it changes a figure for the better, question by question, by more
than the 95 % interval of the difference. Questions are resampled within scripts. Conversations of
datasets, and stories with a dial turned, are resampled as a whole. It ends with 1 where a part is
worth nothing on any set.

The datasets are looked for below MEMSIM_DATA, or below `../shared/data`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from benchmarks.comparison import ROOT
from benchmarks.recall_per_token import DATASETS, mean, played, sets
from memsim.scenario import ScenarioBuilder
from memsim.scenario.generator.dials import FAMILIES
from memsim.scenario.scenario_loader import load_scenario
from memsim.scenario.script import Scenario, Turn
from memsim.stats.bootstrap import mean_interval
from memsim.stats.interval import Interval

PARTS: Final = {
    **dict.fromkeys(("recall=off", "vectors=off", "acl=off", "facts=off", "episodes=off"), -1),
    **dict.fromkeys(("offload=off", "shorten=off", "offload=off,shorten=off"), -1),
    **dict.fromkeys(("opening=0", "standing=1", "near=0"), -1),
    **dict.fromkeys(("deduplicate=on", "entities=on", "summary=on"), 1),
}
"""Switches of parts: with -1 the switched one should be worse, with 1 better."""
OTHERS: Final = ("window=8", "mode=agent", "mode=both")
"""What is no part: a size, and ways to use the memory."""

OF_DATASETS: Final = (
    *("recall=off", "vectors=off", "facts=off", "opening=0", "standing=1", "near=0", "summary=on"),
)
"""What is switched on datasets, which take a minute for each row."""
TOGETHER: Final = "offload=off,shorten=off"
"""Either of the two parts keeps the results of tools short where the other is off."""
STORIES: Final = 16
"""Stories of each set in which dials are turned."""
WIDE: Final = "window=60,window_share=0.6"
"""A window in which much stands, as a host would have it that sends its whole history."""


class Measured(NamedTuple):
    """Figures of one question; None where it has none of that kind."""

    right: float | None
    at_10: float | None
    evidence: float | None
    answer: float | None
    tokens: float | None
    leaks: float | None
    outdated: float | None


FIGURES: Final = Measured._fields
BETTER: Final = {"tokens": -1, "leaks": -1, "outdated": -1}
"""Figures of which less is better."""

Questions = Mapping[tuple[str, str], Measured]
"""What was measured, by the names of scenario and question."""


class Worth(NamedTuple):
    """How much better a part makes a figure of a set, with its interval."""

    part: str
    set: str
    figure: str
    gain: float
    within: Interval

    @property
    def sure(self) -> bool:
        """Whether the interval has no zero in it."""
        return self.within.low > 0

    def line(self) -> str:
        """A row of a table in Markdown."""
        digits = 0 if self.figure == "tokens" else 3
        gain, low, high = (f"{v:,.{digits}f}" for v in (self.gain, *self.within[:2]))
        return f"| {self.part} | {self.set} | {self.figure} | {gain} [{low} {high}] |"


@dataclass(frozen=True, slots=True)
class Case:
    """A set of conversations, with the switches of its rows and the parameters of all of them.

    They are `drawn` where other seeds would tell others.
    """

    name: str
    scenarios: Sequence[Scenario]
    switches: Sequence[str]
    params: str = ""
    budget: str = "4k"
    drawn: bool = False

    def strategy(self, switch: str) -> str:
        """The strategy with a switch."""
        return f"layered:{','.join(filter(None, (self.params, switch)))}".rstrip(":")


def main() -> int:
    """Print the tables; 1 where a part is worth nothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="no datasets")
    parser.add_argument("--dials", action="store_true", help="only where dials are turned")
    given = parser.parse_args()
    found: list[Worth] = []
    for case in turned_dials() if given.dials else cases(quick=given.quick):
        print(f"\n{case.name} at {case.budget}\n")
        print(f"| strategy | {' | '.join(FIGURES)} |\n|---|{'--:|' * len(FIGURES)}")
        rows = {}
        for switch in ("", *case.switches):
            rows[switch] = measured(case.scenarios, case.strategy(switch), case.budget)
            print(line(case.strategy(switch), rows[switch]), flush=True)
        found += [w for switch in case.switches for w in worth(case, switch, rows)]
    return summary(found)


def summary(found: Sequence[Worth]) -> int:
    """Print what each part is worth; 1 where one is worth nothing."""
    print("\n| part | set | figure | better by |\n|---|---|---|--:|")
    parts = [part for part in PARTS if any(w.part == part for w in found)]
    for one in (w for part in parts for w in found if w.part == part and w.sure):
        print(one.line())
    shown = {w.part for w in found if w.sure}
    shown |= {*TOGETHER.split(",")} if TOGETHER in shown else set()
    idle = sorted(PARTS.keys() - shown)
    print("every part is worth something" if not idle else f"worth nothing here: {idle}")
    return int(bool(idle))


def cases(*, quick: bool) -> Iterator[Case]:
    """The sets, and the switches that each is played with."""
    yield from turned_dials()
    single = [part for part in PARTS if part != TOGETHER]
    families = [load_scenario(ROOT / "scenarios" / f"{name}.yaml") for name in FAMILIES]
    yield Case("generated families", families, (*single, *OTHERS))
    for name, scenarios in sets(quick=False):
        if name == "built-in scenarios":
            yield Case("written scripts", scenarios, (*single, *OTHERS))
        elif name in DATASETS and not quick:
            yield Case(name, scenarios, OF_DATASETS)


def turned_dials() -> Iterator[Case]:
    """Families at dials where one part shows that does not where they stand."""
    plain = {"distance": 0, "unreal": 0}
    long = ("offload=off", "shorten=off", TOGETHER)
    for family, dials, switches, params, budget in (
        ("temporal", {"facts": 2, "distance": 20}, ("episodes=off",), "hygiene=messages", "1k"),
        ("updates", {"facts": 4, "updates": 2, "result_size": 8_000, **plain}, long, WIDE, "4k"),
        (
            "updates",
            {"notices": 12, **plain},
            ("deduplicate=on",),
            WIDE,
            "2k",
        ),
        ("preferences", {"speakers": 3, "speaker_kind": "private"}, ("acl=off",), "", "1k"),
        ("updates", {"updates": 20, "form": "order"}, ("opening=0",), "", "2k"),
        ("preferences", {"instructions": 1}, ("standing=1",), "", "1k"),
        (
            "look_alikes",
            {"facts": 6, "look_alikes": 3, "distance": 10, "form": "mentioned"},
            ("entities=on",),
            "",
            "1k",
        ),
    ):
        name = ", ".join((family, *(f"{dial}: {value}" for dial, value in dials.items())))
        told = stories(family, STORIES, dials)
        yield Case(name, told, switches, params, budget, drawn=True)


def stories(family: str, count: int, dials: Mapping[str, Any]) -> list[Scenario]:
    """So many stories of a family, one for each seed."""
    name = "-".join((family, *(f"{dial}-{value}" for dial, value in dials.items())))
    return [
        ScenarioBuilder(f"{name}-{seed}").generate(family, seed=seed, **dials).build()
        for seed in range(count)
    ]


def measured(scenarios: Iterable[Scenario], ref: str, budget: str) -> Questions:
    """A strategy's figures on each question of a set."""
    return {
        (scenario.name, probe["probe"]): _of(scenario, probe)
        for scenario in scenarios
        for probe in played(scenario, ref, budget)
    }


def _of(scenario: Scenario, probe: Mapping[str, Any]) -> Measured:
    asked = not probe["unanswerable"]
    held = asked and bool(probe["context"])
    old = is_outdated(scenario, probe) if probe["context"] else None
    return Measured(
        right=float(probe["outcome"] == "PASS") if asked else None,
        at_10=probe["scores"].get("recall@10") if asked else None,
        evidence=probe["scores"].get("evidence_recall") if held else None,
        answer=probe["scores"]["answer_in_context"] if held else None,
        tokens=float(probe["context"]["total"]) if held else None,
        leaks=float(bool(probe["leaks"])),
        outdated=None if old is None else float(old),
    )


def line(name: str, questions: Questions) -> str:
    """A row of means in Markdown; leaks are counted."""
    cells = []
    for figure in FIGURES:
        values = [v for q in questions.values() if (v := getattr(q, figure)) is not None]
        shown = f"{mean(values):.3f}" if values else "n/a"
        shown = f"{mean(values):,.0f}" if figure == "tokens" else shown
        cells.append(f"{sum(values):.0f}" if figure == "leaks" else shown)
    return f"| {name} | {' | '.join(cells)} |"


def worth(case: Case, switch: str, rows: Mapping[str, Questions]) -> Iterator[Worth]:
    """What the part of a switch is worth on a set, for each figure that it changes."""
    if switch not in PARTS:
        return
    plain, switched = rows[""], rows[switch]
    for figure in FIGURES:
        better = BETTER.get(figure, 1) * PARTS[switch]
        gains: dict[tuple[str, str], float] = {}
        for key, question in plain.items():
            before, after = getattr(question, figure), getattr(switched[key], figure)
            if before is not None and after is not None:
                gains[key] = better * (after - before)
        within = _interval(case, gains)
        if any(gains.values()) and within is not None:
            yield Worth(switch, case.name, figure, mean(gains.values()), within)


def _interval(case: Case, gains: Mapping[tuple[str, str], float]) -> Interval | None:
    values, groups = [*gains.values()], [name for name, _ in gains]
    if case.drawn or case.name in DATASETS:
        return mean_interval(values, clusters=groups)
    return mean_interval(values, strata=groups)


def is_outdated(scenario: Scenario, probe: Mapping[str, Any]) -> bool | None:
    """Whether a context quotes an old statement as if it held; None if nothing has changed."""
    before = [
        chain[: chain.index(e["source"])]
        for e in probe["evidence"]
        for chain in chains(scenario)
        if e["source"] in chain[1:]
    ]
    if not before:
        return None
    verbatim = probe["context"]["verbatim"]
    quoted = "\n".join(message["text"] for message in probe["context"]["composed"])
    texts = words(scenario)
    return any(
        "replaced" not in head(quoted, texts[source])
        for sources in before
        for source in sources
        if source in verbatim
    )


def head(quoted: str, text: str) -> str:
    """What stands before a text in its line; empty where the text is not quoted."""
    place = quoted.find(text.partition("\n")[0])
    return quoted[quoted.rfind("\n", 0, place) + 1 : place] if place >= 0 else ""


_CHAINS: dict[str, list[list[str]]] = {}
_WORDS: dict[str, dict[str, str]] = {}


def chains(scenario: Scenario) -> list[list[str]]:
    """The messages that state a fact and what replaced it, for each fact that was replaced."""
    if scenario.name not in _CHAINS:
        found: dict[str, list[str]] = {}
        for turn in (event for event in scenario.events(0) if isinstance(event, Turn)):
            for fact in turn.facts:
                before = found.get(fact.replaces or fact.id, [])
                found[fact.id] = [*before, fact.source]
        _CHAINS[scenario.name] = [chain for chain in found.values() if len(chain) > 1]
    return _CHAINS[scenario.name]


def words(scenario: Scenario) -> dict[str, str]:
    """The text of each message of a scenario by its id."""
    if scenario.name not in _WORDS:
        turns = [event for event in scenario.events(0) if isinstance(event, Turn)]
        said = (message for turn in turns for message in (*turn.heard, *turn.reply))
        _WORDS[scenario.name] = {message.id: message.text for message in said}
    return _WORDS[scenario.name]


if __name__ == "__main__":
    sys.exit(main())
