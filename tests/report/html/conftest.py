"""One run, the pages made of it, and one real browser to look at them with."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect, sync_playwright

from memsim.cli.program import program
from memsim.report.html.page import page, save_page
from memsim.report.html.page_content import Fragment
from memsim.report.summarise import summarise
from memsim.runs import Run
from memsim.runs.run_reader import open_folder
from tests.report.html.made import comparison_of, leak_board, poisoned

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
INSTALL = "make browser"
Open = Callable[..., Page]
PATIENCE = 30_000
"""Milliseconds that a busy machine may take for anything; an idle one takes a hundredth."""
expect.set_options(timeout=PATIENCE)


def chromium() -> str:
    """The browser of this machine."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.fail(f"the report is tested in Chromium, and there is none: {INSTALL}")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The only one of the session, and it is not shown."""
    with (
        sync_playwright() as driver,
        driver.chromium.launch(executable_path=chromium(), args=list(FLAGS)) as launched,
    ):
        yield launched


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A small run of three strategies and the controls, of which one breaks a bound."""
    base = tmp_path_factory.mktemp("run")
    command = "run support_desk -s sliding_window:messages=8 -s rolling_summary -s bm25:k=4"
    more = f"--budget 1k --fail-under recall=0.2 --progress none -q -o {base / 'played'}"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(base)
        done = CliRunner().invoke(program, [*command.split(), *more.split()])
    assert done.exit_code == 1, done.output
    return open_folder(base / "played")


@pytest.fixture(scope="session")
def bare(run: Run) -> Path:
    """The page of the run alone: no baseline, no leakage, no invariants, no viewer."""
    return save_page(run, summarise(run))


VIEWER = Fragment(
    html='<p id="viewer-said">nothing yet</p>',
    css=".viewer #viewer-said { color: var(--good); }",
    script="""
        const said = document.getElementById("viewer-said");
        Page.onhash(async (hash) => {
          if (!hash.has("case")) return;
          const data = await Page.data("small");
          const large = await Page.data("large");
          const where = `${hash.get("case")} at ${hash.get("turn")}`;
          said.textContent = `${where}: ${data.word} ${large.length}`;
          document.getElementById("viewer").scrollIntoView();
        });
    """,
    data={"small": '{"word": "</script>"}', "large": f"[{','.join(map(str, range(9000)))}]"},
)
"""What stands for a replay viewer, and does what one may."""


@pytest.fixture(scope="session")
def full(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page with everything: a baseline, leaks, invariants and a viewer."""
    folder = tmp_path_factory.mktemp("full")
    for kept in run.folder.iterdir():
        if kept.suffix in {".json", ".jsonl"}:
            shutil.copy(kept, folder)
    (folder / "checks.json").write_text(CHECKS, encoding="utf-8")
    copied = open_folder(folder)
    summary = replace(
        summarise(copied), comparison=comparison_of(copied), leakage=(leak_board(copied),)
    )
    return save_page(copied, summary, VIEWER)


@pytest.fixture(scope="session")
def hostile(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run in which every text of a stranger is an attack on it."""
    found = poisoned(run, tmp_path_factory.mktemp("hostile"))
    summary = replace(
        summarise(found),
        comparison=comparison_of(found),
        leakage=(leak_board(found),),
    )
    path = found.folder / "report.html"
    path.write_bytes(page(found, summary, VIEWER).encode(errors="backslashreplace"))
    return path


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens a page in a tab of its own; fails if it complains, or asks for anything."""
    contexts = []
    complaints: list[str] = []

    def look(path: Path, address: str = "", *, width: int = 1200, dark: bool = False) -> Page:
        scheme = "dark" if dark else "light"
        size = {"width": width, "height": 800}
        context = browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(PATIENCE)
        tab.on("console", lambda said: complaints.append(f"console: {said.text}"))
        tab.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        tab.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        tab.on("request", lambda request: _asked(request.url, path, complaints))
        tab.goto(f"{path.as_uri()}{address}")
        return tab

    yield look
    for context in contexts:
        context.close()
    assert complaints == []


def _asked(url: str, path: Path, complaints: list[str]) -> None:
    if not url.startswith("data:") and url.partition("#")[0] != path.as_uri():
        complaints.append(f"request: {url[:200]}")


CHECKS = """{"profile": "commit", "examples": 50, "steps": 30, "seed": 7, "exit": 1, "subjects": [
 {"subject": "bm25", "coverage": [], "results": [
  {"number": 1, "name": "within_budget", "family": "budget", "measured_on": "context",
   "statement": "no context is over its budget", "verdict": "holds", "examples": 50, "looked": 50,
   "why": "", "replayed": false, "counterexample": null},
  {"number": 2, "name": "no_mutation", "family": "structure", "measured_on": "messages",
   "statement": "messages are never changed", "verdict": "violated", "examples": 3, "looked": 3,
   "why": "m1 became <b>m2</b>", "replayed": false, "counterexample": "nowhere/no_mutation.py"},
  {"number": 3, "name": "erasure", "family": "privacy", "measured_on": "store",
   "statement": "what is erased is gone", "verdict": "nothing", "examples": 0, "looked": 9,
   "why": "nothing was erased", "replayed": false, "counterexample": null}]}]}"""
