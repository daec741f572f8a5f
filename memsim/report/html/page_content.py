"""The content of a page: a run, its numbers, its plots, and embedded sections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from memsim.report import number_format
from memsim.report.html.markup import Markup, breakable, element, joined
from memsim.report.plots.palette import SECTION_COLOURS, Looks, report_looks, section_colours
from memsim.report.run_summary import Board, BoardRow, RunSummary
from memsim.runs import Run
from memsim.suite.cases import CaseResult, scenario_of

if TYPE_CHECKING:
    from memsim.report.frames import Frames

# A part of the HTML report that another package makes: what the page embeds, and how.


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """What the page embeds as a section of its own; `memsim.report.html` says by which rules.

    Attributes:
        html: markup that goes inside the section, below its heading.
        css: rules, each below a class of the fragment's own.
        script: plain script, run once after the page's own.
        data: texts of JSON by name (a letter, then letters, digits and dashes); each is parsed only
            when the script asks for it.
    """

    html: str
    css: str = ""
    script: str = ""
    data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContent:
    """A run as the page shows it."""

    run: Run
    summary: RunSummary
    plots: Mapping[str, Markup] = field(default_factory=dict)
    viewer: Fragment | None = None
    frames: Frames | None = None

    @property
    def board(self) -> Board | None:
        """The main board of the run."""
        return self.summary.main_board

    @property
    def compared(self) -> tuple[BoardRow, ...]:
        """The board's rows without controls, best first."""
        return tuple(r for r in self.board.rows if not r.control) if self.board else ()

    @property
    def looks(self) -> Looks:
        """The look of each strategy, as in the plots."""
        return report_looks(self.summary)

    @property
    def own_sections(self) -> list[str]:
        """The sections with names of the strategies' own, in the order of their colours."""
        if self.frames is None:
            return []
        return [n for n in section_colours(self.frames.sections) if n not in SECTION_COLOURS]

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the run."""
        return self.run.table("settings")

    @property
    def about(self) -> Mapping[str, str]:
        """What each scenario is about, by its name; empty where no scenario says it."""
        told = self.run.table("about")
        return {name.rpartition("::")[2]: str(text) for name, text in told.items()}

    def plot(self, *names: str) -> Markup:
        """Render the named plots that exist, side by side where there is room."""
        found = [self.plots[name] for name in names if name in self.plots]
        return element("div", *found, class_="plots") if found else Markup()

    def order(self, case: CaseResult) -> tuple[bool, int, int]:
        """The sort key of a case: the board's rows first, in their order."""
        board = self.board
        if board is None:
            return False, 0, 0
        names = [row.strategy for row in board.rows if not row.control]
        names += [row.strategy for row in board.rows if row.control]
        place = names.index(case.strategy) if case.strategy in names else len(names)
        return case.dataset != board.dataset, -case.budget, place


def scenario_name(probe: str) -> str:
    """The scenario's name in the id of a probe."""
    return scenario_of(probe).rpartition("::")[2]


def variant(strategy: str, budget: int) -> str:
    """Name a strategy at a budget, as ids do."""
    return f"{strategy}@{number_format.budget(budget)}"


UNBROKEN = 18
"""Letters of a strategy's name that stay on one line, as those of memsim's own do."""


def strategy_name(strategy: str, looks: Looks) -> Markup:
    """Render a strategy's name with the colour that plots give it."""
    from memsim.report.html.pictures import chip

    look = looks.get(strategy)
    mark = chip(look.colour) if look else Markup()
    if len(strategy) <= UNBROKEN:
        return element("span", mark, strategy, class_="unbroken")
    return joined([mark, breakable(strategy)])


def address(**parts: object) -> str:
    """Make a link that the page's script follows, such as `#case=...&turn=12`."""
    return "#" + "&".join(f"{key}={quote(str(value), safe='')}" for key, value in parts.items())


def section(name: str, title: str, question: str, *inside: str, css: str = "") -> Markup:
    """Render one section of the page."""
    return element(
        "section",
        element("h2", title, id=f"{name}-title"),
        element("p", question, class_="question"),
        *inside,
        id=name,
        class_=css or None,
        aria_labelledby=f"{name}-title",
    )
