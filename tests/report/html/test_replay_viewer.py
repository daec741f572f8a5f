"""The replay viewer in real Chromium: scrubbing, losses, two strategies, hostile texts."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from memsim.report.html.page import viewer_page
from memsim.report.summarise import summarise
from memsim.report.viewer import fragment, save_beside
from memsim.runs import Run
from memsim.runs.run_reader import open_folder
from tests.report.html.listening import troubles
from tests.report.html.made import ATTACKS, poisoned

Open = Callable[..., Page]


def _saved(run: Run, path: Path) -> Path:
    found = fragment(run)
    assert found is not None
    text = viewer_page(run, summarise(run), found)
    path.write_bytes(text.encode(errors="backslashreplace"))
    return path


@pytest.fixture(scope="session")
def replayed(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run with its replay."""
    return _saved(run, tmp_path_factory.mktemp("replayed") / "report.html")


def _tainted(text: str) -> str:
    attacks = itertools.cycle(ATTACKS)
    data = json.loads(text)
    for message in data.get("messages", ()):
        message[:4] = [part + next(attacks) for part in message[:4]]
    for made in data.get("made", ()):
        made[:2] = [part + next(attacks) for part in made[:2]]
        made[2] = [part + next(attacks) if isinstance(part, str) else part for part in made[2]]
    for extra in data.get("extras", {}).values():
        for event in extra.get("events", ()):
            event[0], event[5] = event[0] + next(attacks), event[5] + next(attacks)
    for probe in data.get("probes", ()):
        probe["ask"], probe["answer"] = probe["ask"] + next(attacks), next(attacks)
    for way in data.get("ways", ()):
        way[2] += next(attacks)
    for name in data.get("about", ()):
        data["about"][name] += next(attacks)
    for case in data.get("cases", ()):
        case["name"], case["strategy"] = next(attacks), case["strategy"] + next(attacks)
    return json.dumps(data)


def _key(run: Run, strategy: str) -> str:
    return next(case.key for case in run.cases if case.strategy == strategy)


def _address(run: Run, turn: int, **more: str) -> str:
    parts = {"case": _key(run, "sliding_window:messages=8"), "turn": str(turn), **more}
    return "#" + "&".join(f"{name}={quote(value, safe='')}" for name, value in parts.items())


def test_it_opens_where_the_first_failed_questions_fact_was_lost(
    run: Run, replayed: Path, opened: Open
) -> None:
    """The context of that turn, what was dropped in it, and which fact went."""
    viewer = opened(replayed).locator("#viewer")
    (about,) = run.table("about").values()
    expect(viewer.locator("#viewer-about")).to_have_text(about)

    turns = {line["turn"]: line for line in run.turns(_key(run, "sliding_window:messages=8"))}
    expect(viewer.locator("#viewer-panels article")).to_have_count(1)
    turn = int(viewer.locator("#viewer-now h3").inner_text().split()[1])
    dropped = [e for e in turns[turn]["events"] if e["kind"] == "dropped"]  # type: ignore[attr-defined]
    expect(viewer.locator(".viewer-happened .viewer-t-dropped")).to_have_count(len(dropped))
    expect(viewer.locator(".viewer-happened")).to_contain_text("→ lost")
    tokens = sum(turns[turn]["tokens"].values())  # type: ignore[attr-defined]
    expect(viewer.locator(".viewer-total b")).to_have_text(f"{tokens:,}")
    expect(viewer.locator(".viewer-l-window li.viewer-message")).to_have_count(8)


def test_turns_are_scrubbed_by_keys_buttons_and_slider(
    run: Run, replayed: Path, opened: Open
) -> None:
    """All three move the same turn, and the address follows."""
    tab = opened(replayed, _address(run, 12))
    head = tab.locator("#viewer-now h3")

    expect(head).to_contain_text("Turn 12 ")
    tab.locator("#viewer-on").click()
    tab.locator("#viewer-on").press("ArrowRight")
    expect(head).to_contain_text("Turn 14 ")
    tab.locator("#viewer-turn").press("ArrowLeft")
    expect(head).to_contain_text("Turn 13 ")
    expect(tab).to_have_url(re.compile("turn=13$"))
    tab.locator("#viewer-after").click()
    assert 13 < int(head.inner_text().split()[1])


def test_a_failed_question_leads_to_its_context_and_to_its_loss(
    run: Run, replayed: Path, opened: Open
) -> None:
    """Two clicks from the list: what the model was sent, and the turn in which the fact went."""
    tab = opened(replayed, _address(run, 1))
    first = tab.locator("#viewer-failed li", has_text="lost").first

    first.locator("button").first.click()
    card = tab.locator(".viewer-card")
    expect(card).to_contain_text("MISS")
    expect(tab.locator("#viewer-panels h4")).to_have_text("The context of this question")
    card.locator("button").click()
    expect(tab.locator(".viewer-happened")).to_contain_text("→ lost")


def test_two_strategies_stand_side_by_side_at_one_turn(
    run: Run, replayed: Path, opened: Open
) -> None:
    """The same turn, the same question, each with its own context."""
    tab = opened(replayed, _address(run, 20))

    tab.locator("#viewer-second").select_option(_key(run, "rolling_summary"))
    panels = tab.locator("#viewer-panels article")
    expect(panels).to_have_count(2)
    expect(panels.nth(0).locator("h3")).to_contain_text("sliding_window")
    expect(panels.nth(1).locator("h3")).to_contain_text("rolling_summary")
    expect(panels.nth(1).locator(".viewer-l-summary")).to_be_visible()
    boxes = panels.evaluate_all("all => all.map(p => p.getBoundingClientRect().toJSON())")
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["right"] < boxes[1]["x"]


def test_a_link_to_what_is_not_in_the_page_says_so(replayed: Path, opened: Open) -> None:
    """Nothing is shown in its place."""
    tab = opened(replayed, "#case=nowhere&turn=3")

    expect(tab.locator("#viewer-trouble")).to_have_text(
        "There was no room in this page to replay nowhere."
    )


def test_what_has_no_room_is_replayed_from_a_page_beside(
    run: Run, tmp_path: Path, opened: Open
) -> None:
    """A link leads to the case, and nothing is left behind once there is room."""
    shutil.copytree(run.folder, tmp_path / "run")
    copied = open_folder(tmp_path / "run")
    summary = summarise(copied)
    few = fragment(copied, room=20_000, beside=True)
    assert few is not None
    text = viewer_page(copied, summary, few)
    (copied.folder / "report.html").write_text(text, encoding="utf-8")
    (beside,) = save_beside(copied, summary, few)

    tab = opened(copied.folder / "report.html")
    tab.locator("#viewer details", has_text="Which").locator("summary").click()
    link = tab.locator(".viewer-missing-cases a", has_text="bm25").get_attribute("href")
    assert link is not None
    assert link.startswith("replays/1.html#case=")
    key = _key(copied, "bm25:k=4")
    tab = opened(copied.folder / "report.html", f"#case={quote(key, safe='')}&turn=9")
    expect(tab.locator("#viewer-trouble a")).to_have_attribute(
        "href", re.compile(r"^replays/1\.html#case=.*&turn=9$")
    )
    assert ["replays/1.html", None] == [
        tab.evaluate("(key) => Page.replay(key)", name) for name in (key, "__proto__[x]")
    ]
    tab = opened(beside, "#" + link.partition("#")[2])
    expect(tab.locator("#viewer-panels article h3")).to_contain_text("bm25")
    assert () == save_beside(copied, summary, fragment(copied))
    assert not beside.exists()


def test_it_fits_a_telephone(run: Run, replayed: Path, opened: Open) -> None:
    """Nothing is wider than 360 pixels, with two strategies as well."""
    second = _key(run, "rolling_summary")
    tab = opened(replayed, _address(run, 30, **{"with": second}), width=360)

    expect(tab.locator("#viewer-panels article")).to_have_count(2)
    assert 360 == tab.evaluate("document.documentElement.scrollWidth")


def test_every_control_has_a_name(run: Run, replayed: Path, opened: Open) -> None:
    """A screen reader can tell each of them."""
    viewer = opened(replayed, _address(run, 30)).locator("#viewer")

    expect(viewer.get_by_role("slider", name="Turn")).to_be_visible()
    for name in ("One turn back", "One turn on", "To the change before", "To the next change"):
        expect(viewer.get_by_role("button", name=name)).to_be_visible()
    for name in ("Scenario", "A Strategy", "B Beside it", "Context"):
        expect(viewer.get_by_role("combobox", name=name)).to_be_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_ears_and_weak_eyes_can_replay_it(
    run: Run, replayed: Path, opened: Open, dark: bool
) -> None:
    """Two strategies beside each other, with everything that is folded open."""
    second = _key(run, "rolling_summary")
    tab = opened(replayed, _address(run, 30, **{"with": second}), dark=dark)
    expect(tab.locator("#viewer-panels article")).to_have_count(2)
    tab.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")

    assert [] == troubles(tab)


def _with_agent(text: str) -> str:
    data = json.loads(text)
    if "probes" not in data:
        return text
    attack = ATTACKS[0]
    calls = [
        ["memory_store", '{"key": "desk", "value": {"n": 1}}', "done", "Stored.", 0],
        [f"x{attack}", f"{{ {attack}", "unknown", f"Error: there is no tool {attack}", 0],
        ["memory_search", json.dumps({"query": attack}), "done", f"Found {attack}\n" * 90, 1200],
        ["memory_search", "{}", "skipped", "", 0],
    ]
    rounds = [[1, f"Let me see. {attack}", calls, ""], [2, "", [], ""], [3, "", [], "stopped"]]
    data["extras"].setdefault("30", {})["agent"] = rounds
    for probe in data["probes"]:
        probe["agent"] = [[1, "I know that.", [], ""]]
    return json.dumps(data)


@pytest.mark.parametrize(("dark", "width"), [(False, 1200), (True, 360)])
def test_what_an_agent_did_can_be_read(
    run: Run, tmp_path: Path, opened: Open, dark: bool, width: int
) -> None:
    """Calls by name and argument, what came of each, and what it said; none of it is obeyed."""
    found = fragment(run)
    assert found is not None
    told = replace(found, data={name: _with_agent(text) for name, text in found.data.items()})
    whole = viewer_page(run, summarise(run), told)
    (tmp_path / "report.html").write_bytes(whole.encode(errors="backslashreplace"))
    tab = opened(tmp_path / "report.html", _address(run, 30), dark=dark, width=width)
    agent = tab.locator(".viewer-agent")

    expect(agent).to_contain_text("The agent 4 calls, 2 in vain")
    calls = agent.locator(".viewer-call")
    expect(calls.nth(0)).to_have_text('memory_storekeydeskvalue{"n":1}Stored.')
    expect(calls.nth(1)).to_contain_text("not called: there is no tool <")
    expect(calls.nth(2).locator("summary")).to_contain_text("1,200 characters of it had no room")
    expect(calls.nth(2).locator(".viewer-text")).to_be_hidden()
    calls.nth(2).locator("summary").click()
    expect(calls.nth(2).locator(".viewer-text")).to_be_visible()
    expect(calls.nth(3)).to_contain_text("not called: one too many in this round")
    expect(agent).to_contain_text("It said nothing.")
    assert [] == troubles(tab)
    assert width == tab.evaluate("document.documentElement.scrollWidth")
    assert tab.evaluate("window.pwned === undefined")
    tab.locator(".viewer-ask").first.click()
    expect(agent).to_have_text("The agent, before the answer no tool was calledround 1I know that.")


def test_the_current_turn_is_printed(run: Run, replayed: Path, opened: Open) -> None:
    """On paper there is the turn with its context, and no control."""
    tab = opened(replayed, _address(run, 12))
    expect(tab.locator("#viewer-now h3")).to_contain_text("Turn 12 ")

    tab.emulate_media(media="print")

    expect(tab.locator("#viewer-turn")).to_be_hidden()
    expect(tab.locator("#viewer-now h3")).to_be_visible()
    expect(tab.locator(".viewer-l-window li").first).to_be_visible()


def test_what_strangers_wrote_stays_text(
    run: Run, tmp_path_factory: pytest.TempPathFactory, opened: Open
) -> None:
    """Names, values, answers, events and every message that attack the page."""
    base = tmp_path_factory.mktemp("attacked")
    attacked = poisoned(run, base)
    found = fragment(run)
    assert found is not None
    told = replace(found, data={name: _tainted(text) for name, text in found.data.items()})
    whole = viewer_page(attacked, summarise(attacked), told)
    (base / "report.html").write_bytes(whole.encode(errors="backslashreplace"))
    tab = opened(base / "report.html")

    expect(tab.locator("#viewer-now .viewer-text").first).to_contain_text("<")
    expect(tab.locator("#viewer-panels article")).to_have_count(1)
    for step in ("#viewer-on", "#viewer-after", "#viewer-before"):
        tab.locator(step).click()
    assert tab.evaluate("window.pwned === undefined")
    assert 0 == tab.locator("#viewer :is(img, iframe, script, a, base, form form)").count()
