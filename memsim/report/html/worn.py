"""Which facts do not outlive compactions: how many after each, and their names after the second."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memsim.report import numbers
from memsim.report.html.markup import Markup, breakable, element, folded, items, joined
from memsim.report.html.subject import Subject, address, named
from memsim.report.html.tables import table
from memsim.report.layout import Column

if TYPE_CHECKING:
    import pandas as pd

    from memsim.report.matrix import Table

AFTER = (1, 2, 5, 10)
SECOND = 2
MOST = 40
"""Facts of a scenario that are named."""


def worn(subject: Subject) -> Iterator[Markup]:
    """A table of what is left after compactions, and a list of what is not; nothing without any."""
    board = subject.board
    if board is None or subject.frames is None:
        return
    facts = subject.frames.facts
    mine = (facts["budget"] == board.budget) & (facts["dataset"] == board.dataset)
    facts = facts[mine & (facts["control"] == "") & (facts["repeat"] == 0)]
    found = [(r.strategy, facts[facts["strategy"] == r.strategy]) for r in subject.compared]
    found = [(name, rows) for name, rows in found if (rows["compactions"] >= 1).any()]
    if not found:
        return
    yield _shares(found, numbers.budget(board.budget))
    linked = _replayed(subject)
    for name, rows in found:
        yield from _gone(name, _after(rows, SECOND), linked)


def _after(facts: pd.DataFrame, compactions: int) -> pd.DataFrame:
    """Each fact as it stood once it had gone through so many; those that did not are left out."""
    rows = facts[facts["compactions"] >= compactions]
    return rows.drop_duplicates(["case", "fact"])


def _shares(found: list[tuple[str, pd.DataFrame]], budget: str) -> Markup:
    made: Table = [(Column(head="strategy", right=False), [name for name, _ in found])]
    for count in AFTER:
        cells = []
        for _, rows in found:
            after = _after(rows, count)
            cells.append(f"{int(after['there'].sum()):,} of {len(after):,}" if len(after) else "–")
        made.append((Column(head=f"after {count}"), cells))
    return table(
        made,
        f"Facts that still stood in what was sent, by compactions since they were said, {budget}",
        heading=0,
        cell=lambda _, column, text: named(text) if column == 0 else text,
    )


def _gone(name: str, after: pd.DataFrame, linked: frozenset[str]) -> Iterator[Markup]:
    gone = after[~after["there"].astype(bool)]
    if gone.empty:
        return
    texts = []
    for scenario, rows in gone.groupby("scenario", sort=True):
        told = [_fact(row, linked) for row in rows.to_dict("records")[:MOST]]
        if len(rows) > MOST:
            told.append(Markup(f"{len(rows) - MOST:,} more"))
        texts.append(
            joined([element("strong", str(scenario).rpartition("::")[2]), ": ", joined(told, ", ")])
        )
    head = f"{name}: {len(gone):,} of {len(after):,} facts gone after the second compaction"
    yield folded(head, items(texts), class_="worn")


def _fact(row: Mapping[Hashable, Any], linked: frozenset[str]) -> Markup:
    said = breakable(str(row["fact"]))
    if row["case"] not in linked:
        return said
    return element("a", said, href=address(case=row["case"], turn=row["turn"]))


def _replayed(subject: Subject) -> frozenset[str]:
    """The cases that the replay in this page has."""
    if subject.viewer is None or "reels" not in subject.viewer.data:
        return frozenset()
    return frozenset(entry["key"] for entry in json.loads(subject.viewer.data["reels"])["cases"])
