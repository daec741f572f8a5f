"""What was forgotten, and where it went; and how every scenario fared with every strategy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memsim.report import numbers
from memsim.report.html.brief import REASONS
from memsim.report.html.markup import Markup, element, folded, joined
from memsim.report.html.subject import Subject, address, named, section, variant
from memsim.report.html.tables import table
from memsim.report.html.worn import worn
from memsim.report.layout import Column

if TYPE_CHECKING:
    from memsim.report.matrix import Table
    from memsim.report.rows import Board, Matrix, MissedGroup

PLOTS = ("forgetting", "whereabouts", "survival", "needle-grid")
SCENARIO = frozenset({"scenario", "conversation"})


def forgotten(subject: Subject) -> Markup:
    """The section on what was forgotten."""
    board = subject.board
    inside: list[str] = [subject.plot(*PLOTS)]
    if board is None:
        inside.append(element("p", "No scenario was played.", class_="unmeasured"))
    else:
        inside += [*worn(subject), *_whys(subject, board)]
        inside += [heat_table(subject, board, m) for m in board.matrices if m.by not in SCENARIO]
    title, question = "What was forgotten, and where", "Which facts are gone, and at which step?"
    return section("forgotten", title, question, *inside)


def _whys(subject: Subject, board: Board) -> Iterator[Markup]:
    groups = subject.summary.missed
    mine = [g for g in groups if g.budget == board.budget]
    others = [g for g in groups if g.budget != board.budget]
    if mine:
        yield _reasons(mine)
    else:
        yield element("p", "Nothing was missed.", class_="note")
    yield _meanings(subject)
    if others:
        yield folded("Why probes were missed at other budgets", _reasons(others))


def _reasons(groups: Sequence[MissedGroup]) -> Markup:
    words = list(dict.fromkeys(reason for g in groups for reason in g.reasons))
    made: Table = [
        (Column(head="strategy", right=False), [g.strategy for g in groups]),
        (Column(head="budget"), [numbers.budget(g.budget) for g in groups]),
        (Column(head="missed"), [f"{g.missed:,}" for g in groups]),
        (Column(head="of"), [f"{g.answerable:,}" for g in groups]),
        *((Column(head=word), [f"{g.reasons.get(word, 0):,}" for g in groups]) for word in words),
        (Column(head="invented"), [f"{g.invented:,}" for g in groups]),
    ]

    def cell(row: int, column: int, text: str) -> Markup | str:
        group = groups[row]
        if column == 0:
            return named(text)
        if not 4 <= column < 4 + len(words) or text == "0":
            return text
        return element("a", text, href=_cases(group, words[column - 4]))

    budgets = dict.fromkeys(numbers.budget(group.budget) for group in groups)
    caption = f"Why probes were missed, budget {', '.join(budgets)}"
    return table(made, caption, cell=cell, heading=0)


def _cases(group: MissedGroup, word: str) -> str:
    # Where nobody can tell the reason, the word is the outcome.
    why = {"reason": word} if word in REASONS else {"outcome": word.upper(), "reason": ""}
    return address(show="cases", strategy=group.strategy, budget=group.budget, **why)


def _meanings(subject: Subject) -> Markup:
    used = {reason for g in subject.summary.missed for reason in g.reasons}
    known = [(word, meaning) for word, meaning in REASONS.items() if word in used]
    known += [(word, "nobody can tell where it went") for word in sorted(used - REASONS.keys())]
    if not known:
        return Markup()
    terms = joined(joined([element("dt", w), element("dd", m)]) for w, m in known)
    return element("dl", terms, class_="terms")


def grid(subject: Subject) -> Markup:
    """The section of scenarios by strategy."""
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
    title = "Scenario by strategy"
    return section("grid", title, "Where does each strategy break?", *inside)


def _in_order(subject: Subject) -> Iterator[Board]:
    if subject.board is not None:
        yield subject.board
        yield from (b for b in subject.summary.boards if b is not subject.board)


def heat_table(subject: Subject, board: Board, matrix: Matrix) -> Markup:
    """Recall by slices of the probes and by strategy, each cell a link to its cases."""
    rows = board.rows
    lost = _newly_lost(subject)
    made: Table = [
        (Column(head=matrix.by, right=False), [s.name for s in matrix.slices]),
        (Column(head="n"), [numbers.count(s.n) for s in matrix.slices]),
    ]
    for place, row in enumerate(rows):
        cells = [numbers.share(s.recall[place]) for s in matrix.slices]
        made.append((Column(head=row.strategy), cells))

    def cell(at: int, column: int, text: str) -> Markup | str:
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
    caption = f"Recall by {matrix.by}, {over}, budget {numbers.budget(board.budget)}"
    return table(made, caption, cell=cell, heading=0)


def _newly_lost(subject: Subject) -> Counter[tuple[str, str]]:
    """How many probes a scenario newly lost, by scenario and variant."""
    comparison = subject.summary.comparison
    moved = comparison.moved if comparison else ()
    return Counter((_scenario(m.id), m.variant) for m in moved if m.lost)


def _scenario(probe: str) -> str:
    return probe.partition("[")[0].rpartition("::")[2]
