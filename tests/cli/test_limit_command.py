"""`memsim limit`: where a memory breaks, found in a tenth of the tries of a grid."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from memsim.cli import limit_command
from memsim.cli.limit_search import Climb, LimitSearch, pooled
from memsim.cli.program import program
from memsim.suite.staircase import (
    NEAR,
    Staircase,
    StaircaseResult,
    falling_fit,
    limit_of,
    staircase,
)

OWN = """\
from memsim import Strategy

class Last(Strategy):
    most = 80

    def __init__(self, env):
        super().__init__(env)
        self.seen = []

    def observe(self, message):
        self.seen.append(message)

    def context(self, query):
        return self.env.build.context(self.env.build.section("window", self.seen[-self.most:]))

class More(Last):
    most = 240

class Broken(Last):
    def context(self, query):
        raise RuntimeError("no")
"""
Call = Callable[..., Result]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Calls `memsim limit` in a small project."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    (tmp_path / "pyproject.toml").write_text("[tool.memsim]\n", encoding="utf-8")
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(program, ["limit", "-j", "1", *arguments])

    return run


BAR = 0.8


def _climbed(least: int, most: int, share: Callable[[int], float]) -> StaircaseResult:
    """The end of a staircase over a curve of shares."""
    stairs = staircase(least, most, BAR)
    tried = next(stairs)
    while True:
        assert least <= tried <= most
        try:
            tried = stairs.send(share(tried))
        except StopIteration as stop:
            result: StaircaseResult = stop.value
            return result


def _until(broken: int) -> Callable[[int], float]:
    """The curve of a memory that holds everything before a setting, and nothing from it on."""
    return lambda setting: float(setting < broken)


@pytest.mark.parametrize(
    ("least", "most"), [(0, 400), (0, 100), (1, 6), (2, 20), (0, 20_000), (5, 5)]
)
def test_a_staircase_finds_what_a_grid_finds(least: int, most: int) -> None:
    """Within a tenth of it, wherever it breaks, in a tenth of the tries where there are many."""
    step = max(1, (most - least) // 150)
    for broken in range(least + 1, most + 1, step):
        result = _climbed(least, most, _until(broken))

        assert result.holds is not None
        assert 0 <= broken - 1 - result.holds <= max(0, NEAR * (broken - 1))
        assert not result.open
        assert result.tries <= max(10, (most - least + 1) // 10)


@pytest.mark.parametrize(
    ("shares", "fitted"),
    [
        ([1.0, 0.9, 0.5], [1.0, 0.9, 0.5]),
        ([1.0, 0.7, 0.9, 0.5], [1.0, 0.8, 0.8, 0.5]),
        ([0.2, 0.4, 0.9], [0.5, 0.5, 0.5]),
    ],
)
def test_a_falling_fit_has_the_mean_of_what_contradicts(
    shares: list[float], fitted: list[float]
) -> None:
    """What already falls stays as it is."""
    levels = falling_fit({10 * place: share for place, share in enumerate(shares)})
    found = {setting: level.share for level in levels for setting in level.settings}

    assert [0, 10, 20, 30][: len(shares)] == [*found]
    assert fitted == pytest.approx([*found.values()])


@pytest.mark.parametrize(
    ("held", "limit"),
    [
        ("20 20 20 20 19 19 19 19 18", 3),
        ("20 20 20 20 19 19 19 20 19", 6),
        ("24 24 24 12 12", 2),
        ("24 0 24 0", 0),
        ("19 19 19", None),
        ("24 24 20", 2),
    ],
)
def test_a_limit_is_where_the_curve_crosses(held: str, limit: int | None) -> None:
    """Of 24 questions, 19.2 are the bar. What comes back lifts the settings before it as well."""
    shares = {setting: int(count) / 24 for setting, count in enumerate(held.split())}

    assert limit == limit_of(shares, BAR).holds


def test_a_limit_is_near_that_of_the_grid_where_shares_go_up_and_down() -> None:
    """A slope with chance of a twelfth: mostly within a tenth and never far, in a tenth of it."""
    misses = []
    for seed in range(60):
        chance = random.Random(seed)
        middle = chance.randint(15, 80)
        grid = {
            n: min(1.0, max(0.0, BAR + (middle - n) / 50 + chance.choice((-1, 0, 0, 1)) / 12))
            for n in range(101)
        }
        whole, result = limit_of(grid, BAR).holds, _climbed(0, 100, grid.__getitem__)
        assert result.tries <= 10
        assert whole is not None
        assert result.holds is not None
        misses.append(abs(whole - result.holds) / whole)

    assert sum(miss <= NEAR for miss in misses) >= 50
    assert max(misses) < 0.5


def test_all_stories_are_played_at_the_same_settings(tmp_path: Path) -> None:
    """Their questions count together; each alone has a limit, of which the range is made."""
    search = LimitSearch(folder=tmp_path, budget=1_000, jobs=1)
    (climb,) = search.climbed(["bm25"], ["updates"], None)
    together = pooled(climb.stories)

    assert 3 == len(climb.stories)
    assert 1 == len({tuple(sorted(story)) for story in climb.stories})
    assert climb.runs == 3 * len(together)
    assert climb.result == limit_of(together, BAR)
    assert together[4] == sum(story[4] for story in climb.stories) / 3


def test_what_was_never_told_is_not_held_against_a_memory(tmp_path: Path) -> None:
    """A story asks that as well, and no context can hold it."""
    search = LimitSearch(folder=tmp_path, budget=100_000, jobs=1)
    (climb,) = search.climbed(["full_context"], ["steps"], None)

    assert {*pooled(climb.stories).values()} == {1.0}


def test_the_ends_of_a_staircase() -> None:
    """What fails at once holds nothing, and what never fails is open."""
    nothing, everything = _climbed(3, 50, _until(3)), _climbed(3, 50, _until(51))

    assert (nothing.holds, nothing.open, nothing.tries) == (None, False, 2)
    assert (everything.holds, everything.open) == (50, True)


def test_each_memory_has_its_limit(call: Call) -> None:
    """A wider window holds more other talk."""
    both = ("-s", "own.py@Last", "-s", "own.py@More")
    done = call(*both, "--dial", "distance", "--budget", "32k")

    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.stdout.splitlines() if " distance " in line]
    last, more = (int(row[2]) for row in rows)
    assert 0 < last < more


def test_a_plot_shows_the_controls(call: Call, tmp_path: Path) -> None:
    """Beside the strategies, in a panel for the dial."""
    done = call("-s", "bm25", "--dial", "updates", "--plot", "limit.svg")

    assert done.exit_code == 0, done.output
    drawn = (tmp_path / "limit.svg").read_text("utf-8")
    assert all(f">{word}<" in drawn for word in ("updates", "bm25", "oracle", "no_memory"))


def test_a_memory_without_a_limit_is_marked(call: Call) -> None:
    """The evidence alone holds every hop, and no memory not even one."""
    done = call("-s", "oracle", "-s", "no_memory", "--dial", "hops")

    assert done.exit_code == 0, done.output
    rows = [line.split()[:5] for line in done.stdout.splitlines() if " hops " in line]
    assert ["oracle", "hops", "6+", "[6+", "6+]"] in rows
    assert ["no_memory", "hops", "none", "[none", "none]"] in rows
    assert "it holds at the largest setting that is tried" in done.stdout
    assert "it does not hold the least setting" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--dial", "hop"], 4, "no dial is called 'hop' (did you mean 'hops'?)"),
        (["--dial", "hops", "--family", "tempora"], 4, "(did you mean 'temporal'?)"),
        (["--dial", "hops", "--family", "temporal"], 4, "memsim: temporal has no dial hops"),
        (["--dial", "hops", "--budget", "1k,2k"], 4, "--budget is one number here"),
        (["--dial", "hops", "--budget", "0"], 4, "--budget must be a positive number of tokens"),
        (["--dial", "hops", "--budget", "x"], 4, "such as 4k or 4000, not 'x'"),
        (["--dial", "asked"], 4, "asked makes no question harder; dials: facts, "),
        (["--dial", "hops", "--plot", "x.pdf"], 4, "must end with .svg or .png"),
        (["--dial", "hops", "--plot", "no/x.svg"], 4, "no folder no"),
        (["--dial", "hops", "-j", "many"], 4, "many"),
        (["--dial", "hops", "-s", "own.py@Broken"], 7, "not measured, so there is no limit"),
    ],
)
def test_a_slip_gets_one_line(call: Call, arguments: list[str], code: int, said: str) -> None:
    """With the exit code of its kind; what was not measured has no limit."""
    strategy = [] if "-s" in arguments else ["-s", "bm25"]
    done = call(*strategy, *arguments)

    assert done.exit_code == code
    assert said in done.stderr
    assert "Traceback" not in done.output


def climbing(stories: tuple[dict[int, float], ...], sent: list[float]) -> Climb:
    """A climb that has played these stories, and notes what its staircase is sent."""

    def stairs() -> Staircase:
        sent.append((yield 3))
        return StaircaseResult(holds=2, open=False, tries=3)

    steps = stairs()
    spec: Any = None
    climb = Climb("bm25", "updates", "updates", spec, steps, next(steps))
    climb.stories = stories
    return climb


def test_all_stories_of_a_setting_count_together() -> None:
    """The staircase is sent the mean of them, and each story keeps its own share."""
    sent: list[float] = []
    climb = climbing(({1: 1.0}, {1: 1.0}, {1: 1.0}), sent)
    climb.note((1.0, 0.5, 0.0))
    assert sent == [0.5]
    assert [story[3] for story in climb.stories] == [1.0, 0.5, 0.0]
    assert (climb.runs, climb.result and climb.result.holds) == (6, 2)


def test_the_range_is_of_the_stories_alone() -> None:
    """From the one that holds least to the one that holds most, whatever their order."""
    climb = climbing(({1: 1.0, 2: 1.0}, {1: 0.0, 2: 0.0}, {1: 1.0, 2: 0.0}), [])
    climb.result = StaircaseResult(holds=1, open=False, tries=2)
    [(cells, _)] = limit_command._table([climb]).rows
    assert cells[2:4] == ("1", "[none 2+]")
