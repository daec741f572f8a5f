"""What a twist of a scenario changed, question by question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memsim.report.layout import Column, Row, Table
from memsim.report.number_format import interval, share
from memsim.stats.interval import wilson
from memsim.suite.twist_play import TwistedQuestion


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


def flip_counts(pairs: Iterable[TwistedQuestion]) -> list[FlipCount]:
    """The counts by strategy and relation, in the order of the pairs."""
    grouped: dict[tuple[str, str], list[TwistedQuestion]] = {}
    for pair in pairs:
        grouped.setdefault((pair.strategy, pair.relation), []).append(pair)
    return [_count(key, inside) for key, inside in grouped.items()]


def _count(key: tuple[str, str], pairs: list[TwistedQuestion]) -> FlipCount:
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
        flips=sum(pair.flipped for pair in pairs),
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
    """Flipped answers, those first whose evidence fell most; of one question only the worst."""
    flipped = [pair for pair in pairs if pair.flipped]
    flipped.sort(key=_badness)
    seen: set[tuple[str, str, str]] = set()
    for pair in flipped:
        key = (pair.strategy, pair.scenario, pair.plain["probe"])
        if key not in seen and len(seen) < most:
            seen.add(key)
            yield pair


def _badness(pair: TwistedQuestion) -> tuple[float, bool, str, str, str]:
    fall = pair.ranks[1] - pair.ranks[0] if pair.ranks else 0.0
    gained = pair.answer == "gained"
    return fall, gained, pair.scenario, pair.relation, pair.plain["probe"]
