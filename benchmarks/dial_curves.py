"""Turn each dial of the generated stories up, and print what memories still hold.

    python benchmarks/dial_curves.py --budget 1k

Each row is a family with one dial at one setting, all others where the family has them. A cell is
the share of questions whose whole answer stands in the context, over three stories. Forms of
questions and kinds of look-alikes are counted by the share of questions with all of their evidence
there, and values told late by the share of questions that the offline reader answers with the value
of today. Kinds of look-alikes are turned with two hops and three look-alikes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import memsim
from memsim.scenario import ScenarioBuilder
from memsim.scenario.generator.dials import LANGUAGES, LOOK_ALIKE_KINDS
from memsim.scenario.generator.question_forms import forms_of
from memsim.scenario.script import Scenario

STRATEGIES = ("sliding_window", "bm25", "layered")
COLUMNS = (*STRATEGIES, "oracle", "no_memory")
SEEDS = 3


class Curve(NamedTuple):
    """A dial, the family that it is turned in, its settings, and where other dials stand."""

    family: str
    dial: str
    settings: tuple[int | str, ...]
    metric: str = "answer_in_context"
    beside: Mapping[str, int] = MappingProxyType({})


CURVES = (
    Curve("updates", "facts", (4, 16, 64)),
    Curve("updates", "distance", (0, 80, 800)),
    Curve("updates", "updates", (0, 5, 20, 60)),
    Curve("updates", "unreal", (0, 5, 20)),
    Curve("updates", "reverted", (0, 2, 8)),
    Curve("updates", "late", (0, 2, 6, 20), "recall"),
    Curve("temporal", "late", (0, 1, 3)),
    Curve("updates", "aliases", (0, 1, 3, 10)),
    Curve("updates", "pronouns", (0, 50, 100)),
    Curve("updates", "interruptions", (0, 50, 100)),
    Curve("updates", "notices", (0, 10, 50), beside={"distance": 0}),
    Curve("updates", "depends", (0, 1, 2, 3)),
    Curve("preferences", "speakers", (0, 1, 4, 10)),
    Curve("temporal", "speakers", (0, 2, 6)),
    Curve("preferences", "instructions", (0, 1, 2, 10)),
    Curve("updates", "result_size", (0, 500, 2_000, 8_000)),
    Curve("multi_hop", "hops", (1, 2, 4, 6)),
    Curve("multi_hop", "look_alikes", (0, 2, 8)),
    Curve(
        "multi_hop",
        "look_alike_kind",
        LOOK_ALIKE_KINDS,
        "evidence_all",
        {"hops": 2, "look_alikes": 3},
    ),
    Curve("aggregation", "items", (1, 4, 12)),
    Curve("aggregation", "removed", (0, 4, 12)),
    Curve("procedures", "steps", (2, 6, 12)),
    Curve("updates", "noise", (0, 50, 100)),
    Curve("updates", "code_switching", (0, 50, 100)),
    Curve("updates", "form", forms_of("updates"), "evidence_all"),
    Curve("updates", "language", LANGUAGES),
)


def main() -> None:
    """Print the curves as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", default="1k", help="tokens of a context")
    parser.add_argument("--dial", action="append", help="one dial; else all of them")
    given = parser.parse_args()
    print(f"| dial | family | setting | {' | '.join(f'`{name}`' for name in COLUMNS)} |")
    print(f"|---|---|--:|{'--:|' * len(COLUMNS)}")
    for curve in CURVES:
        if not given.dial or curve.dial in given.dial:
            for row in _rows(curve, given.budget):
                print(row, flush=True)


def _rows(curve: Curve, budget: str) -> Iterator[str]:
    for value in curve.settings:
        stories = [_story(curve, value, seed) for seed in range(SEEDS)]
        probes = memsim.run(stories, [*STRATEGIES], budgets=[budget]).to_pandas("probes")
        held = probes.groupby("strategy")[curve.metric].mean()
        cells = " | ".join(f"{held[name]:.2f}".replace("0.", ".") for name in COLUMNS)
        shown = value if isinstance(value, str) else f"{value:,}"
        yield f"| `{curve.dial}` | `{curve.family}` | {shown} | {cells} |"


def _story(curve: Curve, value: int | str, seed: int) -> Scenario:
    builder = ScenarioBuilder(f"{curve.family}-{curve.dial}-{value}-{seed}")
    return builder.generate(curve.family, seed=seed, **curve.beside, **{curve.dial: value}).build()


if __name__ == "__main__":
    main()
