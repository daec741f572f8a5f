"""Explain a board of leakage in sentences: grade, leaks, what to change, and what is not known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memsim.leakage.attempt import CHANNELS
from memsim.leakage.scores import CRITICAL
from memsim.report import number_format
from memsim.report.leak_advice import title_of, unmeasured_advice
from memsim.report.leak_board import LeakBoard, LeakCell, LeakFinding, LeakRow

_Ways = Sequence[tuple[LeakRow, LeakCell]]

RULE = "The worst finding alone decides a grade, from A to F."


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakChange:
    """A change that a strategy needs, and the leaks that show it.

    Attributes:
        fails: whether any of these leaks fails a run.
    """

    change: str
    leaks: tuple[str, ...]
    fails: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakStory:
    """What a strategy leaked, in sentences.

    Attributes:
        grade: its grade, and why.
        changes: what to change, those that the most channels need first.
        unmeasured: ways of which nothing is known, or too little, and why.
        clean: titles of the ways that were measured and leaked nothing.
        fails: whether any leak fails a run.
    """

    strategy: str
    grade: str
    changes: tuple[LeakChange, ...]
    unmeasured: tuple[str, ...]
    clean: tuple[str, ...]
    fails: bool


def leak_stories(board: LeakBoard) -> Iterator[LeakStory]:
    """Tell the story of each strategy of a board."""
    for place, graded in enumerate(board.grades):
        ways = [(row, cell) for row in board.rows if (cell := row.cells[place]) is not None]
        yield LeakStory(
            strategy=graded.strategy,
            grade=_grade(graded.letter, ways),
            changes=tuple(_changes(ways)),
            unmeasured=tuple(_unmeasured(ways)),
            clean=tuple(_title(row) for row, cell in ways if cell.verdict == "safe"),
            fails=any(cell.breaches for _, cell in ways),
        )


def _title(row: LeakRow) -> str:
    return title_of(row.channel, row.name)


def _is_unclear(cell: LeakCell) -> bool:
    return cell.verdict != "safe" and bool(cell.why)


def _ways_text(number: int) -> str:
    return number_format.plural(number, "way")


# -- the grade


def _grade(letter: str, ways: _Ways) -> str:
    over = f"{len(ways)} of memsim's {len(CHANNELS)} ways to leak were tried"
    if len(ways) == len(CHANNELS):
        over = f"All of memsim's {len(CHANNELS)} ways to leak were tried"
    if letter == "n/a":
        return f"grade unknown, because nothing could be measured. {over}."
    breached = [(row, cell) for row, cell in ways if cell.breaches]
    if breached:
        count = f"leaks that fail a run were found in {len(breached)} of {_ways_text(len(ways))}"
        return f"grade {letter}, because {count}. {_weight(letter, breached)} {over}."
    if letter == "A":
        return f"grade A: nothing leaked, in all attempts of a full run. {over}."
    return f"grade {letter} at most, because {', and '.join(_limits(ways))}. {over}."


def _weight(letter: str, breached: _Ways) -> str:
    """Say why leaks have this grade and no better one."""
    deciding = [pair for pair in breached if CRITICAL.get(pair[1].worst, "D") == letter]
    row, cell = max(deciding or breached, key=lambda pair: pair[1].worst)
    if not cell.worst:
        lost = "no secret came out word for word, but something was given away or lost"
        return f'In "{_title(row)}", {lost}; that gives {letter}.'
    worst = cell.worst
    return f"A secret of weight {worst} of 4 came out; a leak of weight {worst} gives {letter}."


def _limits(ways: _Ways) -> Iterator[str]:
    """What keeps a strategy without a breach from an A."""
    reported = sum(bool(cell.leaks) for _, cell in ways)
    unclear = sum(_is_unclear(cell) for _, cell in ways)
    if reported:
        yield f"{_ways_text(reported)} leaked (which is only reported)"
    if unclear:
        yield f"{_ways_text(unclear)} could not be measured, or only in part"
    if not reported and not unclear:
        few = [(cell.planned, cell.of) for _, cell in ways if cell.planned < cell.of]
        made, full = sum(n for n, _ in few), sum(n for _, n in few)
        yield f"only {made:,} of the {full:,} attempts of a full run were made"


# -- leaks and changes


def _changes(ways: _Ways) -> Iterator[LeakChange]:
    by_change: dict[str, list[tuple[LeakRow, LeakCell, LeakFinding]]] = {}
    for row, cell in ways:
        for finding in cell.findings:
            by_change.setdefault(finding.change, []).append((row, cell, finding))

    def weight(change: str) -> tuple[int, int]:
        found = by_change[change]
        return -sum(bool(cell.breaches) for _, cell, _ in found), -len(found)

    for change in sorted(by_change, key=weight):
        found = by_change[change]
        yield LeakChange(
            change=change,
            leaks=tuple(_leak(row, cell, finding) for row, cell, finding in found),
            fails=any(cell.breaches for _, cell, _ in found),
        )


def _leak(row: LeakRow, cell: LeakCell, finding: LeakFinding) -> str:
    counted = f"{finding.attempts} of {number_format.plural(cell.eligible, 'attempt')} leaked"
    reported = "" if cell.breaches else ", which is only reported"
    example = "" if finding.attempts == 1 else "For example, "
    said = finding.example
    said = f"{example}{said}" if example else said[:1].upper() + said[1:]
    return f"{_title(row)}: {counted}{reported}. {said}."


def _unmeasured(ways: _Ways) -> Iterator[str]:
    for row, cell in ways:
        if _is_unclear(cell):
            advice = unmeasured_advice(row.channel) if cell.verdict == "n/a" else ""
            yield f"{_title(row)}: {cell.why}" + (f" ({advice})" if advice else "")
