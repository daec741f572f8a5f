"""What do the five published systems come to on the built-in scenarios?

Plays every built-in scenario through each system, as documented and repaired, and prints two tables
in Markdown: what each system comes to over all scenarios, and what it comes to on each. Nothing is
timed, so that two runs print the same bytes. It ends with 1 where a case fails, or where a repaired
system leaks as much as it did as documented.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.comparison import written
from memsim.errors import MemsimError, Unmeasurable
from memsim.scenario.script import Scenario
from memsim.suite.single import run

ROOT = Path(__file__).resolve().parents[1]
SYSTEMS = (
    "agenticx",
    "agentscope:memory=autocontext",
    "prx:acl=on",
    "cogtrix:mode=code",
    "aegis",
)
REPAIRED = {
    "agenticx": "agenticx:fixed=true,scope=principal",
    "agentscope:memory=autocontext": "agentscope:memory=autocontext,fixed=true",
    "prx:acl=on": "prx:acl=on,fixed=true",
    "cogtrix:mode=code": "cogtrix:mode=code,fixed=true,scope=principal",
    "aegis": "aegis:fixed=true",
}
"""With what each offers against its own defects."""

QUICK = ("skill_injection", "two_customers")


@dataclass(frozen=True, slots=True)
class Cell:
    """One system on one scenario, or on all of them.

    Attributes:
        recall: share of the answerable probes that were answered rightly; None where there is none.
        tokens: of the mean context.
        compactions: of the conversation.
        calls: of a model by the memory, and not by the agent that has its tools.
        leaks: probes that showed the asker what they may not see; None where nothing is hidden.
    """

    recall: float | None
    tokens: float
    compactions: float
    calls: float
    leaks: float | None

    def told(self, between: str) -> str:
        """The five figures."""
        recall = "–" if self.recall is None else f"{100 * self.recall:.0f} %"
        leaks = "–" if self.leaks is None else f"{self.leaks:,.0f}"
        counts = (f"{n:,.0f}" for n in (self.tokens, self.compactions, self.calls))
        return between.join((recall, *counts, leaks))


def measured(scenario: Scenario, system: str) -> Cell:
    """One case.

    Raises:
        Unmeasurable: the system failed.
    """
    report = run(scenario, system, budget="4k")
    if report.error:
        raise Unmeasurable(f"{report.id}: {report.error}")
    value = report.metrics
    return Cell(
        value.get("recall"),
        value.get("context_mean") or 0,
        value.get("compactions") or 0,
        value.get("calls_maintain") or 0,
        value.get("leaks"),
    )


def together(cells: Sequence[Cell]) -> Cell:
    """Recall and tokens as means over scenarios, the rest as sums."""
    recalls = [c.recall for c in cells if c.recall is not None]
    leaks = [c.leaks for c in cells if c.leaks is not None]
    return Cell(
        sum(recalls) / len(recalls) if recalls else None,
        sum(c.tokens for c in cells) / len(cells),
        sum(c.compactions for c in cells),
        sum(c.calls for c in cells),
        sum(leaks) if leaks else None,
    )


def worse(repaired: Sequence[Cell], documented: Sequence[Cell]) -> bool:
    """Whether a repaired system leaks, and no less than as documented."""
    leaks = together(repaired).leaks or 0
    return leaks > 0 and leaks >= (together(documented).leaks or 0)


def by_system(cells: dict[str, list[Cell]]) -> Iterator[str]:
    """What each system comes to over all scenarios."""
    yield "| system | recall | mean context | compactions | model calls of the memory | leaks |"
    yield "|---|--:|--:|--:|--:|--:|"
    for system, found in cells.items():
        yield f"| `{system}` | {together(found).told(' | ')} |"


def by_scenario(scenarios: Sequence[Scenario], cells: dict[str, list[Cell]]) -> Iterator[str]:
    """What each system comes to on each scenario, five figures to a cell."""
    names = [system.partition(":")[0] for system in SYSTEMS]
    yield f"| scenario | {' | '.join(names)} |"
    yield "|---|" + "---|" * len(names)
    for place, scenario in enumerate(scenarios):
        row = (cells[system][place].told(" · ") for system in SYSTEMS)
        yield f"| {scenario.name} | {' | '.join(row)} |"


def scenarios_of(names: Iterable[str] = ()) -> list[Scenario]:
    """The written scenarios, or some of them."""
    wanted = frozenset(names)
    return [ref.load() for ref in written() if not wanted or ref.name in wanted]


def main() -> int:
    """Print both tables; 1 where a repaired system leaks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two scenarios")
    given = parser.parse_args()
    scenarios = scenarios_of(QUICK if given.quick else ())
    cells = {
        system: [measured(scenario, system) for scenario in scenarios]
        for system in (*SYSTEMS, *REPAIRED.values())
    }
    print("\n".join(by_system(cells)))
    print()
    print("Each cell: recall · mean tokens of a context · compactions · model calls · leaks.\n")
    print("\n".join(by_scenario(scenarios, cells)))
    leaking = [s for s, repaired in REPAIRED.items() if worse(cells[repaired], cells[s])]
    if leaking:
        print(f"\nrepaired, and leaking as before: {', '.join(leaking)}", file=sys.stderr)
    return int(bool(leaking))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MemsimError as error:
        sys.exit(str(error))
