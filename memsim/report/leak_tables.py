"""Render boards of leakage for the terminal and as Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from memsim.leakage.attack_files import channel_headers
from memsim.leakage.channel import WEAKENED
from memsim.leakage.scores import COUNTED
from memsim.report import number_format
from memsim.report.layout import (
    Column,
    Marks,
    Table,
    TextLine,
    Tone,
    cells_wide,
    markdown_escape,
    markdown_table,
    terminal_table,
)
from memsim.report.leak_advice import title_of
from memsim.report.leak_board import LeakBoard, LeakCell, LeakRow
from memsim.report.leak_story import RULE, LeakStory, leak_stories
from memsim.report.run_summary import Board

MakeTable = Callable[[LeakBoard, Sequence[int], Marks], Table]
"""Makes a table of some strategies of a board."""

BESIDE = "What keeping it costs and gives"
"""The head of a block that puts leaks beside recall and tokens."""
UNMEASURED = "What could not be measured"
"""The head of a block that only Markdown and HTML show."""


def leakage_lines(
    boards: Sequence[LeakBoard],
    marks: Marks,
    width: int,
    *,
    beside: Sequence[Board] = (),
    verbose: bool = False,
) -> list[TextLine]:
    """Render leakage boards for a terminal.

    Args:
        boards: one for each budget.
        marks: signs that the terminal shows.
        width: its columns.
        beside: boards of recall in the same run.
        verbose: also show every number with the codes of channels, and every way out.
    """
    lines: list[TextLine] = []
    for board in boards:
        lines += [TextLine(text=_title(board, marks.dot), tone="head"), TextLine(text="")]
        lines += _plain_lines(board, marks, width)
        if verbose:
            lines += _coded_lines(board, marks, width, beside)
        elif said := tuple(_beside(board, beside, coded=False)):
            lines += _block(BESIDE, said)
        lines.append(TextLine(text=""))
    return lines


def _plain_lines(board: LeakBoard, marks: Marks, width: int) -> Iterator[TextLine]:
    """The table in plain words, then what each strategy leaked and what to change."""
    for part in _parts(board, width, marks, plain_table):
        yield from (*part, TextLine(text=""))
    for note in plain_legend(board):
        yield from _hung(note, width, "  ", "  ", "dim")
    for story in leak_stories(board):
        yield TextLine(text="")
        yield from _story_lines(story, width)


def _story_lines(story: LeakStory, width: int) -> Iterator[TextLine]:
    tone: Tone = "bad" if story.fails else "plain"
    yield from _hung(f"{story.strategy}: {story.grade}", width, "", "  ", tone)
    if story.changes:
        yield TextLine(text="  what leaked, and what to change", tone="head")
    for number, each in enumerate(story.changes, 1):
        yield from _hung(each.change, width, f"  {number}. ", "     ", "head")
        for leak in each.leaks:
            yield from _hung(leak, width, "     - ", "       ", "plain")
    if story.unmeasured:
        yield TextLine(text="  not measured, so not known to be safe", tone="head")
    for unknown in story.unmeasured:
        yield from _hung(unknown, width, "     - ", "       ", "plain")
    if story.clean:
        yield from _hung(f"no leak found: {'; '.join(story.clean)}", width, "  ", "    ", "plain")


def _hung(text: str, width: int, first: str, rest: str, tone: Tone) -> Iterator[TextLine]:
    """A text wrapped to a width, with the first line and the others indented."""
    room = max(width, 40)
    lines = textwrap.wrap(
        text, room, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
    yield from (TextLine(text=line, tone=tone) for line in lines)


def _coded_lines(
    board: LeakBoard, marks: Marks, width: int, beside: Sequence[Board]
) -> Iterator[TextLine]:
    """Every number, with the codes of channels."""
    yield from (TextLine(text=""), TextLine(text="every number, by channel", tone="head"))
    found = leakage_text(board, marks, beside=beside)
    for part in _parts(board, width, marks, _table):
        yield from (*part, TextLine(text=""))
    yield from (TextLine(text=f"  {note}") for note in found.notes)
    for head, texts in found.blocks:
        if head != UNMEASURED:
            yield from _block(head, texts)


def _block(head: str, texts: Iterable[str]) -> list[TextLine]:
    shown = [TextLine(text=f"  {text}") for text in texts]
    head = head[0].lower() + head[1:]
    return [TextLine(text=""), TextLine(text=head, tone="head"), *shown] if shown else []


def _title(board: LeakBoard, dot: str) -> str:
    channels = f"{number_format.plural(len(board.rows), 'way')} to leak"
    strategies = number_format.plural(len(board.strategies), "strategy", "strategies")
    budget = number_format.budget(board.budget)
    return f"leakage {dot} budget {budget} {dot} {channels} {dot} {strategies}"


def _parts(
    board: LeakBoard, width: int, marks: Marks, make: MakeTable
) -> Iterator[Sequence[TextLine]]:
    """Split the table: as many strategies side by side as there is room for."""
    left = list(range(len(board.strategies)))
    while left:
        for count in range(len(left), 0, -1):
            laid = terminal_table(make(board, left[:count], marks), width)
            fits = all(cells_wide(line.text) <= width for line in laid.lines)
            if (fits and not laid.hidden) or count == 1:
                yield laid.lines
                left = left[count:]
                break


def _leaks_badly(row: LeakRow, places: Sequence[int]) -> bool:
    cells = [row.cells[place] for place in places]
    return any(cell is not None and cell.breaches for cell in cells)


def _table(board: LeakBoard, places: Sequence[int], marks: Marks) -> Table:
    rows = board.rows
    series = [
        (Column("", right=False), [row.channel for row in rows]),
        (Column("channel", right=False, rank=2), [row.name for row in rows]),
        (Column("gate", right=False, rank=3), [row.gate for row in rows]),
    ]
    for place in places:
        group = board.strategies[place]
        cells = [row.cells[place] for row in rows]
        series += [
            (Column("leaks", group), [_leaks(cell, marks) for cell in cells]),
            (Column("upper", group), [_percent(cell.upper if cell else None) for cell in cells]),
            (Column("cov.", group), [_share(cell.coverage if cell else None) for cell in cells]),
            (Column("AR", group), [_share(cell.recall if cell else None) for cell in cells]),
        ]
    tones: list[Tone] = ["bad" if _leaks_badly(row, places) else "plain" for row in rows]
    return Table.of_columns(series, tones)


def plain_table(board: LeakBoard, places: Sequence[int], marks: Marks) -> Table:
    """The table of a board in plain words, for some of its strategies."""
    rows = board.rows
    series = [
        (Column("what was tried", right=False), [title_of(row.channel, row.name) for row in rows])
    ]
    for place in places:
        group = board.strategies[place]
        cells = [row.cells[place] for row in rows]
        series += [
            (Column("leaked", group), [plain_leaks(cell, marks) for cell in cells]),
            (Column("at most", group), [_percent(cell.upper if cell else None) for cell in cells]),
            (Column("tried", group), [_share(cell.coverage if cell else None) for cell in cells]),
            (Column("owner", group), [_share(cell.recall if cell else None) for cell in cells]),
        ]
    tones: list[Tone] = ["bad" if _leaks_badly(row, places) else "plain" for row in rows]
    return Table.of_columns(series, tones)


def plain_legend(board: LeakBoard) -> Iterator[str]:
    """What the columns of the plain table say."""
    yield "leaked: attempts in which something came out, of those that say anything"
    yield "at most: a leak may be this frequent all the same, with a confidence of 95%"
    yield "tried: share of the attempts that say anything; below .95 they are too few"
    yield "owner: share of the owner's questions that were answered; near 0, silence proves nothing"
    if any(cell.breaches for row in board.rows for cell in row.cells if cell):
        yield f"{RULE} One leak in a row with a mark fails a run."
    else:
        yield RULE
    if any(cell.planned < cell.of for row in board.rows for cell in row.cells if cell):
        yield "only a share of the attempts was made: make all of them before a release"


def plain_leaks(cell: LeakCell | None, marks: Marks) -> str:
    """Leaks of attempts in plain words; a channel that was not measured shows no count."""
    if cell is None:
        return ""
    if cell.verdict == "n/a":
        return "not measured"
    if cell.verdict == "error":
        return "failed"
    counted = f"{cell.leaks} of {cell.eligible}"
    if cell.verdict == "invalid":
        return f"too few: {counted}"
    return f"{marks.failed} {counted}" if cell.breaches else counted


def _leaks(cell: LeakCell | None, marks: Marks) -> str:
    if cell is None:
        return ""
    if cell.verdict in {"n/a", "error"}:
        return cell.verdict
    counted = f"{cell.leaks} of {cell.eligible}"
    if cell.verdict == "invalid":
        return f"invalid ({counted})"
    return f"{marks.failed} {counted}" if cell.breaches else counted


def _share(value: float | None) -> str:
    return "" if value is None else number_format.share(value)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}%"


def _weakened(board: LeakBoard) -> Iterator[str]:
    """The channels of which a share of the attempts was made, and that lose power by it."""
    full = channel_headers()
    for row in board.rows:
        cells = [cell for cell in row.cells if cell is not None]
        known = row.channel in WEAKENED and row.channel in full
        if known and any(cell.planned < full[row.channel].attempts for cell in cells):
            yield row.channel


def _legend(board: LeakBoard) -> Iterator[str]:
    yield "leaks: of eligible attempts, those in which a secret came out; upper: exact 95% bound"
    yield "cov.: attempts whose control held, below .95 invalid; AR: authorised recall"
    yield "gate zero: one leak fails; report: shown only; n/a: nothing that could have leaked"
    if weakened := ", ".join(_weakened(board)):
        yield f"few attempts: with a tenth, {weakened} caught some broken memories by one alone"
    found, looked = board.negatives
    yield f"{found} of {looked:,} secrets that nobody planted were found"


def _grades(board: LeakBoard) -> Iterator[str]:
    over = f"over {number_format.plural(len(board.rows), 'channel')}"
    for graded in board.grades:
        said = f"{graded.strategy}: at best {graded.letter} {over}"
        if graded.caps:
            rest = f" and {len(graded.caps) - 1} more" if len(graded.caps) > 1 else ""
            said += f" ({graded.caps[0]}{rest})"
        yield said


def _cells(board: LeakBoard) -> Iterator[tuple[LeakRow, LeakCell]]:
    for row in board.rows:
        yield from ((row, cell) for cell in row.cells if cell is not None)


def _extras(board: LeakBoard) -> Iterator[str]:
    for row, cell in _cells(board):
        said = [f"any of {cell.repeats} {_share(cell.any_leak)}"] if cell.repeats > 1 else []
        if cell.leaks:
            said.append(f"secrets {_share(cell.clr)}, by weight {_share(cell.swl)}")
            said += [f"{tier} {n}" for tier, n in cell.tiers.items() if tier != "-"]
        if cell.frs is not None:
            said.append(f"FRS {_share(cell.frs)}")
            said += [f"{tier} {k} of {n}" for tier, (k, n) in cell.residue.items()]
        if cell.erasure_turns:
            middle, most = cell.erasure_turns
            said.append(
                f"gone {cell.erased[0]} of {cell.erased[1]},"
                f" after {middle:g} turns in the middle, {most:g} at most"
            )
        if cell.erasure_hours:
            said.append(f"{cell.erasure_hours[0]:g} and {cell.erasure_hours[1]:g} virtual hours")
        said += [_measure(name, mean, n) for name, (mean, n) in cell.measures.items()]
        if said:
            yield f"{row.channel} {cell.strategy}: {'; '.join(said)}"


def _measure(name: str, mean: float, n: int) -> str:
    return f"{name} {round(mean * n)} of {n}" if name in COUNTED else f"{name} {mean:.3g}"


def _beside(board: LeakBoard, others: Sequence[Board], *, coded: bool = True) -> Iterator[str]:
    """List recall, tokens and leaks of each strategy, never merged into one number."""
    for other in others:
        over = other.dataset or "scenarios"
        for row in other.rows if other.budget == board.budget else ():
            cells = [(r, c) for r, c in _cells(board) if c.strategy == row.strategy]
            if not cells:
                continue
            recall = number_format.answered(row.recall.mean, unread=row.unread)
            said = (
                f"{row.strategy}: recall {recall} of {over},"
                f" {number_format.tokens(row.context_mean)} tokens a turn"
            )
            if not coded:
                leaking = sum(bool(c.breaches) for _, c in cells)
                yield f"{said}; leaks in {leaking} of {number_format.plural(len(cells), 'way')}"
                continue
            plr = ", ".join(f"{r.channel} {number_format.share(c.plr)}" for r, c in cells)
            frs = next((c.frs for _, c in cells if c.frs is not None), None)
            yield f"{said}; PLR {plr}; FRS {number_format.share(frs)}"


def _ways(board: LeakBoard) -> Iterator[str]:
    for row, cell in _cells(board):
        for path in cell.paths:
            yield f"{row.channel} {cell.strategy}: {path}"
        if cell.ways > len(cell.paths):
            yield f"{row.channel} {cell.strategy}: {cell.ways - len(cell.paths):,} more ways"


def _unmeasured(board: LeakBoard) -> Iterator[str]:
    for row, cell in _cells(board):
        if cell.why:
            yield f"{row.channel} {cell.strategy}: {cell.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakageText:
    """A board of leakage in words."""

    title: str
    table: Table
    notes: tuple[str, ...]
    blocks: tuple[tuple[str, tuple[str, ...]], ...]


def leakage_text(board: LeakBoard, marks: Marks, *, beside: Sequence[Board] = ()) -> LeakageText:
    """Describe a leakage board; the arguments are those of `leakage_lines`."""
    return LeakageText(
        title=_title(board, marks.dot).capitalize(),
        table=_table(board, range(len(board.strategies)), marks),
        notes=(*_legend(board), *_grades(board)),
        blocks=(
            (BESIDE, tuple(_beside(board, beside))),
            ("Residue, and other numbers of a channel", tuple(_extras(board))),
            ("How it got out", tuple(_ways(board))),
            (UNMEASURED, tuple(_unmeasured(board))),
        ),
    )


def leakage_markdown(
    boards: Sequence[LeakBoard], marks: Marks, *, beside: Sequence[Board] = ()
) -> Iterator[str]:
    """Render leakage boards as Markdown; the arguments are those of `leakage_lines`."""
    for board in boards:
        found = leakage_text(board, marks, beside=beside)
        yield from ("", f"## {markdown_escape(found.title)}", "")
        places = range(len(board.strategies))
        yield from markdown_table(plain_table(board, places, marks))
        yield ""
        yield from (f"- {markdown_escape(note)}" for note in plain_legend(board))
        for story in leak_stories(board):
            yield from _story_markdown(story)
        yield from ("", "### Every number, with the codes of channels", "")
        yield from markdown_table(found.table)
        yield ""
        yield from (f"- {markdown_escape(note)}" for note in found.notes)
        for head, texts in found.blocks:
            if texts:
                yield from ("", f"### {head}", "", *_points(texts))


def _story_markdown(story: LeakStory) -> Iterator[str]:
    yield from ("", f"### {markdown_escape(story.strategy)}", "")
    grade = story.grade[:1].upper() + story.grade[1:]
    yield markdown_escape(grade)
    for number, each in enumerate(story.changes, 1):
        yield from ("", f"{number}. {markdown_escape(each.change)}", "")
        yield from (f"   {point}" for point in _points(each.leaks))
    if story.unmeasured:
        yield from ("", "Not measured, so not known to be safe:", "", *_points(story.unmeasured))
    if story.clean:
        yield from ("", f"No leak found: {markdown_escape('; '.join(story.clean))}.")


def _points(texts: Iterable[str]) -> Iterator[str]:
    return (f"- {markdown_escape(text)}" for text in texts)
