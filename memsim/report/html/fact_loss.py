"""Render which facts were lost, why probes were missed, and recall by scenario."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memsim.report import number_format
from memsim.report.board_tables import matrix_table
from memsim.report.html.markup import Markup, breakable, element, folded, items, joined, table
from memsim.report.html.page_content import (
    PageContent,
    address,
    scenario_name,
    section,
    strategy_name,
    variant,
)
from memsim.report.layout import Column, Table
from memsim.scoring.outcomes import REASONS, reason_name

if TYPE_CHECKING:
    import pandas as pd

    from memsim.report.plots.palette import Looks
    from memsim.report.run_summary import Board, Matrix, MissedGroup

# Facts lost by compactions: how many after each, and their names after the second.

AFTER = (1, 2, 5, 10)
SECOND = 2
MOST = 40
"""Most facts named for one scenario."""


def compaction_losses(subject: PageContent) -> Iterator[Markup]:
    """Render the facts left after compactions, and a list of those that are gone."""
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
    yield _shares(found, number_format.budget(board.budget), subject.looks)
    linked = _replayed(subject)
    for name, rows in found:
        yield from _gone(name, _after(rows, SECOND), linked)


def _after(facts: pd.DataFrame, compactions: int) -> pd.DataFrame:
    """Select each fact after its given number of compactions; others are left out."""
    rows = facts[facts["compactions"] >= compactions]
    return rows.drop_duplicates(["case", "fact"])


def _shares(found: list[tuple[str, pd.DataFrame]], budget: str, looks: Looks) -> Markup:
    series = [(Column("strategy", right=False), [name for name, _ in found])]
    for count in AFTER:
        cells = []
        for _, rows in found:
            after = _after(rows, count)
            cells.append(f"{int(after['there'].sum()):,} of {len(after):,}" if len(after) else "–")
        series.append((Column(f"after {count}"), cells))
    return table(
        Table.of_columns(series),
        f"Facts that still stood in what was sent, by compactions since they were said, {budget}",
        heading=0,
        cell=lambda _, column, text: strategy_name(text, looks) if column == 0 else text,
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
    left = f"{len(gone):,} of {len(after):,} facts"
    head = f"{name}: {left} not in the context after the second compaction"
    yield folded(head, items(texts), class_="worn")


def _fact(row: Mapping[Hashable, Any], linked: frozenset[str]) -> Markup:
    said = breakable(str(row["fact"]))
    if row["case"] not in linked:
        return said
    return element("a", said, href=address(case=row["case"], turn=row["turn"]))


def _replayed(subject: PageContent) -> frozenset[str]:
    """List the cases that the replay in this page holds."""
    if subject.viewer is None or "reels" not in subject.viewer.data:
        return frozenset()
    return frozenset(entry["key"] for entry in json.loads(subject.viewer.data["reels"])["cases"])


LOSS_PLOTS = ("forgetting", "whereabouts", "survival", "needle-grid")
SCENARIO = frozenset({"scenario", "conversation"})


def forgotten_facts(subject: PageContent) -> Markup:
    """Render the section on forgotten facts."""
    board = subject.board
    inside: list[str] = [subject.plot(*LOSS_PLOTS)]
    if board is None:
        inside.append(element("p", "No scenario was played.", class_="unmeasured"))
    else:
        inside += [*compaction_losses(subject), *_whys(subject, board)]
        inside += [heat_table(subject, board, m) for m in board.matrices if m.by not in SCENARIO]
    title, question = (
        "What was forgotten, and where",
        "Which facts left the context, and at which step?",
    )
    return section("forgotten", title, question, *inside)


def _whys(subject: PageContent, board: Board) -> Iterator[Markup]:
    groups = subject.summary.missed
    mine = [g for g in groups if g.budget == board.budget]
    others = [g for g in groups if g.budget != board.budget]
    if mine:
        yield _reasons(mine, subject.looks)
    else:
        yield element("p", "Nothing was missed.", class_="note")
    yield _meanings(subject)
    if others:
        yield folded("Why probes were missed at other budgets", _reasons(others, subject.looks))


def _reasons(groups: Sequence[MissedGroup], looks: Looks) -> Markup:
    words = list(dict.fromkeys(reason for g in groups for reason in g.reasons))
    series = [
        (Column("strategy", right=False), [g.strategy for g in groups]),
        (Column("budget"), [number_format.budget(g.budget) for g in groups]),
        (Column("missed"), [f"{g.missed:,}" for g in groups]),
        (Column("of"), [f"{g.answerable:,}" for g in groups]),
        *(
            (Column(reason_name(word)), [f"{g.reasons.get(word, 0):,}" for g in groups])
            for word in words
        ),
        (Column("hallucinated"), [f"{g.hallucinated:,}" for g in groups]),
    ]

    def cell(row: int, column: int, text: str) -> Markup | str:
        group = groups[row]
        if column == 0:
            return strategy_name(text, looks)
        if not 4 <= column < 4 + len(words) or text == "0":
            return text
        return element("a", text, href=_cases(group, words[column - 4]))

    budgets = dict.fromkeys(number_format.budget(group.budget) for group in groups)
    caption = f"Why probes were missed, budget {', '.join(budgets)}"
    return table(Table.of_columns(series), caption, cell=cell, heading=0)


def _cases(group: MissedGroup, word: str) -> str:
    # Where nobody can tell the reason, the word is the outcome.
    why = {"reason": word} if word in REASONS else {"outcome": word.upper(), "reason": ""}
    return address(show="cases", strategy=group.strategy, budget=group.budget, **why)


def _meanings(subject: PageContent) -> Markup:
    used = {reason for g in subject.summary.missed for reason in g.reasons}
    known = [(word, meaning) for word, meaning in REASONS.items() if word in used]
    known += [(word, "nobody can tell where it went") for word in sorted(used - REASONS.keys())]
    if not known:
        return Markup()
    terms = joined(joined([element("dt", reason_name(w)), element("dd", m)]) for w, m in known)
    return element("dl", terms, class_="terms")


def grid(subject: PageContent) -> Markup:
    """Render the table of scenarios by strategy."""
    made = [
        heat_table(subject, board, matrix)
        for board in _in_order(subject)
        for matrix in board.matrices
        if matrix.by in SCENARIO
    ]
    said = "One scenario or none was played: the leaderboard says all."
    inside = made[:1] or [element("p", said, class_="note")]
    if made[1:]:
        inside.append(folded("At other budgets, and over datasets", *made[1:]))
    inside.append(_descriptions(subject))
    title = "Scenario by strategy"
    return section("grid", title, "Where does each strategy break?", *inside)


def _descriptions(subject: PageContent) -> Markup:
    told = subject.about
    if not told:
        return Markup()
    terms = joined(joined([element("dt", breakable(n)), element("dd", t)]) for n, t in told.items())
    return folded("What each scenario is about", element("dl", terms, class_="terms"), open=True)


def _in_order(subject: PageContent) -> Iterator[Board]:
    if subject.board is not None:
        yield subject.board
        yield from (b for b in subject.summary.boards if b is not subject.board)


def heat_table(subject: PageContent, board: Board, matrix: Matrix) -> Markup:
    """Render recall by slice and strategy; each cell links to its cases."""
    rows = board.rows
    lost = _newly_lost(subject)
    about = subject.about if matrix.by in SCENARIO else {}

    def cell(at: int, column: int, text: str) -> Markup | str:
        if column == 0 and (told := about.get(text.rpartition("::")[2])):
            return element("span", breakable(text), title=told)
        if column < 2:
            return text
        row, piece = rows[column - 2], matrix.slices[at]
        value = piece.recall[column - 2]
        if value is None:
            return element("span", text, class_="heat none")
        by = "scenario" if matrix.by in SCENARIO else matrix.by
        link = address(show="cases", **{by: piece.name}, strategy=row.strategy, budget=row.budget)
        mark = lost[piece.name, variant(row.strategy, row.budget)] if by == "scenario" else 0
        shown = [text, element("span", f" ▼{mark}", title=f"{mark} newly lost")] if mark else [text]
        return element("a", *shown, href=link, class_=f"heat h{int(value * 10 + 1e-9)}")

    over = board.dataset or "scenarios"
    budget = number_format.budget(board.budget)
    caption = f"{matrix.of.capitalize()} by {matrix.by}, {over}, budget {budget}"
    made = matrix_table(matrix, [row.strategy for row in rows])
    return table(made, caption, cell=cell, heading=0)


def _newly_lost(subject: PageContent) -> Counter[tuple[str, str]]:
    """Count the newly lost probes by scenario and variant."""
    comparison = subject.summary.comparison
    moved = comparison.moved if comparison else ()
    return Counter((scenario_name(m.id), m.variant) for m in moved if m.lost)
