"""Assemble the report page: one file that loads nothing and runs no text of a run."""

from __future__ import annotations

import base64
import hashlib
import warnings
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.atomic_files import write_whole
from memsim.errors import RunFolderError
from memsim.report.html.cost_section import COST_PLOTS, LATENCY_PLOT, spending
from memsim.report.html.fact_loss import LOSS_PLOTS, forgotten_facts, grid
from memsim.report.html.invariant_section import invariants
from memsim.report.html.leaderboard import baseline, leaderboard, trade_off, verdict
from memsim.report.html.leakage_section import leakage
from memsim.report.html.markup import Markup, compact_json, data_blocks, element, joined
from memsim.report.html.method import method
from memsim.report.html.missed_probes import cases, cases_of
from memsim.report.html.page_content import Fragment, PageContent, section
from memsim.report.html.pictures import colours, figure, section_rules
from memsim.report.run_summary import RunSummary
from memsim.runs import Run

if TYPE_CHECKING:
    from memsim.report.frames import Frames

NAME = "report.html"
SHOWN = (
    "trade-off",
    "budget-sweep",
    "abstention",
    "forest",
    *LOSS_PLOTS,
    *COST_PLOTS,
    LATENCY_PLOT,
)
"""Plots of the page; the others are tables in it."""
SCRIPTS = ("page.js", "filters.js", "cases.js")
NAMES = {
    "verdict": "Verdict",
    "leaderboard": "Leaderboard",
    "trade-off": "Trade-off",
    "baseline": "Baseline",
    "forgotten": "Forgotten",
    "cost": "Cost",
    "leakage": "Leaks",
    "grid": "Scenarios",
    "cases": "Cases",
    "viewer": "Replay",
    "invariants": "Invariants",
    "method": "Method",
}
"""What the page's own list of contents calls each section."""


def save_page(run: Run, summary: RunSummary, viewer: Fragment | None = None) -> Path:
    """Write `report.html` into a run's folder."""
    path = run.folder / NAME
    made = page(run, summary, viewer).encode(errors="backslashreplace")
    try:
        # The folder may be a stranger's: a link at this place is replaced and not followed.
        write_whole(path, made, private=False)
    except OSError as error:
        raise RunFolderError(f"cannot be written: {error.strerror}", path=path) from error
    return path


def page(
    run: Run,
    summary: RunSummary,
    viewer: Fragment | None = None,
    *,
    frames: Frames | None = None,
) -> str:
    """Render the whole page; the same run always gives the same bytes.

    `frames` are those of the run, where they were read already.
    """
    from memsim.report.frames import Frames

    frames = frames or Frames(run)
    plots = _drawn(run, summary, frames)
    subject = PageContent(run=run, summary=summary, plots=plots, viewer=viewer, frames=frames)
    found = cases_of(subject)
    sections = [
        verdict(subject),
        leaderboard(subject),
        trade_off(subject),
        baseline(subject),
        forgotten_facts(subject),
        spending(subject),
        leakage(subject),
        grid(subject),
        cases(subject, found),
        *_viewer(viewer),
        invariants(subject),
        method(subject),
    ]
    body = joined([_top(subject), _contents(viewer), _main(sections), _foot(subject)])
    data = joined([found.data(), data_blocks(viewer.data if viewer else {})])
    return _document(subject, body, data, viewer)


def viewer_page(run: Run, summary: RunSummary, viewer: Fragment) -> str:
    """Render a page of the replay viewer alone, for cases without room in the report."""
    subject = PageContent(run=run, summary=summary, viewer=viewer)
    body = joined([_top(subject), _main(_viewer(viewer)), _foot(subject)])
    return _document(subject, body, data_blocks(viewer.data), viewer)


def _drawn(run: Run, summary: RunSummary, frames: Frames) -> dict[str, Markup]:
    from memsim.report.plots import one_picture, pictures

    with warnings.catch_warnings():
        # Of signs that its own font lacks; here they are drawn in the reader's.
        warnings.filterwarnings("ignore", category=UserWarning)
        return {
            picture.name: figure(picture, one_picture(picture.name, summary, frames, narrow=True))
            for picture in pictures(run, summary, frames)
            if picture.name in SHOWN
        }


def _viewer(viewer: Fragment | None) -> list[Markup]:
    if viewer is None:
        return []
    title, question = "Replay", "What did the model see at any turn, and what became of each fact?"
    return [section("viewer", title, question, Markup(viewer.html), css="viewer")]


def _top(subject: PageContent) -> Markup:
    header = subject.summary.header
    button = element(
        "button",
        "Dark",
        type="button",
        id="theme",
        class_="screen",
        hidden=True,
        aria_pressed=False,
    )
    shaped = (
        f"memsim {header.version} · model {header.model} · embedder {header.embedder}"
        f" · tokenizer {header.tokenizer} · seed {header.seed}"
    )
    name = element("h1", element("span", "memsim", class_="brand"), " ", header.run)
    return element("header", element("div", name, element("p", shaped)), button, class_="top")


def _contents(viewer: Fragment | None) -> Markup:
    links = [
        element("li", element("a", name, href=f"#{key}"))
        for key, name in NAMES.items()
        if key != "viewer" or viewer is not None
    ]
    return element("nav", element("ol", *links), class_="contents screen", aria_label="Sections")


def _main(sections: list[Markup]) -> Markup:
    return element("main", *sections, id="main", tabindex=-1)


def _foot(subject: PageContent) -> Markup:
    made = f"Made by memsim {subject.summary.header.version} from the records of this run alone."
    return element("footer", element("p", made))


def _document(subject: PageContent, body: Markup, data: Markup, viewer: Fragment | None) -> str:
    styles = [_asset("page.css"), section_rules(), colours(body), viewer.css if viewer else ""]
    style = "\n".join(part.strip() for part in styles if part.strip()) + "\n"
    scripts = [_asset(name) for name in SCRIPTS]
    if viewer is not None and viewer.script:
        scripts.append(_enclosed(viewer.script))
    head = joined(
        [
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=_policy(style, scripts)),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="referrer", content="no-referrer"),
            element("title", f"memsim {subject.summary.header.run}"),
            element("style", Markup(style)),
        ],
        Markup("\n"),
    )
    skip = element("a", "Skip to the report", href="#main", class_="skip")
    run = joined(element("script", Markup(script)) for script in scripts)
    inside = joined([skip, body, data, run], Markup("\n"))
    own = compact_json(subject.own_sections) if subject.own_sections else None
    parts = element("head", head), element("body", inside)
    html = element("html", *parts, lang="en", data_sections=own)
    return f"<!doctype html>\n{html}\n"


def _enclosed(script: str) -> str:
    return f'(() => {{\n"use strict";\n{script.strip()}\n}})();\n'


def _asset(name: str) -> str:
    return files("memsim.report.html").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, scripts: list[str]) -> str:
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src {_hash(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ]
    )


def _hash(text: str) -> str:
    """The CSP hash that lets a browser run this text only."""
    digest = hashlib.sha256(text.encode(errors="backslashreplace")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
