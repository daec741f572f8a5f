"""Boards and matrices as lines of text for a terminal of any width."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from memsim.report import number_format
from memsim.report.layout import Column, Laid, Marks, TextLine, Tone, lay_out
from memsim.report.run_summary import (
    LEAST_SCORED,
    Board,
    BoardRow,
    Estimate,
    JudgeReport,
    Matrix,
    RunSummary,
    Slice,
)

KNOWN_ANSWERS = {
    "right": "{} of {} right answers known",
    "specific": "{} of {} wrong ones refused",
    "vague": "{} of {} vague ones refused",
}


def judge_sentences(judging: JudgeReport) -> Iterator[str]:
    """What is to be known of a judge before its numbers are read; what it is not, if it is not."""
    prompt = f", prompt {judging.prompt}" if judging.prompt else ""
    yield f"judge {judging.judge}, majority of {judging.draws}{prompt}"
    if judging.unfit:
        yield f"unmeasured: the judge is not believed: {judging.unfit}"
    if known := list(_known_answers(judging)):
        flips = "" if judging.known_flips is None else f"; {_judge_flips(judging.known_flips)}"
        floor = number_format.share(judging.floor)
        yield f"known answers (floor {floor}): {', '.join(known)}{flips}"
    if judging.answers:
        yield _judge_agreement(judging)


def _known_answers(judging: JudgeReport) -> Iterator[str]:
    for kind, (told, n) in judging.known.items():
        yield KNOWN_ANSWERS.get(kind, "{} of {} others told").format(told, n)


def _judge_agreement(judging: JudgeReport) -> str:
    parts = [f"{number_format.plural(judging.answers, 'answer')} judged"]
    if judging.agreement is not None:
        kappa = "not defined" if judging.kappa is None else number_format.share(judging.kappa)
        said = number_format.share(judging.agreement)
        parts.append(f"agrees with the rules on {said} of {judging.compared:,} (kappa {kappa})")
    if judging.flips is not None:
        parts.append(_judge_flips(judging.flips))
    if judging.unread:
        parts.append(f"{judging.unread:,} without a verdict, not measured")
    return "; ".join(parts)


def _judge_flips(share: float) -> str:
    return f"opinions differ on {number_format.share(share)}"


# The last line of a run, from the same verdict as its exit code.


def closing_line(summary: RunSummary, marks: Marks) -> str:
    """Such as `1 failed, 5 passed in 4.1 s · reports/runs/20260923T104200-4f1a/report.md`."""
    text = summary.verdict.sentence
    if summary.pending:
        text += f", {summary.pending:,} not run"
    if summary.seconds is not None:
        text += f" in {number_format.seconds(summary.seconds)}"
    return f"{text} {marks.dot} {summary.header.place}" if summary.header.place else text


# Recall by scenario, ability, category or budget, with a column for each strategy or budget.


Table = list[tuple[Column, list[str]]]
"""Columns with their cells."""

MANY_SLICES = 24
"""Rows of a matrix beyond which only the most telling ones are printed."""

_SHORT = {"ceiling": "ceil.", "evidence": "evid.", "floor": "floor"}


def matrix_lines(matrix: Matrix, board: Board, marks: Marks, width: int) -> list[TextLine]:
    """A matrix with a column for each row of the board, named in full where there is room."""
    shown, left_out = shown_slices(matrix.slices)
    names = [[s.name, number_format.count(s.n), *map(number_format.share, s.recall)] for s in shown]
    rows: list[tuple[Sequence[str], Tone]] = [(cells, "plain") for cells in names]
    laid = _fit_matrix(matrix.by, board, rows, marks, width)
    lines = [TextLine(text=f"recall by {matrix.by}", tone="head"), *laid.lines]
    if left_out:
        text = f"  {marks.dots} {left_out:,} more, with less between the strategies, in report.md"
        lines.append(TextLine(text=text, tone="dim"))
    return lines


def shown_slices(slices: Sequence[Slice], most: int = MANY_SLICES) -> tuple[list[Slice], int]:
    """The slices to print, in order, and how many are left out.

    Where there are too many, those stay that tell the strategies apart best, or that are hardest.
    """
    if len(slices) <= most:
        return list(slices), 0
    ranked = sorted(range(len(slices)), key=lambda i: (-_spread(slices[i]), _best(slices[i]), i))
    return [slices[i] for i in sorted(ranked[:most])], len(slices) - most


def _spread(piece: Slice) -> float:
    known = [v for v in piece.recall if v is not None]
    return max(known) - min(known) if known else -1.0


def _best(piece: Slice) -> float:
    return max((v for v in piece.recall if v is not None), default=1.0)


def _fit_matrix(
    by: str,
    board: Board,
    rows: Sequence[tuple[Sequence[str], Tone]],
    marks: Marks,
    width: int,
) -> Laid:
    full = [row.strategy for row in board.rows]
    short = [row.letter or _SHORT.get(row.control, marks.control) for row in board.rows]
    laid = lay_out(_matrix_columns(by, full), rows, width, indent="  ")
    if laid.hidden or len(laid.lines[0].text) > width:
        return lay_out(_matrix_columns(by, short), rows, width, indent="  ")
    return laid


def _matrix_columns(by: str, heads: Sequence[str]) -> list[Column]:
    first = [Column(head=by, right=False), Column(head="n", rank=99)]
    return [*first, *(Column(head=head) for head in heads)]


def sweep_table(boards: Sequence[Board]) -> Table:
    """Recall by strategy and budget; empty when there is only one budget."""
    budgets = sorted({b.budget for b in boards})
    if len(budgets) < 2:
        return []
    names = list(dict.fromkeys((b.dataset, r.strategy) for b in boards for r in b.rows))
    found = {(b.dataset, r.strategy, b.budget): r for b in boards for r in b.rows}
    table: Table = [(Column(head="strategy", right=False), [name for _, name in names])]
    if any(dataset for dataset, _ in names):
        table.append((Column(head="over", right=False), [d or "scenarios" for d, _ in names]))
    for budget in budgets:
        rows = [found.get((*name, budget)) for name in names]
        cells = [number_format.share(r.recall.mean) if r else "" for r in rows]
        table.append((Column(head=number_format.budget(budget)), cells))
    return table


def sweep_lines(boards: Sequence[Board], width: int) -> list[TextLine]:
    """Recall by strategy and budget, where several were tried."""
    table = sweep_table(boards)
    if not table:
        return []
    rows = list(zip(*(cells for _, cells in table), strict=True))
    tones: list[Tone] = ["plain"] * len(rows)
    laid = lay_out([c for c, _ in table], list(zip(rows, tones, strict=True)), width)
    return [TextLine(text="recall by budget", tone="head"), *laid.lines, TextLine(text="")]


MASKED_TITLE = "without answers and citations that an audit found wrong"


def board_lines(board: Board, marks: Marks, width: int) -> list[TextLine]:
    """A board with its title, its legend and its matrices."""
    laid = _lay_table(board_table(board, marks), board.rows, width)
    lines = [TextLine(text=title(board, marks), tone="head"), TextLine(text="")]
    lines += [*laid.lines, TextLine(text="")]
    lines += [line for note in legend(board, marks, laid) for line in wrapped(note, width)]
    if ranking := ranking_table(board):
        lines += [TextLine(text=""), TextLine(text="evidence recall of the ranking", tone="head")]
        lines += _lay_table(ranking, _ranked(board), width).lines
    if masked := masked_table(board):
        lines += [TextLine(text=""), TextLine(text=MASKED_TITLE, tone="head")]
        lines += _lay_table(masked, board.rows, width).lines
    for matrix in board.matrices:
        if len(matrix.slices) > 1:
            lines += [TextLine(text=""), *matrix_lines(matrix, board, marks, width)]
    return lines


def _lay_table(table: Table, rows: Sequence[BoardRow], width: int) -> Laid:
    columns = [column for column, _ in table]
    cells = [[column[i] for _, column in table] for i in range(len(rows))]
    tones = [_tone(row) for row in rows]
    return lay_out(columns, list(zip(cells, tones, strict=True)), width, indent="")


def wrapped(text: str, width: int) -> list[TextLine]:
    """A remark in lines of at most a width, as far as its words allow."""
    room = max(width, 40)
    lines = textwrap.wrap(text, room, initial_indent="  ", subsequent_indent="    ")
    return [TextLine(text=line, tone="dim") for line in lines]


def title(board: Board, marks: Marks) -> str:
    """What a board is over: every mean in it has its n here or in a column."""
    things = "conversation" if board.dataset else "scenario"
    parts = [
        board.dataset or "scenarios",
        f"budget {number_format.budget(board.budget)}",
        " in ".join(
            (
                number_format.plural(board.probes, "probe"),
                number_format.plural(board.scenarios, things),
            )
        ),
        f"{board.answerable:,} answerable",
    ]
    if board.repeats > 1:
        parts.append(f"{board.repeats} repeats")
    return f" {marks.dot} ".join(parts)


def _tone(row: BoardRow) -> Tone:
    if row.failed:
        return "bad"
    return "dim" if row.control else "plain"


def board_table(board: Board, marks: Marks) -> Table:
    """The columns of a board with their cells; what says nothing in it is left out."""
    rows = board.rows
    table = [
        (Column(head="", right=False), [_sign(r, marks) for r in rows]),
        (Column(head="strategy", right=False), [r.strategy for r in rows]),
        *_recall_columns(board, marks),
        *_judged_columns(rows),
        (_in_context_column(), [number_format.share(r.in_context.mean) for r in rows]),
        (_evidence_column(rows), [number_format.share(r.evidence.mean) for r in rows]),
    ]
    if unknown := max((r.abstained.n for r in rows), default=0):
        meaning = f"rightly said to be unknown, of {unknown:,}"
        cells = [number_format.share(r.abstained.mean) for r in rows]
        table.append((Column(head="abst.", rank=8, meaning=meaning), cells))
    if f1 := max((r.f1.n for r in rows if r.f1), default=0):
        meaning = f"LoCoMo's, {number_format.plural(f1, 'probe')}"
        cells = [number_format.share(r.f1.mean if r.f1 else None) for r in rows]
        table.append((Column(head="F1", rank=6, meaning=meaning), cells))
    table += _cost_columns(rows)
    table.append((Column(head="", right=False, rank=2), [note(r) for r in rows]))
    return table


def _in_context_column() -> Column:
    meaning = "probes whose answer stood in what was sent"
    return Column(group="answer in", head="context", rank=4, meaning=meaning)


def _evidence_column(rows: Sequence[BoardRow]) -> Column:
    pieces = max((r.evidence.n for r in rows), default=0)
    meaning = f"share of the evidence that was sent, {number_format.plural(pieces, 'probe')}"
    return Column(group="evidence", head="recall", rank=5, meaning=meaning)


def _sign(row: BoardRow, marks: Marks) -> str:
    return f"{marks.failed if row.failed else ' '} {row.letter or marks.control}"


def _recall_columns(board: Board, marks: Marks) -> Table:
    rows = board.rows
    beats = [marks.superscript(r.beats) for r in rows]
    table = [
        (Column(head="recall"), [number_format.share(r.recall.mean) for r in rows]),
        (
            Column(head="95%", right=False, rank=1),
            [number_format.interval(r.recall.low, r.recall.high) for r in rows],
        ),
    ]
    if any(beats):
        table.append((Column(head="", right=False, rank=3), beats))
    if any(r.recall.n != board.answerable for r in rows):
        table.append((Column(head="n", rank=2), [number_format.count(r.recall.n) for r in rows]))
    return table


def _judged_columns(rows: Sequence[BoardRow]) -> Table:
    if not any(r.judged for r in rows):
        return []
    found = [r.judged or Estimate() for r in rows]
    table = [(_JUDGED, [number_format.share(e.mean) for e in found])]
    if len({(e.n, r.recall.n) for e, r in zip(found, rows, strict=True)}) > 1 or any(
        e.n != r.recall.n for e, r in zip(found, rows, strict=True)
    ):
        table.append((Column(head="of", rank=7), [number_format.count(e.n) for e in found]))
    return table


def _cost_columns(rows: Sequence[BoardRow]) -> Table:
    table = [
        (
            Column(head="mean", group="context", rank=3, meaning="tokens sent, on average"),
            [number_format.tokens(r.context_mean) for r in rows],
        ),
        (
            Column(head="peak", group="context", rank=6, meaning="tokens sent, at most"),
            [number_format.tokens(r.context_peak) for r in rows],
        ),
        *_query_columns(rows),
        (_LOST, [number_format.count(r.lost) for r in rows]),
        (
            Column(head="comp.", rank=9, meaning="compactions"),
            [number_format.count(r.compactions) for r in rows],
        ),
    ]
    if any(r.leaks is not None for r in rows):
        table.append((_LEAKS, [number_format.count(r.leaks) for r in rows]))
    if any(r.unscored for r in rows):
        cells = [number_format.count(r.unscored) for r in rows]
        table.append((Column(head="unscored", rank=1, meaning="probes without a score"), cells))
    return table


_JUDGED = Column(
    head="judged",
    rank=1,
    meaning="right, as the judge says (see below how far it is to be believed)",
)
_LOST = Column(head="lost", rank=3, meaning="pieces of evidence that were not sent")
_LEAKS = Column(head="leaks", rank=1, meaning="probes that showed what the asker may not see")
_QUERY = Column(
    group="query", head="tokens", rank=7, meaning="tokens sent for a question, itself included"
)


def _query_columns(rows: Sequence[BoardRow]) -> Table:
    if all(r.question_mean is None for r in rows):
        return []
    return [(_QUERY, [number_format.tokens(r.question_mean) for r in rows])]


def note(row: BoardRow) -> str:
    """What a control marks, and whether it could; of how many probes a strategy was scored."""
    if row.control == "ceiling" and row.lost:
        return "ceiling*"
    if row.incomplete and not row.control:
        return f"{row.recall.n:,} of {row.answerable:,} scored"
    return row.control


def legend(board: Board, marks: Marks, laid: Laid | None = None) -> list[str]:
    """What the signs and the columns of a board mean, and over how many probes."""
    hidden = laid.hidden if laid else ()
    notes = [_recall_note(board)]
    if letters := next((r.beats for r in board.rows if r.beats), None):
        sign = marks.superscript(letters[:1])
        how = f"paired by probe, Holm, p {marks.at_most} .05"
        notes.append(f"{sign} beats row {letters[0]} ({how})")
    columns = [column for column, _ in board_table(board, marks)]
    meanings = [
        f"{column.name}: {column.meaning}"
        for column in columns
        if column.meaning and column.name not in hidden
    ]
    notes += ["; ".join(meanings[place : place + 2]) for place in range(0, len(meanings), 2)]
    if any(note(r).endswith("*") for r in board.rows):
        notes.append("* all that was said did not fit into the budget: the oldest was left out")
    if any(r.partial and not r.control for r in board.rows):
        notes.append(
            f"scored on less than {LEAST_SCORED:.0%} of its probes: ranked below the others,"
            " whatever its recall"
        )
    if hidden:
        names = ", ".join(head for head in hidden if head)
        notes.append(f"no room for: {names or 'notes'} (a wider terminal or --format md has them)")
    return notes


def _recall_note(board: Board) -> str:
    ways = "conversations resampled" if board.clustered else "probes resampled within scenarios"
    same = all(r.recall.n == board.answerable for r in board.rows)
    of = f"the {board.answerable:,}" if same else "n"
    return f"recall: answered rightly, of {of} answerable probes; 95%: {ways}"


def ranking_table(board: Board) -> Table:
    """Recall of evidence @k, MRR and nDCG of the strategies that rank; empty where none does."""
    rows = _ranked(board)
    notations = list(dict.fromkeys(name for r in rows for name in r.ranking))
    if not notations:
        return []
    table: Table = [
        (Column(head="", right=False), [f"  {r.letter}" for r in rows]),
        (Column(head="strategy", right=False), [r.strategy for r in rows]),
    ]
    for place, name in enumerate(notations):
        cells = [number_format.share(r.ranking.get(name)) for r in rows]
        table.append((Column(head=name, rank=place), cells))
    table.append((Column(head="n", rank=1), [number_format.count(r.ranked) for r in rows]))
    return table


def _ranked(board: Board) -> list[BoardRow]:
    return [row for row in board.rows if row.ranking]


def masked_table(board: Board) -> Table:
    """Means without what an audit of the dataset found wrong; empty where there was no audit."""
    rows = board.rows
    names = list(dict.fromkeys(name for r in rows for name in r.masked))
    if not names:
        return []
    table: Table = [
        (Column(head="", right=False), [f"  {r.letter}" for r in rows]),
        (Column(head="strategy", right=False), [r.strategy for r in rows]),
    ]
    for name in names:
        found = [r.masked.get(name, Estimate()) for r in rows]
        table.append((Column(head=name), [number_format.share(e.mean) for e in found]))
        table.append((Column(head="n"), [number_format.count(e.n) for e in found]))
    return table
