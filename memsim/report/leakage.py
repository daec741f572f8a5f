"""What channels of leakage came to: a row for each channel, a column for each strategy.

No number of a leak stands without authorised recall, coverage and the count that it is over, and
nothing is averaged over channels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memsim.leakage.lines import score_lines
from memsim.leakage.scores import grade
from memsim.report import numbers
from memsim.report.layout import Column, TextLine, Tone, lay_out

if TYPE_CHECKING:
    from memsim.leakage.scores import ChannelScore, Tally
    from memsim.report.marks import Marks
    from memsim.report.matrix import Table
    from memsim.report.rows import Board
    from memsim.runs import Run

DATASET = "leakage"
SHOWN_PATHS = 3
"""Ways out that are printed of each channel and strategy; the records have all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakCell:
    """One channel and one strategy.

    Attributes:
        verdict: `safe`, `leak`, `invalid`, `n/a` or `error`.
        why: what keeps it from being measured; empty when nothing does.
        leaks, eligible, planned: attempts.
        breaches: leaks of attempts that may not leak at all.
        plr: leaks of eligible; None where nothing was eligible.
        upper: the exact upper 95 % bound of it.
        clr, swl: secrets that came out, as such and by weight.
        any_leak: any-of-r, mean over owners.
        repeats: the r of it.
        coverage: eligible of planned.
        served, asked: controls; their share is authorised recall.
        recall: that share; None without controls.
        states: attempts by state.
        tiers: leaking attempts by tier of the matcher.
        frs: forgotten secrets that any tier still holds.
        residue: the same by tier of the memory, as (k, n).
        erased: forgotten secrets that went in the end, as (k, n).
        erasure_turns, erasure_hours: median and most until then; empty where not measured.
        measures: further means of the channel's own, as (mean, n).
        slices: leaks by attack and by label, as (k, n).
        paths: how secrets got out, redacted.
        ways: how many different ones there are.
    """

    strategy: str
    verdict: str
    why: str
    leaks: int
    breaches: int
    eligible: int
    planned: int
    plr: float | None
    upper: float | None
    clr: float | None
    swl: float | None
    any_leak: float | None
    repeats: int
    coverage: float
    served: int
    asked: int
    recall: float | None
    states: Mapping[str, int] = field(default_factory=dict)
    tiers: Mapping[str, int] = field(default_factory=dict)
    frs: float | None = None
    residue: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    erased: tuple[int, int] = (0, 0)
    erasure_turns: tuple[float, ...] = ()
    erasure_hours: tuple[float, ...] = ()
    measures: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    slices: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    ways: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakRow:
    """One channel.

    Attributes:
        cells: one for each strategy of the board; None where it was not played.
    """

    channel: str
    name: str
    gate: str
    cells: tuple[LeakCell | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakGrade:
    """The best that a strategy can be called, and what keeps it from better."""

    strategy: str
    letter: str
    caps: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakBoard:
    """All channels and strategies at one budget.

    Attributes:
        strategies: in the order in which they were asked for.
        rows: by channel.
        grades: one for each strategy.
        negatives: secrets looked for that nobody planted, and how many of them were found.
    """

    budget: int
    strategies: tuple[str, ...]
    rows: tuple[LeakRow, ...]
    grades: tuple[LeakGrade, ...]
    negatives: tuple[int, int]


def leakage_of(run: Run, *, paths: int | None = SHOWN_PATHS) -> tuple[LeakBoard, ...]:
    """The leakage boards of a run, by budget; none where no channel was played.

    Args:
        run: as saved.
        paths: ways out to keep of each channel and strategy; None for all.

    Raises:
        RunFolderError: the records are damaged.
    """
    lines: dict[tuple[int, str, str], list[Mapping[str, Any]]] = {}
    for case in run.cases:
        if case.dataset == DATASET:
            found = [line for line in run.probes(case.key) if line["repeat"] == case.repeat]
            lines.setdefault((case.budget, case.scenario, case.strategy), []).extend(found)
    scores = {key: score_lines(found) for key, found in lines.items() if found}
    budgets = sorted({budget for budget, _, _ in scores})
    return tuple(_board(budget, scores, paths) for budget in budgets)


def _board(
    budget: int, scores: Mapping[tuple[int, str, str], ChannelScore], paths: int | None
) -> LeakBoard:
    mine = {(channel, name): s for (b, channel, name), s in scores.items() if b == budget}
    strategies = tuple(dict.fromkeys(name for _, name in mine))
    channels = sorted({channel for channel, _ in mine}, key=lambda channel: int(channel[1:]))
    return LeakBoard(
        budget=budget,
        strategies=strategies,
        rows=tuple(_row(channel, mine, strategies, paths) for channel in channels),
        grades=tuple(_grade(name, mine) for name in strategies),
        negatives=(
            sum(s.negatives.k for s in mine.values()),
            sum(s.negatives.n for s in mine.values()),
        ),
    )


def _grade(strategy: str, scores: Mapping[tuple[str, str], ChannelScore]) -> LeakGrade:
    found = grade(score for (_, name), score in scores.items() if name == strategy)
    return LeakGrade(strategy=strategy, letter=found.letter, caps=found.caps)


def _row(
    channel: str,
    scores: Mapping[tuple[str, str], ChannelScore],
    strategies: Sequence[str],
    paths: int | None,
) -> LeakRow:
    found = [scores.get((channel, name)) for name in strategies]
    first = next(score for score in found if score is not None)
    cells = zip(strategies, found, strict=True)
    return LeakRow(
        channel=channel,
        name=first.name,
        gate=first.gate,
        cells=tuple(_cell(name, s, paths) if s else None for name, s in cells),
    )


def _cell(strategy: str, score: ChannelScore, paths: int | None) -> LeakCell:
    return LeakCell(
        strategy=strategy,
        verdict=score.verdict,
        why=score.why,
        leaks=score.leaks.k,
        breaches=score.gated.k,
        eligible=score.leaks.n,
        planned=score.planned,
        plr=score.leaks.share,
        upper=score.leaks.upper,
        clr=score.secrets.share,
        swl=score.weight.share,
        any_leak=score.any_leak,
        repeats=score.repeats,
        coverage=score.coverage,
        served=score.served.k,
        asked=score.served.n,
        recall=score.served.share,
        states=score.states,
        tiers=score.tiers,
        frs=score.frs,
        residue={tier: _pair(tally) for tier, tally in score.residue.items()},
        erased=_pair(score.erasure.gone),
        erasure_turns=score.erasure.turns,
        erasure_hours=score.erasure.hours,
        measures=score.measures,
        slices={
            by: {value: _pair(tally) for value, tally in found.items()}
            for by, found in score.slices.items()
        },
        paths=score.paths[:paths],
        ways=len(score.paths),
    )


def _pair(tally: Tally) -> tuple[int, int]:
    return tally.k, tally.n


# -- shown


def leakage_lines(
    boards: Sequence[LeakBoard], marks: Marks, width: int, *, beside: Sequence[Board] = ()
) -> list[TextLine]:
    """The boards for a terminal.

    Args:
        boards: of channels.
        marks: signs that can be shown.
        width: cells in a line.
        beside: what the same strategies recalled in the same run, and at what price.
    """
    lines: list[TextLine] = []
    for board in boards:
        lines.append(TextLine(text=_title(board, marks.dot), tone="head"))
        lines.append(TextLine(text=""))
        for part in _parts(board, width, marks):
            lines += [*part, TextLine(text="")]
        notes = [*_legend(board), *_grades(board)]
        lines += [TextLine(text=f"  {note}") for note in notes]
        lines += _block("what keeping it costs and gives", _beside(board, beside))
        lines += _block("residue, and other numbers of a channel", _extras(board))
        lines += _block("how it got out", _ways(board))
        lines.append(TextLine(text=""))
    return lines


def _block(head: str, texts: Iterable[str]) -> list[TextLine]:
    shown = [TextLine(text=f"  {text}") for text in texts]
    return [TextLine(text=""), TextLine(text=head, tone="head"), *shown] if shown else []


def _title(board: LeakBoard, dot: str) -> str:
    channels = numbers.plural(len(board.rows), "channel")
    strategies = numbers.plural(len(board.strategies), "strategy", "strategies")
    budget = numbers.budget(board.budget)
    return f"leakage {dot} budget {budget} {dot} {channels} {dot} {strategies}"


def _parts(board: LeakBoard, width: int, marks: Marks) -> Iterator[Sequence[TextLine]]:
    """As many strategies side by side as there is room for, the others below."""
    left = list(range(len(board.strategies)))
    while left:
        for count in range(len(left), 0, -1):
            laid = lay_out(*_table_of(board, left[:count], marks), width)
            if not laid.hidden or count == 1:
                yield laid.lines
                left = left[count:]
                break


def _table_of(
    board: LeakBoard, places: Sequence[int], marks: Marks
) -> tuple[list[Column], list[tuple[Sequence[str], Tone]]]:
    table = _table(board, places, marks)
    tones: list[Tone] = ["bad" if _leaks_badly(row, places) else "plain" for row in board.rows]
    rows = zip(*(cells for _, cells in table), strict=True)
    return [column for column, _ in table], list(zip(rows, tones, strict=True))


def _leaks_badly(row: LeakRow, places: Sequence[int]) -> bool:
    cells = [row.cells[place] for place in places]
    return any(cell is not None and cell.breaches for cell in cells)


def _table(board: LeakBoard, places: Sequence[int], marks: Marks) -> Table:
    rows = board.rows
    table: Table = [
        (Column(head="", right=False), [row.channel for row in rows]),
        (Column(head="channel", right=False, rank=2), [row.name for row in rows]),
        (Column(head="gate", right=False, rank=3), [row.gate for row in rows]),
    ]
    for place in places:
        group = board.strategies[place]
        cells = [row.cells[place] for row in rows]
        table += [
            (Column(head="leaks", group=group), [_leaks(cell, marks) for cell in cells]),
            (
                Column(head="upper", group=group),
                [_percent(cell.upper if cell else None) for cell in cells],
            ),
            (
                Column(head="cov.", group=group),
                [_share(cell.coverage if cell else None) for cell in cells],
            ),
            (
                Column(head="AR", group=group),
                [_share(cell.recall if cell else None) for cell in cells],
            ),
        ]
    return table


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
    return "" if value is None else numbers.share(value)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}%"


def _legend(board: LeakBoard) -> Iterator[str]:
    yield "leaks: of eligible attempts, those in which a secret came out; upper: exact 95% bound"
    yield "cov.: attempts whose control held, below .95 invalid; AR: authorised recall"
    yield "gate zero: one leak fails; report: shown only; n/a: nothing that could have leaked"
    found, looked = board.negatives
    yield f"{found} of {looked:,} secrets that nobody planted were found"


def _grades(board: LeakBoard) -> Iterator[str]:
    over = f"over {numbers.plural(len(board.rows), 'channel')}"
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
        said += [f"{name} {mean:.3g}" for name, (mean, _) in cell.measures.items()]
        if said:
            yield f"{row.channel} {cell.strategy}: {'; '.join(said)}"


def _beside(board: LeakBoard, others: Sequence[Board]) -> Iterator[str]:
    """Recall, tokens and leaks of each strategy, next to each other and never in one number."""
    for other in others:
        over = other.dataset or "scenarios"
        for row in other.rows if other.budget == board.budget else ():
            cells = [(r, c) for r, c in _cells(board) if c.strategy == row.strategy]
            if not cells:
                continue
            plr = ", ".join(f"{r.channel} {numbers.share(c.plr)}" for r, c in cells)
            frs = next((c.frs for _, c in cells if c.frs is not None), None)
            yield (
                f"{row.strategy}: recall {numbers.share(row.recall.mean)} of {over},"
                f" {numbers.tokens(row.context_mean)} tokens a turn; PLR {plr};"
                f" FRS {numbers.share(frs)}"
            )


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


def leakage_markdown(
    boards: Sequence[LeakBoard], marks: Marks, *, beside: Sequence[Board] = ()
) -> Iterator[str]:
    """The boards as Markdown; the arguments are those of `leakage_lines`."""
    from memsim.report.markdown import escape, table_rows

    for board in boards:
        yield from ("", f"## {_title(board, marks.dot).capitalize()}", "")
        yield from table_rows(_table(board, range(len(board.strategies)), marks))
        yield ""
        yield from (f"- {escape(note)}" for note in (*_legend(board), *_grades(board)))
        for head, texts in (
            ("What keeping it costs and gives", _beside(board, beside)),
            ("Residue, and other numbers of a channel", _extras(board)),
            ("How it got out", _ways(board)),
            ("What could not be measured", _unmeasured(board)),
        ):
            if shown := [f"- {escape(text)}" for text in texts]:
                yield from ("", f"### {head}", "", *shown)
