"""Render the verdict, the leaderboard, the trade-off and the baseline sections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memsim.errors import ExitCode
from memsim.gate.comparison import Comparison, MovedProbe
from memsim.report import comparison_text, number_format
from memsim.report.board_tables import (
    MASKED_TITLE,
    board_table,
    legend,
    masked_table,
    ranking_table,
    sweep_table,
    title,
)
from memsim.report.failure_text import bound_place, broken_text
from memsim.report.html.brief import answers, capital
from memsim.report.html.markup import (
    Markup,
    breakable,
    code,
    element,
    folded,
    items,
    joined,
    table,
    unmeasured,
)
from memsim.report.html.page_content import (
    PageContent,
    address,
    scenario_name,
    section,
    strategy_name,
)
from memsim.report.layout import UNICODE, Column, Table
from memsim.report.plots.palette import Looks
from memsim.report.recommendation import findings
from memsim.report.run_summary import Board, BoardRow
from memsim.report.store_table import STORE_TITLE, store_table
from memsim.scoring.outcomes import reason_name

WORDS = {
    ExitCode.PASSED: ("passed", "good"),
    ExitCode.FAILED: ("failed", "bad"),
    ExitCode.UNMEASURABLE: ("unmeasurable", "warn"),
    ExitCode.NOTHING: ("nothing run", "warn"),
}
MOST = 40
"""Broken bounds, unscored cases or moved probes listed at once; the rest is folded."""


def verdict(subject: PageContent) -> Markup:
    """Render the verdict section, the first screen of the page."""
    summary = subject.summary
    word, tone = WORDS.get(summary.verdict.exit_code, ("stopped", "warn"))
    said = summary.verdict.sentence
    if summary.rivals:
        word, tone, said = "compared", "", findings(summary)
    if summary.pending:
        word, tone = "unfinished", "warn"
        said += f"; {number_format.plural(summary.pending, 'planned case')} not run"
    stamp = element("span", word, class_=f"stamp {tone}".rstrip())
    return element(
        "section",
        element("h2", "Verdict", id="verdict-title", class_="unseen"),
        element("p", stamp, " ", said, class_="verdict"),
        Markup() if summary.rivals else _against(subject),
        answers(subject),
        *_why_failed(subject),
        _reproduce(summary.header.command),
        id="verdict",
        aria_labelledby="verdict-title",
    )


def _against(subject: PageContent) -> Markup:
    """Say in one line whether the run is worse than its baseline."""
    found = subject.summary.comparison
    if found is None:
        return element("p", "Not compared with a baseline.", class_="against")
    worse = any(cell.word in {"worse", "unmeasured"} for cell in found.cells)
    link = element("a", "What changed", href="#baseline")
    told = element("strong", capital(found.sentence), class_="bad" if worse else None)
    return element("p", told, ". ", link, class_="against")


def _reproduce(command: str) -> Markup:
    if not command:
        return Markup()
    button = element("button", "Copy", type="button", class_="copy screen", hidden=True)
    # It scrolls inside where it is long, which takes a name and a place among the keys' stops.
    told = element("code", command, tabindex=0, role="region", aria_label="Command of this run")
    return element("div", element("span", "Reproduce "), told, button, class_="command")


def _why_failed(subject: PageContent) -> Iterator[Markup]:
    broken = [
        joined(
            [
                element("a", code(f.case), href=address(show="cases", case=f.case)),
                f" {broken_text(b, UNICODE)}",
                f" ({bound_place(b)})" if b.place else "",
            ]
        )
        for f in subject.summary.failures
        for b in f.broken
    ]
    unscored = [
        joined([code(c.case), f" {c.error or c.state}", *map(_traceback, c.tracebacks)])
        for c in subject.summary.unscored
    ]
    yield from _listed("Bounds that were not kept", broken, "bad")
    yield from _listed("Not scored, or only in part", unscored, "warn")


def _traceback(text: str) -> Markup:
    return folded("traceback", element("pre", text, tabindex=0))


def _listed(head: str, texts: list[Markup], css: str) -> Iterator[Markup]:
    if texts:
        summary = f"{head}: {len(texts):,}"
        yield folded(summary, items(texts[:MOST]), _rest(texts[MOST:]), class_=f"why {css}")


def _rest(texts: Iterable[str]) -> Markup:
    left = list(texts)
    return folded(f"{len(left):,} more", items(left)) if left else Markup()


def leaderboard(subject: PageContent) -> Markup:
    """Render the leaderboard with the columns of the terminal's table."""
    main = subject.board
    others = [b for b in subject.summary.boards if b is not main]
    inside = (
        [_board(main, subject.looks)]
        if main
        else [unmeasured("No scenario was played.", "memsim run")]
    )
    if others:
        shown = [_board(board, subject.looks) for board in others]
        inside.append(folded(f"{number_format.plural(len(others), 'more board')}", *shown))
    head, question = "Leaderboard", "Which strategy remembers most?"
    return section("leaderboard", head, question, *inside)


def _board(board: Board, looks: Looks) -> Markup:
    parts: list[str] = [
        _rows(board, looks),
        folded("What the columns mean", items(legend(board, UNICODE)), class_="note"),
    ]
    over = f"{board.dataset or 'scenarios'}, budget {number_format.budget(board.budget)}"
    if ranking := ranking_table(board):
        parts.append(table(ranking, f"Evidence recall of the ranking, {over}"))
    if masked := masked_table(board):
        parts.append(table(masked, f"{MASKED_TITLE.capitalize()}, {over}"))
    if stores := store_table(board):
        parts.append(table(stores, f"{STORE_TITLE.capitalize()}, {over}"))
    name = " ".join(filter(None, [board.dataset, number_format.budget(board.budget)]))
    return element("div", *parts, class_="board", data_budget=name)


def _rows(board: Board, looks: Looks) -> Markup:
    made = board_table(board, UNICODE)
    named_by = [column.head for column in made.columns].index("strategy")
    tones = [_tone(row) for row in board.rows]

    def cell(_row: int, column: int, text: str) -> Markup | str:
        return strategy_name(text, looks) if column == named_by else text

    caption = title(board, UNICODE).capitalize()
    return table(made, caption, tones=tones, cell=cell, heading=named_by)


def _tone(row: BoardRow) -> str:
    if row.control:
        return "failed control" if row.failed else "control"
    return " ".join(["failed"] * row.failed + ["partial"] * row.partial)


def trade_off(subject: PageContent) -> Markup:
    """Render the trade-off section: recall by tokens, and recall by budget."""
    plot = subject.plot("trade-off")
    shown = [plot or element("p", "Fewer than two strategies to compare: no plot.", class_="note")]
    if sweep := sweep_table(subject.summary.boards):
        beside = [
            subject.plots.get("budget-sweep", ""),
            table(sweep, "Recall by budget", heading=0),
        ]
        shown.append(element("div", *filter(None, beside), class_="plots"))
    if unsure := subject.plots.get("abstention"):
        shown.append(unsure)
    return section("trade-off", "The trade-off", "Which strategy is worth its tokens?", *shown)


def baseline(subject: PageContent) -> Markup:
    """Render the comparison with the baseline, or a note that there is none."""
    found = subject.summary.comparison
    if found is None:
        name = subject.settings.get("baseline") or ""
        inside = [
            unmeasured(
                f"There is no baseline {name}." if name else "This run was compared with nothing.",
                "memsim baseline save && memsim run --baseline main",
            )
        ]
    else:
        inside = list(_compared(found, subject))
    head, question = "Against the baseline", "Is it worse than before?"
    return section("baseline", head, question, *inside)


def _compared(found: Comparison, subject: PageContent) -> Iterator[Markup]:
    yield element("p", element("strong", capital(found.sentence)))
    yield subject.plot("forest")
    made = comparison_text.comparison_table(found, UNICODE)
    if made.rows:
        tones = [tone for _, tone in made.rows]
        yield table(
            made, comparison_text.title(found, UNICODE).capitalize(), tones=tones, heading=0
        )
    yield items(comparison_text.notes(found), class_="note")
    for lost in (True, False):
        yield from _moved([m for m in found.moved if m.lost == lost], lost=lost)


def _moved(moved: list[MovedProbe], *, lost: bool) -> Iterator[Markup]:
    head = f"Newly {'lost' if lost else 'kept'}"
    if not moved:
        yield element("p", f"{head}: none.", class_="note")
        return
    series = [
        (Column("probe", right=False), [m.probe for m in moved]),
        (Column("scenario", right=False), [scenario_name(m.id) for m in moved]),
        (Column("strategy", right=False), [m.variant for m in moved]),
        (Column("then"), [number_format.share(m.base) for m in moved]),
        (Column("now"), [number_format.share(m.now) for m in moved]),
        (Column("why", right=False), [reason_name(m.reason) for m in moved]),
        (Column("said, turn"), ["" if m.said is None else str(m.said) for m in moved]),
        (Column("gone from turn"), ["" if m.gone is None else str(m.gone) for m in moved]),
    ]

    def cell(row: int, column: int, text: str) -> Markup | str:
        linked = column == 0 and lost
        return element("a", breakable(text), href=address(probe=moved[row].id)) if linked else text

    shown = table(Table.of_columns(series), f"{head} probes: {len(moved):,}", cell=cell, heading=0)
    yield shown if len(moved) <= MOST else folded(f"{head}: {len(moved):,} probes", shown)
