"""Make the tables of a board, and render them for a terminal of any width."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memsim.report import number_format
from memsim.report.layout import (
    Column,
    Marks,
    Table,
    TerminalTable,
    TextLine,
    Tone,
    terminal_table,
)
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
from memsim.report.store_table import STORE_TITLE, store_table
from memsim.suite.reader_limit import LEAST_READ

KNOWN_ANSWERS = {
    "right": "{} of {} right answers known",
    "specific": "{} of {} wrong ones refused",
    "vague": "{} of {} vague ones refused",
}


def judge_sentences(judging: JudgeReport) -> Iterator[str]:
    """Say how far a judge can be trusted."""
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


def closing_line(summary: RunSummary, marks: Marks) -> str:
    """Such as `1 failed, 5 passed in 4.1 s · reports/runs/20260923T104200-4f1a/report.md`."""
    text = summary.verdict.sentence
    if summary.pending:
        text += f", {summary.pending:,} not run"
    if summary.seconds is not None:
        text += f" in {number_format.seconds(summary.seconds)}"
    return f"{text} {marks.dot} {summary.header.place}" if summary.header.place else text


# Recall by scenario, ability, category or budget, with a column for each strategy or budget.

MANY_SLICES = 24
"""A matrix with more rows than this is cut to its most telling ones."""

_SHORT = {"ceiling": "ceil.", "evidence": "evid.", "floor": "floor"}


def matrix_lines(matrix: Matrix, board: Board, marks: Marks, width: int) -> list[TextLine]:
    """Render a matrix for the terminal; strategies become letters where room is short."""
    shown, left_out = shown_slices(matrix.slices)
    matrix = replace(matrix, slices=tuple(shown))
    laid = terminal_table(matrix_table(matrix, [row.strategy for row in board.rows]), width)
    if laid.hidden or len(laid.lines[0].text) > width:
        short = [row.letter or _SHORT.get(row.control, marks.control) for row in board.rows]
        laid = terminal_table(matrix_table(matrix, short), width)
    lines = [TextLine(text=f"{matrix.of} by {matrix.by}", tone="head"), *laid.lines]
    if left_out:
        text = f"  {marks.dots} {left_out:,} more, with less between the strategies, in report.md"
        lines.append(TextLine(text=text, tone="dim"))
    return lines


def shown_slices(slices: Sequence[Slice], most: int = MANY_SLICES) -> tuple[list[Slice], int]:
    """Choose the slices to print, in order, and count the others.

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


def matrix_table(matrix: Matrix, heads: Sequence[str]) -> Table:
    """Recall by slice, with a column for each strategy."""
    slices = matrix.slices
    series = [
        (Column(matrix.by, right=False), [s.name for s in slices]),
        (Column("n", rank=99), [number_format.count(s.n) for s in slices]),
    ]
    for place, head in enumerate(heads):
        series.append((Column(head), [number_format.share(s.recall[place]) for s in slices]))
    return Table.of_columns(series)


def sweep_table(boards: Sequence[Board]) -> Table | None:
    """Recall by strategy and budget; None where there is only one budget."""
    budgets = sorted({b.budget for b in boards})
    if len(budgets) < 2:
        return None
    names = list(dict.fromkeys((b.dataset, r.strategy) for b in boards for r in b.rows))
    found = {(b.dataset, r.strategy, b.budget): r for b in boards for r in b.rows}
    series = [(Column("strategy", right=False), [name for _, name in names])]
    if any(dataset for dataset, _ in names):
        series.append((Column("over", right=False), [d or "scenarios" for d, _ in names]))
    for budget in budgets:
        rows = [found.get((*name, budget)) for name in names]
        cells = [_answered(r) if r else "" for r in rows]
        series.append((Column(number_format.budget(budget)), cells))
    return Table.of_columns(series)


def sweep_lines(boards: Sequence[Board], width: int) -> list[TextLine]:
    """Recall by strategy and budget for a terminal, where several budgets were tried."""
    table = sweep_table(boards)
    if table is None:
        return []
    lines = terminal_table(table, width).lines
    return [TextLine(text="recall by budget", tone="head"), *lines, TextLine(text="")]


MASKED_TITLE = "without answers and citations that an audit found wrong"


def board_lines(board: Board, marks: Marks, width: int) -> list[TextLine]:
    """Render a board with its title, its legend and its matrices."""
    laid = terminal_table(board_table(board, marks), width, indent="")
    lines = [TextLine(text=title(board, marks), tone="head"), TextLine(text="")]
    lines += [*laid.lines, TextLine(text="")]
    lines += [line for note in legend(board, marks, laid) for line in wrapped(note, width)]
    if ranking := ranking_table(board):
        lines += [TextLine(text=""), TextLine(text="evidence recall of the ranking", tone="head")]
        lines += terminal_table(ranking, width, indent="").lines
    if masked := masked_table(board):
        lines += [TextLine(text=""), TextLine(text=MASKED_TITLE, tone="head")]
        lines += terminal_table(masked, width, indent="").lines
    if stores := store_table(board):
        lines += [TextLine(text=""), TextLine(text=STORE_TITLE, tone="head")]
        lines += terminal_table(stores, width, indent="").lines
    for matrix in board.matrices:
        if len(matrix.slices) > 1:
            lines += [TextLine(text=""), *matrix_lines(matrix, board, marks, width)]
    return lines


def wrapped(text: str, width: int) -> list[TextLine]:
    """Wrap a remark to a width."""
    room = max(width, 40)
    lines = textwrap.wrap(text, room, initial_indent="  ", subsequent_indent="    ")
    return [TextLine(text=line, tone="dim") for line in lines]


def title(board: Board, marks: Marks) -> str:
    """Name the scenarios, the budget and the number of probes of a board."""
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


Series = tuple[Column, list[str]]
"""A column with its cells."""


def board_table(board: Board, marks: Marks) -> Table:
    """Make the table of a board, without columns that would say nothing."""
    rows = board.rows
    series = [
        (Column("", right=False), [_sign(r, marks) for r in rows]),
        (Column("strategy", right=False), [r.strategy for r in rows]),
        *_recall_columns(board, marks),
        *_answer_columns(board),
        *_cost_columns(rows),
        (Column("", right=False, rank=2), [note(r) for r in rows]),
    ]
    return Table.of_columns(series, map(_tone, rows))


def _sign(row: BoardRow, marks: Marks) -> str:
    return f"{marks.failed if row.failed else ' '} {row.letter or marks.control}"


def _recall_columns(board: Board, marks: Marks) -> Iterator[Series]:
    rows = board.rows
    unread = board.reader.reached
    if unread:
        yield _evidence_column(rows)
    else:
        yield Column("recall"), [number_format.share(r.recall.mean) for r in rows]
    intervals = [number_format.interval(r.lead.low, r.lead.high) for r in rows]
    yield Column("95%", right=False, rank=1), intervals
    if any(beats := [marks.superscript(r.beats) for r in rows]):
        yield Column("", right=False, rank=3), beats
    if unread:
        yield Column("recall", rank=4), [_answered(r) for r in rows]
    if any(r.recall.n != board.answerable for r in rows):
        yield Column("n", rank=2), [number_format.count(r.recall.n) for r in rows]
    if any(r.judged for r in rows):
        judged = [r.judged or Estimate() for r in rows]
        meaning = "right, as the judge says (see below how far it is to be believed)"
        yield (
            Column("judged", rank=1, meaning=meaning),
            [
                number_format.answered(e.mean, unread="judged" in board.reader.unread)
                for e in judged
            ],
        )
        if any(e.n != r.recall.n for e, r in zip(judged, rows, strict=True)):
            yield Column("of", rank=7), [number_format.count(e.n) for e in judged]


def _answered(row: BoardRow) -> str:
    return number_format.answered(row.recall.mean, unread=row.unread)


def _evidence_column(rows: Sequence[BoardRow]) -> Series:
    pieces = number_format.plural(max((r.evidence.n for r in rows), default=0), "probe")
    meaning = f"share of the evidence that was sent, {pieces}"
    rank = 0 if any(r.unread for r in rows) else 5
    column = Column("recall", "evidence", rank=rank, meaning=meaning)
    return column, [number_format.share(r.evidence.mean) for r in rows]


def _answer_columns(board: Board) -> Iterator[Series]:
    rows = board.rows
    meaning = "probes whose answer stood in what was sent"
    column = Column("context", "answer in", rank=4, meaning=meaning)
    yield column, [number_format.share(r.in_context.mean) for r in rows]
    if not board.reader.reached:
        yield _evidence_column(rows)
    if unknown := max((r.abstained.n for r in rows), default=0):
        column = Column("abst.", rank=8, meaning=f"rightly said to be unknown, of {unknown:,}")
        yield column, [number_format.share(r.abstained.mean) for r in rows]
    if f1 := max((r.f1.n for r in rows if r.f1), default=0):
        column = Column("F1", rank=6, meaning=f"LoCoMo's, {number_format.plural(f1, 'probe')}")
        means = [(r.f1.mean if r.f1 else None, r.unread) for r in rows]
        yield column, [number_format.answered(mean, unread=unread) for mean, unread in means]


_MEAN = Column("mean", "context", rank=3, meaning="tokens sent, on average")
_PEAK = Column("peak", "context", rank=6, meaning="tokens sent, at most")
_QUERY = Column("tokens", "query", rank=7, meaning="tokens sent for a question, itself included")
_UNSENT = Column("sent", "not", rank=3, meaning="evidence that the context of its question lacked")
_COMPACTIONS = Column("comp.", rank=9, meaning="compactions")
_LEAKS = Column("leaks", rank=1, meaning="probes that showed what the asker may not see")
_UNSCORED = Column("unscored", rank=1, meaning="probes without a score")


def _cost_columns(rows: Sequence[BoardRow]) -> Iterator[Series]:
    yield _MEAN, [number_format.tokens(r.context_mean) for r in rows]
    yield _PEAK, [number_format.tokens(r.context_peak) for r in rows]
    if any(r.question_mean is not None for r in rows):
        yield _QUERY, [number_format.tokens(r.question_mean) for r in rows]
    yield _UNSENT, [number_format.count(r.lost) for r in rows]
    yield _COMPACTIONS, [number_format.count(r.compactions) for r in rows]
    if any(r.leaks is not None for r in rows):
        yield _LEAKS, [number_format.count(r.leaks) for r in rows]
    if any(r.unscored for r in rows):
        yield _UNSCORED, [number_format.count(r.unscored) for r in rows]


def note(row: BoardRow) -> str:
    """Name the kind of a control, or say how many probes were scored."""
    if row.control == "ceiling" and row.lost:
        return "ceiling*"
    if row.incomplete and not row.control:
        return f"{row.recall.n:,} of {row.answerable:,} scored"
    return row.control


def legend(board: Board, marks: Marks, laid: TerminalTable | None = None) -> list[str]:
    """Explain the signs and the columns of a board."""
    hidden = laid.hidden if laid else ()
    notes = [_recall_note(board), reader_bound(board)]
    if board.reader.reached:
        notes.reverse()
    if letters := next((r.beats for r in board.rows if r.beats), None):
        sign = marks.superscript(letters[:1])
        how = f"paired by probe, Holm, p {marks.at_most} .05"
        what = " in evidence recall" if board.reader.reached else ""
        notes.append(f"{sign} beats row {letters[0]}{what} ({how})")
    meanings = [
        f"{column.name}: {column.meaning}"
        for column in board_table(board, marks).columns
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
    return (
        f"recall: answered rightly from the context or the evidence in it, of {of} answerable"
        f" probes; 95%: {ways}"
    )


def reader_bound(board: Board) -> str:
    """Say how far the reader bounds recall: what it answers from the evidence alone."""
    oracle = next((r for r in board.rows if r.control == "evidence"), None)
    if oracle is None or oracle.recall.mean is None:
        return "bound by the reader: unknown; add -s oracle"
    if board.reader.reached:
        return _reader_limit(board, oracle)
    share = number_format.share(oracle.recall.mean)
    return f"bound by the reader: {share} recall from the evidence alone ({oracle.strategy})"


def _reader_limit(board: Board, oracle: BoardRow) -> str:
    share = number_format.share(oracle.recall.mean)
    said = (
        f"answer recall is n/a (reader): {share} from the evidence alone ({oracle.strategy}),"
        f" less than {number_format.share(LEAST_READ)}; go by evidence recall and the context"
    )
    if board.reader.judged is None:
        return f"{said}, or have answers judged: --judge"
    judged = f"the judge finds {number_format.share(board.reader.judged)} of them right"
    if "judged" in board.reader.unread:
        return f"{said}; {judged}, so it needs another reader: --model"
    return f"{said}, or by judged: {judged}"


def ranking_table(board: Board) -> Table | None:
    """Make the table of evidence recall @k, MRR and nDCG; None where nothing is ranked."""
    rows = [row for row in board.rows if row.ranking]
    notations = dict.fromkeys(name for r in rows for name in r.ranking)
    if not notations:
        return None
    series = _named(rows)
    for place, name in enumerate(notations):
        cells = [number_format.share(r.ranking.get(name)) for r in rows]
        series.append((Column(name, rank=place), cells))
    series.append((Column("n", rank=1), [number_format.count(r.ranked) for r in rows]))
    return Table.of_columns(series, map(_tone, rows))


def masked_table(board: Board) -> Table | None:
    """Make the table of means without audited errors; None where there was no audit."""
    rows = board.rows
    names = dict.fromkeys(name for r in rows for name in r.masked)
    if not names:
        return None
    series = _named(rows)
    for name in names:
        found = [r.masked.get(name, Estimate()) for r in rows]
        series.append((Column(name), [number_format.share(e.mean) for e in found]))
        series.append((Column("n"), [number_format.count(e.n) for e in found]))
    return Table.of_columns(series, map(_tone, rows))


def _named(rows: Sequence[BoardRow]) -> list[Series]:
    return [
        (Column("", right=False), [f"  {r.letter}" for r in rows]),
        (Column("strategy", right=False), [r.strategy for r in rows]),
    ]
