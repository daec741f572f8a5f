"""Plots of a saved run: what is drawn, that it can be read, and that it never changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from memsim.cli.program import program
from memsim.report.frames import Frames
from memsim.report.plots import PLOTS, save_pictures
from memsim.report.plots.named_points import ticks
from memsim.report.plots.palette import strategy_looks
from memsim.report.plots.style import Picture
from memsim.report.summarise import summarise
from memsim.runs import Run, load_run

Call = Callable[..., Result]
Saved = tuple[tuple[Picture, tuple[Path, ...]], ...]

SCENARIO = """
memsim: 1
name: moving
turns:
  - user: My order is A-17, please send it to Bergen.
    facts: {order: A-17, city: Bergen}
  - filler: 30
  - user: I have moved, so please send my order to Oslo.
    facts: {city: {value: Oslo, replaces: city}}
  - user: My cat is called Silvester and my dog Rex.
    facts: {cat: Silvester, dog: Rex}
  - filler: 30
probes:
"""
ASKED = """\
  order{n}: {{ask: What is my order number?, expect: A-17}}
  city{n}: {{ask: Where should my order be sent?, expect: Oslo, not: Bergen, ability: update}}
  cat{n}: {{ask: What is my cat called?, expect: Silvester}}
  dog{n}: {{ask: What is my dog called?, expect: Rex}}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Five strategies at two budgets on one scenario, half of which they forget."""
    place = tmp_path_factory.mktemp("drawn")
    (place / "pyproject.toml").write_text("[tool.memsim]\n", encoding="utf-8")
    (place / "scenarios").mkdir()
    text = SCENARIO + "".join(ASKED.format(n=n) for n in range(6))
    (place / "scenarios" / "moving.yaml").write_text(text, encoding="utf-8")
    other = text.replace("name: moving", "name: moving_again")
    (place / "scenarios" / "again.yaml").write_text(other, encoding="utf-8")
    names = ("bm25", "rolling_summary:keep=200,summary=100", "sliding_window", "layered")
    flags = [flag for name in names for flag in ("-s", name)]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        done = CliRunner().invoke(program, ["run", *flags, "--budget", "600,2k"])
        assert 0 == done.exit_code, done.output
    return load_run("latest", place / "reports")


@pytest.fixture(scope="module")
def pictured(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """Every plot of the run, drawn and saved once."""
    return save_pictures(run, summarise(run), tmp_path_factory.mktemp("saved"))


def test_every_plot_that_has_numbers_is_drawn(pictured: Saved) -> None:
    """The forest needs a baseline, the matrix of leakage its channels, abstention who is unsure."""
    drawn = [picture.name for picture, _ in pictured]

    assert [name for name in PLOTS if name not in {"forest", "leakage", "abstention"}] == drawn


def test_every_caption_says_something_of_this_run(pictured: Saved) -> None:
    """It names a strategy or a scenario, and a number."""
    for picture, _ in pictured:
        assert any(c.isdigit() for c in picture.caption), picture.name
        assert any(
            name in picture.caption for name in ("bm25", "layered", "moving", "summary", "window")
        ), picture.caption


def test_pictures_are_files_that_a_browser_opens(pictured: Saved) -> None:
    """SVG with text that can be searched, and PNG."""
    for picture, (svg, png) in pictured:
        assert re.findall("<text[^>]*>[^<]+</text>", svg.read_text("utf-8")), picture.name
        assert b"\x89PNG" == png.read_bytes()[:4]


def test_controls_are_grey_and_differ() -> None:
    """In shade and in mark."""
    looks = strategy_looks(["full_context", "no_memory", "oracle", "bm25"])
    greys = [look for look in looks.values() if look.colour[1:3] * 3 == look.colour[1:]]

    assert (
        3 == len(greys) == len({look.colour for look in greys} | {look.mark for look in greys}) / 2
    )


def test_frames_hold_the_records(run: Run) -> None:
    """Row for row; what tables show can be computed from them."""
    frames = Frames(run)
    summary = summarise(run)

    assert sum(1 for _ in run.probes()) == len(frames.probes)
    for board in summary.boards:
        for row in board.rows:
            mine = frames.probes[
                (frames.probes["strategy"] == row.strategy)
                & (frames.probes["budget"] == row.budget)
            ]
            assert row.recall.mean == pytest.approx(mine["recall"].astype(float).mean())
    assert {True, False} == set(frames.facts["there"])


def test_the_command_draws_the_same_bytes_into_the_runs_folder(
    run: Run, pictured: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says of each what it lets its reader say; no date, version or order of a set is in it."""
    monkeypatch.chdir(run.folder.parents[2])

    done = CliRunner().invoke(program, ["report", "--plots"])

    assert 0 == done.exit_code
    assert "plots/trade-off.svg  At 2k, " in done.output
    assert (run.folder / "plots" / "trade-off.svg").is_file()
    for _, paths in pictured:
        for path in paths:
            again = run.folder / "plots" / path.name
            assert path.read_bytes() == again.read_bytes(), path.name


def test_a_tick_at_the_end_of_a_plot_is_left_out() -> None:
    """Half of its number would stand outside of the picture."""
    assert [0.1, 0.2, 0.5] == ticks(0.09, 0.9)
    assert [0.1, 0.2] == ticks(0.09, 0.51)
    assert [1.0, 10.0] == ticks(0.5, 90, few=True)
