"""Render the leakage section: what leaked and what to change, then every number."""

from __future__ import annotations

from collections.abc import Iterator

from memsim.report import number_format
from memsim.report.html.markup import Markup, element, folded, items, joined, table, unmeasured
from memsim.report.html.page_content import PageContent, section
from memsim.report.layout import UNICODE, Column, Table
from memsim.report.leak_advice import title_of
from memsim.report.leak_board import LeakBoard, LeakCell
from memsim.report.leak_story import LeakChange, LeakStory, leak_stories
from memsim.report.leak_tables import leakage_text, plain_leaks, plain_legend

UNFOLDED = 2
"""Strategies up to which each story stands open."""

TONES = {"leak": "leak", "safe": "safe", "invalid": "unclear", "n/a": "unclear", "error": "unclear"}


def leakage(subject: PageContent) -> Markup:
    """Render the leakage section, or a note that no channel was played."""
    boards = subject.summary.leakage
    if boards:
        inside = [part for board in boards for part in _board(board, subject)]
    else:
        said = "No channel of leakage was played in this run; that is not the same as no leak."
        inside = [unmeasured(said, "memsim run leakage")]
    return section("leakage", "What it leaked", "Who could see what they may not?", *inside)


def _board(board: LeakBoard, subject: PageContent) -> Iterator[Markup]:
    found = leakage_text(board, UNICODE, beside=subject.summary.boards)
    yield element("h3", found.title)
    stories = list(leak_stories(board))
    for story in stories:
        yield _story(story, unfolded=len(stories) <= UNFOLDED)
    yield _matrix(board)
    yield items(plain_legend(board), class_="note")
    codes = table(found.table, f"Leaks by channel and strategy, in full, {_over(board)}", heading=0)
    yield folded(
        "Every number, with the codes of channels", codes, items(found.notes, class_="note")
    )
    for head, texts in found.blocks:
        if texts:
            yield folded(f"{head} ({len(texts):,})", items(texts))


def _story(story: LeakStory, *, unfolded: bool) -> Markup:
    """What a strategy leaked, and what to change; a long list of strategies is folded."""
    inside = [_change(each) for each in story.changes]
    parts = [element("ol", *inside)] if inside else []
    if story.unmeasured:
        parts.append(element("p", "Not measured, so not known to be safe:"))
        parts.append(items(story.unmeasured))
    if story.clean:
        parts.append(element("p", f"No leak found: {'; '.join(story.clean)}."))
    head = joined([element("strong", story.strategy), f": {story.grade}"])
    tone = "leak-story fails" if story.fails else "leak-story"
    return element("details", element("summary", head), *parts, class_=tone, open=unfolded)


def _change(each: LeakChange) -> Markup:
    return element("li", element("strong", each.change), items(each.leaks))


def _matrix(board: LeakBoard) -> Markup:
    rows = board.rows
    titles = [title_of(row.channel, row.name) for row in rows]
    series = [(Column("what was tried", right=False), titles)]
    for place, strategy in enumerate(board.strategies):
        cells = [row.cells[place] for row in rows]
        series.append((Column(strategy), [plain_leaks(cell, UNICODE) for cell in cells]))

    def cell(at: int, column: int, text: str) -> Markup | str:
        if column < 1:
            row = rows[at]
            gate = "a leak fails a run" if row.gate == "zero" else "a leak is only reported"
            return element("span", text, title=f"{row.channel} {row.name}: {gate}")
        found = rows[at].cells[column - 1]
        return "" if found is None else _shown(found, text)

    caption = f"Attempts that leaked, by what was tried and strategy, {_over(board)}"
    return table(Table.of_columns(series), caption, cell=cell, heading=0)


def _over(board: LeakBoard) -> str:
    return f"budget {number_format.budget(board.budget)}"


def _shown(cell: LeakCell, text: str) -> Markup:
    tone = TONES.get(cell.verdict, "unclear")
    if tone == "leak" and not cell.breaches:
        tone = "unclear"
    tried, owner = number_format.share(cell.coverage), number_format.share(cell.recall)
    beside = f"tried {tried}, owner {owner}"
    if cell.upper is not None:
        beside = f"at most {100 * cell.upper:.1f}%, {beside}"
    small = element("small", beside)
    shown = joined([element("span", text), small])
    return element("span", shown, class_=f"leaked {tone}", title=cell.why or None)
