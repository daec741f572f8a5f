"""The page in real Chromium: what a reader can do with it, and what nobody can."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from memsim.report import plots
from memsim.report.html import fact_loss
from memsim.report.html.page import page
from memsim.report.summarise import summarise
from memsim.report.viewer import fragment
from memsim.runs import Run
from tests.report.html.listening import troubles

Open = Callable[..., Page]

SECTIONS = [
    "verdict",
    "leaderboard",
    "trade-off",
    "baseline",
    "forgotten",
    "cost",
    "leakage",
    "grid",
    "cases",
    "invariants",
    "method",
]


def test_the_first_screen_answers_the_five_questions(bare: Path, opened: Open) -> None:
    """Which strategy, what it forgets, why, its price, its leaks: before any scrolling."""
    page = opened(bare)

    asked = page.locator(".answers h3")
    assert ["Which strategy?", "What does it forget?", "Why?"] == asked.all_inner_texts()[:3]
    assert ["What does it cost?", "What does it leak?"] == asked.all_inner_texts()[3:]
    expect(page.locator(".stamp").first).to_have_text("failed")
    expect(page.locator(".pick")).to_have_text("bm25:k=4")
    expect(page.locator("#verdict .against")).to_have_text("Not compared with a baseline.")
    expect(page.locator(".answers")).to_be_in_viewport(ratio=0.9)


def test_sections_stand_in_their_order(full: Path, bare: Path, opened: Open) -> None:
    """Ten of them, what leaked, and the replay where there is one."""
    wanted = [*SECTIONS[:9], "viewer", *SECTIONS[9:]]

    assert SECTIONS == _sections(opened(bare))
    assert wanted == _sections(opened(full))


def _sections(page: Page) -> list[str]:
    found: list[str] = page.locator("main > section").evaluate_all("all => all.map(s => s.id)")
    return found


def test_what_was_not_measured_is_said_and_never_green(bare: Path, opened: Open) -> None:
    """A run with no baseline, no channel of leakage and no invariants."""
    page = opened(bare)

    for name in ("baseline", "leakage", "invariants"):
        section = page.locator(f"#{name}")
        expect(section.locator(".unmeasured strong")).to_have_text("Not measured.")
        assert 0 == section.locator(".good, .safe").count()


def test_what_was_measured_is_shown(full: Path, opened: Open) -> None:
    """Baseline, leaks and invariants, and a channel that could not be measured stays unclear."""
    page = opened(full)

    expect(page.locator("#baseline")).to_contain_text("1 worse, 2 same, 1 stale scenario")
    expect(page.locator("#verdict .against")).to_contain_text("Against main: 1 worse, 2 same")
    expect(page.locator("#leakage .leaked.leak")).to_contain_text("12 of 60")
    expect(page.locator("#leakage .leaked.unclear")).to_contain_text("too few: 0 of 9")
    assert 0 == page.locator("#leakage .leaked.safe").count()
    leaky, unclear = page.locator("#leakage .leak-story").all()
    expect(leaky.locator("ol li").first).to_contain_text("Filter.")
    expect(unclear).to_contain_text("Not measured, so not known to be safe")
    expect(page.locator("#leakage details", has_text="codes of channels").last).to_be_visible()
    assert "L1" not in page.locator("#leakage .leak-story").first.inner_text()
    expect(page.locator("#invariants strong").first).to_contain_text("1 of 2 promises that")


def test_a_column_sorts_both_ways_by_its_numbers(bare: Path, opened: Open) -> None:
    """First with the largest on top; the head says how it is sorted."""
    page = opened(bare)
    table = page.locator("#leaderboard table").first
    head = table.locator("th", has_text="context mean")

    head.locator("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    down = table.locator("td:nth-child(9)").all_inner_texts()
    head.locator("button").press("Enter")

    expect(head).to_have_attribute("aria-sort", "ascending")
    assert down == sorted(down, key=_tokens, reverse=True)
    assert down[::-1] == table.locator("td:nth-child(9)").all_inner_texts()


def _tokens(text: str) -> float:
    return float(text[:-1]) * 1024 if text.endswith("k") else float(text)


def test_the_leaderboard_is_filtered_by_names_budget_and_controls(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Open
) -> None:
    """By keys alone; what is left is said, and a board that was folded opens."""
    monkeypatch.setattr(plots, "pictures", lambda *_: [])
    summary = summarise(run)
    boards = (*summary.boards, replace(summary.boards[0], budget=512))
    path = tmp_path / "report.html"
    path.write_text(page(run, replace(summary, boards=boards)), encoding="utf-8")
    tab = opened(path)
    section = tab.locator("#leaderboard")
    shown = section.locator("tbody tr:visible th")

    section.get_by_role("searchbox", name="Strategy").focus()
    tab.keyboard.type("BM25 rolling", delay=1)
    expect(section.get_by_role("status")).to_have_text("2 of 6 shown.")
    assert {"bm25:k=4", "rolling_summary"} == set(shown.all_inner_texts())
    section.get_by_role("combobox", name="Budget").select_option("512")
    expect(section.locator(".board:visible")).to_have_attribute("data-budget", "512")
    section.get_by_role("searchbox", name="Strategy").fill("nothing like it")
    expect(section.get_by_role("status")).to_have_text("Nothing is called that.")
    section.get_by_role("button", name="Show all").press("Enter")
    section.get_by_role("checkbox", name="Controls").press("Space")
    expect(section.get_by_role("status")).to_have_text("3 of 6 shown.")
    assert 0 == section.locator("tr.control:visible").count()


def test_cases_are_filtered_and_paged(bare: Path, opened: Open) -> None:
    """By what a reader picks, or a word of the probe; the count says what is left."""
    page = opened(bare)
    shown = page.locator("#cases-list > details")

    page.get_by_label("strategy", exact=True).select_option("sliding_window:messages=8")
    everything = int(page.locator("#cases-count").inner_text().split()[0])
    assert 25 == shown.count()
    page.get_by_role("button", name="Next").click()
    assert everything - 25 == shown.count()
    page.get_by_role("searchbox", name="probe").fill("order")

    assert 0 < shown.count() < 25
    assert all("order" in text for text in shown.locator("strong").all_inner_texts())
    page.locator("#cases").get_by_role("button", name="Show all").click()
    assert int(page.locator("#cases-count").inner_text().split()[0]) > everything


def test_a_cell_links_to_its_cases_and_a_probe_to_its_story(bare: Path, opened: Open) -> None:
    """From a number to the step at which a fact was lost."""
    page = opened(bare)

    page.locator("#forgotten td a").first.click()
    expect(page.locator("#cases-strategy")).not_to_have_value("")
    expect(page.locator("#cases")).to_be_in_viewport()
    first = page.locator("#cases-list > details").first
    first.locator("summary").click()

    expect(first.locator(".timeline li").first).to_contain_text("planted")
    expect(first.locator(".timeline li").last).to_contain_text("asked")
    expect(first.locator("dl")).to_contain_text("expected")
    expect(first.locator("code").last).to_contain_text("memsim explain")


def test_which_facts_a_second_compaction_took_is_told_by_name(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Open
) -> None:
    """With the share that is left, and the way to the turn of that compaction."""
    monkeypatch.setattr(plots, "pictures", lambda *_: [])
    # In this run nothing is lost so early.
    monkeypatch.setattr(fact_loss, "SECOND", 12)
    monkeypatch.setattr(fact_loss, "AFTER", (1, 12))
    path = tmp_path / "report.html"
    path.write_text(page(run, summarise(run), fragment(run)), encoding="utf-8")
    tab = opened(path)
    fold = tab.locator("#forgotten .worn")
    facts = {
        fact
        for case in run.cases
        if case.strategy == "rolling_summary"
        for line in run.turns(case.key)
        for fact in line.get("moved", {})  # type: ignore[attr-defined]
    }

    told = fold.locator("summary").inner_text()
    gone, of = (int(word) for word in re.findall(r"\d+", told))
    expect(tab.locator("#forgotten table", has_text="after 12")).to_contain_text(
        f"{of - gone} of {of}"
    )
    fold.locator("summary").click()
    links = fold.locator("a")
    assert gone == links.count() > 0
    assert set(links.all_inner_texts()) <= facts
    links.first.click()
    expect(tab.locator("#viewer")).to_be_in_viewport()
    expect(tab.locator("#viewer-first")).to_have_value(re.compile("rolling_summary"))


def test_deep_links_open_a_probe_and_the_viewer(full: Path, opened: Open) -> None:
    """An address is enough, and the case leads into the viewer at its turn."""
    link = opened(full).locator("#baseline a").first.get_attribute("href")
    page = opened(full, link)
    opened_case = page.locator("details.case[open]")

    expect(opened_case).to_be_in_viewport()
    opened_case.get_by_role("link", name="Replay").click()
    expect(page.locator("#viewer-said")).to_contain_text("</script> 9000")
    expect(page.locator("#viewer-said")).to_contain_text("support_desk[sliding_window")
    expect(page.locator("#viewer")).to_be_in_viewport()


def test_nothing_that_a_stranger_wrote_becomes_markup(hostile: Path, opened: Open) -> None:
    """Every text is an attack; none runs, none asks for anything, none is an element."""
    page = opened(hostile)
    scripts = page.locator("script").count()

    for fold in page.locator("#cases-list > details > summary").all():
        fold.click()
    expect(page.locator("#cases-list .story").last).to_be_visible()
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")

    assert page.evaluate("window.pwned") is None
    assert scripts == page.locator("script").count()
    assert (
        0 == page.locator("img, iframe, object, embed, base, math, textarea, form[action]").count()
    )
    assert 0 == page.evaluate(ATTRIBUTES)
    expect(page.locator("#cases-list")).to_contain_text("<img src=x onerror=alert(1)>")


ATTRIBUTES = """[...document.querySelectorAll("*")].filter((found) =>
    [...found.attributes].some((a) => a.name.startsWith("on") || /^javascript:/i.test(a.value))
    || (found.style && found.getAttribute("style") && !found.matches(".bar span"))).length"""


def test_the_page_may_ask_for_nothing(bare: Path, browser: Browser) -> None:
    """Even from within: no request leaves, no other script runs, no text is taken for markup."""
    page = browser.new_page()
    answered: list[str] = []
    page.on("response", lambda response: answered.append(response.url))
    page.goto(bare.as_uri())

    assert ["no fetch", "no script", "no markup"] == page.evaluate(ATTEMPTS)
    assert [bare.as_uri()] == answered
    page.close()


ATTEMPTS = """async () => {
  const image = new Image();
  image.src = "https://evil.example/pixel.png";
  const script = document.createElement("script");
  script.append("window.pwned = 1");
  document.body.append(script);
  const refused = (attempt) => { try { attempt(); return false; } catch { return true; } };
  return [
    await fetch("https://evil.example/").then(() => "fetched", () => "no fetch"),
    window.pwned ? "ran" : "no script",
    refused(() => { document.body.innerHTML = "<b>x"; }) ? "no markup" : "markup",
  ];
}"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_phone_scrolls_only_down(full: Path, opened: Open, dark: bool) -> None:
    """At 360 pixels the page is as wide as the screen; what is wider scrolls inside."""
    page = opened(full, width=360, dark=dark)
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    expect(page.locator("#cases-list .story").last).to_be_visible()

    assert 360 == page.evaluate("document.documentElement.scrollWidth")


@pytest.mark.parametrize("width", [1400, 400])
def test_nothing_is_cut_and_what_is_wider_says_so(full: Path, opened: Open, width: int) -> None:
    """Wide tables scroll, with a hint; plots are drawn for the screen, in letters one can read."""
    page = opened(full, width=width)
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    expect(page.locator("#cases-list .story").last).to_be_visible()

    assert width == page.evaluate("document.documentElement.scrollWidth")
    expect(page.locator("#leaderboard .hint").first).to_be_visible(visible=width < 1000)
    assert [] == page.evaluate(UNSAID)
    letters, cut = page.evaluate(PLOTTED)
    assert [] == cut
    assert 9 <= min(letters)
    shown, hidden = ("narrow", "wide") if width < 640 else ("wide", "narrow")
    expect(page.locator(f"#plot-trade-off .{shown} svg")).to_be_visible()
    expect(page.locator(f"#plot-trade-off .{hidden} svg")).to_be_hidden()


UNSAID = """[...document.querySelectorAll("main .scroll")].filter((place) => {
  if (!place.checkVisibility() || place.scrollWidth < place.clientWidth + 2) return false;
  const before = place.dataset.more, hint = place.previousElementSibling;
  place.scrollLeft = place.scrollWidth;
  const moved = place.scrollLeft > 0;
  place.scrollLeft = 0;
  return !(moved && before === "right" && hint.checkVisibility() && hint.matches(".hint"));
}).map((place) => place.getAttribute("aria-label"))"""
"""Places that are wider than they look, and do not scroll or do not say so."""

PLOTTED = """(() => {
  const letters = [], cut = [];
  for (const svg of document.querySelectorAll("figure.plot svg")) {
    if (!svg.checkVisibility()) continue;
    const whole = svg.getBoundingClientRect(), scale = whole.width / svg.viewBox.baseVal.width;
    for (const text of svg.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      letters.push(parseFloat(text.getAttribute("font-size")) * scale);
      const out = box.left < whole.left - 2 || box.right > whole.right + 2
        || box.top < whole.top - 2 || box.bottom > whole.bottom + 2;
      if (out) cut.push(`${svg.closest("figure").id}: ${text.textContent}`);
    }
  }
  return [letters, cut];
})()"""
"""The sizes of all letters in plots, in pixels, and the texts that reach beyond their plot."""


def test_a_story_shows_the_context_and_what_the_scenario_is_about(bare: Path, opened: Open) -> None:
    """The context that was sent, with its evidence marked; the scenario's own words."""
    page = opened(bare)
    expect(page.locator("#grid dl.terms dd")).to_have_count(1)
    page.get_by_label("reason", exact=True).select_option("=not-read")
    fold = page.locator("#cases-list > details").first
    fold.locator("summary").first.click()
    fold.get_by_text("the context that was sent").click()

    expect(fold.locator(".sent li.evidence").first).to_contain_text("evidence")
    about = page.locator("#grid dl.terms dd").inner_text()
    expect(fold.locator("dl.facts")).to_contain_text(about)


def test_light_and_dark_follow_the_system_until_chosen(bare: Path, opened: Open) -> None:
    """The button turns it over, and the plots' colours go with it."""
    page = opened(bare, dark=True)
    ground = "getComputedStyle(document.body).backgroundColor"
    label = "getComputedStyle(document.querySelector('svg text')).fill"
    dark = page.evaluate(ground), page.evaluate(label)

    button = page.get_by_role("button", name="Dark")
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()

    expect(button).to_have_attribute("aria-pressed", "false")
    light = page.evaluate(ground), page.evaluate(label)
    assert all(one != other for one, other in zip(dark, light, strict=True))


def test_it_prints(full: Path, opened: Open) -> None:
    """On white paper, without what only a screen can do, with what is folded unfolded."""
    page = opened(full, dark=True)
    page.emulate_media(media="print")

    assert "rgb(255, 255, 255)" == page.evaluate("getComputedStyle(document.body).backgroundColor")
    expect(page.locator("nav.contents")).to_be_hidden()
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF-")
    assert printed.count(b"/Type /Page\n") > 3


def test_a_keyboard_is_enough(bare: Path, opened: Open) -> None:
    """The first key leads past the contents; every control can be reached and has a name."""
    page = opened(bare)

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the report")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Look at each of them")).to_be_focused()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_ears_and_weak_eyes_can_read_it(full: Path, opened: Open, dark: bool) -> None:
    """Landmarks, headings, names of controls, heads of tables, ids, and contrast of letters."""
    page = opened(full, dark=dark)
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    expect(page.locator("#cases-list .story").last).to_be_visible()

    expect(page.get_by_role("navigation", name="Sections")).to_be_visible()
    assert [] == troubles(page)
