"""Count what a twist of a scenario changed, question by question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memsim.report.layout import Column, Row, Table
from memsim.report.number_format import interval, share
from memsim.stats.interval import wilson

Probe = Mapping[str, Any]
"""A record of `probes.jsonl`."""

Change = Literal["lost", "gained", "same"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TwistedQuestion:
    """A question, plain and twisted.

    Attributes:
        relation: the twist.
    """

    strategy: str
    scenario: str
    relation: str
    plain: Probe
    twisted: Probe

    @property
    def answer(self) -> Change:
        """What happened to the answer."""
        before, after = (p["outcome"] == "PASS" for p in (self.plain, self.twisted))
        if before == after:
            return "same"
        return "lost" if before else "gained"

    @property
    def ranks(self) -> tuple[float, float] | None:
        """R@10 of both; None where the evidence was not ranked."""
        found = [p["scores"].get("recall@10") for p in (self.plain, self.twisted)]
        return None if None in found else (float(found[0]), float(found[1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipCount:
    """The pairs of one strategy and one relation.

    Attributes:
        flips: answers that changed against what is expected.
        ranks: mean R@10, plain and twisted; None where nothing was ranked.
    """

    strategy: str
    relation: str
    n: int
    lost: int
    gained: int
    flips: int
    ranks: tuple[float, float] | None

    @property
    def share(self) -> float:
        """Flips of all pairs."""
        return self.flips / self.n if self.n else 0.0


def flip_counts(pairs: Iterable[TwistedQuestion], one_way: frozenset[str]) -> list[FlipCount]:
    """The counts by strategy and relation, in the order of the pairs.

    Args:
        pairs: every question that was scored in both.
        one_way: relations under which an answer may be gained.
    """
    grouped: dict[tuple[str, str], list[TwistedQuestion]] = {}
    for pair in pairs:
        grouped.setdefault((pair.strategy, pair.relation), []).append(pair)
    return [_count(key, inside, one_way) for key, inside in grouped.items()]


def _count(
    key: tuple[str, str], pairs: list[TwistedQuestion], one_way: frozenset[str]
) -> FlipCount:
    strategy, relation = key
    changes = [pair.answer for pair in pairs]
    lost, gained = changes.count("lost"), changes.count("gained")
    ranked = [pair.ranks for pair in pairs if pair.ranks is not None]
    return FlipCount(
        strategy=strategy,
        relation=relation,
        n=len(pairs),
        lost=lost,
        gained=gained,
        flips=lost if relation in one_way else lost + gained,
        ranks=(_mean(r[0] for r in ranked), _mean(r[1] for r in ranked)) if ranked else None,
    )


def _mean(values: Iterable[float]) -> float:
    found = [*values]
    return sum(found) / len(found)


def flip_table(counts: Iterable[FlipCount], about: Mapping[str, str]) -> Table:
    """The table that `memsim twist` prints."""
    rows: list[Row] = []
    for count in counts:
        between = wilson(count.flips, count.n)
        spread = interval(between.low, between.high) if between else ""
        before, after = map(share, count.ranks) if count.ranks else ("", "")
        cells = (
            count.strategy,
            count.relation,
            str(count.n),
            str(count.lost),
            str(count.gained),
            share(count.share),
            spread,
            before,
            after,
            about[count.relation],
        )
        rows.append((cells, ""))
    columns = [
        Column("strategy", right=False),
        Column("relation", right=False),
        *map(Column, ("n", "lost", "gained", "flips")),
        Column("95%", right=False),
        Column("R@10"),
        Column("then"),
        Column("what is changed", right=False, rank=1, clip=True),
    ]
    return Table(columns, rows)


def worst_pairs(pairs: Iterable[TwistedQuestion], most: int) -> Iterator[TwistedQuestion]:
    """Lost answers, those first whose evidence fell most."""
    lost = [pair for pair in pairs if pair.answer == "lost"]
    lost.sort(key=lambda pair: (_fall(pair), pair.scenario, pair.relation, pair.plain["probe"]))
    yield from lost[:most]


def _fall(pair: TwistedQuestion) -> float:
    return pair.ranks[1] - pair.ranks[0] if pair.ranks else 0.0
